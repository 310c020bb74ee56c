/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wait, event, signal and timeout. Runs wait for an event on one topic and key and, in a second branch, for a signal or
 * for another event; emitters, a sender of signals, timeouts, a cancel and a sweep come at any moment.
 *
 * A call is one transaction, each atomic block one statement of it (see fence.pml). Emitters and senders of signals may be in a
 * transaction of REPEATABLE READ: then they see what was committed when it began, and fail with 40001 where a row that they
 * change has changed since. Sessions are left to fence.pml; here the fence alone tells claims apart.
 */
#ifndef NW
#define NW 2          /* workers */
#endif
#ifndef NR
#define NR 1          /* runs that wait on the topic */
#endif
#ifndef NE
#define NE 1          /* events */
#endif
#ifndef SECOND
#define SECOND 1      /* the second branch waits for: 0 nothing, there is none; 1 a signal; 2 an event */
#endif
#ifndef SIGNALS
#define SIGNALS 1
#endif
#ifndef TIMEOUTS
#define TIMEOUTS 1    /* waits have a timeout */
#endif
#ifndef CANCEL
#define CANCEL 0
#endif
#ifndef FLOW
#define FLOW 0        /* what waits is a task of a flow: signals come to the row of its run */
#endif
#ifndef CRASHES
#define CRASHES 1
#endif
#ifndef EXPIRIES
#define EXPIRIES 1
#endif
#ifndef MOST
#define MOST 2        /* waits that one emit settles; housekeeping gives the event to the others */
#endif
/* -DNO_NAME takes guard NAME out; the names are those of tests/mutants/list. */
#ifndef NO_meet_lock
#define NO_meet_lock 0
#endif
#ifndef NO_meet_update
#define NO_meet_update 0
#endif
#ifndef NO_wait_looks_back
#define NO_wait_looks_back 0
#endif
#ifndef NO_emit_update
#define NO_emit_update 0
#endif
#ifndef NO_emit_looks_later
#define NO_emit_looks_later 0
#endif
#ifndef NO_deliver_once
#define NO_deliver_once 0
#endif
#ifndef NO_deliver_recheck
#define NO_deliver_recheck 0
#endif
#ifndef NO_signal_update
#define NO_signal_update 0
#endif
#ifndef NO_signal_recheck
#define NO_signal_recheck 0
#endif
#ifndef NO_signal_meets_flow
#define NO_signal_meets_flow 0
#endif
#ifndef NO_settle_cancelled
#define NO_settle_cancelled 0
#endif
#ifndef NO_suspend_woken
#define NO_suspend_woken 0
#endif

mtype = { READY, WAITING, HELD, GONE };
#define NONE 0        /* no record */
mtype = { MATCHED, TIMED_OUT };

#define NBRANCH (SECOND > 0 -> 2 : 1)
#define EVENT_WAIT(i) (i == 0 || SECOND == 2)

typedef Run {         /* a row of pawl.task with its waits and records */
    mtype place = READY;
    byte fence;
    byte lock;
    byte above;       /* of a flow: who has the row of task 0 */
    bool woken;
    bool ending;      /* an acknowledged cancel; the holder is told */
    bool lost;        /* its holder has died */
    bool open[2];     /* rows of pawl.wait */
    bool late[2];     /* their time is over */
    mtype rec[2];     /* rows of pawl.step */
    byte source[2];   /* the event, from 1 */
    bool seen[2];     /* ghost: a claim has been handed the record */
    byte signals;     /* rows of pawl.signal */
};
Run t[NR];
bool topic;           /* the row of pawl.topic exists */
byte topic_lock;
byte name_lock;       /* the key of the row that is being made */
bool event[NE + 1];   /* rows of pawl.event */
bool more[NE + 1];    /* rows of pawl.delivery */
bool topic_changed[NE + 1];    /* for an emitter of REPEATABLE READ: since its snapshot */
bool run_changed[2 * NE + 4];   /* by CHANGED(emitter, run); NE + 1 is the sender of signals */
#define CHANGED(e, r) run_changed[2 * (e) + (r)]
byte crashes, expiries;

#define ALL_GONE (t[0].place == GONE && t[NR - 1].place == GONE)
#define TAKEN(r, e) (t[r].source[0] == e || t[r].source[1] == e)
/* An event that run r could take, or 0; the earliest first. */
#define FOUND(r) (event[1] && !TAKEN(r, 1) -> 1 : (NE > 1 && event[NE] && !TAKEN(r, NE) -> NE : 0))

/* Read in a transaction of REPEATABLE READ only; outside of one they stay true, so that they tell no states apart. */
inline touch(r)
{
    CHANGED(1, r) = true;
    CHANGED(NE, r) = true;
    CHANGED(NE + 1, r) = true
}

/* S7, S14: a wait ends once, as one thing, and not after an acknowledged cancel. */
inline put_record(r, i, what, from)
{
    assert(t[r].rec[i] == NONE);
    assert(!t[r].ending);
    assert(t[r].place != GONE);
    assert(from == 0 || !TAKEN(r, from));                        /* a run takes an event once */
    t[r].rec[i] = what;
    t[r].source[i] = from;
    t[r].open[i] = false;
    t[r].late[i] = false
}

/* _settle() and _make_ready(), as they appear when the transaction commits; its caller has the row. */
inline settle(r, i, from)
{
    if
    :: t[r].place == GONE || !t[r].open[i]                       /* its delete found nothing */
    :: t[r].place != GONE && t[r].open[i] && t[r].ending && !NO_settle_cancelled
    :: else ->
       put_record(r, i, MATCHED, from);
       if
       :: t[r].place == HELD -> t[r].woken = true
       :: t[r].place == WAITING -> t[r].place = READY
       :: else
       fi;
       touch(r)
    fi
}

/* Nobody reads these of a run that is gone: whoever comes tests that first. So states that differ in them only are one. */
inline forget(r)
{
    t[r].late[0] = false;
    t[r].late[1] = false;
    t[r].rec[0] = NONE;
    t[r].rec[1] = NONE;
    t[r].source[0] = 0;
    t[r].source[1] = 0;
    t[r].seen[0] = false;
    t[r].seen[1] = false;
    t[r].signals = 0;
    t[r].fence = 0;
    t[r].ending = false
}

inline end_run(r)
{
    t[r].place = GONE;
    t[r].open[0] = false;
    t[r].open[1] = false;
    t[r].woken = false;
    t[r].lock = 0;
    forget(r);
    touch(r)
}

/* S13, checked whenever somebody who came to the topic lets go of it: no event lies beside a wait that could have it. */
#define MET(r, i) (!(t[r].place != GONE && t[r].open[i] && EVENT_WAIT(i) && !t[r].ending && FOUND(r) != 0) || more[1] || more[NE])

proctype worker(byte w)
{
    byte r, f, i, from;

claim:
    r = 0;
    f = 0;
    i = 0;
    from = 0;
    if
    :: ALL_GONE -> goto out
    :: atomic { t[0].place == READY && t[0].lock == 0 -> t[0].lock = w; r = 0 }     /* _pick() */
#if NR > 1
    :: atomic { t[1].place == READY && t[1].lock == 0 -> t[1].lock = w; r = 1 }
#endif
    fi;
    atomic {                             /* claim(): _settle_due(), the update, commit; the run's row keeps others away */
        do
        :: i < 2 && t[r].open[i] && t[r].late[i] -> put_record(r, i, TIMED_OUT, 0); i++
        :: i < 2 && !(t[r].open[i] && t[r].late[i]) -> i++
        :: else -> break
        od;
        t[r].seen[0] = t[r].rec[0] != NONE;
        t[r].seen[1] = t[r].rec[1] != NONE;
        t[r].place = HELD;
        t[r].woken = false;
        t[r].fence++;
        f = t[r].fence;
        t[r].lost = false;
        t[r].lock = 0;
        touch(r);
        i = 0
    };
next:
    /* The handler goes through its branches; a wait that is open already is left so. */
    if
    :: atomic { crashes < CRASHES -> crashes++; if :: t[r].place == HELD && t[r].fence == f -> t[r].lost = true :: else fi; goto claim }
    :: atomic { i < NBRANCH && (t[r].rec[i] != NONE || t[r].open[i]) -> i++; goto next }
    :: i < NBRANCH && t[r].rec[i] == NONE && !t[r].open[i]
    :: i == NBRANCH -> goto suspend
    fi;
    atomic {                             /* _commit_item(): its lock, and the tests on the row it got */
        if
        :: t[r].place == GONE || t[r].fence != f -> goto claim                     /* lease_lost */
        :: t[r].place != GONE && t[r].fence == f && t[r].lock != 0 -> goto next    /* busy */
        :: t[r].place != GONE && t[r].fence == f && t[r].lock == 0 && t[r].ending -> goto suspend      /* cancelled */
        :: t[r].place != GONE && t[r].fence == f && t[r].lock == 0 && !t[r].ending -> t[r].lock = w
        fi
    };
    if
    :: EVENT_WAIT(i) -> skip
    :: !EVENT_WAIT(i) -> goto for_signal
    fi;
    /* _wait_event(), _meet(): */
    if
    :: atomic { topic && topic_lock == 0 -> topic_lock = w; goto look_back }        /* the row, for update skip locked; its update */
    :: atomic { topic && topic_lock != 0 -> assert(!NO_meet_lock); t[r].lock = 0; goto next }     /* busy: a commit waits for nobody */
    :: !topic
    fi;
    if                                   /* no row: its insert, under a lock of its own */
    :: atomic { name_lock == 0 && !topic -> name_lock = w; topic_lock = w }
    :: atomic { name_lock == 0 && topic -> t[r].lock = 0; goto next }               /* the insert came too late: busy */
    :: atomic { name_lock != 0 -> t[r].lock = 0; goto next }                        /* busy */
    fi;
look_back:
    atomic {                             /* _find_event(), a statement after the meeting */
        from = (NO_wait_looks_back -> 0 : FOUND(r))
    };
    atomic {                             /* commit: the record, or the open wait */
        if
        :: from != 0 -> put_record(r, i, MATCHED, from); t[r].seen[i] = true
        :: else -> t[r].open[i] = true; t[r].late[i] = false
        fi;
        if
        :: topic && NO_meet_update
        :: else -> topic_changed[1] = true; topic_changed[NE] = true
        fi;
        topic = true;
        if :: topic_lock == w -> topic_lock = 0 :: else fi;
        if :: name_lock == w -> name_lock = 0 :: else fi;
        t[r].lock = 0;
        touch(r);
        assert(MET(r, i));
        from = 0;
        goto next
    };
for_signal:
#if FLOW
    if                                   /* _wait_signal(): the row of the run, for update skip locked */
    :: atomic { t[r].above == 0 || NO_signal_meets_flow -> if :: !NO_signal_meets_flow -> t[r].above = w :: else fi }
    :: atomic { t[r].above != 0 && !NO_signal_meets_flow -> t[r].lock = 0; goto next }     /* busy */
    fi;
#endif
    atomic {                             /* _wait_signal(): deletes the oldest signal, if there is one */
        from = t[r].signals
    };
    atomic {                             /* commit */
        if
        :: from > 0 -> t[r].signals--; put_record(r, i, MATCHED, 0); t[r].seen[i] = true
        :: else -> t[r].open[i] = true; t[r].late[i] = false; assert(t[r].signals == 0)       /* S13 */
        fi;
        if :: t[r].above == w -> t[r].above = 0 :: else fi;
        t[r].lock = 0;
        touch(r);
        from = 0;
        goto next
    };
suspend:
    atomic {                             /* _commit_item() of the item that lets go: lock and tests */
        if
        :: t[r].place == GONE || t[r].fence != f -> goto claim
        :: t[r].place != GONE && t[r].fence == f && t[r].lock != 0 -> goto next
        :: t[r].place != GONE && t[r].fence == f && t[r].lock == 0 -> t[r].lock = w
        fi
    };
    atomic {                             /* _suspend(), _complete() or the end of what was cancelled; commit */
        if
        :: t[r].ending -> end_run(r)
        :: !t[r].ending && t[r].seen[0] && (NBRANCH == 1 || t[r].seen[1]) -> end_run(r)
        :: else ->
           if
           :: t[r].woken && !NO_suspend_woken -> t[r].place = READY
           :: else -> assert(t[r].open[0] || t[r].open[1]); t[r].place = WAITING
           fi;
           t[r].woken = false;
           t[r].lock = 0;
           touch(r)
        fi
    };
    goto claim;
out:
end_out:
    false                                /* stays: Spin ends processes in one order only, and workers are to be alike */
}

/* emit(). An emitter of REPEATABLE READ remembers the waits of its snapshot; what fails with 40001 is called again. */
proctype emitter(byte e, w)
{
    bool rr, see[4], got[4];
    byte x, n;

begin:
    if
    :: atomic {
           rr = true;
           topic_changed[e] = false;
           CHANGED(e, 0) = false;
           CHANGED(e, NR - 1) = false;
           see[0] = t[0].open[0];
           see[1] = t[0].open[1] && SECOND == 2;
           see[2] = t[NR - 1].open[0] && NR > 1;
           see[3] = t[NR - 1].open[1] && SECOND == 2 && NR > 1
       }
    :: rr = false
    fi;
#if NO_emit_looks_later
    if
    :: atomic { !rr -> see[0] = t[0].open[0]; see[1] = t[0].open[1] && SECOND == 2; see[2] = t[NR - 1].open[0] && NR > 1; see[3] = t[NR - 1].open[1] && SECOND == 2 && NR > 1 }
    :: rr
    fi;
#endif
    /* _meet_waits(): */
    if
    :: atomic { topic && NO_emit_update -> goto met }
    :: atomic { topic && !NO_emit_update && topic_lock == 0 && !(rr && topic_changed[e]) -> topic_lock = w; goto met }     /* its update, which waits */
    :: atomic { topic && !NO_emit_update && topic_lock == 0 && rr && topic_changed[e] -> goto failed }
    :: !topic
    fi;
    atomic { name_lock == 0 -> name_lock = w };        /* its insert waits for another one of the same key */
    atomic {                             /* its insert, or the update of a row that was made meanwhile */
        topic_lock == 0 ->
        if
        :: topic && rr -> name_lock = 0; goto failed
        :: else -> topic_lock = w
        fi
    };
met:
    /* The insert into pawl.event; nobody sees it before the commit. _deliver(): the waits, by a statement after the meeting. */
#if !NO_emit_looks_later
    if
    :: atomic { !rr -> see[0] = t[0].open[0]; see[1] = t[0].open[1] && SECOND == 2; see[2] = t[NR - 1].open[0] && NR > 1; see[3] = t[NR - 1].open[1] && SECOND == 2 && NR > 1 }
    :: rr
    fi;
#endif
    do
    :: atomic { x < 4 && (!see[x] || n == MOST) -> x++ }
    :: atomic {                          /* the task, for update, which waits */
           x < 4 && see[x] && n < MOST && (t[x / 2].lock == 0 || t[x / 2].lock == w) ->
           if
           :: rr && CHANGED(e, x / 2) && t[x / 2].lock != w -> goto failed
           :: else -> t[x / 2].lock = w; n++
           fi
       };
       atomic {                          /* the wait still there, the event not taken: statements under the lock */
           got[x] = NO_deliver_once || (t[x / 2].place != GONE && t[x / 2].open[x % 2] && !TAKEN(x / 2, e) && !(x % 2 == 1 && got[x - 1]));
           x++
       }
    :: x == 4 -> break
    od;
    atomic {                             /* commit */
        event[e] = true;
        topic = true;
        more[e] = n == MOST;
        x = 0;
        do
        :: x < 4 && got[x] -> settle(x / 2, x % 2, e); x++
        :: x < 4 && !got[x] -> x++
        :: else -> break
        od;
        topic_changed[1] = true;
        topic_changed[NE] = true;
        if :: topic_lock == w -> topic_lock = 0 :: else fi;
        if :: name_lock == w -> name_lock = 0 :: else fi;
        if :: t[0].lock == w -> t[0].lock = 0 :: else fi;
        if :: t[NR - 1].lock == w -> t[NR - 1].lock = 0 :: else fi;
        assert(MET(0, 0) && MET(0, 1) && MET(NR - 1, 0) && MET(NR - 1, 1));
        CHANGED(e, 0) = true;
        CHANGED(e, NR - 1) = true;
        x = 0; n = 0; rr = false;
        see[0] = false; see[1] = false; see[2] = false; see[3] = false;
        got[0] = false; got[1] = false; got[2] = false; got[3] = false;
        goto out
    };
failed:
    atomic {                             /* 40001: all is undone, and the caller begins anew */
        if :: topic_lock == w -> topic_lock = 0 :: else fi;
        if :: name_lock == w -> name_lock = 0 :: else fi;
        if :: t[0].lock == w -> t[0].lock = 0 :: else fi;
        if :: t[NR - 1].lock == w -> t[NR - 1].lock = 0 :: else fi;
        topic_changed[e] = true;
        CHANGED(e, 0) = true;
        CHANGED(e, NR - 1) = true;
        x = 0; n = 0; rr = false;
        see[0] = false; see[1] = false; see[2] = false; see[3] = false;
        got[0] = false; got[1] = false; got[2] = false; got[3] = false;
        goto begin
    };
out:
    skip
}

/* signal() to run 0. */
proctype sender(byte w)
{
    bool rr, found;

begin:
    if
    :: atomic { rr = true; CHANGED(NE + 1, 0) = false; found = t[0].open[1] }
    :: rr = false
    fi;
#if FLOW
    atomic {                             /* _reach_run(): an update of task 0, which waits */
        t[0].above == 0 || NO_signal_update ->
        if :: !NO_signal_update -> t[0].above = w :: else fi;
        rr = false                       /* the row of a flow's run changes with each of its tasks: left out */
    };
#else
    atomic {
        t[0].lock == 0 || NO_signal_update ->
        if
        :: rr && CHANGED(NE + 1, 0) && !NO_signal_update -> rr = false; goto begin      /* 40001 */
        :: else -> if :: !NO_signal_update -> t[0].lock = w :: else fi
        fi
    };
#endif
    atomic {                             /* _signal(): the wait, by a statement after that */
        if
        :: t[0].place == GONE || t[0].ending -> goto ended                         /* PW007, PW006 */
        :: else -> if :: !rr -> found = t[0].open[1] :: else fi
        fi
    };
#if FLOW
    if
    :: atomic {                          /* the task that waits, for update; then, once more, the wait */
           found && t[0].lock == 0 ->
           t[0].lock = w;
           found = NO_signal_recheck || t[0].open[1]
       }
    :: !found
    fi;
#endif
    atomic {                             /* commit: settled, or stored */
        if
        :: found ->
           settle(0, 1, 0);
           assert(t[0].place == GONE || t[0].ending || t[0].rec[1] == MATCHED)     /* S13: taken is what it says */
        :: else -> t[0].signals++; touch(0); assert(!t[0].open[1] || t[0].place == GONE)       /* S13 */
        fi
    };
ended:
    atomic {
        if :: t[0].lock == w -> t[0].lock = 0 :: else fi;
        if :: t[0].above == w -> t[0].above = 0 :: else fi;
        CHANGED(NE + 1, 0) = true;
        found = false;
        rr = false
    }
}

/* Housekeeping: _promote(), _sweep() of a lost or slow holder, _deliver_more(). Each skips what is locked. */
#define PROMOTE(r) t[r].place == WAITING && t[r].lock == 0 && (t[r].open[0] && t[r].late[0] || t[r].open[1] && t[r].late[1])
#define SWEEP(r) t[r].place == HELD && t[r].lock == 0 && (t[r].lost || expiries < EXPIRIES)

proctype housekeeper(byte w)
{
    byte r, x, e;
    bool passed_over, see[4];

again:
    if
    :: ALL_GONE -> goto out
    :: atomic { PROMOTE(0) -> t[0].place = READY; touch(0); goto again }           /* one statement, lock and update */
    :: atomic { SWEEP(0) -> t[0].lock = w; r = 0 }
#if NR > 1
    :: atomic { PROMOTE(1) -> t[1].place = READY; touch(1); goto again }
    :: atomic { SWEEP(1) -> t[1].lock = w; r = 1 }
#endif
#if MOST < 2 * NR
    :: atomic {                          /* _deliver_more(): the waits */
           more[1] || more[NE] ->
           if :: more[1] -> e = 1 :: more[NE] -> e = NE fi;
           see[0] = t[0].open[0]; see[1] = t[0].open[1] && SECOND == 2;
           see[2] = t[NR - 1].open[0] && NR > 1; see[3] = t[NR - 1].open[1] && SECOND == 2 && NR > 1
       };
       goto deliver
#endif
    fi;
    atomic {                             /* _take_back(), commit */
        if :: !t[r].lost -> expiries++ :: else fi;
        t[r].fence++;
        t[r].woken = false;
        t[r].lost = false;
        if
        :: t[r].ending -> end_run(r)
        :: else -> t[r].place = READY; t[r].lock = 0; touch(r)
        fi;
        r = 0;
        goto again
    };
#if MOST < 2 * NR
deliver:
    do
    :: atomic { x < 4 && !see[x] -> x++ }
    :: atomic {                          /* the task, for update skip locked; the tests under the lock; the commit */
           x < 4 && see[x] ->
           if
           :: t[x / 2].lock != 0 -> passed_over = true
           :: t[x / 2].lock == 0 && (NO_deliver_recheck || (t[x / 2].open[x % 2] && !TAKEN(x / 2, e))) -> settle(x / 2, x % 2, e)
           :: else
           fi;
           x++
       }
    :: x == 4 -> break
    od;
    atomic {
        more[e] = passed_over;
        passed_over = false;
        see[0] = false; see[1] = false; see[2] = false; see[3] = false;
        x = 0;
        e = 0;
        goto again
    };
#endif
out:
    skip
}

/* Time passes: a wait's time is over at any moment after it was opened. */
proctype clock()
{
    do
    :: ALL_GONE -> break
    :: atomic { t[0].open[0] && !t[0].late[0] && t[0].place != GONE -> t[0].late[0] = true }
    :: atomic { t[0].open[1] && !t[0].late[1] && t[0].place != GONE -> t[0].late[1] = true }
#if NR > 1
    :: atomic { t[1].open[0] && !t[1].late[0] && t[1].place != GONE -> t[1].late[0] = true }
    :: atomic { t[1].open[1] && !t[1].late[1] && t[1].place != GONE -> t[1].late[1] = true }
#endif
    od
}

/* cancel() of run 0: _grab(), then _cancel_task(). */
proctype canceller(byte w)
{
    if
    :: atomic { t[0].lock == 0 && t[0].place != GONE -> t[0].lock = w };
       atomic {                          /* commit */
           if
           :: t[0].place == HELD -> t[0].ending = true; t[0].lock = 0; touch(0)
           :: else -> t[0].ending = true; end_run(0)
           fi
       }
    :: t[0].place == GONE
    fi
}

init {
    atomic {
        byte n;
        topic_changed[1] = true;
        topic_changed[NE] = true;
        touch(0);
        touch(NR - 1);
        n = 1;
        do
        :: n <= NW -> run worker(n); n++
        :: else -> break
        od;
        run emitter(1, NW + 1);
#if NE > 1
        run emitter(NE, NW + 2);
#endif
        run housekeeper(NW + 3);
#if SECOND == 1 && SIGNALS
        run sender(NW + 4);
#endif
#if TIMEOUTS
        run clock();
#endif
#if CANCEL
        run canceller(NW + 5)
#endif
    }
}

/* L3, L8: with every event emitted, and every signal sent or timed out, runs end. */
ltl live { <> ALL_GONE }
/* L4: a branch whose wait was matched goes on, whatever the others wait for. */
ltl woken { [] (t[0].rec[0] == MATCHED -> <> (t[0].seen[0] || t[0].place == GONE)) }
