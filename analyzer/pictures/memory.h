/* SPDX-License-Identifier: MIT */
/* Draws which memory samples accessed, and when.  Context: thread. */
#ifndef TAILOR_PICTURES_MEMORY_H
#define TAILOR_PICTURES_MEMORY_H

#include "analyzer/accesses/accesses.h"
#include "analyzer/query/report.h"

#include <stdio.h>

/* Write a self-contained SVG with dots for samples with an address: time is to the right, and the address upwards.  Each of the (at most 6)
 * regions with most samples has a panel, and each of the components (or functions) with most has a colour; the others are grey. */
void memory_svg(const struct report *r, const struct accesses *s, FILE *to);

#endif
