/* SPDX-License-Identifier: Apache-2.0 */
/* A doubly linked list whose links are inside the elements, so that adding never allocates. The head of a list
 * and the link in an element have the same type. One thread at a time.
 *
 *     for (struct pw_list *at = pw_list_first(&list); at != NULL; at = pw_list_next(&list, at))
 *         use(PW_CONTAINER(at, struct thing, link));
 *
 * To remove the current element while walking, get the next element first. */
#ifndef PW_BASE_LIST_H
#define PW_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct pw_list {
    struct pw_list *prev;
    struct pw_list *next;
};

/* The element of the given type in which the link is the given member. */
#define PW_CONTAINER(link, type, member) ((type *)(void *)((char *)(link)-offsetof(type, member)))

/* For heads and for links: an empty list, or a link that is in none. */
static inline void
pw_list_init(struct pw_list *list)
{
    list->prev = list;
    list->next = list;
}

/* True for a head without elements, and for a link that is in no list. */
static inline bool
pw_list_empty(const struct pw_list *list)
{
    return list->next == list;
}

/* The link must be in no list. */
static inline void
pw_list_add_tail(struct pw_list *list, struct pw_list *link)
{
    link->prev = list->prev;
    link->next = list;
    list->prev->next = link;
    list->prev = link;
}

static inline void
pw_list_add_head(struct pw_list *list, struct pw_list *link)
{
    pw_list_add_tail(list->next, link);
}

/* Takes the link out of its list. Harmless for one that is in none. */
static inline void
pw_list_remove(struct pw_list *link)
{
    link->prev->next = link->next;
    link->next->prev = link->prev;
    pw_list_init(link);
}

/* NULL if there is none. */
static inline struct pw_list *
pw_list_first(const struct pw_list *list)
{
    return list->next == list ? NULL : list->next;
}

/* The one after link, or NULL. */
static inline struct pw_list *
pw_list_next(const struct pw_list *list, const struct pw_list *link)
{
    return link->next == list ? NULL : link->next;
}

/* Moves all elements of from to the end of list, in their order. */
static inline void
pw_list_move_all(struct pw_list *list, struct pw_list *from)
{
    if (pw_list_empty(from))
        return;
    from->next->prev = list->prev;
    list->prev->next = from->next;
    from->prev->next = list;
    list->prev = from->prev;
    pw_list_init(from);
}

#endif
