/* SPDX-License-Identifier: MIT */
/* Shows when memory was touched, by the number of pages in each interval, and by pictures of regions, drawn as text. Context: thread. */
#ifndef TAILOR_MEMORY_TIME_H
#define TAILOR_MEMORY_TIME_H

#include "analyzer/accesses/accesses.h"
#include "analyzer/view/view.h"

/* This struct has the accesses of one event, whose list is a part of all->list. */
struct memory_part {
	const struct accesses *all;
	const struct access *list;
	size_t nr;
	double samples; /* sum of the shares of the samples in the list */
	const char *event;
};

void memory_show_working_sets(struct report *r, const struct memory_part *part, struct page *p);
/* Draws pictures of time and address for the largest regions that have at least GRID_SMALL samples, in text form only. */
void memory_draw(const struct report *r, const struct memory_part *part, struct page *p);

#endif
