/* SPDX-License-Identifier: MIT */
#include "jitreg/trace/writer_copy.h"

#include "jitreg/base/crc32c.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

struct place {
	const unsigned char *at, *end;
};

static bool take_be(struct place *p, unsigned bytes, uint64_t *v)
{
	*v = 0;
	if (bytes > (size_t)(p->end - p->at))
		return false;
	while (bytes--)
		*v = *v << 8 | *p->at++;
	return true;
}

static bool skip_bytes(struct place *p, uint64_t bytes)
{
	if (bytes > (uint64_t)(p->end - p->at))
		return false;
	p->at += bytes;
	return true;
}

/* One msgpack object and all that is in it, without recursion: *left objects are still to come. */
static bool skip_one(struct place *p, uint64_t *left)
{
	static const unsigned char fixed[] = { 4, 8, 1, 2, 4, 8, 1, 2, 4, 8 }; /* bytes of what 0xca to 0xd3 are */
	uint64_t n = 0;
	unsigned char b;

	if (p->at == p->end)
		return false;
	b = *p->at++;
	if (b < 0x80 || b >= 0xe0 || b == 0xc0 || b == 0xc2 || b == 0xc3) /* small numbers, nil, truth */
		return true;
	if (b < 0x90) { /* small map */
		*left += 2 * (b & 15u);
		return true;
	}
	if (b < 0xa0) { /* small array */
		*left += b & 15u;
		return true;
	}
	if (b < 0xc0) /* short text */
		return skip_bytes(p, b & 31u);
	if (b >= 0xca && b <= 0xd3)
		return skip_bytes(p, fixed[b - 0xca]);
	if (b >= 0xd4 && b <= 0xd8) /* an extension's type, and 1, 2, 4, 8 or 16 bytes */
		return skip_bytes(p, 1 + (1u << (b - 0xd4)));
	if (b >= 0xc4 && b <= 0xc6) /* bytes */
		return take_be(p, 1u << (b - 0xc4), &n) && skip_bytes(p, n);
	if (b >= 0xc7 && b <= 0xc9) /* extension */
		return take_be(p, 1u << (b - 0xc7), &n) && skip_bytes(p, n + 1);
	if (b >= 0xd9 && b <= 0xdb) /* text */
		return take_be(p, 1u << (b - 0xd9), &n) && skip_bytes(p, n);
	if (b >= 0xdc && take_be(p, b & 1 ? 4 : 2, &n) && n <= (uint64_t)(p->end - p->at)) { /* array, map */
		*left += b >= 0xde ? 2 * n : n;
		return true;
	}
	return false;
}

static bool skip(struct place *p)
{
	uint64_t left = 1;

	while (left) {
		left--;
		if (!skip_one(p, &left))
			return false;
	}
	return true;
}

static bool take_number(struct place *p, uint64_t *v)
{
	unsigned char b;

	if (p->at == p->end)
		return false;
	b = *p->at++;
	*v = b;
	return b < 0x80 || (b >= 0xcc && b <= 0xcf && take_be(p, 1u << (b - 0xcc), v));
}

bool trace_brief_number(const unsigned char *at, const unsigned char *end, uint64_t *number)
{
	return take_number(&(struct place){ at, end }, number);
}

static void take_text(struct place p, struct trace_brief *r)
{
	uint64_t n;
	unsigned char b;

	if (p.at == p.end)
		return;
	b = *p.at++;
	if (b >= 0xa0 && b < 0xc0)
		n = b & 31u;
	else if (b < 0xd9 || b > 0xdb || !take_be(&p, 1u << (b - 0xd9), &n))
		return;
	if (n <= (uint64_t)(p.end - p.at)) {
		r->text = (const char *)p.at;
		r->text_bytes = (size_t)n;
	}
}

/* The record at p; false: it makes no sense. */
static bool take_record(struct place *p, struct trace_brief *r)
{
	struct place in = *p;
	uint64_t nr, id, pid, tid;
	unsigned char b;

	if (!skip(p))
		return false;
	memset(r, 0, sizeof(*r));
	r->end = in.end = p->at;
	b = *in.at++;
	nr = b & 15u;
	if ((b < 0x90 || b >= 0xa0) && (b < 0xdc || b > 0xdd || !take_be(&in, b & 1 ? 4 : 2, &nr)))
		return false;
	if (nr < 4 || !take_number(&in, &id) || !take_number(&in, &r->time_ns) || !take_number(&in, &pid) || !take_number(&in, &tid))
		return false;
	r->id = (uint32_t)id;
	r->pid = (uint32_t)pid;
	r->tid = (uint32_t)tid;
	if (nr >= 5) {
		take_text(in, r);
		trace_brief_number(in.at, in.end, &r->number);
	}
	if (nr >= 7 && skip(&in) && skip(&in))
		r->third = in.at;
	return true;
}

/* False: a version or bytes that make no sense. */
static bool copy_body(struct trace_writer *w, const void *body, size_t bytes, bool (*wanted)(void *context, const struct trace_brief *r),
		      void *context)
{
	struct place p = { body, (const unsigned char *)body + bytes };
	struct trace_brief r;

	while (p.at < p.end) {
		const unsigned char *start = p.at;

		if (!take_record(&p, &r))
			return false;
		if (wanted(context, &r) && w)
			trace_record_packed(w, TRACE_CHUNK_RECORDS, start, (size_t)(p.at - start));
	}
	return true;
}

int trace_writer_copy_bytes(struct trace_writer *w, const void *bytes, size_t size,
			bool (*wanted)(void *context, const struct trace_brief *r), void *context, bool *cut)
{
	const unsigned char *at = bytes, *end = at + size;
	struct trace_chunk c = { .magic = 0 };
	bool sense = true;

	while (sense && (size_t)(end - at) >= sizeof(c)) {
		memcpy(&c, at, sizeof(c));
		if (c.magic != TRACE_MAGIC || c.stored_bytes > (size_t)(end - at) - sizeof(c) || c.body_bytes > TRACE_CHUNK_MAX ||
		    crc32c(crc32c(0, &c, sizeof(c) - 4), at + sizeof(c), c.stored_bytes) != c.crc32c)
			break;
		if (c.type == TRACE_CHUNK_RECORDS && !(c.flags & TRACE_CHUNK_ZSTD)) {
			sense = copy_body(w, at + sizeof(c), c.stored_bytes, wanted, context);
		} else if (c.type == TRACE_CHUNK_RECORDS) {
			void *body = malloc(c.body_bytes ? c.body_bytes : 1);

			sense = body && ZSTD_decompress(body, c.body_bytes, at + sizeof(c), c.stored_bytes) == c.body_bytes &&
				copy_body(w, body, c.body_bytes, wanted, context);
			free(body);
		}
		at += sizeof(c) + c.stored_bytes;
	}
	*cut = !sense || at < end || c.type != TRACE_CHUNK_END;
	return at == bytes ? -EBADMSG : 0;
}

int trace_writer_copy(struct trace_writer *w, const char *path, bool (*wanted)(void *context, const struct trace_brief *r),
		      void *context, bool *cut, struct diag *d)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), error = errno;
	struct stat st;
	void *bytes;
	int ret;

	if (fd < 0)
		return diag_fail(d, error, "%s: %s", path, strerror(error));
	bytes = fstat(fd, &st) || !S_ISREG(st.st_mode) || !st.st_size ? MAP_FAILED
								      : mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (bytes == MAP_FAILED)
		return diag_fail(d, EBADMSG, "%s is no trace of tailor", path);
	ret = trace_writer_copy_bytes(w, bytes, (size_t)st.st_size, wanted, context, cut);
	munmap(bytes, (size_t)st.st_size);
	return ret ? diag_fail(d, EBADMSG, "%s is no trace of tailor", path) : 0;
}
