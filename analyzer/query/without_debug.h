/* SPDX-License-Identifier: MIT */
/*
 * Finds images with many samples whose functions have no names, or whose code has no lines, because their debug information was not found.
 * Also finds the packages of this machine that have it.  Context: thread.
 */
#ifndef TAILOR_WITHOUT_DEBUG_H
#define TAILOR_WITHOUT_DEBUG_H

#include "analyzer/query/report.h"
#include "jitreg/base/dpkg.h"

#define WITHOUT_DEBUG_SHARE 0.02 /* smallest share of all samples that is worth a sentence */
#define WITHOUT_DEBUG_SAMPLES 10.0 /* smallest number of samples that is worth a sentence */
#define WITHOUT_DEBUG_MAX 3u
#define WITHOUT_DEBUG_TEXT 512

struct without_debug {
	const char *path; /* path of the image */
	double share;	  /* share of all samples (0..1): of those in functions without names, or of all that are in the image */
	const char *reason; /* why the trace lacks parts of the file; "": it does not */
	bool is_read; /* the trace has the file's parts, which lack symbols or lines */
	char package[DPKG_NAME_BYTES]; /* Debian package with what is missing; "": unknown, or the file is not on this machine */
};

struct without_debug_list {
	struct without_debug image[WITHOUT_DEBUG_MAX]; /* sorted, the largest share first */
	uint32_t nr;
};

/* Finds images in which functions without names have many samples.  by: a group by TABLE_FUNCTION. */
void without_names_find(const struct report *r, const struct report_group *by, struct without_debug_list *out);
/* Finds images without lines that have many samples.  by: a group by TABLE_IMAGE. */
void without_lines_find(const struct report *r, const struct report_group *by, struct without_debug_list *out);
/* Write and return a text without the image's name, which says why it has no names (lines: no lines), or what to do about that. */
const char *without_debug_cause(const struct without_debug *w, bool lines, char text[WITHOUT_DEBUG_TEXT]);
const char *without_debug_remedy(const struct without_debug *w, bool lines, char text[WITHOUT_DEBUG_TEXT]);

#endif
