/* SPDX-License-Identifier: MIT */
/* Writes the data blocks of a page, which are <script> elements that browsers do not run, and whose text is gzip in base64. Context:
 * thread. */
#ifndef TAILOR_HTML_BLOCK_H
#define TAILOR_HTML_BLOCK_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct html_block;

/* Begins a block. id: that of its element, of letters, digits and hyphens. Returns NULL if memory runs out. */
struct html_block *html_block_begin(FILE *to, const char *id);
/* Adds bytes. Errors are reported by html_block_end(). */
void html_block_add(struct html_block *b, const void *bytes, size_t nr);
/* Ends the block, and frees it. Returns 0, -ENOMEM, or -EIO if it could not be written. */
int html_block_end(struct html_block *b);

#endif
