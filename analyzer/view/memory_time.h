/* SPDX-License-Identifier: MIT */
/* Shows when memory was touched: the pages of each interval, and pictures of regions in text. Context: thread. */
#ifndef TAILOR_MEMORY_TIME_H
#define TAILOR_MEMORY_TIME_H

#include "analyzer/accesses/accesses.h"
#include "analyzer/view/view.h"

/* The accesses of one event, which are a part of the whole list. */
struct memory_part {
	const struct accesses *all;
	const struct access *list;
	size_t nr;
	double samples; /* number of samples of the list */
	const char *event;
};

void memory_show_working_sets(struct report *r, const struct memory_part *part, struct page *p);
/* Draws the largest regions, in text form. */
void memory_draw(const struct report *r, const struct memory_part *part, struct page *p);

#endif
