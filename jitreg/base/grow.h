/* SPDX-License-Identifier: MIT */
/* Arrays whose capacity doubles when they are full.  GROW(array, nr, capacity) makes room for one more element, and is false, with the
 * array unchanged, if memory runs out.  nr and capacity are both uint32_t or both size_t.  Context: thread. */
#ifndef TAILOR_GROW_H
#define TAILOR_GROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define GROW_FIRST 64

#define GROW(array, nr, capacity) \
	((nr) < (capacity) || _Generic((capacity), uint32_t: grow_array, size_t: grow_long_array) \
				      ((void **)&(array), &(capacity), sizeof(*(array))))

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

#endif
