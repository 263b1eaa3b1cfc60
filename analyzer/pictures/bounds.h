/* SPDX-License-Identifier: MIT */
/* Shares that are known within bounds, as bars.  Context: thread. */
#ifndef TAILOR_PICTURES_BOUNDS_H
#define TAILOR_PICTURES_BOUNDS_H

#include <stdio.h>

struct bounds_row {
	const char *name;
	double low, high; /* 0 to 1 */
};

/* A self-contained SVG: a bar per row, dark as far as it is at least and light as far as it is at most. */
void bounds_svg(const char *title, const struct bounds_row *row, int nr, FILE *to);

#endif
