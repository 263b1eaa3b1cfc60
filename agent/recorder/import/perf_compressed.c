/* SPDX-License-Identifier: MIT */
#include "agent/recorder/import/perf_compressed.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define RECORD_BYTES 65536u
/* Records grow 5 to 30 times when they are unpacked.  But zstd could make 2 GiB of 64 KiB, so a stream that grows more than this is
 * refused. */
#define GROWTH_MAX 1024u

struct perf_compressed {
	ZSTD_DStream *stream;
	ZSTD_inBuffer in;
	uint64_t fed, made;
	size_t from, to; /* range of bytes that were unpacked and not yet taken as records */
	unsigned char bytes[2 * RECORD_BYTES];
};

struct perf_compressed *perf_compressed_create(void)
{
	struct perf_compressed *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->stream = ZSTD_createDStream();
	if (!p->stream) {
		free(p);
		return NULL;
	}
	return p;
}

void perf_compressed_destroy(struct perf_compressed *p)
{
	if (!p)
		return;
	ZSTD_freeDStream(p->stream);
	free(p);
}

void perf_compressed_feed(struct perf_compressed *p, const void *bytes, size_t nr)
{
	p->in = (ZSTD_inBuffer){ bytes, nr, 0 };
	p->fed += nr;
}

/* Unpacks more after the bytes that are left.  Returns 1 if there may be more, 0 if the bytes given so far have no more, or -EBADMSG. */
static int unpack_more_records(struct perf_compressed *p)
{
	ZSTD_outBuffer out;
	size_t ret;

	memmove(p->bytes, p->bytes + p->from, p->to - p->from);
	p->to -= p->from;
	p->from = 0;
	out = (ZSTD_outBuffer){ p->bytes, sizeof(p->bytes), p->to };
	ret = ZSTD_decompressStream(p->stream, &out, &p->in);
	if (ZSTD_isError(ret))
		return -EBADMSG;
	p->made += out.pos - p->to;
	if (p->made / GROWTH_MAX > p->fed)
		return -EBADMSG;
	ret = out.pos > p->to;
	p->to = out.pos;
	return ret || p->in.pos < p->in.size;
}

int perf_compressed_next_record(struct perf_compressed *p, struct perf_event_header *room)
{
	for (;;) {
		struct perf_event_header h = { .size = sizeof(h) };
		int ret;

		if (p->to - p->from >= sizeof(h)) {
			memcpy(&h, p->bytes + p->from, sizeof(h));
			if (h.size < sizeof(h))
				return -EBADMSG;
		}
		if (p->to - p->from >= h.size) {
			memcpy(room, p->bytes + p->from, h.size);
			p->from += h.size;
			return 1;
		}
		ret = unpack_more_records(p);
		if (ret <= 0)
			return ret;
	}
}
