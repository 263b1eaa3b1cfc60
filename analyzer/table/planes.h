/* SPDX-License-Identifier: MIT */
/*
 * A column of whole numbers as byte planes (all lowest bytes, then all second ones, ...), of the numbers themselves or of differences:
 * what a compressor of bytes makes most of.  Context: any.
 */
#ifndef TAILOR_PLANES_H
#define TAILOR_PLANES_H

#include <stddef.h>
#include <stdint.h>

enum planes_kind {
	PLANES_PLAIN,
	PLANES_DELTA, /* differences from the number before, with the sign in the lowest bit */
	PLANES_KEYED, /* differences from the last number of the same key: of one instruction's addresses, say */
};

struct planes {
	enum planes_kind kind;
	uint32_t nr;
	const uint32_t *key; /* PLANES_KEYED: per number, below nr_keys */
	uint32_t nr_keys;
	uint64_t *last; /* room for nr_keys */
};

/* Turn the numbers into what the planes hold; returns how many planes those need: 0 (all are 0) to 8. */
uint32_t planes_transform(const struct planes *p, uint64_t *numbers);
/* One plane of transformed numbers: nr bytes. */
void planes_put(const uint64_t *transformed, uint32_t nr, uint32_t plane, unsigned char *to);
/* From nr_planes * nr bytes to numbers of width 1, 2, 4 or 8 bytes; what a narrow number has no room for is cut off. */
void planes_read(const struct planes *p, const unsigned char *bytes, uint32_t nr_planes, void *to, uint32_t width);

#endif
