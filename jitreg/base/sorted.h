/* SPDX-License-Identifier: MIT */
/*
 * Binary search: how many elements stand at the beginning of an array for which a condition on their index is true; after the first for
 * which it is false, it is false for all.
 *
 *	uint32_t n = SORTED_COUNT(nr, i, line[i].address <= address);	(line[n - 1] is the last that begins at address or before it)
 *
 * Context: any.
 */
#ifndef TAILOR_SORTED_H
#define TAILOR_SORTED_H

#define SORTED_COUNT(nr, index, condition) \
	({ \
		__typeof__((nr) + 0) sorted_low = 0, sorted_high = (nr); \
\
		while (sorted_low < sorted_high) { \
			const __typeof__(sorted_low) index = sorted_low + (sorted_high - sorted_low) / 2; \
\
			if (condition) \
				sorted_low = index + 1; \
			else \
				sorted_high = index; \
		} \
		sorted_low; \
	})

#endif
