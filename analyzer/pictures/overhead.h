/* SPDX-License-Identifier: MIT */
/* What `tailor overhead` measured, as a picture.  Context: thread. */
#ifndef TAILOR_PICTURES_OVERHEAD_H
#define TAILOR_PICTURES_OVERHEAD_H

#include "analyzer/overhead/overhead.h"

#include <stdio.h>

/* An SVG that stands alone: added run time over the sampling rate, a line for each way of sampling. */
void overhead_svg(const struct overhead *o, FILE *to);

#endif
