/* SPDX-License-Identifier: MIT */
/*
 * How accesses follow each other: sequential, strided or random.
 *
 * A sample is one access of thousands, so two samples in a row say little of two accesses in a row.  What is left of the order is
 * seen per stream, that is what one instruction of one thread touches in one region, by one event: addresses that keep going up (or down)
 * for RUN samples at least (by chance one sample in 70) are walked through in order; and all differences within a stream are multiples of
 * its stride, so that their greatest common divisor is the stride, however few of the accesses were sampled.  A run ends with the run
 * phase that it is in: a scan that starts anew is no leap.  Fewer than RUN samples say nothing of their order.
 *
 * A sample that several components share is one access, in several rows: orders and strides are those of the access, and sums count each
 * row by its share.
 *
 * Compiled for pages as well (analyzer/accesses/wasm): nothing of the libc but what these have.  Context: thread.
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

/* What the differences between addresses of an event say: page faults are of pages, of which sequential ones are sequential accesses; so
 * are those of each 2nd, 4th or 16th page, because the kernel maps that many at a fault.  Where only a part of the faults is sampled,
 * nothing is known of strides. */
enum access_granule { GRANULE_BYTE, GRANULE_PAGE, GRANULE_SOME_PAGES };

/* Rows, in the order of time: samples with an address, or parts of them. */
struct access_columns {
	const uint64_t *address;       /* comparable within a stream, from the beginning of a page */
	const uint32_t *sample;	       /* equal in rows of one sample; NULL: each row is one */
	const uint32_t *stream, *page; /* dense numbers from 0 */
	const uint32_t *phase;	       /* of runs */
	const double *share;	       /* of the sample, 0 to 1; NULL: all are whole */
	const uint8_t *granule;	       /* of each stream: enum access_granule */
	uint32_t nr_streams, nr_pages;
};

/* What follows from some of the rows. */
struct access_orders {
	uint32_t nr;
	uint32_t *row;	  /* by stream, and in the order of time */
	uint8_t *order;	  /* enum access_order of each of these */
	uint64_t *stride; /* of each stream, bytes; 0: not known */
};

struct access_sum {
	double samples, order[NR_ACCESS_ORDERS]; /* order: how many of the samples are in which */
	uint64_t stride;			 /* that of most samples, of equal ones the smallest; 0: none is known */
	uint64_t low, high;			 /* addresses; of a sum without rows low is above high */
	uint32_t pages;				 /* different ones */
};

struct access_stride {
	uint64_t stride; /* bytes; more than a page: and all below twice that.  0: not known */
	double samples;
};

/* row: nr of the rows, upwards.  0, or -ENOMEM: then there is nothing. */
int access_orders_find(struct access_orders *o, const struct access_columns *c, const uint32_t *row, uint32_t nr);
void access_orders_fini(struct access_orders *o);

/* Sums of the rows by key[row], which is below nr_keys; sum: nr_keys of them, to be filled.  0, or -ENOMEM: then they are not filled. */
int access_orders_sum(const struct access_orders *o, const struct access_columns *c, const uint32_t *key, uint32_t nr_keys,
		      struct access_sum *sum);

/* Upwards, *nr of them; freed by the caller.  NULL without memory. */
struct access_stride *access_orders_strides(const struct access_orders *o, const struct access_columns *c, uint32_t *nr);

#endif
