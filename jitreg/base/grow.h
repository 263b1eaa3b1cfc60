/* SPDX-License-Identifier: MIT */
/* Arrays that grow twofold: `if (!GROW(array, nr, capacity))` there is no memory for one more, and the array is as it was.  nr and capacity
 * are uint32_t.  Context: thread. */
#ifndef TAILOR_GROW_H
#define TAILOR_GROW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define GROW(array, nr, capacity) ((nr) < (capacity) || grow_array((void **)&(array), &(capacity), sizeof(*(array))))

static inline bool grow_array(void **array, uint32_t *capacity, size_t each)
{
	uint32_t more = *capacity ? 2 * *capacity : 64;
	void *bigger = more > *capacity ? realloc(*array, more * each) : NULL;

	if (!bigger)
		return false;
	*array = bigger;
	*capacity = more;
	return true;
}

#endif
