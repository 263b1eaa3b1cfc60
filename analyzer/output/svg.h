/* SPDX-License-Identifier: MIT */
/*
 * What all pictures have: one SVG file that needs nothing else, light or dark as its reader likes it, with one style and one palette.
 * Classes: page, title, small, middle, end, axis; cN and fN draw and fill in colour N.  Foreign text is escaped.  Context: thread.
 */
#ifndef TAILOR_SVG_H
#define TAILOR_SVG_H

#include "jitreg/output/output_file.h"

#include <stdio.h>

/* The palette's colours, which people with colour blindness can tell apart (M. Okabe and K. Ito, 2008), darker and lighter ones. */
enum svg_colour { SVG_BLUE, SVG_ORANGE, SVG_GREEN, SVG_PINK, SVG_AMBER, SVG_VIOLET, SVG_GREY, SVG_BROWN, NR_SVG_COLOURS };

/* How a file is known to be a picture of ours, also one of 1.0. */
extern const struct output_form svg_output_form;

/* style, dark: rules beside the common ones, and those of them for a dark page. */
void svg_begin(FILE *to, int width, int height, const char *title, const char *style, const char *dark);
void svg_end(FILE *to);
/* Between the lines of an axis over a range of more than 0: 1, 2 or 5 times a power of ten, so that there are at most eight. */
double svg_step(double range);
void svg_text(FILE *to, double x, double y, const char *classes, const char *text);
void svg_textf(FILE *to, double x, double y, const char *classes, const char *format, ...) __attribute__((format(printf, 5, 6)));

#endif
