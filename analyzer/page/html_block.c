/* SPDX-License-Identifier: MIT */
#include "analyzer/page/html_block.h"

#include "analyzer/output/gzip.h"

#include <errno.h>
#include <stdlib.h>

struct html_block {
	FILE *to;
	struct gzip *zip;
	char text[GZIP_PIECE_BYTES / 3 * 4 + 4];
};

/* Write a piece in base64 (RFC 4648). Only the last piece has padding, because the sizes of the others are multiples of 3. Return 0 or
 * -EIO. */
static int put_base64(void *block, const unsigned char *out, size_t nr)
{
	static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	struct html_block *b = block;
	char *at = b->text;

	for (size_t i = 0; i < nr; i += 3) {
		size_t left = nr - i;
		uint32_t three = (uint32_t)out[i] << 16 | (left > 1 ? (uint32_t)out[i + 1] << 8 : 0) | (left > 2 ? out[i + 2] : 0);

		*at++ = digit[three >> 18];
		*at++ = digit[three >> 12 & 63];
		*at++ = left > 1 ? digit[three >> 6 & 63] : '=';
		*at++ = left > 2 ? digit[three & 63] : '=';
	}
	return fwrite(b->text, 1, (size_t)(at - b->text), b->to) == (size_t)(at - b->text) ? 0 : -EIO;
}

struct html_block *html_block_begin(FILE *to, const char *id)
{
	struct html_block *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->to = to;
	b->zip = gzip_begin(put_base64, b);
	if (!b->zip) {
		free(b);
		return NULL;
	}
	fprintf(to, "<script type=\"application/octet-stream;base64\" id=\"%s\">", id);
	return b;
}

void html_block_add(struct html_block *b, const void *bytes, size_t nr)
{
	gzip_add(b->zip, bytes, nr);
}

int html_block_end(struct html_block *b)
{
	int ret = gzip_end(b->zip);

	fputs("</script>\n", b->to);
	free(b);
	return ret;
}
