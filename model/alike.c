/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workers are alike: two states that differ only in which worker is which have the same future, but for the names. model/run puts
 * this into the checker that Spin writes, for safety: a state is looked up with its workers in order, so one of up to NW! such
 * states is searched. What is searched, and a counter-example, are states as they are.
 *
 * In order means: by what a worker is at, has in its variables, and in which of the model's variables its number stands, which
 * model/list names (ALIKE here). Two workers that agree in all of it may be exchanged without any change. When a worker has ended
 * for good, a state is taken as it is.
 */
static State kept;

#define MOST_NUMBERS 16
static uchar *number[MOST_NUMBERS];
static int numbers;

static void
stands_in(uchar *variable)
{
    if (numbers == MOST_NUMBERS)
        Uerror("alike.c: MOST_NUMBERS is too small");
    number[numbers++] = variable;
}

/* What tells worker w from others; its number and its place in the state are not part of it. */
typedef struct Mark {
    P0 at;
    unsigned where;
    uchar w;
} Mark;

static int
compare(const Mark *a, const Mark *b)
{
    int order = memcmp(&a->at, &b->at, sizeof(P0));

    return order != 0 ? order : a->where < b->where ? -1 : a->where > b->where;
}

/* Brings the workers in order; returns whether that changed the state, which is in kept then. */
static int
bring_in_order(void)
{
    Mark mark[NW], one;
    uchar new_number[NW + 1];
    int i, j, moved = 0;

    if (now._nr_pr <= NW)
        return 0;
    if (numbers == 0) {
        ALIKE
    }
    for (i = 0; i < NW; i++) {
        P0 *worker = (P0 *)pptr(i + 1);

        if (worker->_t != 0 || worker->w != i + 1)
            Uerror("alike.c: workers are not the processes 1 to NW");
        mark[i].at = *worker;
        mark[i].at._pid = 0;
        mark[i].at.w = 0;
        mark[i].w = i + 1;
        mark[i].where = 0;
        for (j = 0; j < numbers; j++)
            mark[i].where |= (unsigned)(*number[j] == i + 1) << j;
    }
    for (i = 1; i < NW; i++) {
        one = mark[i];
        for (j = i; j > 0 && compare(&one, &mark[j - 1]) < 0; j--) {
            mark[j] = mark[j - 1];
            moved = 1;
        }
        mark[j] = one;
    }
    if (!moved)
        return 0;
    memcpy(&kept, &now, vsize);
    for (i = 0; i < NW; i++) {
        P0 *worker = (P0 *)pptr(i + 1);

        *worker = mark[i].at;
        worker->_pid = i + 1;
        worker->w = i + 1;
        new_number[mark[i].w] = i + 1;
    }
    for (j = 0; j < numbers; j++)
        if (*number[j] != 0 && *number[j] <= NW)
            *number[j] = new_number[*number[j]];
    return 1;
}
