/* SPDX-License-Identifier: Apache-2.0 */
/* A binary heap of points in time. */
#include "heap.h"

static void
swap(struct pw_heap *heap, size_t a, size_t b)
{
    int64_t at = heap->at[a];

    heap->at[a] = heap->at[b];
    heap->at[b] = at;
}

static void
move_up(struct pw_heap *heap, size_t place)
{
    while (place > 0 && heap->at[(place - 1) / 2] > heap->at[place]) {
        swap(heap, place, (place - 1) / 2);
        place = (place - 1) / 2;
    }
}

static void
move_down(struct pw_heap *heap)
{
    size_t place = 0;

    for (;;) {
        size_t least = place;

        for (size_t child = 2 * place + 1; child <= 2 * place + 2; child++)
            if (child < heap->count && heap->at[child] < heap->at[least])
                least = child;
        if (least == place)
            return;
        swap(heap, place, least);
        place = least;
    }
}

void
pw_heap_init(struct pw_heap *heap)
{
    heap->count = 0;
}

void
pw_heap_add(struct pw_heap *heap, int64_t at)
{
    if (heap->count == PW_HEAP_MAX) {
        /* The last place is never the earliest; which of the leaves is the latest is not worth a search. */
        if (heap->at[PW_HEAP_MAX - 1] <= at)
            return;
        heap->count--;
    }
    heap->at[heap->count] = at;
    heap->count++;
    move_up(heap, heap->count - 1);
}

int64_t
pw_heap_first(const struct pw_heap *heap)
{
    return heap->count > 0 ? heap->at[0] : INT64_MAX;
}

size_t
pw_heap_take(struct pw_heap *heap, int64_t until)
{
    size_t taken = 0;

    while (heap->count > 0 && heap->at[0] <= until) {
        heap->count--;
        heap->at[0] = heap->at[heap->count];
        move_down(heap);
        taken++;
    }
    return taken;
}
