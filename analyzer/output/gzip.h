/* SPDX-License-Identifier: MIT */
/* Bytes in gzip's format. Only this file uses zlib. Context: thread. */
#ifndef TAILOR_GZIP_H
#define TAILOR_GZIP_H

#include <stddef.h>
#include <stdio.h>

#define GZIP_PIECE_BYTES 49152u /* a multiple of 3 */

struct gzip;

/* Begin a stream. put() gets pieces of GZIP_PIECE_BYTES, and the rest at the end. It returns 0, or another number if it failed. NULL
 * without memory. */
struct gzip *gzip_begin(int (*put)(void *context, const unsigned char *bytes, size_t nr), void *context);
void gzip_add(struct gzip *z, const void *bytes, size_t nr);
/* End the stream. Return 0, -ENOMEM, or -EIO if put() failed. */
int gzip_end(struct gzip *z);

/* Return a stream that compresses to `to`, and closes `to` when it is closed. NULL without memory, and `to` is still open. */
FILE *gzip_stream(FILE *to);

#endif
