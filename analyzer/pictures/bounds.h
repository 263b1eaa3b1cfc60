/* SPDX-License-Identifier: MIT */
/* Shares that are known within bounds, as bars.  Context: thread. */
#ifndef TAILOR_PICTURES_BOUNDS_H
#define TAILOR_PICTURES_BOUNDS_H

#include <stdio.h>

struct bounds_row {
	const char *name;
	double low, high; /* 0 to 1 */
};

/* Write a self-contained SVG with a bar per row, dark up to the lower bound and light up to the upper bound. */
void bounds_svg(const char *title, const struct bounds_row *row, int nr, FILE *to);

#endif
