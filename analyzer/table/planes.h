/* SPDX-License-Identifier: MIT */
/*
 * A column of whole numbers as byte planes (all lowest bytes, then all second ones, ...), of the numbers themselves or of differences.
 * Byte-wise compressors compress this form best.  Context: any.
 */
#ifndef TAILOR_PLANES_H
#define TAILOR_PLANES_H

#include <stddef.h>
#include <stdint.h>

enum planes_kind {
	PLANES_PLAIN,
	PLANES_DELTA, /* differences from the number before, with the sign in the lowest bit */
	PLANES_KEYED, /* differences from the last number of the same key, as of the addresses of one instruction */
};

struct planes {
	enum planes_kind kind;
	uint32_t nr;
	const uint32_t *key; /* PLANES_KEYED: the key of each number, below nr_keys */
	uint32_t nr_keys;
	uint64_t *last; /* room for nr_keys */
};

/* Transform the numbers in place to the form that the planes hold.  Returns how many planes they need: 0 (all are 0) to 8. */
uint32_t planes_transform(const struct planes *p, uint64_t *numbers);
/* Write one plane of transformed numbers, which is nr bytes. */
void planes_put(const uint64_t *transformed, uint32_t nr, uint32_t plane, unsigned char *to);
/* Decode nr_planes * nr bytes to numbers of width 1, 2, 4 or 8 bytes.  Numbers are truncated to the width. */
void planes_read(const struct planes *p, const unsigned char *bytes, uint32_t nr_planes, void *to, uint32_t width);

#endif
