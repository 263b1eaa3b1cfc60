/* SPDX-License-Identifier: MIT */
/*
 * Writes the common parts of all pictures. A picture is one SVG file that needs no other files, is light or dark as its reader prefers, and
 * has one style and one palette. The classes are page, title, small, middle, end and axis, and for each colour N, cN for lines and fN for
 * areas. Text in titles and labels is escaped. Context: thread.
 */
#ifndef TAILOR_SVG_H
#define TAILOR_SVG_H

#include "jitreg/output/output_file.h"

#include <stdio.h>

/* Each colour of the palette has a darker form for a light page and a lighter one for a dark page. People with colour blindness can tell
 * them apart (M. Okabe and K. Ito, 2008). */
enum svg_colour { SVG_BLUE, SVG_ORANGE, SVG_GREEN, SVG_PINK, SVG_AMBER, SVG_VIOLET, SVG_GREY, SVG_BROWN, NR_SVG_COLOURS };

/* A file with this text near its beginning is a picture of tailor, and may be replaced. Version 1.0 wrote the same text. */
extern const struct output_form svg_output_form;

/* Begin a picture with a title. style: CSS rules in addition to the common ones. dark: rules that hold on a dark page. */
void svg_begin(FILE *to, int width, int height, const char *title, const char *style, const char *dark);
void svg_end(FILE *to);
/* Return the distance between the lines of an axis over a range above 0. It is 1, 2 or 5 times a power of ten, such that there are at most
 * eight distances. */
double svg_step(double range);
/* Write a text at a place. classes: as above, separated by blanks, or "". svg_textf() writes nothing if memory runs out. */
void svg_text(FILE *to, double x, double y, const char *classes, const char *text);
void svg_textf(FILE *to, double x, double y, const char *classes, const char *format, ...) __attribute__((format(printf, 5, 6)));

#endif
