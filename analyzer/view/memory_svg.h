/* SPDX-License-Identifier: MIT */
/* The memory view as a picture.  Context: thread. */
#ifndef TAILOR_MEMORY_SVG_H
#define TAILOR_MEMORY_SVG_H

#include "accesses.h"

#include <stdio.h>

/* An SVG that stands alone: time to the right, addresses upwards, a panel for each of the regions with most samples, a colour for each
 * of the components with most. */
void memory_svg(const struct report *r, const struct accesses *s, FILE *to);
/* A region by the host's or the kernel's name, else by its range. */
const char *memory_region_name(const struct access_region *g, char spare[64]);

#endif
