/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gate of a flow. Three steps side by side, of which one is done already, and one that joins them; tasks end well or badly,
 * the run is cancelled, forced to its end after its grace, and retried; holders die or are slow.
 *
 * A call is one transaction, each atomic block one statement of it (see fence.pml). Whoever changes the state of the flow has the
 * row of its task 0 (lock0); a claim has the task's row only. A worker is its session: holder says which one.
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
#ifndef CANCELS
#define CANCELS 1
#endif
#ifndef FAILS
#define FAILS 1
#endif
#ifndef RETRIES
#define RETRIES 0
#endif
#ifndef LATE
#define LATE 0        /* items that a worker sent and does not wait for */
#endif
/* -DNO_NAME takes guard NAME out; the names are those of tests/mutants/list. */
#ifndef NO_flow_commit_lock
#define NO_flow_commit_lock 0
#endif
#ifndef NO_flow_lock
#define NO_flow_lock 0
#endif
#ifndef NO_gate_counts
#define NO_gate_counts 0
#endif
#ifndef NO_claim_ending
#define NO_claim_ending 0
#endif
#ifndef NO_round_fence
#define NO_round_fence 0
#endif

#define NOTHING 0
#define JOIN 2        /* tasks 0 and 1 stand side by side, the third of them is done; 2 joins them */
mtype = { READY, HELD };
mtype = { SUCCESS, ERROR, CANCELLED };

typedef Task {
    mtype place;      /* NOTHING: no row */
    byte fence;
    byte holder;
    byte lock;
    bool lost;
    mtype rec;        /* the row of pawl.step */
};
Task t[3];
byte lock0;           /* who has the row of task 0 */
mtype ending;         /* of task 0: what the run is to end as */
byte gate = 2;        /* the row of pawl.gate for the join: how many are missing; 0 no row */
mtype status;         /* the row of pawl.run */
byte round = 1, ends;
bool acknowledged;    /* ghost: a cancel was answered */
byte crashes, expiries, cancels, fails, retries;
byte late_task, late_fence, late_holder, late_round, lates;

#define OVER (status != 0)
#define NO_MORE (OVER && retries == RETRIES)
#define HOLDS(k, w, f) (t[k].place == HELD && t[k].holder == w && t[k].fence == f)
#define UNLOCK(k) if :: t[k].lock == w -> t[k].lock = 0 :: else fi
#define UNLOCK0 if :: lock0 == w -> lock0 = 0 :: else fi
#define NOT_MINE(k) (t[k].lock != 0 && t[k].lock != w)

inline drop_task(k)
{
    t[k].place = NOTHING;
    t[k].holder = 0;
    t[k].lost = false;
    t[k].fence = 0
}

/* _end_run(): the run's rows move to pawl.run. */
inline end_flow(what)
{
    assert(ends == 0);                                           /* S6 */
    assert(!(acknowledged && what == SUCCESS));
    assert(what != SUCCESS || t[0].rec == SUCCESS && t[1].rec == SUCCESS && t[JOIN].rec == SUCCESS);      /* S8 */
    ends++;
    status = what;
    gate = 0;
    ending = 0
}

/* _let_end(): _drop_tasks() of what nobody holds and nobody has locked, then the end if nothing is left. */
inline let_end()
{
    if :: t[0].place == READY && !NOT_MINE(0) -> drop_task(0) :: else fi;
    if :: t[1].place == READY && !NOT_MINE(1) -> drop_task(1) :: else fi;
    if :: t[JOIN].place == READY && !NOT_MINE(JOIN) -> drop_task(JOIN) :: else fi;
    if
    :: t[0].place == NOTHING && t[1].place == NOTHING && t[JOIN].place == NOTHING -> end_flow(ending)
    :: else
    fi
}

/* _finish_task() and _advance(): g is what the statement that counts saw of the gate. Where task 0 was not locked, another may
   have changed the row since: then the update finds its row no more, and counts nothing. */
inline finish_task(k, what, g)
{
    assert(!acknowledged);                                       /* S7 */
    assert(t[k].rec == 0);                                       /* S4 */
    t[k].rec = what;
    drop_task(k);
    if
    :: ending != 0 -> let_end()
    :: ending == 0 && what == ERROR -> ending = ERROR; let_end()
    :: ending == 0 && what == SUCCESS && k == JOIN -> end_flow(SUCCESS)
    :: ending == 0 && what == SUCCESS && k != JOIN ->
       if :: gate == g && !NO_gate_counts -> gate-- :: else fi;
       if
       :: gate == 0 && g == 1 ->
          assert(t[0].rec == SUCCESS && t[1].rec == SUCCESS);    /* S18 */
          assert(t[JOIN].place == NOTHING && t[JOIN].rec == 0);
          t[JOIN].place = READY;
          t[JOIN].fence = (round - 1) * 10 * (1 - NO_round_fence)
       :: else
       fi
    fi
}

#define CLAIM(j) t[j].place == READY && t[j].lock == 0 -> t[j].lock = w; k = j
#define FORGET k = 0; f = 0; g = 0; bad = false; at = 0

proctype worker(byte w)
{
    byte k, f, g, at;
    bool bad;

claim:
    FORGET;
    if
    :: NO_MORE -> goto out
    :: atomic { CLAIM(0) }                              /* _pick() */
    :: atomic { CLAIM(1) }
    :: atomic { CLAIM(JOIN) }
    fi;
    if                                   /* _without_ending(): what task 0 says, by a statement after the lock */
    :: atomic { ending == 0 || NO_claim_ending -> assert(ending == 0) }             /* nothing new starts in a run that is to end */
    :: ending != 0 && !NO_claim_ending ->
       if                                /* _lock_flow(), then _let_end(); commit */
       :: atomic { lock0 == 0 -> lock0 = w };
          atomic { if :: ending != 0 -> let_end() :: else fi; UNLOCK(k); UNLOCK0; goto claim }
       :: atomic { lock0 != 0 -> UNLOCK(k); goto claim }
       fi
    fi;
    atomic {                             /* claim(): commit */
        t[k].place = HELD;
        t[k].holder = w;
        t[k].fence++;
        f = t[k].fence;
        at = round;
        t[k].lock = 0
    };
next:
    if
    :: atomic { crashes < CRASHES -> crashes++; if :: HOLDS(k, w, f) -> t[k].lost = true :: else fi; goto claim }
    :: goto setwise
    :: atomic { bad = false; goto item }
    :: atomic { fails < FAILS -> fails++; bad = true; goto item }
#if LATE
    :: atomic { lates < LATE && late_holder == 0 -> lates++; late_task = k; late_fence = f; late_holder = w; late_round = at; if :: HOLDS(k, w, f) -> t[k].lost = true :: else fi; goto claim }
#endif
    fi;
setwise:
    if                                   /* commit(): task 0 of flows that are not to end, for update skip locked */
    :: atomic { !OVER && ending == 0 && (lock0 == 0 || NO_flow_commit_lock) -> if :: !NO_flow_commit_lock -> lock0 = w :: else fi }
    :: atomic { OVER || ending != 0 || (lock0 != 0 && !NO_flow_commit_lock) -> goto item }
    fi;
    atomic {                             /* commit(): the set-wise statement */
        if
        :: HOLDS(k, w, f) && t[k].lock == 0 -> t[k].lock = w; goto count
        :: else -> UNLOCK0; goto item
        fi
    };
item:
    atomic {                             /* _commit_item(): the task's lock, and the tests on the row it got */
        if
        :: t[k].place == NOTHING || !HOLDS(k, w, f) -> goto claim                  /* _missing_task(), lease_lost */
        :: HOLDS(k, w, f) && t[k].lock != 0 -> goto next                  /* busy */
        :: HOLDS(k, w, f) && t[k].lock == 0 -> t[k].lock = w
        fi
    };
    if                                   /* _lock_flow() */
    :: atomic { lock0 == 0 || NO_flow_lock -> if :: !NO_flow_lock -> lock0 = w :: else fi }
    :: atomic { lock0 != 0 && !NO_flow_lock -> t[k].lock = 0; goto next }      /* busy */
    fi;
count:
    atomic {                             /* _advance(): the statement that counts */
        g = gate
    };
    atomic {                             /* commit */
        assert(HOLDS(k, w, f));                                  /* S1, S3 */
        assert(at == round);                                     /* S2: no claim of an earlier round */
        if
        :: ending == CANCELLED -> drop_task(k); let_end()
        :: ending != CANCELLED && bad -> finish_task(k, ERROR, g)
        :: ending != CANCELLED && !bad -> finish_task(k, SUCCESS, g)
        fi;
        UNLOCK(0);
        UNLOCK(1);
        UNLOCK(JOIN);
        UNLOCK0;
        goto claim
    };
out:
end_out:
    false                                /* stays: Spin ends processes in one order only, and workers are to be alike */
}

/* An item that a worker has sent and forgotten comes at any later moment, also when that worker holds the task once more. */
proctype network(byte w)
{
    byte g;

again:
    if
    :: NO_MORE -> goto out
    :: atomic { late_holder != 0 && !HOLDS(late_task, late_holder, late_fence) -> goto done }      /* lease_lost */
    :: atomic { HOLDS(late_task, late_holder, late_fence) && late_holder != 0 && t[late_task].lock == 0 -> t[late_task].lock = w }
    fi;
    if                                   /* as an item of a worker, above */
    :: atomic { lock0 == 0 -> lock0 = w }
    :: atomic { lock0 != 0 -> t[late_task].lock = 0; goto again }
    fi;
    atomic { g = gate };
    atomic {
        assert(late_round == round);                             /* S2: no claim of an earlier round */
        if
        :: ending == CANCELLED -> drop_task(late_task); let_end()
        :: ending != CANCELLED -> finish_task(late_task, SUCCESS, g)
        fi;
        UNLOCK(0); UNLOCK(1); UNLOCK(JOIN); UNLOCK0
    };
done:
    atomic { late_holder = 0; late_task = 0; late_fence = 0; late_round = 0; g = 0 };
    goto again;
out:
    skip
}

#define ALL_FREE (t[0].lock == 0 && t[1].lock == 0 && t[JOIN].lock == 0)

inline open_task(k)
{
    if
    :: t[k].rec != SUCCESS -> t[k].rec = 0; t[k].place = READY; t[k].fence = (round - 1) * 10 * (1 - NO_round_fence)
    :: else
    fi
}

/* cancel() and retry(). */
proctype operator(byte w)
{
    do
    :: atomic {                          /* _grab(): task 0 and every task, or it waits */
           cancels < CANCELS && !OVER && lock0 == 0 && ALL_FREE -> cancels++; lock0 = w; t[0].lock = w; t[1].lock = w; t[JOIN].lock = w
       };
       atomic {                          /* _begin_ending(), commit */
           if
           :: ending == 0 -> ending = CANCELLED; acknowledged = true; let_end()
           :: else
           fi;
           UNLOCK(0); UNLOCK(1); UNLOCK(JOIN); UNLOCK0
       }
    :: atomic {                          /* retry(): _open_round(), _reopen_flow() in one transaction that nobody meets */
           retries < RETRIES && OVER && status != SUCCESS ->
           retries++;
           round++;
           status = 0;
           ends = 0;
           acknowledged = false;
           gate = 2 - (t[0].rec == SUCCESS) - (t[1].rec == SUCCESS);
           t[JOIN].rec = 0;
           open_task(0);
           open_task(1);
           if :: gate == 0 -> open_task(JOIN) :: else fi
       }
    :: OVER -> break
    od;
    retries = RETRIES
}

/* Housekeeping: _sweep() of one task, and the grace of a run that is to end. */
#define SWEEP(j) t[j].place == HELD && t[j].lock == 0 && (t[j].lost || expiries < EXPIRIES) -> t[j].lock = w; k = j

proctype housekeeper(byte w)
{
    byte k;

again:
    if
    :: NO_MORE -> goto out
    :: atomic { SWEEP(0) }
    :: atomic { SWEEP(1) }
    :: atomic { SWEEP(JOIN) }
    :: atomic { ending != 0 && lock0 == 0 && ALL_FREE -> lock0 = w; t[0].lock = w; t[1].lock = w; t[JOIN].lock = w };       /* _force_end() */
       atomic {
           drop_task(0); drop_task(1); drop_task(JOIN);
           end_flow(ending);
           UNLOCK(0); UNLOCK(1); UNLOCK(JOIN); UNLOCK0;
           goto again
       }
    fi;
    if                                   /* _take_back_task(): what task 0 says */
    :: atomic {
           ending == 0 ->
           skip
       };
       atomic {                          /* _make_free(), commit */
           if :: !t[k].lost -> expiries++ :: else fi;
           t[k].fence++; t[k].place = READY; t[k].holder = 0; t[k].lost = false; t[k].lock = 0; k = 0;
           goto again
       }
    :: ending != 0 ->
       if
       :: atomic { lock0 == 0 -> lock0 = w };
          atomic {
              if :: !t[k].lost -> expiries++ :: else fi;
              if :: ending != 0 -> drop_task(k); let_end() :: else fi;
              UNLOCK(k); UNLOCK0; k = 0;
              goto again
          }
       :: atomic { lock0 != 0 -> t[k].lock = 0; k = 0; goto again }                 /* left to the next sweep */
       fi
    fi;
out:
    skip
}

init {
    atomic {
        byte n;
        t[0].place = READY;
        t[1].place = READY;
        n = 1;
        do
        :: n <= NW -> run worker(n); n++
        :: else -> break
        od;
        run operator(NW + 1);
        run housekeeper(NW + 2);
#if LATE
        run network(NW + 3)
#endif
    }
}

/* L3, L5, L8 */
ltl live { <> NO_MORE }
