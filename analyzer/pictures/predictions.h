/* SPDX-License-Identifier: MIT */
/* Draws the completion times that `tailor whatif` predicts, with their intervals, and the recorded one as a line.  Context: thread. */
#ifndef TAILOR_PICTURE_PREDICTIONS_H
#define TAILOR_PICTURE_PREDICTIONS_H

#include <stdint.h>
#include <stdio.h>

struct predictions_row {
	const char *name;
	double completion, low, high; /* ns */
};

/* Write a self-contained SVG with a line for each of the nr rows. now_ns: the completion time that was recorded. */
void predictions_svg(double now_ns, const struct predictions_row *row, uint32_t nr, FILE *to);

#endif
