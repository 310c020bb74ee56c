/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batch commit with lost replies. Workers claim two runs at once and report about both in one call: of the first a step and the
 * end; of the second a failed try, and in a later call a step and the end. Replies are lost before and after the commit; the same
 * call is then sent again, the claim with its request number, the commit through commit_each(). Somebody's open transaction
 * locks rows for a while; housekeeping takes runs back from holders that are lost or hang.
 *
 * A call is one transaction, each atomic block one statement of it (see fence.pml), or the part of the set-wise statement that
 * is about one item: its locks are taken one after the other. A worker that dies comes back as another session; the number of a
 * worker is its session here, and fences tell its claims apart.
 */
#ifndef NW
#define NW 2
#endif
#ifndef CRASHES
#define CRASHES 1
#endif
#ifndef EXPIRIES
#define EXPIRIES 1
#endif
#ifndef CUTS
#define CUTS 1        /* replies that are lost */
#endif
#ifndef LOCKS
#define LOCKS 1       /* times that a caller's transaction has a row */
#endif
/* -DNO_NAME takes guard NAME out; the names are those of tests/mutants/list. */
#ifndef NO_fence
#define NO_fence 0
#endif
#ifndef NO_item_fence
#define NO_item_fence 0
#endif
#ifndef NO_commit_lock
#define NO_commit_lock 0
#endif
#ifndef NO_first_write_wins
#define NO_first_write_wins 0
#endif
#ifndef NO_failure_once
#define NO_failure_once 0
#endif
#ifndef NO_whole_runs
#define NO_whole_runs 0
#endif
#ifndef NO_items_in_order
#define NO_items_in_order 0
#endif
#ifndef NO_claim_request
#define NO_claim_request 0
#endif

mtype = { READY, HELD, GONE };

typedef Task {        /* a row of pawl.task, and what is recorded of the run */
    mtype place = READY;
    byte fence;
    byte session;
    byte lock;
    bool lost;        /* its holder has died */
    byte tries;       /* failed tries that were counted */
    byte step;        /* how often the step was written */
    byte run_session; /* the row of pawl.run: who ended it */
    byte run_fence;
    byte failures;    /* ghost: tries that failed */
};
Task t[2];
byte crashes, expiries, cuts, locks;

#define ALL_GONE (t[0].place == GONE && t[1].place == GONE)
#define HOLDS(r, f) (t[r].place == HELD && t[r].session == w && t[r].fence == f)
/* A task with a failed try is not plain, so it goes item by item. */
#define PLAIN(r) (t[r].tries == 0)
#define UNLOCK(r) if :: t[r].lock == w -> t[r].lock = 0 :: else fi

/* Answers to the items of one run: 0 none yet. An item of the call is named by its run: what is tried (or the step), then the end. */
#define OK 1          /* ok or already */
#define BUSY 2
#define LOST 3

/* The set-wise statement takes an item of run r; it has taken one of the run's two and not the other. */
#define TAKES(r) (f[r] != 0 && !failed[r] && t[r].place != GONE && (HOLDS(r, f[r]) || NO_fence) && PLAIN(r) && \
                  (t[r].lock == 0 || t[r].lock == w || NO_commit_lock))
#define PARTLY(r) (!alone[r] && !acked[r] && first[r] != last[r])
#define ENDS(r) (f[r] != 0 && last[r] == 0 && !failed[r] && !alone[r])
#define MINE(r) (t[r].run_session == w && t[r].run_fence == f[r])

/* Items that are not in this call, or that the set-wise statement leaves alone whatever the rows say, take no step of their own:
   a step that neither reads nor writes what others see may as well be part of the one before it. second: the run's last item. */
inline pass_over()
{
    do
    :: r < 2 && (f[r] == 0 || failed[r] || second && alone[r]) -> r++; second = false
    :: r < 2 && f[r] != 0 && !failed[r] && !second && acked[r] -> second = true
    :: else -> break
    od
}

/* Likewise the runs whose items all have their answers. */
#define UNANSWERED(r) (f[r] != 0 && first[r] == 0 && !acked[r])
inline pass_answered()
{
    do
    :: r < 2 && !UNANSWERED(r) && !ENDS(r) -> r++
    :: else -> break
    od
}

proctype worker(byte w)
{
    byte f[2];        /* what it believes to hold */
    byte first[2], last[2];      /* answers of this call: to the first item of each run, to the last */
    bool failed[2];   /* the first item tells of a failed try, and there is no other */
    bool alone[2];    /* this call has the step only */
    bool acked[2];    /* the step is known to be recorded, so that the call has the end only */
    bool each, second;
    byte r;

claim:
    if
    :: ALL_GONE -> goto out
    :: atomic {                          /* claim(): a request that was answered before is answered alike */
           (t[0].place == HELD && t[0].session == w && !t[0].lost || t[1].place == HELD && t[1].session == w && !t[1].lost) && !NO_claim_request ->
           f[0] = (t[0].place == HELD && t[0].session == w && !t[0].lost -> t[0].fence : 0);
           f[1] = (t[1].place == HELD && t[1].session == w && !t[1].lost -> t[1].fence : 0);
           goto work
       }
    :: atomic { t[0].place == READY && t[0].lock == 0 -> t[0].lock = w };           /* _pick(): one ... */
       if
       :: atomic { t[1].place == READY && t[1].lock == 0 -> t[1].lock = w }         /* ... and another */
       :: atomic { !(t[1].place == READY && t[1].lock == 0) -> skip }
       fi
    :: atomic { t[1].place == READY && t[1].lock == 0 && !(t[0].place == READY && t[0].lock == 0) -> t[1].lock = w }
    fi;
    atomic {                             /* claim(): its update, commit; the reply comes or not */
        r = 0;
        do
        :: r < 2 && t[r].lock == w ->
           t[r].place = HELD; t[r].session = w; t[r].fence++; t[r].lost = false; t[r].lock = 0; f[r] = t[r].fence; r++
        :: r < 2 && t[r].lock != w -> r++
        :: else -> break
        od;
        r = 0;
        if
        :: cuts < CUTS -> cuts++; f[0] = 0; f[1] = 0; goto claim
        :: skip
        fi
    };
work:
    /* The handlers work. The second run fails its first try. */
    atomic {
        failed[0] = false;
        failed[1] = f[1] != 0 && t[1].failures == 0 && t[1].step == 0;
        if :: failed[1] -> t[1].failures++ :: else fi;
        acked[0] = f[0] != 0 && t[0].step > 0;                   /* what the claim handed out */
        acked[1] = f[1] != 0 && t[1].step > 0;
        if :: f[0] != 0 && !acked[0] -> alone[0] = true :: skip fi;
        each = false
    };
send:
    if
    :: atomic {                          /* the process dies */
           crashes < CRASHES ->
           crashes++;
           if :: HOLDS(0, f[0]) && f[0] != 0 -> t[0].lost = true :: else fi;
           if :: HOLDS(1, f[1]) && f[1] != 0 -> t[1].lost = true :: else fi;
           f[0] = 0; f[1] = 0; failed[1] = false; each = false;
           acked[0] = false; acked[1] = false; alone[0] = false;
           goto claim
       }
    :: atomic { f[0] == 0 && f[1] == 0 -> failed[1] = false; each = false; goto claim }
    :: atomic { (f[0] != 0 || f[1] != 0) && each -> pass_answered(); goto rest }
    :: atomic { (f[0] != 0 || f[1] != 0) && !each -> pass_over() }
    fi;
setwise:
    if                                   /* commit(): the set-wise statement, item after item */
    :: atomic {
           r < 2 && !second ->
           if :: TAKES(r) -> first[r] = OK; if :: !NO_commit_lock -> t[r].lock = w :: else fi :: else fi;
           second = true;
           pass_over();
           goto setwise
       }
    :: atomic {
           r < 2 && second ->
           if :: TAKES(r) -> last[r] = OK; if :: !NO_commit_lock -> t[r].lock = w :: else fi :: else fi;
           second = false;
           r++;
           pass_over();
           goto setwise
       }
    :: atomic {                          /* _check_whole(): PW010 */
           r == 2 && (PARTLY(0) || PARTLY(1)) && !NO_whole_runs ->
           r = 0;
           UNLOCK(0); UNLOCK(1);
           first[0] = 0; first[1] = 0; last[0] = 0; last[1] = 0;
           each = true;
           goto send
       }
    :: atomic { r == 2 && (!(PARTLY(0) || PARTLY(1)) || NO_whole_runs) -> r = 0; pass_answered(); goto rest }
    fi;
rest:
    if                                   /* _commit_rest(): the other items, in order */
    :: atomic {                          /* _commit_item() of the first item of run r: lock and tests */
           r < 2 && UNANSWERED(r) ->
           if
           :: last[r] == OK -> first[r] = LOST                   /* its own end came before */
           :: last[r] == 0 && t[r].place == GONE -> first[r] = (MINE(r) -> OK : LOST)      /* _missing() */
           :: last[r] == 0 && t[r].place != GONE && t[r].lock != 0 && t[r].lock != w -> first[r] = BUSY
           :: last[r] == 0 && t[r].place != GONE && (t[r].lock == 0 || t[r].lock == w) ->
              if
              :: HOLDS(r, f[r]) || NO_item_fence -> t[r].lock = w; first[r] = OK
              :: else -> first[r] = LOST
              fi
           fi;
           pass_answered();
           goto rest
       }
    :: atomic {                          /* _commit_item() of its last item, unless one before it was not taken */
           r < 2 && !UNANSWERED(r) ->
           if
           :: first[r] != OK && !acked[r] && !NO_items_in_order -> last[r] = first[r]
           :: (first[r] == OK || acked[r] || NO_items_in_order) && t[r].place == GONE -> last[r] = (MINE(r) -> OK : LOST)
           :: (first[r] == OK || acked[r] || NO_items_in_order) && t[r].place != GONE && t[r].lock != 0 && t[r].lock != w -> last[r] = BUSY
           :: (first[r] == OK || acked[r] || NO_items_in_order) && t[r].place != GONE && (t[r].lock == 0 || t[r].lock == w) ->
              if
              :: HOLDS(r, f[r]) || NO_item_fence -> t[r].lock = w; last[r] = OK
              :: else -> last[r] = LOST
              fi
           fi;
           pass_answered();
           goto rest
       }
    :: atomic {                          /* the connection breaks before the commit: nothing was done */
           r == 2 && cuts < CUTS ->
           r = 0;
           cuts++;
           UNLOCK(0); UNLOCK(1);
           first[0] = 0; first[1] = 0; last[0] = 0; last[1] = 0;
           each = true;
           goto send
       }
    :: atomic {                          /* commit */
           r == 2 ->
           r = 0;
           do
           :: r < 2 && (f[r] == 0 || t[r].place == GONE) ->
              /* S22, level 2 of the guarantees: what answers OK is this claim's own doing, and what it did answers OK. */
              assert(f[r] == 0 || last[r] == 0 || (last[r] == OK) == MINE(r));
              r++
           :: r < 2 && f[r] != 0 && t[r].place != GONE ->
              if
              :: failed[r] && first[r] == OK ->
                 assert(HOLDS(r, f[r]));
                 /* _count_failure(): the caller's number tells whether this one is counted already */
                 if :: t[r].tries < 1 || NO_failure_once -> t[r].tries++ :: else fi;
                 assert(t[r].tries <= t[r].failures)             /* S17 */
              :: !failed[r] && first[r] == OK ->
                 assert(HOLDS(r, f[r]));                         /* S1, S3 */
                 if :: t[r].step == 0 || NO_first_write_wins -> t[r].step++ :: else fi;
                 assert(t[r].step == 1)                          /* S4 */
              :: else
              fi;
              if
              :: last[r] == OK ->
                 assert(HOLDS(r, f[r]));
                 assert(t[r].step == 1);                         /* S5, S8 */
                 t[r].place = GONE;
                 t[r].run_session = w;
                 t[r].run_fence = f[r];
                 t[r].session = 0;
                 /* Nobody reads these of a run that is gone. */
                 t[r].fence = 0;
                 t[r].tries = 0;
                 t[r].failures = 0;
                 t[r].lost = false
              :: else
              fi;
              r++
           :: else -> break
           od;
           r = 0;
           UNLOCK(0);
           UNLOCK(1)
       };
       if
       :: atomic {                       /* the reply is lost: the same call again, through commit_each */
              cuts < CUTS -> cuts++; first[0] = 0; first[1] = 0; last[0] = 0; last[1] = 0; each = true; goto send
          }
       :: atomic {                       /* the reply: what was busy is sent again, what is lost is dropped */
              do
              :: r < 2 ->
                 if
                 :: first[r] == LOST || last[r] == LOST || last[r] == OK -> f[r] = 0; acked[r] = false; alone[r] = false
                 :: else -> acked[r] = acked[r] || first[r] == OK && !failed[r]; alone[r] = alone[r] && first[r] != OK
                 fi;
                 if :: failed[r] && first[r] != BUSY -> failed[r] = false :: else fi;
                 first[r] = 0;
                 last[r] = 0;
                 r++
              :: else -> break
              od;
              r = 0;
              each = false;
              goto send
          }
       fi
    fi;
out:
end_out:
    false                                /* stays: Spin ends processes in one order only, and workers are to be alike */
}

/* A caller's transaction that has a row for a while and changes nothing. */
proctype caller(byte w)
{
    do
    :: atomic { locks < LOCKS && t[0].place != GONE && t[0].lock == 0 -> locks++; t[0].lock = w }; atomic { t[0].lock = 0 }
    :: atomic { locks < LOCKS && t[1].place != GONE && t[1].lock == 0 -> locks++; t[1].lock = w }; atomic { t[1].lock = 0 }
    :: ALL_GONE || locks == LOCKS -> break
    od
}

/* Housekeeping: _release_held() or _enforce_step_limits(), for update skip locked; then _take_back(). */
#define SWEEP(k) t[k].place == HELD && t[k].lock == 0 && (t[k].lost || expiries < EXPIRIES) -> t[k].lock = w; r = k

proctype sweeper(byte w)
{
    byte r;

    do
    :: ALL_GONE -> break
    :: atomic { SWEEP(0) }; goto take
    :: atomic { SWEEP(1) };
take:  atomic {                          /* commit */
           if :: !t[r].lost -> expiries++ :: else fi;
           t[r].fence++;
           t[r].place = READY;
           t[r].session = 0;
           t[r].lost = false;
           t[r].lock = 0;
           r = 0
       }
    od
}

init {
    atomic {
        byte n;
        n = 1;
        do
        :: n <= NW -> run worker(n); n++
        :: else -> break
        od;
        run sweeper(NW + 1);
        run caller(NW + 2)
    }
}

/* L3, L8 */
ltl live { <> ALL_GONE }
