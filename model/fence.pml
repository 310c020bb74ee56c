/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fence and sweep. Workers claim runs, record two steps of each and end it; some die, some are only slow. Somebody's
 * housekeeping sweeps sessions whose lease is over while their workers may still write.
 *
 * A call is one transaction. Each atomic block is one statement of it: it sees what is committed (READ COMMITTED), and takes
 * the row lock that the statement takes; what the transaction writes appears in the block that commits it and lets go.
 */
/* Bounds. NS sessions are enough: a worker registers again when it died or was swept. */
#ifndef NW
#define NW 3
#endif
#ifndef NR
#define NR 1
#endif
#ifndef CRASHES
#define CRASHES 2
#endif
#ifndef EXPIRIES
#define EXPIRIES 2
#endif
#ifndef RELEASES
#define RELEASES 1
#endif
#ifndef NSWEEP
#define NSWEEP 1
#endif
#ifndef TOKEN
#define TOKEN 1
#endif
#define LIMIT 3       /* crash_max of pawl.setting */

/* -DNO_NAME takes guard NAME out; the names are those of tests/mutants/list. */
#ifndef NO_claimer_skip_locked
#define NO_claimer_skip_locked 0
#endif
#ifndef NO_claim_skip_locked
#define NO_claim_skip_locked 0
#endif
#ifndef NO_fence
#define NO_fence 0
#endif
#ifndef NO_commit_lock
#define NO_commit_lock 0
#endif
#ifndef NO_item_lock
#define NO_item_lock 0
#endif
#ifndef NO_item_fence
#define NO_item_fence 0
#endif
#ifndef NO_token_fence
#define NO_token_fence 0
#endif
#ifndef NO_sweep_fence
#define NO_sweep_fence 0
#endif
#ifndef NO_sweep_skip_locked
#define NO_sweep_skip_locked 0
#endif
#ifndef NO_sweep_lease
#define NO_sweep_lease 0
#endif
#ifndef NO_orphans
#define NO_orphans 0
#endif
#ifndef NO_heartbeat_session
#define NO_heartbeat_session 0
#endif

mtype = { READY, HELD, GONE };
mtype = { SUCCESS, CRASHED };

typedef Task {        /* a row of pawl.task, and the row of pawl.run it becomes */
    mtype place = READY;
    byte fence;
    byte session;
    byte crashes;
    byte lock;        /* who has the row lock: 0 nobody */
    bool step1;       /* rows of pawl.step */
    bool step2;
    byte granted;     /* ghost: the last fence that a claim was given */
    byte released;    /* ghost: the last fence whose claim gave the run back */
    byte ends;        /* ghost: how often it ended */
    mtype status;
};
typedef Session {     /* a row of pawl.worker */
    bool ended;
    bool over;        /* the lease is over */
    bool dead;        /* ghost: its process is gone, or has another session */
    byte lock;
};
Task t[NR];
Session s[8];
byte sessions;        /* how many have registered */
byte crashes;         /* workers that died so far */
byte gives;           /* claims that were given back */
byte expiries;        /* leases that ended although the worker lived */

#define FORGOTTEN(k) (s[k].ended && s[k].dead && s[k].lock == 0 && t[0].session != k && t[NR - 1].session != k)
#define HOLDS(r, me, f) (t[r].place == HELD && t[r].session == me && t[r].fence == f)
#define ALL_GONE (t[0].place == GONE && t[NR - 1].place == GONE)

/* S1, S3, S7, S22: what is accepted comes from the claim in force, and nothing is after the end. */
#define ACCEPTED(r, me, f) assert(HOLDS(r, me, f)); assert(t[r].ends == 0)

/* S6, S8, S9: a run ends once, with all its steps if well; held means by a session. */
#define CHECK(r) \
    assert(t[r].ends <= 1); \
    assert((t[r].place == GONE) == (t[r].ends == 1)); \
    assert(t[r].status != SUCCESS || t[r].step1 && t[r].step2); \
    assert((t[r].place == HELD) == (t[r].session != 0))

#define LEAVE s[me].dead = true; me = 0; goto register

/* Nobody compares fences of a run that is gone. So states that differ in them only are one. */
inline forget_fences(r)
{
    t[r].fence = 0;
    t[r].granted = 0;
    t[r].released = 0
}

/* A worker. session, run and fence are what it believes. */
proctype worker(byte w)
{
    byte me, r, f;

register:
    atomic {                             /* register(); a session that nobody can tell any more lends its place to the new one */
        me = 1;
        do
        :: me <= sessions && !FORGOTTEN(me) -> me++
        :: else -> break
        od;
        if :: me > sessions -> sessions++ :: else fi;
        s[me].ended = false;
        s[me].over = false;
        s[me].dead = false
    }
claim:
    r = 0;
    f = 0;
    do
    :: ALL_GONE -> goto out
    :: atomic {                          /* claim(): _session(), which waits for nobody */
           !ALL_GONE ->
           if
           :: s[me].ended -> LEAVE      /* PW005 */
           :: !s[me].ended && s[me].over -> goto revive
           :: !s[me].ended && !s[me].over -> skip
           fi
       };
       goto pick
    od;
revive:
    atomic {                             /* _claimer(): the session's row, for update skip locked */
        if
        :: s[me].ended -> LEAVE
        :: !s[me].ended && s[me].lock == 0 -> s[me].lock = w
        :: !s[me].ended && s[me].lock != 0 ->
           assert(!NO_claimer_skip_locked);     /* a claim waits for nobody */
           goto claim
        fi
    };
pick:
    atomic {                             /* _pick(): a ready task, for update skip locked */
        if
        :: t[0].place == READY && t[0].lock == 0 -> t[0].lock = w; r = 0
        :: NR > 1 && t[NR - 1].place == READY && t[NR - 1].lock == 0 -> t[NR - 1].lock = w; r = NR - 1
        :: NO_claim_skip_locked && t[0].place == READY && t[0].lock != 0 ->
           assert(false)                        /* a claim waits for nobody */
        :: else ->
           if :: s[me].lock == w -> s[me].over = false; s[me].lock = 0 :: else fi;
           goto claim
        fi
    };
    if
    :: atomic {                          /* claim(): its update, whose condition sees that the session lives */
           !s[me].ended
       }
    :: atomic {
           s[me].ended ->
           t[r].lock = 0;
           if :: s[me].lock == w -> s[me].lock = 0 :: else fi;
           LEAVE
       }
    fi;
    if
    :: atomic {                          /* claim(): commit */
           t[r].place = HELD;
           t[r].session = me;
           t[r].fence++;
           f = t[r].fence;
           assert(f > t[r].granted);            /* S2 */
           t[r].granted = f;
           t[r].released = 0;                   /* tells nothing any more: it is compared with the fence in force */
           t[r].lock = 0;
           if :: s[me].lock == w -> s[me].over = false; s[me].lock = 0 :: else fi;
           CHECK(r)
       }
    :: atomic {                          /* the process dies in the transaction, which is rolled back */
           crashes < CRASHES ->
           crashes++;
           t[r].lock = 0;
           if :: s[me].lock == w -> s[me].lock = 0 :: else fi;
           LEAVE
       }
    fi;

again:
    /* The handler works; then it records step 1, or, if that is recorded, step 2 and the end in one batch. */
    if
    :: goto setwise
    :: goto item
    :: gives < RELEASES -> goto release
#if TOKEN
    :: !t[r].step1 -> goto token
#endif
    :: atomic { crashes < CRASHES -> crashes++; LEAVE }
    fi;
setwise:
    atomic {                             /* commit(): the set-wise statement */
        if
        :: t[r].place != GONE && (NO_fence || HOLDS(r, me, f)) && t[r].crashes == 0 && (NO_commit_lock || t[r].lock == 0) ->
           if :: !NO_commit_lock -> t[r].lock = w :: else fi;
           goto put
        :: else -> goto item
        fi
    };
item:
    atomic {                             /* _commit_item(): its lock, and the tests on the row it got */
        if
        :: t[r].place == GONE -> goto claim                      /* _missing(): lease_lost */
        :: t[r].place != GONE && t[r].lock != 0 && !NO_item_lock -> goto again      /* _missing(): busy */
        :: t[r].place != GONE && (t[r].lock == 0 || NO_item_lock) ->
           if
           :: HOLDS(r, me, f) || NO_item_fence ->
              if :: !NO_item_lock -> t[r].lock = w :: else fi;
              goto put
           :: else -> goto claim                                 /* lease_lost */
           fi
        fi
    };
release:
    atomic {                             /* _commit_item() of a release: the same lock, then what tells a repeated call */
        if
        :: t[r].place == GONE -> goto claim
        :: t[r].place != GONE && t[r].lock != 0 -> goto again
        :: t[r].place != GONE && t[r].lock == 0 ->
           if
           :: t[r].session == 0 && t[r].fence == f ->
              assert(t[r].released == f);                        /* S22: already, because this claim did it */
              goto claim
           :: HOLDS(r, me, f) && gives < RELEASES -> t[r].lock = w
           :: HOLDS(r, me, f) && gives >= RELEASES -> goto again
           :: else -> goto claim
           fi
        fi
    };
    atomic {                             /* _commit_close(): given back under the same fence; commit */
        ACCEPTED(r, me, f);
        gives++;
        t[r].place = READY;
        t[r].session = 0;
        t[r].released = f;
        t[r].lock = 0;
        CHECK(r);
        goto claim
    };
#if TOKEN
token:
    atomic {                             /* record_step(): its update waits for the row; the tests on what it returns */
        t[r].lock == 0 ->
        if
        :: t[r].place != GONE && (HOLDS(r, me, f) || NO_token_fence) -> t[r].lock = w; goto put
        :: else -> goto claim                                    /* PW005 */
        fi
    };
#endif
put:
    if
    :: atomic {                          /* the commit of a step */
           !t[r].step1 ->
           ACCEPTED(r, me, f);
           t[r].step1 = true;
           t[r].crashes = 0;                                     /* _note_progress() */
           if :: t[r].lock == w -> t[r].lock = 0 :: else fi;
           CHECK(r);
           goto again
       }
    :: atomic {                          /* the commit of a step and of the end: the row moves to pawl.run */
           t[r].step1 ->
           ACCEPTED(r, me, f);
           assert(!t[r].step2);                                  /* S4 */
           t[r].step2 = true;
           t[r].place = GONE;
           t[r].status = SUCCESS;
           t[r].ends++;
           t[r].session = 0;
           t[r].crashes = 0;
           forget_fences(r);
           if :: t[r].lock == w -> t[r].lock = 0 :: else fi;
           CHECK(r);
           goto claim
       }
    :: atomic {                          /* the process dies in the transaction */
           crashes < CRASHES ->
           crashes++;
           if :: t[r].lock == w -> t[r].lock = 0 :: else fi;
           LEAVE
       }
    fi;
out:
end_out:
    false                                /* stays: Spin ends processes in one order only, and workers are to be alike */
}

/* Take back run r from a session that is lost: _take_back(), _make_free(), and at the limit _crash_out(). */
inline take_back(r)
{
    if :: !NO_sweep_fence -> t[r].fence++ :: else fi;
    t[r].crashes++;
    assert(t[r].crashes <= crashes + expiries);                  /* S17: nothing is counted that did not happen */
    t[r].session = 0;
    t[r].lock = 0;
    if
    :: t[r].crashes >= LIMIT -> t[r].place = GONE; t[r].status = CRASHED; t[r].ends++; t[r].crashes = 0; forget_fences(r)
    :: else -> t[r].place = READY
    fi
}

/* Housekeeping, by whoever comes by: _sweep(), and _chore_workers() for what ended sessions still hold. */
#define SWEEP(k) (k <= sessions && (s[k].over || NO_sweep_lease) && !s[k].ended && s[k].lock == 0)
#define ORPHAN(r) (!NO_orphans && t[r].place == HELD && s[t[r].session].ended && t[r].lock == 0)

proctype sweeper(byte w)
{
    byte i, r;
    bool left, got[NR];

again:
    if                                   /* _sweep(): a session whose lease is over, for update skip locked */
    :: atomic { SWEEP(1) -> s[1].lock = w; i = 1 }
    :: atomic { SWEEP(2) -> s[2].lock = w; i = 2 }
    :: atomic { SWEEP(3) -> s[3].lock = w; i = 3 }
    :: atomic { SWEEP(4) -> s[4].lock = w; i = 4 }
    :: atomic { SWEEP(5) -> s[5].lock = w; i = 5 }
    :: atomic { SWEEP(6) -> s[6].lock = w; i = 6 }
    :: atomic { SWEEP(7) -> s[7].lock = w; i = 7 }
    :: atomic { ORPHAN(0) -> t[0].lock = w };          /* _chore_workers(): a held task, for update skip locked */
       atomic { take_back(0); CHECK(0); goto again }   /* commit */
#if NR > 1
    :: atomic { ORPHAN(1) -> t[1].lock = w };
       atomic { take_back(1); CHECK(1); goto again }
#endif
    :: ALL_GONE -> goto out
    fi;
    do
    :: atomic {                          /* _release_held(): the tasks it holds, for update skip locked, one by one */
           r < NR ->
           if
           :: t[r].place == HELD && t[r].session == i && t[r].lock == 0 -> t[r].lock = w; got[r] = true
           :: t[r].place == HELD && t[r].session == i && t[r].lock != 0 ->
              assert(!NO_sweep_skip_locked)                      /* a sweep waits for nobody */
           :: else
           fi;
           r++
       }
    :: r == NR -> break
    od;
    atomic {                             /* _sweep(): is a task of the session left? */
        r = 0;
        do
        :: r < NR -> left = left || (t[r].place == HELD && t[r].session == i && !got[r]); r++
        :: else -> break
        od
    };
    atomic {                             /* commit */
        r = 0;
        do
        :: r < NR && got[r] -> take_back(r); CHECK(r); got[r] = false; r++
        :: r < NR && !got[r] -> r++
        :: else -> break
        od;
        assert(s[i].over);                                       /* S17: a session that lives is left alone */
        if :: !left -> s[i].ended = true :: else fi;
        s[i].lock = 0;
        left = false;
        r = 0;
        i = 0
    };
    goto again;
out:
    skip
}

/* Time passes: the lease of a dead worker ends, that of a live one may, and a heartbeat prolongs it: one update, which
   waits for the row and then tests it. */
#define EXPIRES(k) k <= sessions && !s[k].over && !s[k].ended && (s[k].dead || expiries < EXPIRIES) -> \
                   if :: s[k].dead :: else -> expiries++ fi; s[k].over = true
#define HEARTBEAT(k) k <= sessions && !s[k].dead && s[k].over && s[k].lock == 0 && (!s[k].ended || NO_heartbeat_session) -> \
                     assert(!s[k].ended); s[k].over = false      /* S22 */

proctype clock()
{
    do
    :: ALL_GONE -> break
    :: atomic { EXPIRES(1) }
    :: atomic { EXPIRES(2) }
    :: atomic { EXPIRES(3) }
    :: atomic { EXPIRES(4) }
    :: atomic { EXPIRES(5) }
    :: atomic { EXPIRES(6) }
    :: atomic { EXPIRES(7) }
    :: atomic { HEARTBEAT(1) }
    :: atomic { HEARTBEAT(2) }
    :: atomic { HEARTBEAT(3) }
    :: atomic { HEARTBEAT(4) }
    :: atomic { HEARTBEAT(5) }
    :: atomic { HEARTBEAT(6) }
    :: atomic { HEARTBEAT(7) }
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
#if NSWEEP > 1
        run sweeper(NW + 2);
#endif
        run clock()
    }
}

/* L1, L2, L3, L6, L7, L8: whoever dies, every run ends. */
ltl live { <> ALL_GONE }
