/* SPDX-License-Identifier: MIT */
/*
 * Keeps the sample table in the form of a page. Values that many rows share are stored once. The way of a row is its method, reason, mode,
 * share and components, and whether it is in generated code. Its place is its function, line, image and code, as well as its instruction
 * where places are told apart by that.
 * Context: thread.
 */
#ifndef TAILOR_HTML_ROWS_H
#define TAILOR_HTML_ROWS_H

#include "analyzer/query/report.h"
#include "jitreg/base/grow.h"
#include "jitreg/base/hash_map.h"

#define HTML_TIME_NS 1000u /* ns; the page's times are in microseconds since the first sample */

struct html_way {
	uint32_t mode, method, reason;
	bool generated; /* the sample is in generated code, in user mode */
	double share;
	uint32_t component[LEVELS_MAX];
};

struct html_place {
	/* Address by which places are told apart: that of the instruction in generated code, and in unknown code for samples with the
	 * address of an access to memory. In a file it is the offset, if the trace has the code there, or the sample has such an address.
	 * Otherwise it is 0, and the function and line tell places apart. */
	uint64_t ip;
	uint32_t code, function, line, image;
};

#define HTML_COLUMNS(X) /* the columns of 32 bits */ \
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
	ARRAY(struct html_way) ways;
	ARRAY(struct html_place) places;
	ARRAY(uint64_t) weights; /* all different weights */
	struct hash_map way_of, place_of, weight_of;
};

/* Adds rows, as a callback of report_add_callback(). context: the struct html_rows. Returns 0, or -ENOMEM if memory runs out, or if there
 * are more than UINT32_MAX / 2 rows. */
int html_rows_add(void *context, const struct attribution *a, const struct table *t, const uint32_t *rows, uint32_t nr);
/* Sorts rows by time, and renumbers ways, places and weights so that those of most rows have the smallest numbers. No rows may be added
 * after that. Returns 0 or -ENOMEM. */
int html_rows_settle(struct html_rows *r);
void html_rows_fini(struct html_rows *r);

#endif
