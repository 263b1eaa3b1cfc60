/* SPDX-License-Identifier: MIT */
/*
 * The common parts of all pictures: one SVG file that needs no other files, light or dark as its reader prefers, with one style and one
 * palette. Classes: page, title, small, middle, end, axis. cN draws and fN fills in colour N. Foreign text is escaped. Context: thread.
 */
#ifndef TAILOR_SVG_H
#define TAILOR_SVG_H

#include "jitreg/output/output_file.h"

#include <stdio.h>

/* The palette's colours, darker and lighter ones, which people with colour blindness can tell apart (M. Okabe and K. Ito, 2008). */
enum svg_colour { SVG_BLUE, SVG_ORANGE, SVG_GREEN, SVG_PINK, SVG_AMBER, SVG_VIOLET, SVG_GREY, SVG_BROWN, NR_SVG_COLOURS };

/* The text by which a file is recognized as a picture of tailor, also one of version 1.0. */
extern const struct output_form svg_output_form;

/* Begin a picture. style: rules in addition to the common ones. dark: those of them for a dark page. */
void svg_begin(FILE *to, int width, int height, const char *title, const char *style, const char *dark);
void svg_end(FILE *to);
/* Return the distance between the lines of an axis over a range of more than 0: 1, 2 or 5 times a power of ten, so that there are at most
 * eight lines. */
double svg_step(double range);
void svg_text(FILE *to, double x, double y, const char *classes, const char *text);
void svg_textf(FILE *to, double x, double y, const char *classes, const char *format, ...) __attribute__((format(printf, 5, 6)));

#endif
