/* SPDX-License-Identifier: MIT */
/* Draws which memory samples accessed, and when.  Context: thread. */
#ifndef TAILOR_PICTURES_MEMORY_H
#define TAILOR_PICTURES_MEMORY_H

#include "analyzer/accesses/accesses.h"
#include "analyzer/query/report.h"

#include <stdio.h>

/* Write a self-contained SVG with dots for samples with an address. Time is to the right, and the address upwards. Each of the (at most 6)
 * regions with the most samples has a panel. Each of the components (or functions) with the most samples has a colour, and the others are
 * grey. */
void memory_svg(const struct report *r, const struct accesses *s, FILE *to);

#endif
