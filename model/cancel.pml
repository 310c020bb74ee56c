/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cancel, ending and rollback. A run with a step that has an undo, a plain step and an end, good or bad; an operator cancels it,
 * with or without rollback, kills it, retries it; its time limit and the grace of a cancel end it; holders die or are slow.
 *
 * A call is one transaction, each atomic block one statement of it (see fence.pml). Sessions are left to fence.pml: who sends
 * a fence is who got it.
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
#ifndef KILLS
#define KILLS 1
#endif
#ifndef LIMITS
#define LIMITS 1      /* the run has a time limit */
#endif
#ifndef RETRIES
#define RETRIES 1
#endif
/* -DNO_NAME takes guard NAME out; the names are those of tests/mutants/list. */
#ifndef NO_plain
#define NO_plain 0
#endif
#ifndef NO_commit_lock
#define NO_commit_lock 0
#endif
#ifndef NO_item_lock
#define NO_item_lock 0
#endif
#ifndef NO_item_cancel
#define NO_item_cancel 0
#endif
#ifndef NO_token_cancel
#define NO_token_cancel 0
#endif
#ifndef NO_cancel_marks
#define NO_cancel_marks 0
#endif
#ifndef NO_kill_fence
#define NO_kill_fence 0
#endif
#ifndef NO_limit_fence
#define NO_limit_fence 0
#endif
#ifndef NO_rollback_fence
#define NO_rollback_fence 0
#endif
#ifndef NO_retry_status
#define NO_retry_status 0
#endif

mtype = { READY, HELD, GONE };
mtype = { SUCCESS, ERROR, CANCELLED };
mtype = { BEGIN, STEP, PLAIN, UNDO, COMPLETE, FAIL };

mtype place = READY;  /* the row of pawl.task */
byte fence, lock;
bool held_by_one;     /* session_id is not null */
bool lost;            /* the holder has died */
mtype ending;         /* what the run is to end as, or 0 */
byte ending_fence;    /* the claim whose failure started the rollback */
bool asked;           /* the cancel asked for a rollback */
bool rolling_back, undo, grace;
bool limit = LIMITS;  /* the time limit is there */
byte round = 1;

byte begun;           /* rows of pawl.step: 0 none, 1 RUNNING, 2 SUCCESS */
bool plain_done;
byte undone;

mtype status;         /* the row of pawl.run: 0 none */
byte run_fence;
bool run_held, rolled_back;

bool acknowledged;    /* ghost: a cancel was answered ok, or forced */
byte ends;            /* ghost: of this round */
byte closed_by;       /* ghost: the fence whose holder's own call ended the run or started its rollback */
byte crashes, expiries, cancels, kills, retries;

#define FORGET f = 0; kind = 0
/* A claim is told "already" when its own failure started the rollback. */
#define ALREADY_ROLLS_BACK assert(closed_by == f)

/* _end_run() with _write_end(), as it appears at the commit. */
inline end_run(what, with_fence)
{
    assert(place != GONE && ends == 0);                          /* S6 */
    assert(!(acknowledged && what == SUCCESS));                  /* cancel is final */
    /* S23: a run that rolled back has its undo done, unless it was killed. */
    assert(!(rolling_back && (what == ERROR || what == CANCELLED) && undone == 0) || kills > 0);
    ends++;
    place = GONE;
    status = what;
    run_fence = with_fence;
    run_held = held_by_one;
    rolled_back = rolling_back;
    held_by_one = false;
    lost = false;
    grace = false;
    ending = 0;
    ending_fence = 0;
    asked = false;
    rolling_back = false
}

/* _end_or_roll_back(), likewise. */
inline end_or_roll_back(what, roll, with_fence)
{
    if
    :: roll && undo && !rolling_back && undone == 0 ->
       ending_fence = with_fence;
       if :: NO_rollback_fence -> ending_fence = fence :: else fi;
       fence++;
       rolling_back = true;
       ending = what;
       place = READY;
       held_by_one = false;
       lost = false;
       grace = false;
       limit = false
    :: else -> end_run(what, with_fence)
    fi
}

/* S1, S3, S7: what is recorded comes from the claim in force, and after an acknowledged cancel nothing forward does. */
#define ACCEPTED(f) assert(place == HELD && held_by_one && fence == f); assert(!(acknowledged && !rolling_back))

proctype worker(byte w)
{
    byte f;
    mtype kind;
    mtype saw;                           /* without the lock: what ending was when the row was read */

claim:
    if
    :: atomic { place == GONE && retries == RETRIES -> goto out }
    :: atomic { place == READY && lock == 0 -> lock = w }        /* _pick() */
    fi;
    atomic {                             /* claim(): commit */
        place = HELD;
        held_by_one = true;
        fence++;
        f = fence;
        lock = 0
    };
next:
    /* What the handler does next: undos if the run rolls back, else its steps, and then it ends well or badly. */
    if
    :: atomic { crashes < CRASHES -> crashes++; if :: held_by_one && fence == f -> lost = true :: else fi; FORGET; goto claim }
    :: atomic { rolling_back && undone == 0 -> kind = UNDO; goto item }
    :: atomic { rolling_back && undone > 0 -> kind = COMPLETE; goto item }
    :: atomic { !rolling_back && begun == 0 && !plain_done -> kind = BEGIN; goto item }
    :: atomic { !rolling_back && begun == 1 -> kind = STEP; goto item }
    :: atomic { !rolling_back && begun != 1 && !plain_done -> kind = PLAIN; goto setwise }
    :: atomic { !rolling_back && begun != 1 && !plain_done -> kind = PLAIN; goto token }
    :: atomic { !rolling_back && plain_done -> kind = COMPLETE; goto setwise }
    :: atomic { !rolling_back -> kind = FAIL; goto item }
    fi;
setwise:
    atomic {                             /* commit(): the set-wise statement */
        if
        :: place == HELD && fence == f && (lock == 0 || NO_commit_lock) &&
           (NO_plain || !undo && !rolling_back && ending == 0 && !grace && round == 1) ->
           if :: !NO_commit_lock -> lock = w :: else fi;
           goto put
        :: else -> goto item
        fi
    };
token:
    atomic {                             /* record_step(): its update waits; the tests on the row it returns */
        lock == 0 ->
        if
        :: place == GONE || fence != f || !held_by_one -> FORGET; goto claim       /* PW005 */
        :: place != GONE && fence == f && held_by_one && ending != 0 && !rolling_back && !NO_token_cancel -> kind = FAIL; goto item      /* PW006 */
        :: else -> lock = w; goto put
        fi
    };
item:
    atomic {                             /* _commit_item(): the lock, and the tests on the row it got */
        if
        :: place == GONE ->              /* _missing() */
           if
           :: run_held && run_fence == f && (kind == COMPLETE || kind == FAIL) && (status != CANCELLED || rolled_back) &&
              !(kind == COMPLETE && status == ERROR && !rolled_back) ->
              assert(closed_by == f)                             /* already: because this claim did it */
           :: else                       /* lease_lost or cancelled */
           fi;
           FORGET;
           goto claim
        :: place != GONE && lock != 0 && !NO_item_lock -> goto next                /* busy */
        :: place != GONE && (lock == 0 || NO_item_lock) ->
           if
           :: !held_by_one && rolling_back && fence == f + 1 && (kind == COMPLETE || kind == FAIL) && ending_fence == f ->
              ALREADY_ROLLS_BACK;
              FORGET;
              goto claim
           :: else ->
              if
              :: !(held_by_one && fence == f) -> FORGET; goto claim                /* lease_lost */
              :: else -> saw = ending; if :: !NO_item_lock -> lock = w :: else fi
              fi
           fi
        fi
    };
    if
    :: atomic {                          /* the cancelled run: nothing but the item that lets go of it */
           saw != 0 && !rolling_back && !NO_item_cancel ->
           saw = 0;
           if
           :: kind == COMPLETE || kind == FAIL ->
              closed_by = f;
              end_or_roll_back(CANCELLED, asked, fence);
              if :: lock == w -> lock = 0 :: else fi;
              FORGET;
              goto claim
           :: else -> if :: lock == w -> lock = 0 :: else fi; kind = FAIL; goto item
           fi
       }
    :: saw == 0 || rolling_back || NO_item_cancel -> saw = 0
    fi;
put:
    if
    :: atomic {                          /* commit */
           if
           :: kind == BEGIN -> ACCEPTED(f); if :: begun == 0 -> begun = 1; undo = true :: else fi
           :: kind == STEP -> ACCEPTED(f); begun = 2
           :: kind == PLAIN -> ACCEPTED(f); assert(!plain_done); plain_done = true
           :: kind == UNDO ->
              ACCEPTED(f);
              assert(rolling_back && begun > 0);                 /* S23 */
              undone++;
              assert(undone == 1)                                /* S4 */
           :: kind == COMPLETE && !rolling_back -> ACCEPTED(f); closed_by = f; end_run(SUCCESS, fence)
           :: kind == COMPLETE && rolling_back -> ACCEPTED(f); closed_by = f; end_run(ending, fence)
           :: kind == FAIL && !rolling_back -> ACCEPTED(f); closed_by = f; end_or_roll_back(ERROR, true, fence)
           :: kind == FAIL && rolling_back -> assert(false)       /* an undo that fails for good is left out */
           fi;
           if :: lock == w -> lock = 0 :: else fi;
           kind = 0;
           if
           :: place == GONE || fence != f -> FORGET; goto claim
           :: else -> goto next
           fi
       }
    :: atomic {                          /* the process dies in the transaction */
           crashes < CRASHES ->
           crashes++;
           if :: lock == w -> lock = 0 :: else fi;
           if :: held_by_one && fence == f -> lost = true :: else fi;
           FORGET;
           goto claim
       }
    fi;
out:
end_out:
    false                                /* stays: Spin ends processes in one order only, and workers are to be alike */
}

/* cancel(), kill(), retry(): each waits for the row, two seconds at most. */
proctype operator(byte w)
{
    bool roll;

    do
    :: atomic {                          /* cancel(): _grab() */
           cancels < CANCELS && place != GONE && lock == 0 -> cancels++; lock = w;
           if :: roll = true :: roll = false fi
       };
       atomic {                          /* _cancel_task(), commit */
           if
           :: rolling_back || ending != 0                        /* already */
           :: !rolling_back && ending == 0 && place == HELD ->
              if :: !NO_cancel_marks -> ending = CANCELLED; asked = roll :: else fi;
              grace = true;
              acknowledged = true
           :: !rolling_back && ending == 0 && place == READY ->
              acknowledged = true;
              end_or_roll_back(CANCELLED, roll, fence)
           fi;
           lock = 0;
           roll = false
       }
    :: atomic { kills < KILLS && place != GONE && lock == 0 -> kills++; lock = w };        /* kill() */
       atomic {
           acknowledged = true;
           end_run(CANCELLED, fence + 1 - NO_kill_fence);
           lock = 0
       }
    :: atomic {                          /* retry(): _open_round(), under the lock of the run; its insert, commit */
           retries < RETRIES && place == GONE && (NO_retry_status || status != SUCCESS && undone == 0) ->
           assert(status != SUCCESS && undone == 0);             /* S6 */
           retries++;
           round++;
           place = READY;
           fence = run_fence + 1;
           status = 0;
           run_fence = 0;
           run_held = false;
           rolled_back = false;
           undo = begun > 0;
           limit = LIMITS;
           ends = 0;
           closed_by = 0;
           acknowledged = false
       }
    :: place == GONE && (retries == RETRIES || status == SUCCESS || undone > 0) -> break
    od;
    retries = RETRIES
}

/* Housekeeping: _enforce_limits() and _sweep(); both skip what is locked. */
proctype housekeeper(byte w)
{
again:
    if
    :: place == GONE && retries == RETRIES -> goto out
    :: atomic { place != GONE && lock == 0 && grace -> lock = w };                 /* the grace is over */
       atomic {
           if
           :: grace && place != GONE && ending != 0 -> end_or_roll_back(CANCELLED, asked, fence + 1 - NO_limit_fence); grace = false
           :: else -> grace = false
           fi;
           lock = 0;
           goto again
       }
    :: atomic { place != GONE && lock == 0 && limit -> lock = w };                 /* the run's time is over */
       atomic {
           limit = false;
           if
           :: rolling_back || ending != 0
           :: else -> end_or_roll_back(ERROR, true, fence + 1 - NO_limit_fence)
           fi;
           lock = 0;
           goto again
       }
    :: atomic { place == HELD && lock == 0 && (lost || expiries < EXPIRIES) -> lock = w };      /* _release_held() */
       atomic {                          /* _take_back(), commit */
           if :: !lost -> expiries++ :: else fi;
           if
           :: ending != 0 && !rolling_back -> end_or_roll_back(CANCELLED, asked, fence + 1)
           :: else -> fence++; place = READY; held_by_one = false; lost = false
           fi;
           lock = 0;
           goto again
       }
    fi;
out:
    skip
}

init {
    atomic {
        byte n;
        n = 1;
        do
        :: n <= NW -> run worker(n); n++
        :: else -> break
        od;
        run operator(NW + 1);
        run housekeeper(NW + 2)
    }
}

/* L3, L8: the run ends. L5: a cancel does, too. */
ltl live { <> (place == GONE && retries == RETRIES) }
ltl cancelled { [] (acknowledged -> <> (place == GONE || !acknowledged)) }
