/* SPDX-License-Identifier: MIT */
/*
 * The sample table in a page's form. Values that many rows share are stored once: a row's way is its method, reason, mode, share and
 * components. A row's place is its function, line, image and code, and also its instruction if the trace has the code. Context: thread.
 */
#ifndef TAILOR_HTML_ROWS_H
#define TAILOR_HTML_ROWS_H

#include "analyzer/query/report.h"
#include "jitreg/base/hash_map.h"

#define HTML_TIME_NS 1000u /* times are in microseconds since the first sample */

struct html_way {
	uint32_t mode, method, reason;
	bool generated; /* in generated code, in user mode */
	double share;
	uint32_t component[LEVELS_MAX];
};

struct html_place {
	uint64_t ip; /* address of generated code, or the file's own address if the trace has its code; else 0 */
	uint32_t code, function, line, image;
};

#define HTML_COLUMNS(X) /* columns of 32 bits */ \
	X(thread) \
	X(cpu) \
	X(event) \
	X(way) \
	X(place) \
	X(phase) \
	X(stack) \
	X(memory) \
	X(weight)

struct html_rows {
	size_t nr, capacity;
	uint64_t *time_ns, *address;
#define HTML_COLUMN_(name) uint32_t *name;
	HTML_COLUMNS(HTML_COLUMN_)
#undef HTML_COLUMN_
	struct html_way *ways;
	struct html_place *places;
	uint64_t *weights; /* the different weights */
	uint32_t nr_ways, ways_capacity, nr_places, places_capacity, nr_weights, weights_capacity;
	struct hash_map way_of, place_of, weight_of;
};

/* The callback for report_add_callback(). */
int html_rows_add(void *context, const struct attribution *a, const struct table *t, const uint32_t *rows, uint32_t nr);
/* Sort rows by time, and number ways, places and weights by how many rows have them. Return 0 or -ENOMEM. */
int html_rows_settle(struct html_rows *r);
void html_rows_fini(struct html_rows *r);

#endif
