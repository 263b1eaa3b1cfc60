/* SPDX-License-Identifier: MIT */
#include "jitreg/trace/copy.h"

#include "jitreg/base/crc32c.h"

#include <errno.h>
#include <fcntl.h>
#include <msgpack.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#define CHUNK_BYTES (1u << 20) /* gathered before they leave */
#define COMPRESSION_LEVEL 3

struct trace_copy {
	int fd, error;
	uint16_t type; /* of what is gathered */
	uint64_t sequence;
	msgpack_sbuffer body;
	msgpack_packer packer;
	ZSTD_CCtx *zstd;
	char *out;
	size_t out_capacity;
};

int trace_copy_open(const char *path, struct trace_copy **out, struct diag *d)
{
	struct trace_copy *c = calloc(1, sizeof(*c));

	if (!c)
		return diag_fail(d, ENOMEM, "%s: no memory to write it", path);
	c->zstd = ZSTD_createCCtx();
	c->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (c->fd < 0 || !c->zstd) {
		int ret = diag_fail(d, c->fd < 0 ? errno : ENOMEM, "%s: %s", path, strerror(c->fd < 0 ? errno : ENOMEM));

		if (c->fd >= 0)
			close(c->fd);
		ZSTD_freeCCtx(c->zstd);
		free(c);
		return ret;
	}
	msgpack_sbuffer_init(&c->body);
	msgpack_packer_init(&c->packer, &c->body, msgpack_sbuffer_write);
	*out = c;
	return 0;
}

static void write_all(struct trace_copy *c, const char *p, size_t bytes)
{
	while (bytes && !c->error) {
		ssize_t n = write(c->fd, p, bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			c->error = n < 0 ? -errno : -EIO;
			return;
		}
		p += n;
		bytes -= (size_t)n;
	}
}

static void flush(struct trace_copy *c)
{
	struct trace_chunk chunk = { .magic = TRACE_MAGIC, .type = c->type, .flags = TRACE_CHUNK_ZSTD, .sequence = c->sequence };
	size_t bound = ZSTD_compressBound(c->body.size), stored;

	if (!c->body.size || c->error)
		return;
	if (bound > c->out_capacity) {
		free(c->out);
		c->out = malloc(bound);
		c->out_capacity = c->out ? bound : 0;
	}
	stored = c->out ? ZSTD_compressCCtx(c->zstd, c->out, bound, c->body.data, c->body.size, COMPRESSION_LEVEL) : 0;
	if (!c->out || ZSTD_isError(stored)) {
		c->error = -ENOMEM;
		return;
	}
	chunk.stored_bytes = (uint32_t)stored;
	chunk.body_bytes = (uint32_t)c->body.size;
	chunk.crc32c = crc32c(crc32c(0, &chunk, sizeof(chunk) - 4), c->out, stored);
	write_all(c, (const char *)&chunk, sizeof(chunk));
	write_all(c, c->out, stored);
	c->sequence++;
	msgpack_sbuffer_clear(&c->body);
}

int trace_copy_close(struct trace_copy *c)
{
	int ret;

	flush(c);
	ret = c->error;
	if (close(c->fd) && !ret)
		ret = -errno;
	msgpack_sbuffer_destroy(&c->body);
	ZSTD_freeCCtx(c->zstd);
	free(c->out);
	free(c);
	return ret;
}

void trace_copy_begin(struct trace_copy *c, uint16_t type, const struct trace_record *r, int nr_values)
{
	if (type != c->type || c->body.size >= CHUNK_BYTES)
		flush(c);
	c->type = type;
	msgpack_pack_array(&c->packer, 4 + (size_t)nr_values);
	msgpack_pack_uint64(&c->packer, r->id);
	msgpack_pack_uint64(&c->packer, r->time_ns);
	msgpack_pack_uint64(&c->packer, r->pid);
	msgpack_pack_uint64(&c->packer, r->tid);
}

void trace_copy_u64(struct trace_copy *c, uint64_t v)
{
	msgpack_pack_uint64(&c->packer, v);
}

void trace_copy_text(struct trace_copy *c, const char *text, size_t bytes)
{
	msgpack_pack_str(&c->packer, bytes);
	msgpack_pack_str_body(&c->packer, text, bytes);
}

void trace_copy_bytes(struct trace_copy *c, const void *p, size_t bytes)
{
	msgpack_pack_bin(&c->packer, bytes);
	msgpack_pack_bin_body(&c->packer, p, bytes);
}

void trace_copy_list(struct trace_copy *c, size_t nr)
{
	msgpack_pack_array(&c->packer, nr);
}

void trace_copy_value(struct trace_copy *c, const struct trace_value *v)
{
	struct trace_value item;

	switch (v->kind) {
	case TRACE_UINT:
		msgpack_pack_uint64(&c->packer, v->u);
		break;
	case TRACE_INT:
		msgpack_pack_int64(&c->packer, (int64_t)v->u);
		break;
	case TRACE_TEXT:
		trace_copy_text(c, v->p ? v->p : "", v->bytes);
		break;
	case TRACE_BYTES:
		trace_copy_bytes(c, v->p ? v->p : "", v->bytes);
		break;
	case TRACE_LIST:
		msgpack_pack_array(&c->packer, v->u);
		for (uint64_t i = 0; i < v->u; i++) {
			item = trace_item(v, i);
			trace_copy_value(c, &item);
		}
		break;
	case TRACE_OTHER:
		msgpack_pack_nil(&c->packer);
		break;
	}
}

void trace_copy_end(struct trace_copy *c)
{
	if (c->body.size > TRACE_CHUNK_MAX - (1u << 20) && !c->error)
		c->error = -E2BIG;
}
