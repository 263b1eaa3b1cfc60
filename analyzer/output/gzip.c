/* SPDX-License-Identifier: MIT */
#include "analyzer/output/gzip.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

#define GZIP (15 + 16) /* zlib: window bits, and a gzip header */
#define LEVEL 7
#define ADD_MAX (1u << 30) /* bytes that zlib gets at once, because it counts them in 32 bits */

struct gzip {
	z_stream zip;
	int (*put)(void *context, const unsigned char *bytes, size_t nr);
	void *context;
	int error;
	unsigned nr; /* bytes in out */
	unsigned char out[GZIP_PIECE_BYTES];
};

struct gzip *gzip_begin(int (*put)(void *context, const unsigned char *bytes, size_t nr), void *context)
{
	struct gzip *z = calloc(1, sizeof(*z));

	if (!z)
		return NULL;
	z->put = put;
	z->context = context;
	if (deflateInit2(&z->zip, LEVEL, Z_DEFLATED, GZIP, 9, Z_DEFAULT_STRATEGY) == Z_OK)
		return z;
	free(z);
	return NULL;
}

static void put_out(struct gzip *z)
{
	if (z->put(z->context, z->out, z->nr))
		z->error = -EIO;
	z->nr = 0;
}

static void zip(struct gzip *z, int flush)
{
	int ret;

	do {
		z->zip.next_out = z->out + z->nr;
		z->zip.avail_out = GZIP_PIECE_BYTES - z->nr;
		ret = deflate(&z->zip, flush);
		z->nr = GZIP_PIECE_BYTES - z->zip.avail_out;
		if (z->nr == GZIP_PIECE_BYTES)
			put_out(z);
	} while (ret == Z_OK && (z->zip.avail_in || flush == Z_FINISH));
	if (ret != Z_OK && ret != Z_STREAM_END && ret != Z_BUF_ERROR)
		z->error = -ENOMEM;
}

void gzip_add(struct gzip *z, const void *bytes, size_t nr)
{
	for (size_t done = 0; done < nr;) {
		unsigned part = nr - done < ADD_MAX ? (unsigned)(nr - done) : ADD_MAX;

		z->zip.next_in = (unsigned char *)(uintptr_t)bytes + done;
		z->zip.avail_in = part;
		zip(z, Z_NO_FLUSH);
		done += part;
	}
}

int gzip_end(struct gzip *z)
{
	int ret;

	zip(z, Z_FINISH);
	if (z->nr)
		put_out(z);
	ret = z->error;
	deflateEnd(&z->zip);
	free(z);
	return ret;
}

struct stream {
	struct gzip *zip;
	FILE *to;
};

static int put_into_file(void *to, const unsigned char *bytes, size_t nr)
{
	return fwrite(bytes, 1, nr, to) == nr ? 0 : -EIO;
}

static ssize_t write_stream(void *stream, const char *bytes, size_t nr)
{
	const struct stream *s = stream;

	gzip_add(s->zip, bytes, nr);
	return s->zip->error ? 0 : (ssize_t)nr;
}

static int close_stream(void *stream)
{
	struct stream *s = stream;
	int ret = gzip_end(s->zip);

	if (fclose(s->to))
		ret = -EIO;
	free(s);
	errno = ret ? -ret : errno;
	return ret ? -1 : 0;
}

FILE *gzip_stream(FILE *to)
{
	struct stream *s = calloc(1, sizeof(*s));
	FILE *f = NULL;

	if (!s)
		return NULL;
	s->to = to;
	s->zip = gzip_begin(put_into_file, to);
	if (s->zip)
		f = fopencookie(s, "w", (cookie_io_functions_t){ .write = write_stream, .close = close_stream });
	if (f)
		return f;
	if (s->zip) { /* gzip_end() is not called here, because it would write the header of an empty stream to `to` */
		deflateEnd(&s->zip->zip);
		free(s->zip);
	}
	free(s);
	return NULL;
}
