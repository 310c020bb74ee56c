/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Epoch after failover. A standby follows the primary at a distance; it is promoted and has lost the last commits, with the
 * numbers of sessions and the fences that were given out in them. Workers go on with what they believe. At any later moment an
 * operator raises the epoch: from then on no token of an older one is accepted.
 *
 * A call is one transaction, each atomic block one statement of it (see fence.pml). writers counts transactions that have a lock
 * on table pawl.task; raise_epoch() needs it for itself. What is under way when the primary dies is lost: its timeline is over.
 */
#ifndef NW
#define NW 3
#endif
#ifndef CRASHES
#define CRASHES 1
#endif
#define NS 6          /* numbers of sessions in one timeline; a worker that finds none left stays away */
#ifndef EARLY
#define EARLY 0       /* the epoch may be raised without a failover, too */
#endif
/* -DNO_NAME takes guard NAME out; the names are those of tests/mutants/list. */
#ifndef NO_epoch
#define NO_epoch 0
#endif
#ifndef NO_item_epoch
#define NO_item_epoch 0
#endif
#ifndef NO_token_epoch
#define NO_token_epoch 0
#endif
#ifndef NO_claim_epoch
#define NO_claim_epoch 0
#endif
#ifndef NO_session_epoch
#define NO_session_epoch 0
#endif

mtype = { READY, HELD, GONE };

typedef Database {
    byte epoch;
    byte sessions;    /* the sequence pawl.session_no */
    bool alive[12];    /* rows of pawl.worker, by epoch * NS + number */
    mtype place;      /* the row of pawl.task */
    byte fence;
    byte session;     /* epoch * NS + number + 1; 0 nobody */
    byte claim;       /* ghost: which claim that was, over all timelines */
    bool step;        /* the row of pawl.step */
};
Database d, standby, nothing;
byte lock, writers, timeline;
bool exclusive, raised;
byte claims, crashes;
bool lost[13];         /* ghost: sessions whose worker has gone */

#define EPOCH_OF(me) ((me - 1) / NS)
#define HOLDS(me, f) (d.place == HELD && d.session == me && d.fence == f)
/* The process, and with it the session, is lost; or the session is not there (any more). */
#define LEAVE me = 0; f = 0; c = 0; tl = 0; goto register
/* After the raise, what is accepted is of the epoch in force and of the claim in force. S1, S2, S3, D3. */
#define ACCEPTED if :: raised -> assert(EPOCH_OF(me) == d.epoch); assert(d.claim == c) :: else fi

inline copy(to, from)
{
    to.epoch = from.epoch;
    to.sessions = from.sessions;
    to.alive[0] = from.alive[0]; to.alive[1] = from.alive[1]; to.alive[2] = from.alive[2]; to.alive[3] = from.alive[3];
    to.alive[4] = from.alive[4]; to.alive[5] = from.alive[5]; to.alive[6] = from.alive[6]; to.alive[7] = from.alive[7];
    to.alive[8] = from.alive[8]; to.alive[9] = from.alive[9]; to.alive[10] = from.alive[10]; to.alive[11] = from.alive[11];
    to.place = from.place;
    to.fence = from.fence;
    to.session = from.session;
    to.claim = from.claim;
    to.step = from.step
}

/* Only a session that holds the run, here or on the standby, is looked up in lost[]; its number may be given out again. */
#define KNOWN(me) (d.session == me || timeline == 0 && standby.session == me)
#define CUT(tl) (tl != timeline)

proctype worker(byte w)
{
    byte me, f, c, tl;

register:
end_register:
    if
    :: d.place == GONE -> goto out
    :: atomic {                          /* register() */
           d.place != GONE && d.sessions < NS ->
           me = d.epoch * NS + d.sessions + 1;
           d.alive[me - 1] = true;
           lost[me] = false;
           d.sessions++
       }
    fi;
claim:
    f = 0;
    c = 0;
    tl = 0;                              /* read within a call only; 0 outside, so that it tells no states apart */
    if
    :: d.place == GONE -> goto out
    :: atomic { d.place != GONE && !d.alive[me - 1] -> LEAVE }                       /* _session(): PW005 */
    :: atomic { d.place != GONE && d.alive[me - 1] && EPOCH_OF(me) != d.epoch && !NO_session_epoch -> LEAVE }        /* PW012 */
    :: atomic {
           d.place != GONE && d.alive[me - 1] && (EPOCH_OF(me) == d.epoch || NO_session_epoch) ->
           assert(EPOCH_OF(me) == d.epoch);
           tl = timeline
       }
    fi;
    if                                   /* _pick(): a ready task, for update skip locked */
    :: atomic { CUT(tl) || d.place != READY || lock != 0 -> goto claim }
    :: atomic { !CUT(tl) && !exclusive && d.place == READY && lock == 0 -> writers++; lock = w }
    fi;
    if                                   /* claim(): its update, with the epoch in its condition; commit */
    :: atomic {
           !CUT(tl) && (EPOCH_OF(me) == d.epoch || NO_claim_epoch) && d.alive[me - 1] ->
           if :: raised -> assert(EPOCH_OF(me) == d.epoch) :: else fi;               /* S2 */
           d.place = HELD;
           d.session = me;
           d.fence++;
           f = d.fence;
           claims++;
           c = claims;
           d.claim = c;
           writers--;
           lock = 0;
           tl = 0
       }
    :: atomic { CUT(tl) -> goto claim }
    :: atomic { !CUT(tl) && (EPOCH_OF(me) != d.epoch && !NO_claim_epoch || !d.alive[me - 1]) -> writers--; lock = 0; goto claim }
    fi;
next:
    if
    :: atomic { crashes < CRASHES -> crashes++; lost[me] = KNOWN(me); LEAVE }
    :: atomic {                          /* commit(): the set-wise statement, fence and epoch tested where it locks */
           !exclusive ->
           tl = timeline;
           if
           :: HOLDS(me, f) && lock == 0 && (EPOCH_OF(me) == d.epoch || NO_epoch) -> writers++; lock = w; goto put
           :: else -> goto item
           fi
       }
    :: atomic {                          /* record_step(): its update, which waits for the row, and the tests */
           !exclusive && lock == 0 && !d.step ->
           tl = timeline;
           if
           :: HOLDS(me, f) && (EPOCH_OF(me) == d.epoch || NO_token_epoch) -> writers++; lock = w; goto put
           :: else -> goto claim
           fi
       }
    fi;
item:
    atomic {                             /* _commit_item(): the lock */
        !exclusive ->
        tl = timeline;
        if
        :: d.place == GONE -> goto claim
        :: d.place != GONE && lock != 0 -> tl = 0; goto next
        :: d.place != GONE && lock == 0 -> writers++; lock = w
        fi
    };
    if                                   /* _commit_item(): the epoch, by a statement after the lock; then the fence */
    :: atomic { CUT(tl) -> tl = 0; goto next }
    :: atomic { !CUT(tl) && !(HOLDS(me, f) && (EPOCH_OF(me) == d.epoch || NO_item_epoch)) -> writers--; lock = 0; goto claim }
    :: atomic { !CUT(tl) && HOLDS(me, f) && (EPOCH_OF(me) == d.epoch || NO_item_epoch) -> skip }
    fi;
put:
    if
    :: atomic { CUT(tl) -> tl = 0; goto next }
    :: atomic { !CUT(tl) && !d.step -> ACCEPTED; d.step = true; writers--; lock = 0; tl = 0; goto next }                      /* commit */
    :: atomic { !CUT(tl) && d.step -> ACCEPTED; d.place = GONE; d.session = 0; writers--; lock = 0; goto claim }
    fi;
out:
end_out:
    false                                /* stays: Spin ends processes in one order only, and workers are to be alike */
}

/* Housekeeping: _sweep() of a lost session, or of one of an older epoch. */
proctype sweeper(byte w)
{
    byte tl;

again:
    if
    :: d.place == GONE -> goto out
    :: atomic {
           d.place == HELD && lock == 0 && !exclusive && (lost[d.session] || EPOCH_OF(d.session) != d.epoch || !d.alive[d.session - 1]) ->
           tl = timeline;
           writers++;
           lock = w
       }
    fi;
    if
    :: atomic {                          /* commit */
           !CUT(tl) -> d.alive[d.session - 1] = false; d.fence++; d.place = READY; d.session = 0; writers--; lock = 0; tl = 0; goto again
       }
    :: atomic { CUT(tl) -> tl = 0; goto again }
    fi;
out:
    skip
}

/* The standby gets what is committed, some time; then the primary dies and the standby is promoted. */
proctype failover()
{
    do
    :: atomic { timeline == 0 -> copy(standby, d) }
    :: atomic {
           timeline == 0 && d.place != GONE ->
           copy(d, standby);
           copy(standby, nothing);       /* what nobody reads any more tells no states apart */
           timeline = 1;
           lock = 0;
           writers = 0;
           exclusive = false
       };
       break
    :: d.place == GONE -> break
    od
}

/* raise_epoch(): the table for itself, the update, commit. */
proctype operator()
{
    byte tl;

    if
    :: d.place == GONE -> goto out
    :: atomic { (timeline == 1 || EARLY) && writers == 0 -> exclusive = true; tl = timeline }
    fi;
    if
    :: atomic { !CUT(tl) -> d.epoch++; exclusive = false; raised = timeline == 1 || EARLY }
    :: CUT(tl)
    fi;
out:
    skip
}

init {
    atomic {
        byte n;
        d.place = READY;
        standby.place = READY;
        n = 1;
        do
        :: n <= NW -> run worker(n); n++
        :: else -> break
        od;
        run sweeper(NW + 1);
        run failover();
        run operator()
    }
}

/* L3, L8: the run ends, on whichever server. */
ltl live { <> (d.place == GONE) }
