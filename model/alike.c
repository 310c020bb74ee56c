/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workers are alike: two states that differ only in which worker is which have the same future, but for the names. model/run puts
 * this into the checker that Spin writes, for safety: a state is looked up with its workers in order, so one of up to NW! such
 * states is searched. What is searched, and a counter-example, are states as they are.
 *
 * In order means: by where a worker is, what its variables hold, and in which variables of the model its number stands; model/list
 * names those, and model/run makes ALIKE of them. Two workers that agree in all of it may be exchanged without any change.
 */
#define MOST_NUMBERS 32

/* What tells a worker from others; its number and its place in the state are no part of it. */
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

/* Fills in the marks of the workers in order; returns whether they stood otherwise. */
static int
order_workers(Mark mark[NW], uchar *const number[], int numbers)
{
    Mark one;
    int i, j, moved = 0;

    for (i = 0; i < NW; i++) {
        const P0 *worker = (const P0 *)pptr(i + 1);

        if (worker->_t != 0 || worker->w != i + 1)
            Uerror("alike.c: workers are not the processes 1 to NW");
        one.at = *worker;
        one.at._pid = 0;
        one.at.w = 0;
        one.w = i + 1;
        one.where = 0;
        for (j = 0; j < numbers; j++)
            one.where |= (unsigned)(*number[j] == i + 1) << j;
        for (j = i; j > 0 && compare(&one, &mark[j - 1]) < 0; j--) {
            mark[j] = mark[j - 1];
            moved = 1;
        }
        mark[j] = one;
    }
    return moved;
}

/* Brings the workers of the state in order. */
static void
exchange_workers(const Mark mark[NW], uchar *const number[], int numbers)
{
    uchar new_number[NW + 1];
    int i, j;

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
}

#ifdef CLASSES
/* Writes down a state that was brought in order: two hashes of 64 bits, which model/run counts. */
static void
write_class(void)
{
    unsigned long sum[2] = {1469598103934665603UL, 88172645463325252UL};
    const uchar *byte = (const uchar *)&now;
    FILE *out = fopen("classes", "ab");
    int i;

    for (i = 0; i < (int)vsize; i++) {
        sum[0] = (sum[0] ^ byte[i]) * 1099511628211UL;
        sum[1] = (sum[1] + byte[i]) * 6364136223846793005UL + 1442695040888963407UL;
        sum[1] ^= sum[1] >> 29;
    }
    if (out == NULL || fwrite(sum, sizeof(sum), 1, out) != 1 || fclose(out) != 0)
        Uerror("alike.c: cannot write classes");
}
#endif

/* Looks the state up, and leaves it as it was. Before init has started the workers there is nothing to exchange. */
static int
look_up(void)
{
    uchar *number[MOST_NUMBERS];
    Mark mark[NW];
    State kept;
    int j, numbers = 0, found;

    ALIKE;
#ifdef CLASSES
    found = h_store((char *)&now, vsize);
    if (found)
        return found;
#endif
    memcpy(&kept, &now, vsize);
    if (now._nr_pr > NW && order_workers(mark, number, numbers))
        exchange_workers(mark, number, numbers);
#ifdef CLASSES
    write_class();
#else
    found = h_store((char *)&now, vsize);
#endif
    memcpy(&now, &kept, vsize);
    return found;
}
