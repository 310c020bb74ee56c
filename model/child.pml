/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Children and join. A run starts two children, waits for both and ends; it may be cancelled, and then they follow; holders of
 * any of the three die or are slow.
 *
 * A call is one transaction, each atomic block one statement of it (see fence.pml). Sessions are left to fence.pml.
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
#ifndef CANCEL
#define CANCEL 1
#endif
/* -DNO_NAME takes guard NAME out; the names are those of tests/mutants/list. */
#ifndef NO_plain
#define NO_plain 0
#endif
#ifndef NO_parent_lock
#define NO_parent_lock 0
#endif
#ifndef NO_settle_cancelled
#define NO_settle_cancelled 0
#endif
#ifndef NO_suspend_woken
#define NO_suspend_woken 0
#endif

#define NOTHING 0     /* not there yet */
mtype = { READY, WAITING, HELD, GONE };

typedef Task {        /* a row of pawl.task; 0 is the parent */
    mtype place;
    byte fence;
    byte lock;
    bool lost;        /* its holder has died */
    bool ending;      /* an acknowledged cancel */
    bool follow;      /* a row of pawl.wait: the cancel of its parent, to be passed on */
};
Task t[3];
bool woken;           /* of the parent */
bool open[3];         /* rows of pawl.wait: the parent waits for this child */
bool rec[3];          /* rows of pawl.step: what the child came to */
bool seen[3];         /* ghost: a claim was handed that */
byte crashes, expiries;

#define OVER(k) (t[k].place == GONE || t[k].place == NOTHING)
#define ALL_GONE (t[0].place == GONE && OVER(1) && OVER(2))

/* The parent's row moves to pawl.run; _cancel_children(): those it waits for are to follow. */
inline end_parent(cancelled)
{
    t[0].place = GONE;
    t[0].lost = false;
    woken = false;
    if
    :: cancelled -> t[1].follow = open[1] && t[1].place != GONE; t[2].follow = open[2] && t[2].place != GONE
    :: else -> assert(rec[1] && rec[2])                          /* S8, S18 */
    fi;
    open[1] = false;
    open[2] = false
}

/* _settle() and _make_ready(), as they appear at the commit; told is what ending was when the parent's row was read. */
inline settle(k, told)
{
    if
    :: t[0].place == GONE || !open[k]
    :: t[0].place != GONE && open[k] && told && !NO_settle_cancelled
    :: else ->
       assert(!rec[k]);                                          /* S18: counted once */
       assert(!t[0].ending);                                     /* S7 */
       rec[k] = true;
       open[k] = false;
       if
       :: t[0].place == HELD -> woken = true
       :: t[0].place == WAITING -> t[0].place = READY
       :: else
       fi
    fi
}

#define CLAIM(k) t[k].place == READY && t[k].lock == 0 -> t[k].lock = w; r = k
#define UNLOCK(k) if :: t[k].lock == w -> t[k].lock = 0 :: else fi
#define FORGET f = 0; told = false; found = false

proctype worker(byte w)
{
    byte r, f;
    bool told, found;

claim:
    r = 0;
    if
    :: ALL_GONE -> goto out
    :: atomic { CLAIM(0) }                              /* _pick() */
    :: atomic { CLAIM(1) }
    :: atomic { CLAIM(2) }
    fi;
    atomic {                             /* claim(): commit */
        t[r].place = HELD;
        t[r].fence++;
        f = t[r].fence;
        t[r].lost = false;
        t[r].lock = 0;
        if :: r == 0 -> woken = false; seen[1] = rec[1]; seen[2] = rec[2] :: else fi
    };
next:
    if
    :: atomic { crashes < CRASHES -> crashes++; if :: t[r].place == HELD && t[r].fence == f -> t[r].lost = true :: else fi; FORGET; goto claim }
    :: atomic { r > 0 && NO_plain && t[r].place == HELD && t[r].fence == f && t[r].lock == 0 -> t[r].place = GONE; FORGET; goto claim }      /* set-wise, as if it had no parent */
    :: skip
    fi;
    atomic {                             /* _commit_item(): its lock, and the tests on the row it got */
        if
        :: t[r].place != HELD || t[r].fence != f -> FORGET; goto claim             /* lease_lost */
        :: t[r].place == HELD && t[r].fence == f && t[r].lock != 0 -> goto next    /* busy */
        :: t[r].place == HELD && t[r].fence == f && t[r].lock == 0 -> t[r].lock = w
        fi
    };
    if
    :: r > 0 -> goto end_child
    :: atomic {                          /* _start_child(): the child and the wait for it; commit */
           r == 0 && !t[0].ending && t[1].place == NOTHING -> t[1].place = READY; open[1] = true; t[0].lock = 0; goto next
       }
    :: atomic {
           r == 0 && !t[0].ending && t[1].place != NOTHING && t[2].place == NOTHING -> t[2].place = READY; open[2] = true; t[0].lock = 0; goto next
       }
    :: atomic {                          /* the end, _suspend(), or the end of what was cancelled; commit */
           r == 0 && (t[0].ending || t[1].place != NOTHING && t[2].place != NOTHING) ->
           if
           :: t[0].ending -> end_parent(true)
           :: !t[0].ending && seen[1] && seen[2] -> end_parent(false)
           :: else ->
              if
              :: woken && !NO_suspend_woken -> t[0].place = READY
              :: else -> assert(open[1] || open[2]); t[0].place = WAITING
              fi;
              woken = false
           fi;
           t[0].lock = 0;
           FORGET;
           goto claim
       }
    fi;
end_child:
    if                                   /* _end_run(): the parent's row, for update skip locked */
    :: atomic { t[0].place == GONE || t[0].lock == 0 || NO_parent_lock -> told = t[0].ending; if :: !NO_parent_lock && t[0].place != GONE -> t[0].lock = w :: else fi }
    :: atomic { t[0].place != GONE && t[0].lock != 0 && !NO_parent_lock -> t[r].lock = 0; goto next }      /* busy */
    fi;
    atomic {                             /* _end_run(): the wait, by a statement after the lock */
        found = open[r]
    };
    atomic {                             /* commit; the update of the parent waits for the row, where it was not locked before */
        t[0].lock == 0 || t[0].lock == w || !found ->
        assert(t[r].place == HELD);                              /* S6 */
        t[r].place = GONE;
        t[r].follow = false;
        t[r].ending = false;
        if :: found -> settle(r, told) :: else fi;
        UNLOCK(0);
        t[r].lock = 0;
        FORGET;
        goto claim
    };
out:
end_out:
    false                                /* stays: Spin ends processes in one order only, and workers are to be alike */
}

/* Housekeeping: _sweep(), and _enforce_limits() for a cancel that is passed on. Each skips what is locked. */
#define SWEEP(k) t[k].place == HELD && t[k].lock == 0 && (t[k].lost || expiries < EXPIRIES) -> t[k].lock = w; r = k
#define FOLLOW(k) t[k].follow && !OVER(k) && t[k].lock == 0 -> t[k].lock = w; r = k

proctype housekeeper(byte w)
{
    byte r;

again:
    if
    :: ALL_GONE -> goto out
    :: atomic { SWEEP(0) }
    :: atomic { SWEEP(1) }
    :: atomic { SWEEP(2) }
    :: atomic { FOLLOW(1) }; goto follow
    :: atomic { FOLLOW(2) }; goto follow
    fi;
    atomic {                             /* _take_back(), commit; a child that was cancelled has no parent any more */
        if :: !t[r].lost -> expiries++ :: else fi;
        t[r].fence++;
        t[r].lost = false;
        if
        :: t[r].ending && r == 0 -> end_parent(true)
        :: t[r].ending && r > 0 -> assert(t[0].place == GONE); t[r].place = GONE; t[r].ending = false
        :: else -> t[r].place = READY; if :: r == 0 -> woken = false :: else fi
        fi;
        t[r].lock = 0;
        r = 0;
        goto again
    };
follow:
    atomic {                             /* _cancel_task(), commit */
        t[r].follow = false;
        assert(t[0].place == GONE);
        if
        :: t[r].place == HELD -> t[r].ending = true
        :: else -> t[r].place = GONE
        fi;
        t[r].lock = 0;
        r = 0;
        goto again
    };
out:
    skip
}

/* cancel() of the parent. */
proctype canceller(byte w)
{
    if
    :: atomic { t[0].place != GONE && t[0].lock == 0 -> t[0].lock = w };            /* _grab() */
       atomic {                          /* _cancel_task(), commit */
           t[0].ending = true;
           if :: t[0].place != HELD -> end_parent(true) :: else fi;
           t[0].lock = 0
       }
    :: t[0].place == GONE
    fi
}

init {
    atomic {
        byte n;
        t[0].place = READY;
        n = 1;
        do
        :: n <= NW -> run worker(n); n++
        :: else -> break
        od;
        run housekeeper(NW + 1);
#if CANCEL
        run canceller(NW + 2)
#endif
    }
}

/* L3, L5, L8: all three end, also when the parent was cancelled. */
ltl live { <> ALL_GONE }
/* L4: what a child came to is handed to a claim of its parent, however long the other takes. */
ltl joined { [] (rec[1] -> <> (seen[1] || t[0].place == GONE)) }
