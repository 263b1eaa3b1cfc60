/* SPDX-License-Identifier: MIT */
#include "jitreg/trace/writer_internal.h"

#include "jitreg/base/crc32c.h"
#include "jitreg/trace/record_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define FLUSH_BYTES (1u << 20)
/* This is the number of bytes that must be free behind a chunk, or it is not written, so that the records about the end of the recording
 * have room. */
#define RESERVE_BYTES (64u << 10)
#define READER_WAIT_MS 1000
/* zstd's minimum match. Repeated numbers of traces are short. 5 compresses like 4 and better than 6, and is read faster than 4. */
#define MATCH_BYTES 5

const struct output_form trace_output_form = { "a trace", "TLRC", 4, 0, 0 };

/* Lock the trace, so that readers and other recorders see that it is being written.  Errors are ignored, since some file systems have no
 * locks. */
static void lock_file(int fd, int how)
{
	fcntl(fd, how, &(struct flock){ .l_type = F_WRLCK, .l_whence = SEEK_SET });
}

/* Create a writer for an open file, which it closes later.  On failure, the caller closes it. */
static int create_writer(int fd, enum trace_compression compression, struct trace_writer **out, struct diag *d)
{
	struct trace_writer *w = calloc(1, sizeof(*w));
	struct stat st;

	if (!w)
		return diag_fail(d, ENOMEM, "no memory for the trace writer");
	w->fd = fd;
	w->regular = fstat(w->fd, &st) == 0 && S_ISREG(st.st_mode);
	lock_file(w->fd, F_SETLK);
	w->reserve = RESERVE_BYTES;
	w->zstd = compression ? ZSTD_createCCtx() : NULL;
	if (w->zstd)
		ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, compression);
	if (w->zstd && compression == TRACE_FAST)
		ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_minMatch, MATCH_BYTES);
	for (int i = 0; i < NR_TYPES; i++)
		msgpack_sbuffer_init(&w->buffer[i]);
	*out = w;
	return 0;
}

int trace_writer_create(const char *path, const struct trace_writer_options *o, struct trace_writer **out, struct diag *d)
{
	struct output_file file = { .form = &trace_output_form, .overwrite = o->overwrite, .keep_old = o->keep_old };
	int ret = output_file_open(&file, path, d);

	if (ret)
		return ret;
	ret = create_writer(file.fd, o->compression, out, d);
	if (ret) {
		output_file_drop(&file);
		return ret;
	}
	(*out)->file = file;
	if (!o->whole) /* this is done after locking, so that a second recorder is refused */
		ret = output_file_take_name(&(*out)->file, d);
	if (ret)
		trace_writer_drop(*out);
	return ret;
}

int trace_writer_open(const char *path, enum trace_compression compression, struct trace_writer **out, struct diag *d)
{
	return trace_writer_create(path, &(struct trace_writer_options){ .compression = compression }, out, d);
}

#define END_BYTES 4096 /* maximum stored size of an END chunk's body; larger ones are not recognised */

static bool is_whole_end(int fd, const struct trace_chunk *c, uint64_t body_at)
{
	char body[END_BYTES];

	return c->type == TRACE_CHUNK_END && c->stored_bytes <= sizeof(body) &&
	       pread(fd, body, c->stored_bytes, (off_t)body_at) == (ssize_t)c->stored_bytes &&
	       c->crc32c == crc32c(crc32c(0, c, sizeof(*c) - 4), body, c->stored_bytes);
}

/* Does the file consist of whole chunks, and is one of them, not necessarily the last, an END chunk with the right checksum?  Sets
 * *sequence to the sequence number of the last chunk. */
static bool find_end_chunk(int fd, uint64_t file_bytes, uint64_t *sequence)
{
	struct trace_chunk c;
	bool ended = false;
	uint64_t at = 0;

	*sequence = 0;
	while (file_bytes - at >= sizeof(c) && pread(fd, &c, sizeof(c), (off_t)at) == (ssize_t)sizeof(c) && c.magic == TRACE_MAGIC &&
	       c.stored_bytes <= file_bytes - at - sizeof(c)) {
		ended |= is_whole_end(fd, &c, at + sizeof(c));
		at += sizeof(c) + c.stored_bytes;
		*sequence = c.sequence;
	}
	return ended && at == file_bytes;
}

int trace_writer_continue(const char *path, enum trace_compression compression, struct trace_writer **out, struct diag *d)
{
	struct stat st;
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY), ret;
	uint64_t sequence;

	if (fd < 0)
		return diag_fail(d, errno, "%s: %s", path, strerror(errno));
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || !find_end_chunk(fd, (uint64_t)st.st_size, &sequence) ||
	    lseek(fd, 0, SEEK_END) != st.st_size) {
		close(fd);
		return diag_fail(d, EBADMSG, "%s: not a trace that was written to its end", path);
	}
	ret = create_writer(fd, compression, out, d);
	if (ret) {
		close(fd);
	} else {
		(*out)->file_bytes = (uint64_t)st.st_size;
		(*out)->sequence = sequence + 1;
	}
	return ret;
}

void trace_writer_inherit(struct trace_writer *w)
{
	lock_file(w->fd, F_SETLKW);
}

static void free_writer(struct trace_writer *w)
{
	ZSTD_freeCCtx(w->zstd);
	for (int i = 0; i < NR_TYPES; i++)
		msgpack_sbuffer_destroy(&w->buffer[i]);
	free(w->out);
	free(w->clean);
	free(w);
}

static void close_file(struct trace_writer *w)
{
	if (!w->file.path)
		close(w->fd);
}

int trace_writer_end(struct trace_writer *w, struct diag *d)
{
	int error, ret = 0;

	trace_writer_flush_all(w);
	if (w->regular && ftruncate(w->fd, (off_t)w->file_bytes) && !w->error)
		w->error = errno; /* ftruncate() releases the space that fallocate() has reserved behind the end */
	if (!w->file.path && close(w->fd) && !w->error)
		w->error = errno;
	error = w->error;
	if (error)
		diag_fail(d, error, "%s: cannot be written: %s", w->file.path ? w->file.path : "the trace", strerror(error));
	if (!w->file.path) {
		ret = 0;
	} else if (w->file.has_name || w->file.is_direct) {
		ret = error ? 0 : output_file_has_name(&w->file, d);
		output_file_fini(&w->file);
	} else if (error) {
		output_file_drop(&w->file);
	} else {
		ret = output_file_end(&w->file, d);
	}
	free_writer(w);
	return error ? -error : ret;
}

int trace_writer_close(struct trace_writer *w)
{
	return trace_writer_end(w, NULL);
}

void trace_writer_drop(struct trace_writer *w)
{
	close_file(w);
	output_file_drop(&w->file);
	free_writer(w);
}

void trace_writer_leave(struct trace_writer *w)
{
	close_file(w);
	output_file_fini(&w->file);
	free_writer(w);
}

/* Wait until the reader of a FIFO or terminal makes room, at most READER_WAIT_MS.  Returns false if it does not. */
static bool wait_until_writable(int fd)
{
	struct pollfd wait = { fd, POLLOUT, 0 };

	return poll(&wait, 1, READER_WAIT_MS) == 1 && wait.revents & POLLOUT;
}

static int write_all(int fd, const char *p, size_t bytes)
{
	while (bytes > 0) {
		ssize_t n = write(fd, p, bytes);

		if (n < 0 && (errno == EINTR || (errno == EAGAIN && wait_until_writable(fd))))
			continue;
		if (n <= 0)
			return n < 0 ? errno : ENOSPC;
		p += n;
		bytes -= (size_t)n;
	}
	return 0;
}

/* Check that there is room in the file for bytes and for w->reserve, unless that is 0.  Returns 0 or an errno value. */
static int check_disk_room(const struct trace_writer *w, size_t bytes)
{
	uint64_t end = w->file_bytes + bytes + w->reserve;
	struct rlimit limit;

	if (!w->reserve)
		return 0;
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && end > limit.rlim_cur)
		return EFBIG;
	/* If the file system cannot reserve space, nothing is known, and the write fails if the disk is full. */
	if (fallocate(w->fd, FALLOC_FL_KEEP_SIZE, (off_t)w->file_bytes, (off_t)(bytes + w->reserve)))
		return errno == ENOSPC || errno == EDQUOT ? errno : 0;
	return 0;
}

/* Compress a body, and write it as a chunk.  Returns 0, or an errno value if the chunk is not in the file. */
static int write_chunk(struct trace_writer *w, enum trace_chunk_type type, const char *body, size_t bytes)
{
	struct trace_chunk c = { .magic = TRACE_MAGIC, .type = type, .body_bytes = (uint32_t)bytes, .sequence = w->sequence++ };
	size_t bound = w->zstd ? ZSTD_compressBound(bytes) : bytes, stored = bytes;
	int error;

	if (sizeof(c) + bound > w->out_capacity) {
		char *bigger = realloc(w->out, sizeof(c) + bound);

		if (!bigger)
			return ENOMEM;
		w->out = bigger;
		w->out_capacity = sizeof(c) + bound;
	}
	if (w->zstd) {
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
	/* after an error, a FIFO may have an incomplete chunk, so nothing is written behind it */
	error = w->regular ? check_disk_room(w, sizeof(c) + stored) : w->error;
	if (!error)
		error = write_all(w->fd, w->out, sizeof(c) + stored);
	if (!error) {
		w->file_bytes += sizeof(c) + stored;
	} else if (w->regular) {
		/* Cut the file after the last whole chunk.  If that fails, readers skip the incomplete chunk as damage. */
		if (ftruncate(w->fd, (off_t)w->file_bytes) || lseek(w->fd, (off_t)w->file_bytes, SEEK_SET) < 0)
			return error;
	}
	return error;
}

static void count_lost_records(struct trace_writer *w, enum trace_chunk_type type, uint64_t nr, int error)
{
	if (!w->error)
		w->error = error;
	w->nr_records -= nr;
	if (type != TRACE_CHUNK_SAMPLES) /* the caller counts samples one by one */
		w->nr_lost += nr;
}

int trace_writer_flush(struct trace_writer *w, enum trace_chunk_type type)
{
	struct msgpack_sbuffer *b = &w->buffer[type];
	int error;

	if (b->size == 0)
		return 0;
	error = write_chunk(w, type, b->data, b->size);
	if (error)
		count_lost_records(w, type, w->buffered[type], error);
	w->buffered[type] = 0;
	msgpack_sbuffer_clear(b);
	if (b->alloc > 4 * FLUSH_BYTES) {
		msgpack_sbuffer_destroy(b);
		msgpack_sbuffer_init(b);
	}
	return -error;
}

int trace_writer_flush_sentence(struct trace_writer *w)
{
	uint64_t reserve = w->reserve;
	int ret;

	w->reserve = reserve / 2;
	ret = trace_writer_flush(w, TRACE_CHUNK_RECORDS);
	w->reserve = reserve;
	return ret;
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

int trace_record_end(struct trace_writer *w)
{
	struct msgpack_sbuffer *b = &w->buffer[w->type];
	int error;

	if (b->size > TRACE_CHUNK_MAX) {
		/* The buffer is too large for a chunk. The records before this one are written first, and this one is dropped if it is too
		 * large by itself. */
		size_t bytes = b->size - w->record_start;

		if (w->record_start) {
			error = write_chunk(w, w->type, b->data, w->record_start);
			if (error)
				count_lost_records(w, w->type, w->buffered[w->type], error);
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

uint64_t trace_writer_nr_lost(const struct trace_writer *w)
{
	return w->nr_lost;
}
