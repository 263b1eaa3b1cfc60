/* SPDX-License-Identifier: MIT */
/*
 * Writes and reads a column of whole numbers as byte planes: the lowest bytes of all numbers, then the second ones of all, and so on.  The
 * numbers are those of the column, or their differences.  Compressors such as gzip compress this form better than the numbers.  Context:
 * any.
 */
#ifndef TAILOR_PLANES_H
#define TAILOR_PLANES_H

#include <stddef.h>
#include <stdint.h>

enum planes_kind {
	PLANES_PLAIN,
	PLANES_DELTA, /* differences from the number before (the first one: from 0), with the sign in the lowest bit (zigzag) */
	/* differences from the last number with the same key (the first one: from 0); for instance, addresses that one instruction
	 * accessed */
	PLANES_KEYED,
};

struct planes {
	enum planes_kind kind;
	uint32_t nr;
	const uint32_t *key; /* PLANES_KEYED: the key of each number; those that are not below nr_keys count as one key */
	uint32_t nr_keys;
	uint64_t *last; /* PLANES_KEYED: room for nr_keys numbers, which the functions overwrite */
};

/* Transform p->nr numbers in place to what the planes hold.  Returns how many planes that needs, 0 (all are 0) to 8. */
uint32_t planes_transform(const struct planes *p, uint64_t *numbers);
/* Write one plane of transformed numbers, nr bytes.  plane: 0 for the lowest bytes. */
void planes_put(const uint64_t *transformed, uint32_t nr, uint32_t plane, unsigned char *to);
/* Decode nr_planes * p->nr bytes to p->nr numbers of width 1, 2, 4 or 8 bytes.  Larger numbers are truncated to the width. */
void planes_read(const struct planes *p, const unsigned char *bytes, uint32_t nr_planes, void *to, uint32_t width);

#endif
