/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Intrusive doubly linked list: a `struct list` embedded in each element and one as the head.
 * Not thread safe; whoever owns the head owns the links of all elements.
 */
#ifndef BASE_LIST_H
#define BASE_LIST_H

#include <stdbool.h>

#include "base/alloc.h"

struct list {
	struct list *prev;
	struct list *next;
};

static inline void list_init(struct list *list)
{
	list->prev = list;
	list->next = list;
}

static inline bool list_is_empty(const struct list *head)
{
	return head->next == head;
}

/* Puts elem behind the last element. */
static inline void list_append(struct list *head, struct list *elem)
{
	elem->prev = head->prev;
	elem->next = head;
	head->prev->next = elem;
	head->prev = elem;
}

/* Puts elem before the first element. */
static inline void list_prepend(struct list *head, struct list *elem)
{
	list_append(head->next, elem);
}

/* Takes elem out of whatever list it is in; harmless when it is initialised but in none. */
static inline void list_remove(struct list *elem)
{
	elem->prev->next = elem->next;
	elem->next->prev = elem->prev;
	list_init(elem);
}

/* Walks the list; the _safe form allows `pos` to be removed (and freed) inside the body. */
#define list_for_each(pos, head, member)                                                           \
	for (pos = container_of((head)->next, __typeof__(*pos), member); &pos->member != (head);   \
		pos = container_of(pos->member.next, __typeof__(*pos), member))

#define list_for_each_safe(pos, tmp, head, member)                                                 \
	for (pos = container_of((head)->next, __typeof__(*pos), member),                           \
	    tmp = container_of(pos->member.next, __typeof__(*pos), member);                        \
		&pos->member != (head);                                                            \
		pos = tmp, tmp = container_of(pos->member.next, __typeof__(*pos), member))

#endif
