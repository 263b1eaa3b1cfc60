/* SPDX-License-Identifier: MIT */
/*
 * Finds the order of accesses to memory: sequential, strided or random.
 *
 * A sample is one access of thousands, so two samples in a row tell little about two accesses in a row. So the order is looked for in
 * streams. A stream is the accesses of one instruction of one thread to one region of memory, sampled by one event. Addresses that keep
 * going up, or down, for at least ACCESSES_RUN samples are taken for a walk in order. (Of random addresses, one sample in 70 is in such a
 * run by chance.) All differences within a stream are multiples of its stride, so their greatest common divisor is the stride or, by
 * chance, a multiple of it, even if only a small part of the accesses was sampled. A run ends where an execution of the program's query
 * (the host's mark "run") ends, because a scan that begins anew with each execution does not make accesses random. Fewer than ACCESSES_RUN
 * samples tell nothing about their order.
 *
 * A sample that several components share has a row for each of them. It is one access when orders and strides are found, and sums count
 * each of its rows by its share.
 *
 * This is compiled for pages as well (analyzer/accesses/wasm), so it uses only the functions of libc that the pages' WebAssembly has.
 * Context: thread.
 */
#ifndef TAILOR_ACCESS_ORDER_H
#define TAILOR_ACCESS_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ACCESSES_RUN 6	   /* least number of samples in one direction that count as an order */
#define ACCESSES_LINE 64u  /* bytes of a cache line; accesses with a stride of at most this are sequential, not strided */
#define ACCESSES_PAGE_BITS 12

enum access_order { ACCESS_UNKNOWN, ACCESS_SEQUENTIAL, ACCESS_STRIDED, ACCESS_RANDOM, NR_ACCESS_ORDERS };

/* A granule is the unit of differences between the addresses of an event. GRANULE_PAGE is for page faults of which each one is a sample.
 * The kernel may map 2, 4 or 16 pages at a fault, so a stride of a power of two of pages counts as not known, and such accesses as
 * sequential. GRANULE_SOME_PAGES is for page faults of which only a part is sampled, whose strides are never known. */
enum access_granule { GRANULE_BYTE, GRANULE_PAGE, GRANULE_SOME_PAGES };

/* Rows are in the order of time, at least within each stream. A row is a sample with an address, or the part of it that belongs to one
 * of several components. */
struct access_columns {
	const uint64_t *address;       /* may be relative to any beginning of a page, which is the same one within a stream */
	const uint32_t *sample;	       /* equal in rows of one sample; NULL: each row is a sample */
	const uint32_t *stream, *page; /* dense numbers from 0 */
	const uint32_t *phase;	       /* number of the execution (mark) that the row is in; 0: none */
	const double *share;	       /* share of the sample, 0 to 1; NULL: all rows are whole samples */
	const uint8_t *granule;	       /* unit of differences (enum access_granule), by stream */
	uint32_t nr_streams, nr_pages;
};

/* access_orders_find() sets these to the orders of its rows, and the strides of their streams. */
struct access_orders {
	uint32_t nr;
	uint32_t *row;	  /* numbers of these rows, by stream, and within a stream in the order of their numbers */
	uint8_t *order;	  /* enum access_order of row[i] */
	uint64_t *stride; /* bytes, by stream; 0: not known, or none of the rows is in the stream */
};

struct access_sum {
	double samples, order[NR_ACCESS_ORDERS]; /* order: samples in each order */
	uint64_t stride; /* bytes; the known stride that most samples have, the smallest of several; 0: none is known */
	uint64_t low, high;			 /* lowest and highest address; low is above high if no row has the key */
	uint32_t pages;				 /* number of different pages */
};

struct access_stride {
	uint64_t stride; /* bytes; a power of two of a page or more stands for all strides from it to below twice it; 0: not known */
	double samples;
};

/* Find the orders of nr rows, whose numbers ascend. Return 0, or -ENOMEM, and then o is empty. */
int access_orders_find(struct access_orders *o, const struct access_columns *c, const uint32_t *row, uint32_t nr);
void access_orders_fini(struct access_orders *o);

/* Sum up the rows by key[row], which is below nr_keys. sum has room for nr_keys sums. Return 0, or -ENOMEM, and then sum is not
 * complete. */
int access_orders_sum(const struct access_orders *o, const struct access_columns *c, const uint32_t *key, uint32_t nr_keys,
		      struct access_sum *sum);

/* Return a list of the different strides in ascending order, with the samples of the streams that have them, and set *nr to its length.
 * The caller frees it. Return NULL if memory runs out. */
struct access_stride *access_orders_strides(const struct access_orders *o, const struct access_columns *c, uint32_t *nr);

#endif
