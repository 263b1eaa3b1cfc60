/* SPDX-License-Identifier: MIT */
#include "jitreg/trace/writer.h"

#include "jitreg/base/crc32c.h"

#include <errno.h>
#include <fcntl.h>
#include <msgpack.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#define FLUSH_BYTES (1u << 20)
/* Kept free behind the last chunk while the disk or a limit allows it, for the records that say how the recording ended. */
#define RESERVE_BYTES (64u << 10)
#define COMPRESSION_LEVEL 1
#define MATCH_BYTES 5 /* numbers that come again are short: 5 take as little as 4 and less than 6, and are read faster than 4 */
#define NR_TYPES (TRACE_CHUNK_END + 1)

struct trace_writer {
	int fd;
	int error; /* the first one */
	bool regular; /* a file that can be cut back */
	bool compress;
	uint64_t reserve; /* bytes to leave free behind each chunk */
	uint64_t sequence;
	uint64_t file_bytes;
	uint64_t nr_records, nr_lost; /* written or to be; lost with their chunk, samples apart */
	ZSTD_CCtx *zstd;
	char *out; /* one chunk as it goes to the file */
	size_t out_capacity;
	char *clean; /* a text as valid UTF-8 */
	size_t clean_capacity;
	enum trace_chunk_type type; /* of the record being packed */
	size_t record_start; /* in its buffer */
	struct msgpack_sbuffer buffer[NR_TYPES];
	uint64_t buffered[NR_TYPES]; /* records in it */
	struct msgpack_packer packer;
};

/* A file that is there is replaced, not written over: who has the old one open keeps it.  Devices are opened as they are. */
static int create(const char *path)
{
	struct stat st;

	if (lstat(path, &st) == 0) {
		if (!S_ISREG(st.st_mode))
			return open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW);
		if (unlink(path))
			return -1;
	}
	return open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
}

int trace_writer_open(const char *path, bool compress, struct trace_writer **out, struct diag *d)
{
	struct trace_writer *w = calloc(1, sizeof(*w));
	struct stat st;
	int error;

	if (!w)
		return diag_fail(d, ENOMEM, "no memory for the trace writer");
	w->fd = create(path);
	if (w->fd < 0) {
		error = errno;
		free(w);
		return diag_fail(d, error, "%s: the trace cannot be written: %s", path, strerror(error));
	}
	w->regular = fstat(w->fd, &st) == 0 && S_ISREG(st.st_mode);
	w->compress = compress;
	w->reserve = RESERVE_BYTES;
	w->zstd = ZSTD_createCCtx();
	if (w->zstd) {
		ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, COMPRESSION_LEVEL);
		ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_minMatch, MATCH_BYTES);
	}
	for (int i = 0; i < NR_TYPES; i++)
		msgpack_sbuffer_init(&w->buffer[i]);
	*out = w;
	return 0;
}

int trace_writer_close(struct trace_writer *w)
{
	int error;

	trace_writer_flush_all(w);
	if (w->regular && ftruncate(w->fd, (off_t)w->file_bytes) && !w->error)
		w->error = errno; /* gives back what was reserved */
	if (close(w->fd) && !w->error)
		w->error = errno;
	error = w->error;
	ZSTD_freeCCtx(w->zstd);
	for (int i = 0; i < NR_TYPES; i++)
		msgpack_sbuffer_destroy(&w->buffer[i]);
	free(w->out);
	free(w->clean);
	free(w);
	return -error;
}

static int write_all(int fd, const char *p, size_t bytes)
{
	while (bytes > 0) {
		ssize_t n = write(fd, p, bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? errno : ENOSPC;
		p += n;
		bytes -= (size_t)n;
	}
	return 0;
}

/* Is there room for bytes and the reserve?  0 or an errno value. */
static int have_room(const struct trace_writer *w, size_t bytes)
{
	uint64_t end = w->file_bytes + bytes + w->reserve;
	struct rlimit limit;

	if (!w->regular || !w->reserve)
		return 0;
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && end > limit.rlim_cur)
		return EFBIG;
	/* not every file system can reserve; there the write itself will tell */
	if (fallocate(w->fd, FALLOC_FL_KEEP_SIZE, (off_t)w->file_bytes, (off_t)(bytes + w->reserve)))
		return errno == ENOSPC || errno == EDQUOT ? errno : 0;
	return 0;
}

/* One chunk.  0 or an errno value. */
static int send_chunk(struct trace_writer *w, enum trace_chunk_type type, const char *body, size_t bytes)
{
	struct trace_chunk c = { .magic = TRACE_MAGIC, .type = type, .body_bytes = (uint32_t)bytes, .sequence = w->sequence++ };
	size_t bound = w->compress ? ZSTD_compressBound(bytes) : bytes, stored = bytes;
	int error;

	if (sizeof(c) + bound > w->out_capacity) {
		char *bigger = realloc(w->out, sizeof(c) + bound);

		if (!bigger)
			return ENOMEM;
		w->out = bigger;
		w->out_capacity = sizeof(c) + bound;
	}
	if (w->compress && w->zstd) {
		stored = ZSTD_compress2(w->zstd, w->out + sizeof(c), bound, body, bytes);
		if (!ZSTD_isError(stored) && stored < bytes)
			c.flags = TRACE_CHUNK_ZSTD;
	}
	if (!c.flags) {
		stored = bytes;
		memcpy(w->out + sizeof(c), body, bytes);
	}
	c.stored_bytes = (uint32_t)stored;
	c.crc32c = crc32c(crc32c(0, &c, sizeof(c) - 4), w->out + sizeof(c), stored);
	memcpy(w->out, &c, sizeof(c));
	error = have_room(w, sizeof(c) + stored);
	if (!error)
		error = write_all(w->fd, w->out, sizeof(c) + stored);
	if (!error) {
		w->file_bytes += sizeof(c) + stored;
	} else if (w->regular) {
		/* back to the last whole chunk; should that fail, readers skip the half one */
		if (ftruncate(w->fd, (off_t)w->file_bytes) || lseek(w->fd, (off_t)w->file_bytes, SEEK_SET) < 0)
			return error;
	}
	return error;
}

static void count_lost(struct trace_writer *w, enum trace_chunk_type type, uint64_t nr, int error)
{
	if (!w->error)
		w->error = error;
	w->nr_records -= nr;
	if (type != TRACE_CHUNK_SAMPLES) /* those the caller counts one by one */
		w->nr_lost += nr;
}

int trace_writer_flush(struct trace_writer *w, enum trace_chunk_type type)
{
	struct msgpack_sbuffer *b = &w->buffer[type];
	int error;

	if (b->size == 0)
		return 0;
	error = send_chunk(w, type, b->data, b->size);
	if (error)
		count_lost(w, type, w->buffered[type], error);
	w->buffered[type] = 0;
	msgpack_sbuffer_clear(b);
	if (b->alloc > 4 * FLUSH_BYTES) {
		msgpack_sbuffer_destroy(b);
		msgpack_sbuffer_init(b);
	}
	return -error;
}

void trace_writer_use_reserve(struct trace_writer *w)
{
	w->reserve = 0;
}

void trace_writer_flush_all(struct trace_writer *w)
{
	for (int i = 1; i < NR_TYPES; i++)
		trace_writer_flush(w, i);
}

void trace_record_begin(struct trace_writer *w, enum trace_chunk_type type, uint32_t id, uint64_t time_ns, uint32_t pid,
			uint32_t tid, int nr_fields)
{
	w->type = type;
	w->record_start = w->buffer[type].size;
	msgpack_packer_init(&w->packer, &w->buffer[type], msgpack_sbuffer_write);
	msgpack_pack_array(&w->packer, (size_t)nr_fields + 4);
	msgpack_pack_uint32(&w->packer, id);
	msgpack_pack_uint64(&w->packer, time_ns);
	msgpack_pack_uint32(&w->packer, pid);
	msgpack_pack_uint32(&w->packer, tid);
}

void trace_record_u64(struct trace_writer *w, uint64_t v)
{
	msgpack_pack_uint64(&w->packer, v);
}

void trace_record_s64(struct trace_writer *w, int64_t v)
{
	msgpack_pack_int64(&w->packer, v);
}

/* Length of the UTF-8 sequence at p, or 0 for bytes that are none. */
static size_t utf8_sequence(const unsigned char *p, size_t left)
{
	size_t n = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : p[0] < 0xf5 ? 4 : 0;

	if (n == 0 || n > left)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] >= 0xa0) || (p[0] == 0xf0 && p[1] < 0x90) ||
	    (p[0] == 0xf4 && p[1] >= 0x90))
		return 0; /* too long a form, a surrogate, or behind the last code point */
	return n;
}

/* msgpack texts are UTF-8; file names and thread names need not be: other bytes become '?'. */
void trace_record_text(struct trace_writer *w, const char *text, size_t bytes)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t at = 0, n;

	while (at < bytes && (n = utf8_sequence(p + at, bytes - at)))
		at += n;
	if (at < bytes) {
		if (bytes > w->clean_capacity) {
			char *bigger = realloc(w->clean, bytes);

			if (!bigger) {
				msgpack_pack_str_with_body(&w->packer, text, at);
				return;
			}
			w->clean = bigger;
			w->clean_capacity = bytes;
		}
		memcpy(w->clean, text, bytes);
		for (; at < bytes; at += n ? n : 1) {
			n = utf8_sequence(p + at, bytes - at);
			if (!n)
				w->clean[at] = '?';
		}
		text = w->clean;
	}
	msgpack_pack_str_with_body(&w->packer, text, bytes);
}

void trace_record_bytes(struct trace_writer *w, const void *p, size_t bytes)
{
	msgpack_pack_bin_with_body(&w->packer, p, bytes);
}

void trace_record_array(struct trace_writer *w, size_t nr)
{
	msgpack_pack_array(&w->packer, nr);
}

int trace_record_end(struct trace_writer *w)
{
	struct msgpack_sbuffer *b = &w->buffer[w->type];
	int error;

	if (b->size > TRACE_CHUNK_MAX) {
		/* the record fits only a chunk of its own, or none */
		size_t bytes = b->size - w->record_start;

		if (w->record_start) {
			error = send_chunk(w, w->type, b->data, w->record_start);
			if (error)
				count_lost(w, w->type, w->buffered[w->type], error);
			w->buffered[w->type] = 0;
			memmove(b->data, b->data + w->record_start, bytes);
			b->size = bytes;
			w->record_start = 0;
		}
		if (bytes > TRACE_CHUNK_MAX) {
			msgpack_sbuffer_clear(b);
			return -E2BIG;
		}
	}
	w->nr_records++;
	w->buffered[w->type]++;
	return b->size >= FLUSH_BYTES ? trace_writer_flush(w, w->type) : 0;
}

int trace_record_packed(struct trace_writer *w, enum trace_chunk_type type, const void *record, size_t bytes)
{
	w->type = type;
	w->record_start = w->buffer[type].size;
	if (msgpack_sbuffer_write(&w->buffer[type], record, bytes))
		return -ENOMEM;
	return trace_record_end(w);
}

static uint64_t load_u64(const void *p)
{
	uint64_t v;

	memcpy(&v, p, 8);
	return v;
}

/* Elements of the wire form: all members u64. */
static void pack_elements(struct trace_writer *w, const struct schema_value *v)
{
	size_t members = v->u ? v->bytes / 8 / v->u : 0;
	const char *at = v->p;

	trace_record_array(w, v->u);
	for (uint64_t i = 0; i < v->u; i++) {
		trace_record_array(w, members);
		for (size_t m = 0; m < members; m++, at += 8)
			trace_record_u64(w, load_u64(at));
	}
}

/* jitdump's line entries, as schema_parse() checked them. */
static void pack_lines(struct trace_writer *w, const struct schema_value *v)
{
	const char *at = v->p;

	trace_record_array(w, v->u);
	for (uint64_t i = 0; i < v->u; i++) {
		uint32_t u32[2];
		size_t name = strlen(at + 16);

		memcpy(u32, at + 8, 8);
		trace_record_array(w, 4);
		trace_record_u64(w, load_u64(at));
		trace_record_u64(w, u32[0]);
		trace_record_u64(w, u32[1]);
		trace_record_text(w, at + 16, name);
		at += 16 + name + 1;
	}
}

int trace_record_values(struct trace_writer *w, uint32_t id, uint64_t time_ns, uint32_t pid, uint32_t tid,
			const struct schema_value *values, int nr_values)
{
	trace_record_begin(w, TRACE_CHUNK_RECORDS, id, time_ns, pid, tid, nr_values);
	for (const struct schema_value *v = values; v < values + nr_values; v++)
		switch (v->kind) {
		case SCHEMA_U32:
		case SCHEMA_U64:
			trace_record_u64(w, v->u);
			break;
		case SCHEMA_S64:
			trace_record_s64(w, (int64_t)v->u);
			break;
		case SCHEMA_STR:
		case SCHEMA_ZSTR:
			trace_record_text(w, v->p, v->bytes);
			break;
		case SCHEMA_BIN:
		case SCHEMA_REST:
			trace_record_bytes(w, v->p, v->bytes);
			break;
		case SCHEMA_ARR:
			pack_elements(w, v);
			break;
		case SCHEMA_LINES:
			pack_lines(w, v);
			break;
		case SCHEMA_NR: /* not in the trace */
			break;
		}
	return trace_record_end(w);
}

int trace_writer_error(const struct trace_writer *w)
{
	return w->error;
}

uint64_t trace_writer_bytes(const struct trace_writer *w)
{
	return w->file_bytes;
}

uint64_t trace_writer_records(const struct trace_writer *w)
{
	return w->nr_records;
}

uint64_t trace_writer_lost(const struct trace_writer *w)
{
	return w->nr_lost;
}

bool trace_writer_is_file(const struct trace_writer *w)
{
	return w->regular;
}
