/* SPDX-License-Identifier: MIT */
/* Data blocks of a page: <script> elements that are not scripts, whose text is gzip in base64. Context: thread. */
#ifndef TAILOR_HTML_BLOCK_H
#define TAILOR_HTML_BLOCK_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct html_block;

/* Begin a block. The block's element gets the id: letters, digits, hyphens. NULL without memory. */
struct html_block *html_block_begin(FILE *to, const char *id);
void html_block_add(struct html_block *b, const void *bytes, size_t nr);
/* End a block. Return 0, -ENOMEM, or -EIO if it could not be written. */
int html_block_end(struct html_block *b);

#endif
