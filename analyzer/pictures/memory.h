/* SPDX-License-Identifier: MIT */
/* The memory view as a picture.  Context: thread. */
#ifndef TAILOR_PICTURES_MEMORY_H
#define TAILOR_PICTURES_MEMORY_H

#include "analyzer/accesses/accesses.h"
#include "analyzer/query/report.h"

#include <stdio.h>

/* Write a self-contained SVG with time to the right, addresses upwards, a panel for each of the regions with most samples, and a colour for
 * each of the components with most. */
void memory_svg(const struct report *r, const struct accesses *s, FILE *to);

#endif
