/* SPDX-License-Identifier: MIT */
/* Arrays grow by doubling their capacity when they are full. GROW(array, nr, capacity) makes room for one more element than the nr that
 * are used. It is false, with the array unchanged, if memory runs out or the capacity would overflow. nr and capacity are both uint32_t
 * or both size_t. Context: thread. */
#ifndef TAILOR_GROW_H
#define TAILOR_GROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define GROW_FIRST 64

#define GROW(array, nr, capacity) \
	((nr) < (capacity) || _Generic((capacity), uint32_t: grow_array, size_t: grow_long_array) \
				      ((void **)&(array), &(capacity), sizeof(*(array))))

/* ARRAY_OF() declares the members of a struct that is an array, and ARRAY() such a struct: nr elements are used, and capacity are
 * allocated.  All zeros are an empty array.  The owner frees at. */
#define ARRAY_OF(type) \
	type *at; \
	uint32_t nr, capacity
#define ARRAY(type) \
	struct { \
		ARRAY_OF(type); \
	}
/* Makes room for one more element of an array, as GROW() does. */
#define ARRAY_GROW(array) GROW((array).at, (array).nr, (array).capacity)
/* Makes room for that many elements more than the nr that are used.  An empty array gets no more room than that, so many small arrays
 * take little memory.  It is false, with the array unchanged, as GROW() is. */
#define ARRAY_RESERVE(array, more) \
	((more) <= (array).capacity - (array).nr || \
	 grow_array_by((void **)&(array).at, (array).nr, (more), &(array).capacity, sizeof(*(array).at)))
/* Adds a zeroed element at the end of an array.  Returns it, or NULL if memory runs out. */
#define ARRAY_ADD(array) \
	(ARRAY_GROW(array) ? (__typeof__((array).at))memset(&(array).at[(array).nr++], 0, sizeof(*(array).at)) : NULL)
/* Adds an element with a value at the end of an array.  It is false, with the array unchanged, if memory runs out. */
#define ARRAY_PUSH(array, ...) (ARRAY_GROW(array) && ((array).at[(array).nr++] = (__VA_ARGS__), true))
/* Frees the memory of an array, which is empty then. */
#define ARRAY_FREE(array) (free((array).at), (array).at = NULL, (array).nr = (array).capacity = 0)

static inline bool grow_long_array(void **array, size_t *capacity, size_t each)
{
	size_t more = *capacity ? 2 * *capacity : GROW_FIRST;
	void *bigger = more > *capacity && more <= SIZE_MAX / each ? realloc(*array, more * each) : NULL;

	if (!bigger)
		return false;
	*array = bigger;
	*capacity = more;
	return true;
}

static inline bool grow_array(void **array, uint32_t *capacity, size_t each)
{
	size_t more = *capacity;

	if (more > UINT32_MAX / 2 || !grow_long_array(array, &more, each))
		return false;
	*capacity = (uint32_t)more;
	return true;
}

static inline bool grow_array_by(void **array, uint32_t nr, size_t add, uint32_t *capacity, size_t each)
{
	size_t more = 2 * (size_t)*capacity;
	void *bigger;

	if (add > UINT32_MAX - nr)
		return false;
	more = more < nr + add ? nr + add : more;
	bigger = more <= UINT32_MAX && more <= SIZE_MAX / each ? realloc(*array, more * each) : NULL;
	if (!bigger)
		return false;
	*array = bigger;
	*capacity = (uint32_t)more;
	return true;
}

#endif
