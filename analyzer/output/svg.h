/* SPDX-License-Identifier: MIT */
/* Foreign text in an SVG.  Context: thread. */
#ifndef TAILOR_SVG_H
#define TAILOR_SVG_H

#include <stdio.h>

/* text as XML character data or attribute value: & < > " ' escaped, bytes that XML 1.0 does not allow or that are no UTF-8 as '?'. */
void svg_put_text(const char *text, FILE *to);

#endif
