/* SPDX-License-Identifier: MIT */
/* Draws the results of `tailor overhead`.  Context: thread. */
#ifndef TAILOR_PICTURES_OVERHEAD_H
#define TAILOR_PICTURES_OVERHEAD_H

#include "analyzer/overhead/overhead.h"

#include <stdio.h>

/* Write a self-contained SVG of the added run time by sampling rate, with a line for each configuration. */
void overhead_svg(const struct overhead *o, FILE *to);

#endif
