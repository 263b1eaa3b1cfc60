/* SPDX-License-Identifier: MIT */
#include "trace_writer.h"

#include "crc32c.h"

#include <errno.h>
#include <fcntl.h>
#include <msgpack.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#define FLUSH_BYTES (1u << 20)
#define COMPRESSION_LEVEL 1
#define NR_TYPES (TRACE_CHUNK_END + 1)

struct trace_writer {
	int fd;
	int error;
	bool regular; /* a file that can be cut back */
	uint64_t sequence;
	uint64_t file_bytes;
	uint64_t nr_records;
	ZSTD_CCtx *zstd;
	char *out; /* one chunk as it goes to the file */
	size_t out_capacity;
	enum trace_chunk_type type; /* of the record being packed */
	struct msgpack_sbuffer buffer[NR_TYPES];
	struct msgpack_packer packer;
};

int trace_writer_open(const char *path, struct trace_writer **out, struct diag *d)
{
	struct trace_writer *w = calloc(1, sizeof(*w));
	struct stat st;
	int error;

	if (!w)
		return diag_fail(d, ENOMEM, "no memory for the trace writer");
	w->fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW, 0600);
	if (w->fd < 0) {
		error = errno;
		free(w);
		return diag_fail(d, error, "%s: the trace cannot be written: %s", path, strerror(error));
	}
	w->regular = fstat(w->fd, &st) == 0 && S_ISREG(st.st_mode);
	if (w->regular && ftruncate(w->fd, 0)) {
		error = errno;
		close(w->fd);
		free(w);
		return diag_fail(d, error, "%s: the file cannot be emptied: %s", path, strerror(error));
	}
	w->zstd = ZSTD_createCCtx();
	for (int i = 0; i < NR_TYPES; i++)
		msgpack_sbuffer_init(&w->buffer[i]);
	*out = w;
	return 0;
}

int trace_writer_close(struct trace_writer *w)
{
	int error;

	trace_writer_flush_all(w);
	if (close(w->fd) && !w->error)
		w->error = errno;
	error = w->error;
	ZSTD_freeCCtx(w->zstd);
	for (int i = 0; i < NR_TYPES; i++)
		msgpack_sbuffer_destroy(&w->buffer[i]);
	free(w->out);
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

void trace_writer_flush(struct trace_writer *w, enum trace_chunk_type type)
{
	struct msgpack_sbuffer *b = &w->buffer[type];
	struct trace_chunk c = { .magic = TRACE_MAGIC, .type = type };
	size_t bound = ZSTD_compressBound(b->size), stored;

	if (b->size == 0)
		return;
	if (w->error)
		goto done;
	if (sizeof(c) + bound > w->out_capacity) {
		char *bigger = realloc(w->out, sizeof(c) + bound);

		if (!bigger) {
			w->error = ENOMEM;
			goto done;
		}
		w->out = bigger;
		w->out_capacity = sizeof(c) + bound;
	}
	stored = ZSTD_compressCCtx(w->zstd, w->out + sizeof(c), bound, b->data, b->size, COMPRESSION_LEVEL);
	if (ZSTD_isError(stored) || stored >= b->size) {
		stored = b->size;
		memcpy(w->out + sizeof(c), b->data, b->size);
	} else {
		c.flags = TRACE_CHUNK_ZSTD;
	}
	c.stored_bytes = (uint32_t)stored;
	c.body_bytes = (uint32_t)b->size;
	c.sequence = w->sequence++;
	c.crc32c = crc32c(crc32c(0, &c, sizeof(c) - 4), w->out + sizeof(c), stored);
	memcpy(w->out, &c, sizeof(c));
	w->error = write_all(w->fd, w->out, sizeof(c) + stored);
	if (!w->error)
		w->file_bytes += sizeof(c) + stored;
	else if (w->regular && ftruncate(w->fd, (off_t)w->file_bytes)) {
		/* the half chunk stays; readers skip it */
	}
done:
	msgpack_sbuffer_clear(b);
	if (b->alloc > 4 * FLUSH_BYTES) {
		msgpack_sbuffer_destroy(b);
		msgpack_sbuffer_init(b);
	}
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

void trace_record_text(struct trace_writer *w, const char *text, size_t bytes)
{
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

void trace_record_end(struct trace_writer *w)
{
	w->nr_records++;
	if (w->buffer[w->type].size >= FLUSH_BYTES)
		trace_writer_flush(w, w->type);
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

void trace_record_values(struct trace_writer *w, uint32_t id, uint64_t time_ns, uint32_t pid, uint32_t tid,
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
	trace_record_end(w);
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
