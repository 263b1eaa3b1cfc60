/* SPDX-License-Identifier: MIT */
#include "analyzer/page/html_block.h"

#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

#define GZIP (15 + 16) /* zlib: window bits, and a gzip header */
#define LEVEL 7
#define OUT_BYTES 49152u /* a multiple of 3: no padding but at the end */
#define ADD_MAX (1u << 30)

struct html_block {
	FILE *to;
	z_stream zip;
	int error;
	unsigned nr; /* bytes in out */
	unsigned char out[OUT_BYTES];
	char text[OUT_BYTES / 3 * 4 + 4];
};

struct html_block *html_block_begin(FILE *to, const char *id)
{
	struct html_block *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->to = to;
	if (deflateInit2(&b->zip, LEVEL, Z_DEFLATED, GZIP, 9, Z_DEFAULT_STRATEGY) != Z_OK) {
		free(b);
		return NULL;
	}
	fprintf(to, "<script type=\"application/octet-stream;base64\" id=\"%s\">", id);
	return b;
}

/* RFC 4648 */
static void put_base64(struct html_block *b)
{
	static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char *at = b->text;

	for (unsigned i = 0; i < b->nr; i += 3) {
		unsigned left = b->nr - i;
		uint32_t three = (uint32_t)b->out[i] << 16 | (left > 1 ? (uint32_t)b->out[i + 1] << 8 : 0) | (left > 2 ? b->out[i + 2] : 0);

		*at++ = digit[three >> 18];
		*at++ = digit[three >> 12 & 63];
		*at++ = left > 1 ? digit[three >> 6 & 63] : '=';
		*at++ = left > 2 ? digit[three & 63] : '=';
	}
	if (fwrite(b->text, 1, (size_t)(at - b->text), b->to) != (size_t)(at - b->text))
		b->error = -EIO;
	b->nr = 0;
}

static void zip(struct html_block *b, int flush)
{
	int ret;

	do {
		b->zip.next_out = b->out + b->nr;
		b->zip.avail_out = OUT_BYTES - b->nr;
		ret = deflate(&b->zip, flush);
		b->nr = OUT_BYTES - b->zip.avail_out;
		if (b->nr == OUT_BYTES)
			put_base64(b);
	} while (ret == Z_OK && (b->zip.avail_in || flush == Z_FINISH));
	if (ret != Z_OK && ret != Z_STREAM_END && ret != Z_BUF_ERROR)
		b->error = -ENOMEM;
}

void html_block_add(struct html_block *b, const void *bytes, size_t nr)
{
	for (size_t done = 0; done < nr;) {
		unsigned part = nr - done < ADD_MAX ? (unsigned)(nr - done) : ADD_MAX;

		b->zip.next_in = (unsigned char *)(uintptr_t)bytes + done;
		b->zip.avail_in = part;
		zip(b, Z_NO_FLUSH);
		done += part;
	}
}

int html_block_end(struct html_block *b)
{
	int ret;

	zip(b, Z_FINISH);
	if (b->nr)
		put_base64(b);
	fputs("</script>\n", b->to);
	ret = b->error;
	deflateEnd(&b->zip);
	free(b);
	return ret;
}
