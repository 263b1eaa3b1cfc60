/* SPDX-License-Identifier: MIT */
/*
 * Images with many samples whose functions have no names, or whose code has no lines, because the information for debuggers was not found;
 * and what brings it.  Context: thread.
 */
#ifndef TAILOR_WITHOUT_DEBUG_H
#define TAILOR_WITHOUT_DEBUG_H

#include "analyzer/query/report.h"
#include "jitreg/base/dpkg.h"

#define WITHOUT_DEBUG_SHARE 0.02 /* of all samples, */
#define WITHOUT_DEBUG_SAMPLES 10.0 /* and about so many: less is not worth a sentence */
#define WITHOUT_DEBUG_MAX 3u
#define WITHOUT_DEBUG_TEXT 512

struct without_debug {
	const char *path; /* of the image */
	double share;	  /* of its samples without a name, or of all of its samples, in all */
	const char *reason; /* why the trace does not have what it needs, "": it was not found */
	bool is_read; /* the trace has parts of the file */
	char package[DPKG_NAME_BYTES]; /* of dpkg's, with what is missing; "": unknown, or the file is not this machine's */
};

struct without_debug_list {
	struct without_debug image[WITHOUT_DEBUG_MAX]; /* the largest share first */
	uint32_t nr;
};

/* by: of functions; those without a name count. */
void without_names_find(const struct report *r, const struct report_group *by, struct without_debug_list *out);
/* by: of images. */
void without_lines_find(const struct report *r, const struct report_group *by, struct without_debug_list *out);
/* Sentences without the image: why it has no names, or no lines, and what to do about that. */
const char *without_debug_cause(const struct without_debug *w, bool lines, char text[WITHOUT_DEBUG_TEXT]);
const char *without_debug_remedy(const struct without_debug *w, bool lines, char text[WITHOUT_DEBUG_TEXT]);

#endif
