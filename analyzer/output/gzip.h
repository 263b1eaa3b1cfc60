/* SPDX-License-Identifier: MIT */
/* Bytes as gzip has them.  The one door to zlib.  Context: thread. */
#ifndef TAILOR_GZIP_H
#define TAILOR_GZIP_H

#include <stddef.h>
#include <stdio.h>

#define GZIP_PIECE_BYTES 49152u /* a multiple of 3 */

struct gzip;

/* put() gets pieces of GZIP_PIECE_BYTES, and what is left at the end; not 0: it failed.  NULL without memory. */
struct gzip *gzip_begin(int (*put)(void *context, const unsigned char *bytes, size_t nr), void *context);
void gzip_add(struct gzip *z, const void *bytes, size_t nr);
/* 0, -ENOMEM, or -EIO where put() failed. */
int gzip_end(struct gzip *z);

/* A stream that writes to `to` what is written to it, and closes it with itself.  NULL without memory: `to` is still open. */
FILE *gzip_stream(FILE *to);

#endif
