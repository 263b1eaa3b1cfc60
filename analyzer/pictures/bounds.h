/* SPDX-License-Identifier: MIT */
/* Draws bars for shares of which only bounds are known. Context: thread. */
#ifndef TAILOR_PICTURES_BOUNDS_H
#define TAILOR_PICTURES_BOUNDS_H

#include <stdio.h>

struct bounds_row {
	const char *name;
	double low, high; /* lower and upper bound of the share, 0 to 1 */
};

/* Write a self-contained SVG with a bar for each of the nr rows, which is dark up to the lower bound, and light from there to the upper
 * bound. */
void bounds_svg(const char *title, const struct bounds_row *row, int nr, FILE *to);

#endif
