/* SPDX-License-Identifier: MIT */
/* Compresses bytes to gzip's format. In this folder, only gzip.c uses zlib. Context: thread. */
#ifndef TAILOR_GZIP_H
#define TAILOR_GZIP_H

#include <stddef.h>
#include <stdio.h>

#define GZIP_PIECE_BYTES 49152u /* a multiple of 3, so that each piece but the last is base64 without padding (html_block.c) */

struct gzip;

/* Begin a stream. put() gets the compressed bytes in pieces of GZIP_PIECE_BYTES, and the rest at the end. put() returns 0, or another
 * number if it failed, and gzip_end() reports that. Return NULL if memory runs out. */
struct gzip *gzip_begin(int (*put)(void *context, const unsigned char *bytes, size_t nr), void *context);
/* Compress bytes. Errors are reported by gzip_end(). */
void gzip_add(struct gzip *z, const void *bytes, size_t nr);
/* Write the rest, and free the stream. Return 0, -ENOMEM, or -EIO if put() has ever failed. */
int gzip_end(struct gzip *z);

/* Return a stream that compresses to `to`, and closes `to` when it is closed. Return NULL if memory runs out, and then `to` is still
 * open. */
FILE *gzip_stream(FILE *to);

#endif
