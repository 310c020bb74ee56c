/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ringing. Producers trigger a run each, and decide at their commit whether to notify a worker. Workers rest, listen, look again, and pass on
 * what they leave; each executes one run at a time, perhaps without an end. Nobody polls.
 *
 * Time is in the model as far as the engine relies on it. A worker looks for the last time 150 ms after it was notified, or came to rest; a
 * transaction commits earlier than that after its decision (must). A notification counts as recent for 2 ms, and the worker that got it looks
 * later than that.
 */
#ifndef NW
#define NW 2
#endif
#ifndef PRODUCERS
#define PRODUCERS 2
#endif
/* -DNO_NAME takes guard NAME out; rest_looks and pass_on_full are those of tests/mutants/list_c. */
#ifndef NO_ring_at_commit
#define NO_ring_at_commit 0
#endif
#ifndef NO_rest_looks
#define NO_rest_looks 0
#endif
#ifndef NO_pass_on_full
#define NO_pass_on_full 0
#endif

#define NOBODY 255

byte ready;           /* rows of pawl.task: committed, and not claimed */
bool marked[NW];      /* worker.listens */
bool heard[NW];       /* its backend listens */
bool hint[NW];        /* a notification that it has not read */
bool asleep[NW];      /* ghost: nothing but a notification or a poll can wake it */
byte must[NW];        /* transactions, by bits, that have decided to notify nobody, and commit before its last look */
byte bell = NOBODY;   /* whom the transaction notifies that has locked the row of bell */
byte recent = NOBODY; /* bell_clock: who was notified within 2 ms */
byte done;            /* producers that are through */

/* forget(): no session listens, so whoever comes to rest later looks later than the commit. */
#if NW > 2
#define marked_any (marked[0] || marked[1] || marked[2])
#define others_marked(w) ((w != 0 && marked[0]) || (w != 1 && marked[1]) || (w != 2 && marked[2]))
#define any_asleep (asleep[0] || asleep[1] || asleep[2])
#define forget(p) must[0] = must[0] | (1 << p); must[1] = must[1] | (1 << p); must[2] = must[2] | (1 << p)
#define committed(p) must[0] = must[0] & ~(1 << p); must[1] = must[1] & ~(1 << p); must[2] = must[2] & ~(1 << p)
#else
#define marked_any (marked[0] || marked[1])
#define others_marked(w) ((w != 0 && marked[0]) || (w != 1 && marked[1]))
#define any_asleep (asleep[0] || asleep[1])
#define forget(p) must[0] = must[0] | (1 << p); must[1] = must[1] | (1 << p)
#define committed(p) must[0] = must[0] & ~(1 << p); must[1] = must[1] & ~(1 << p)
#endif

/* _ring(): to is a session that listens, or NOBODY. */
inline decide(p, to)
{
    if
    :: recent != NOBODY -> must[recent] = must[recent] | (1 << p); to = NOBODY
    :: recent == NOBODY && bell != NOBODY && marked_any -> must[bell] = must[bell] | (1 << p); to = NOBODY
    :: recent == NOBODY && !marked_any -> forget(p); to = NOBODY
    :: recent == NOBODY && bell == NOBODY && marked[0] -> to = 0; bell = 0; recent = 0
    :: recent == NOBODY && bell == NOBODY && marked[1] -> to = 1; bell = 1; recent = 1
#if NW > 2
    :: recent == NOBODY && bell == NOBODY && marked[2] -> to = 2; bell = 2; recent = 2
#endif
    fi
}

proctype producer(byte p)
{
    byte to = NOBODY;

#if NO_ring_at_commit
    atomic { decide(p, to); committed(p) };  /* at the statement; the transaction may stay open for as long as it likes */
    skip;
#else
    atomic { decide(p, to) };                /* the deferred trigger; commit follows */
#endif
    atomic {                                 /* commit */
        ready++;
        if
        :: to != NOBODY -> hint[to] = hint[to] || heard[to]; bell = NOBODY
        :: else
        fi;
        committed(p);
        done++;
        to = NOBODY
    }
}

/* pass_on(): notifies another session that listens, if a run is ready; a transaction that writes nothing. */
inline pass_on(w)
{
    if
    :: ready > 0 && w != 0 && marked[0] -> hint[0] = hint[0] || heard[0]; recent = 0
    :: ready > 0 && w != 1 && marked[1] -> hint[1] = hint[1] || heard[1]; recent = 1
#if NW > 2
    :: ready > 0 && w != 2 && marked[2] -> hint[2] = hint[2] || heard[2]; recent = 2
#endif
    :: ready == 0 || !others_marked(w)
    fi
}

/* The 2 ms are over. The worker that was notified looks later, if it lives. */
active proctype clock()
{
end:
    do
    :: atomic { recent != NOBODY -> recent = NOBODY }
    od
}

/* May look for the last time. */
#define LATE(w) (must[w] == 0 && recent != w)

proctype worker(byte w)
{
    bool looks;                              /* the last look is to come */

claim:
    atomic {                                 /* claim(): a run, or nothing; a session that gets one rests no more */
        looks = (looks || hint[w]) && !NO_rest_looks;
        hint[w] = false;
        if
        :: ready > 0 -> ready--; looks = looks || marked[w]; marked[w] = false; goto execute
        :: ready == 0 && !marked[w] -> goto rest
        :: ready == 0 && marked[w]
        fi
    };
    if
    :: hint[w] -> goto claim
    :: atomic { looks && LATE(w) -> looks = false; goto claim }
    :: atomic { !looks && !hint[w] -> asleep[w] = true };
end_sleep:
       atomic { hint[w] -> asleep[w] = false; goto claim }
    fi;
rest:
    marked[w] = true;                        /* rest(): commit */
    looks = !NO_rest_looks;
    heard[w] = true;                         /* LISTEN */
    goto claim;
execute:
    if
    :: looks -> atomic { pass_on(w) }
    :: else
    fi;
    if
    :: goto claim                            /* the run ends */
    :: goto end_full                         /* it does not: the worker has no place, and only passes on */
    fi;
end_full:
    if
    :: atomic { hint[w] && !NO_pass_on_full -> hint[w] = false; looks = true; pass_on(w) }
    :: atomic { !hint[w] && looks && LATE(w) && !NO_pass_on_full -> looks = false; pass_on(w) }
    fi;
    goto end_full
}

/* When nothing can happen any more, no run is ready while a worker sleeps. */
active proctype check()
{
end:
    if
    :: timeout -> assert(done == PRODUCERS); assert(ready == 0 || !any_asleep)
    fi
}

init
{
    byte i;

    atomic {
        for (i : 0 .. NW - 1) { run worker(i) };
        for (i : 0 .. PRODUCERS - 1) { run producer(i) };
        i = 0
    }
}
