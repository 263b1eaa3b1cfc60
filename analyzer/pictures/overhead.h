/* SPDX-License-Identifier: MIT */
/* The results of `tailor overhead` as a picture.  Context: thread. */
#ifndef TAILOR_PICTURES_OVERHEAD_H
#define TAILOR_PICTURES_OVERHEAD_H

#include "analyzer/overhead/overhead.h"

#include <stdio.h>

/* Write a self-contained SVG with run-time overhead over the sampling rate, a line per configuration. */
void overhead_svg(const struct overhead *o, FILE *to);

#endif
