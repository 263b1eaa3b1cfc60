/* SPDX-License-Identifier: MIT */
/*
 * The order of accesses: sequential, strided or random.
 *
 * A sample is one access of thousands, so two samples in a row tell little about two accesses in a row. The order that remains is visible
 * per stream, which is what one instruction of one thread touches in one region, by one event. Addresses that keep going up (or down) for
 * at least RUN samples (by chance one sample in 70) are walked through in order. All differences within a stream are multiples of its
 * stride, so their greatest common divisor is the stride, however few of the accesses were sampled. A run ends with its run phase, because
 * a scan that starts anew is not a leap. Fewer than RUN samples tell nothing about their order.
 *
 * A sample that several components share is one access in several rows. Orders and strides are those of the access, and sums count each row
 * by its share.
 *
 * This is compiled for pages as well (analyzer/accesses/wasm), so it uses only the functions of libc that these have. Context: thread.
 */
#ifndef TAILOR_ACCESS_ORDER_H
#define TAILOR_ACCESS_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ACCESSES_RUN 6	   /* samples in one direction that are no accident */
#define ACCESSES_LINE 64u  /* strides up to a cache line are sequential */
#define ACCESSES_PAGE_BITS 12

enum access_order { ACCESS_UNKNOWN, ACCESS_SEQUENTIAL, ACCESS_STRIDED, ACCESS_RANDOM, NR_ACCESS_ORDERS };

/* The granule of differences between addresses of an event. Page faults are on pages, and faults on sequential pages are sequential
 * accesses. So are faults on each 2nd, 4th or 16th page, because the kernel maps that many at a fault. If only a part of the faults is
 * sampled, strides are not known. */
enum access_granule { GRANULE_BYTE, GRANULE_PAGE, GRANULE_SOME_PAGES };

/* Rows in the order of time: samples with an address, or parts of them. */
struct access_columns {
	const uint64_t *address;       /* comparable within a stream, from the beginning of a page */
	const uint32_t *sample;	       /* equal in rows of one sample; NULL: each row is a sample */
	const uint32_t *stream, *page; /* dense numbers from 0 */
	const uint32_t *phase;	       /* run phase */
	const double *share;	       /* share of the sample, 0 to 1; NULL: all rows are whole samples */
	const uint8_t *granule;	       /* granule of each stream: enum access_granule */
	uint32_t nr_streams, nr_pages;
};

/* The orders and strides of some of the rows. */
struct access_orders {
	uint32_t nr;
	uint32_t *row;	  /* rows by stream, and in the order of time */
	uint8_t *order;	  /* enum access_order of each of these rows */
	uint64_t *stride; /* stride of each stream in bytes; 0: not known */
};

struct access_sum {
	double samples, order[NR_ACCESS_ORDERS]; /* order: samples in each order */
	uint64_t stride;			 /* stride of most samples, and of equal ones the smallest; 0: none is known */
	uint64_t low, high;			 /* addresses; of a sum without rows low is above high */
	uint32_t pages;				 /* number of different pages */
};

struct access_stride {
	uint64_t stride; /* bytes; above a page: this and all strides below twice this; 0: not known */
	double samples;
};

/* Find the orders of nr rows, whose numbers ascend. Return 0, or -ENOMEM, and then o is empty. */
int access_orders_find(struct access_orders *o, const struct access_columns *c, const uint32_t *row, uint32_t nr);
void access_orders_fini(struct access_orders *o);

/* Sum up the rows by key[row], which is below nr_keys. sum has room for nr_keys sums. Return 0, or -ENOMEM, and then sum is not
 * complete. */
int access_orders_sum(const struct access_orders *o, const struct access_columns *c, const uint32_t *key, uint32_t nr_keys,
		      struct access_sum *sum);

/* Return *nr strides in ascending order. The caller frees them. NULL without memory. */
struct access_stride *access_orders_strides(const struct access_orders *o, const struct access_columns *c, uint32_t *nr);

#endif
