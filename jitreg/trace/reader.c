/* SPDX-License-Identifier: MIT */
/*
 * Reads records one after another.  The file is mapped, and one chunk at a time is checked and decompressed (chunk_body.c).  Texts and
 * bytes are not copied.  Only the small tree of a record (msgpack_tree.h) is built, in the memory of the record before.
 */
#include "jitreg/base/regular_file.h"
#include "jitreg/trace/reader_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FORGET_BYTES ((size_t)1 << 20)
#define WRITER_POLL_MS 20
#define WRITER_WAIT_MS 10000

static int check_first_chunk(const struct trace_reader *t, const char *path, struct diag *d)
{
	struct trace_chunk c;

	if (t->file_bytes == 0)
		return diag_fail(d, EBADMSG, "%s: the file is empty", path);
	if (t->file_bytes < sizeof(c))
		return diag_fail(d, EBADMSG, "%s: this is not a trace of tailor (it is shorter than one chunk)", path);
	memcpy(&c, t->file, sizeof(c));
	if (memcmp(&c, "PERFILE2", 8) == 0)
		return diag_fail(d, EBADMSG, "%s: this is a file of perf; `tailor import %s` makes a trace of it", path, path);
	if (c.magic != TRACE_MAGIC && !memmem(t->file, t->file_bytes, "TLRC", 4))
		return diag_fail(d, EBADMSG, "%s: this is not a trace of tailor", path);
	return 0;
}

/* Is a process writing this trace?  The writer holds a lock on the file as long as it has it open (writer.c). */
static bool is_being_written(int fd)
{
	struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET };

	return fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

void trace_wait_for_recorder(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	for (int waited_ms = 0; fd >= 0 && waited_ms < WRITER_WAIT_MS && is_being_written(fd); waited_ms += WRITER_POLL_MS)
		usleep(1000 * WRITER_POLL_MS);
	if (fd >= 0)
		close(fd);
}

int trace_open(const char *path, struct trace_reader **out, struct diag *d)
{
	struct trace_reader *t;
	struct trace_record first;
	struct stat st;
	void *p;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), ret; /* with O_NONBLOCK, opening a FIFO does not wait */
	bool is_written = fd >= 0 && is_being_written(fd);

	if (fd < 0 || fstat(fd, &st)) {
		int error = errno;

		ret = diag_fail(d, error, "%s: %s%s", path, strerror(error), file_owner_text(path, error));
		if (fd >= 0)
			close(fd);
		return ret;
	}
	if (!S_ISREG(st.st_mode)) {
		close(fd);
		return diag_fail(d, EBADMSG, "%s: this is not a regular file", path);
	}
	t = calloc(1, sizeof(*t));
	p = st.st_size ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;
	close(fd);
	if (!t || p == MAP_FAILED) {
		free(t);
		return diag_fail(d, ENOMEM, "%s: no memory to map the file", path);
	}
	t->file = p;
	t->file_bytes = (size_t)st.st_size;
	t->selected = ~0u;
	t->is_being_written = is_written;
	t->name = strdup(path);
	t->zstd = ZSTD_createDCtx();
	ret = budget_open(&t->budget, t->file_bytes, d);
	if (ret == 0)
		ret = t->name && t->zstd ? check_first_chunk(t, path, d) : diag_fail(d, ENOMEM, "%s: no memory", path);
	if (ret == 0 && trace_next(t, &first) == 1 && first.id == TRACE_HEADER &&
	    trace_u64(&first, F(header, version)) > TRACE_FORMAT_VERSION)
		ret = diag_fail(d, EPROTO, "%s: the trace has format version %llu, this tailor reads up to %u", path,
				(unsigned long long)trace_u64(&first, F(header, version)), TRACE_FORMAT_VERSION);
	if (ret) {
		trace_close(t);
		return ret;
	}
	trace_rewind(t);
	*out = t;
	return 0;
}

void trace_close(struct trace_reader *t)
{
	if (t->file)
		munmap((void *)(uintptr_t)t->file, t->file_bytes);
	trace_free_bodies(t);
	budget_close(&t->budget);
	free(t->name);
	free(t);
}

bool trace_is_being_written(const struct trace_reader *t)
{
	return t->is_being_written;
}

void trace_select_chunks(struct trace_reader *t, unsigned chunk_types)
{
	t->selected = chunk_types;
}

void trace_select_ids(struct trace_reader *t, const uint32_t *ids, uint32_t nr)
{
	t->ids = ids;
	t->nr_ids = nr;
}

void trace_rewind(struct trace_reader *t)
{
	t->at = t->body_at = t->body_bytes = t->forgotten = 0;
	t->damage = (struct trace_damage){ 0 };
	t->ended = false;
}

/* Count damage. bytes: how many bytes of the file from byte `at` on, or of the body of the chunk there, cannot be read. */
static void note_damage(struct trace_reader *t, size_t at, size_t bytes)
{
	if (!t->damage.bad_chunks++)
		t->damage.first_byte = at;
	t->damage.skipped_bytes += bytes;
}

/* Is at t->at, with no END chunk in front, the beginning of a chunk whose rest is missing because the file ends? It does not count as a bad
 * chunk, since a trace that is still being written may end so. */
static bool is_cut_chunk(const struct trace_reader *t)
{
	static const char magic[] = "TLRC";
	size_t left = t->file_bytes - t->at, same = left < 4 ? left : 4;
	struct trace_chunk c;

	if (t->ended || memcmp(t->file + t->at, magic, same) != 0)
		return false;
	if (left < sizeof(c))
		return true;
	memcpy(&c, t->file + t->at, sizeof(c));
	return c.stored_bytes > left - sizeof(c) && c.stored_bytes <= TRACE_CHUNK_MAX;
}

/* Skip bytes at t->at that are not a chunk, up to the next magic number or the end of the file, and count them. */
void trace_resync(struct trace_reader *t)
{
	const unsigned char *next = t->file_bytes - t->at > 1 ?
		memmem(t->file + t->at + 1, t->file_bytes - t->at - 1, "TLRC", 4) : NULL;
	size_t to = next ? (size_t)(next - t->file) : t->file_bytes;

	if (!next && is_cut_chunk(t)) {
		t->damage.cut_byte = t->at;
		t->damage.skipped_bytes += to - t->at;
	} else {
		note_damage(t, t->at, to - t->at);
	}
	t->at = to;
}

void trace_release_read_pages(struct trace_reader *t)
{
	size_t to = t->at & ~(FORGET_BYTES - 1);

	if (to <= t->forgotten)
		return;
	madvise((void *)(uintptr_t)(t->file + t->forgotten), to - t->forgotten, MADV_DONTNEED);
	t->forgotten = to;
}

/* Does another chunk, or the end of the file, follow the chunk c at t->at? */
static bool is_followed_by_chunk(const struct trace_reader *t, const struct trace_chunk *c)
{
	size_t behind = t->at + sizeof(*c) + c->stored_bytes;
	uint32_t magic;

	if (t->file_bytes - behind < sizeof(magic))
		return t->file_bytes == behind;
	memcpy(&magic, t->file + behind, sizeof(magic));
	return magic == TRACE_MAGIC;
}

bool trace_find_chunk(struct trace_reader *t, struct trace_chunk *c)
{
	while (t->at < t->file_bytes) {
		size_t left = t->file_bytes - t->at;

		trace_release_read_pages(t);
		if (left < sizeof(*c)) {
			trace_resync(t);
			continue;
		}
		memcpy(c, t->file + t->at, sizeof(*c));
		if (c->magic != TRACE_MAGIC || c->stored_bytes > left - sizeof(*c) || c->body_bytes > TRACE_CHUNK_MAX) {
			trace_resync(t);
			continue;
		}
		if (!trace_chunk_is_known(c) || t->selected & (1u << c->type) || c->type == TRACE_CHUNK_END)
			return true;
		/* The chunk is skipped without checking its bytes.  If its length is wrong, intact chunks would be skipped with it, so it
		 * is checked if no chunk follows where it ends. */
		if (!is_followed_by_chunk(t, c) && !trace_chunk_is_whole(t, c, t->at)) {
			trace_resync(t);
			continue;
		}
		t->at += sizeof(*c) + c->stored_bytes;
	}
	return false;
}

/* Make the next selected chunk the current one.  Returns false at the end of the file. */
static bool read_next_chunk(struct trace_reader *t)
{
	struct trace_chunk c;
	enum chunk_read read;

	while (trace_find_chunk(t, &c)) {
		read = trace_read_chunk(t, &c);
		if (read == CHUNK_BAD) {
			trace_resync(t);
			continue;
		}
		t->at += sizeof(c) + c.stored_bytes;
		if (c.type == TRACE_CHUNK_END)
			t->ended = true;
		if (read == CHUNK_READ)
			return true;
	}
	return false;
}

static struct trace_value value_of_node(const struct msgpack_node *n)
{
	struct trace_value v = { .kind = TRACE_OTHER };

	switch (n->kind) {
	case NODE_UINT:
		v.kind = TRACE_UINT;
		v.u = n->u;
		break;
	case NODE_INT:
		v.kind = TRACE_INT;
		v.u = n->u;
		break;
	case NODE_TEXT:
	case NODE_BYTES:
		v.kind = n->kind == NODE_TEXT ? TRACE_TEXT : TRACE_BYTES;
		v.p = n->p;
		v.bytes = n->nr;
		break;
	case NODE_ARRAY:
		v.kind = TRACE_LIST;
		v.u = n->nr;
		v.list_ = n + n->children;
		break;
	case NODE_OTHER:
		break;
	}
	return v;
}

bool trace_record_of_node(const struct msgpack_node *o, const char *packed, size_t bytes, struct trace_record *r)
{
	const struct msgpack_node *e;
	uint32_t nr;

	if (o->kind != NODE_ARRAY || o->nr < 4)
		return false;
	e = o + o->children;
	for (int i = 0; i < 4; i++)
		if (e[i].kind != NODE_UINT)
			return false;
	if (e[0].u > UINT32_MAX || e[2].u > UINT32_MAX || e[3].u > UINT32_MAX)
		return false;
	r->id = (uint32_t)e[0].u;
	r->time_ns = e[1].u;
	r->pid = (uint32_t)e[2].u;
	r->tid = (uint32_t)e[3].u;
	nr = o->nr - 4;
	r->nr_values = nr < TRACE_VALUES_MAX ? (int)nr : TRACE_VALUES_MAX;
	for (int i = 0; i < r->nr_values; i++)
		r->values[i] = value_of_node(&e[4 + i]);
	r->packed = packed;
	r->packed_bytes = bytes;
	return true;
}

static bool is_selected_id(const struct trace_reader *t, uint64_t id)
{
	for (uint32_t i = 0; i < t->nr_ids; i++)
		if (t->ids[i] == id)
			return true;
	return false;
}

/* Skip a record that is not selected.  Returns false if the record is selected or malformed. */
static bool skip_unselected_record(struct trace_reader *t)
{
	uint64_t id;

	return t->nr_ids && msgpack_first_number(t->body, t->body_bytes, t->body_at, &id) && !is_selected_id(t, id) &&
	       msgpack_skip_object(t->body, t->body_bytes, &t->body_at);
}

#define STEP_BYTES 64u

/* Returns the maximum number of nodes of a record's tree.  They may take half of the budget's memory, and the rest is for data that is made
 * from the record. */
static size_t nodes_max_of_budget(const struct trace_reader *t)
{
	return t->budget.factor > 0 ? t->budget.bytes_max / 2 / sizeof(struct msgpack_node) : SIZE_MAX;
}

bool trace_spend_budget(struct trace_reader *t, uint64_t steps)
{
	return budget_spend(&t->budget, steps);
}

bool trace_budget_has_room(struct trace_reader *t, uint64_t bytes)
{
	return budget_has_room(&t->budget, bytes);
}

struct budget *trace_budget(struct trace_reader *t)
{
	return &t->budget;
}

int trace_check_budget(const struct trace_reader *t, struct diag *d)
{
	char text[sizeof(d->text)];

	return budget_describe(&t->budget, t->name, text, sizeof(text)) ? diag_fail(d, E2BIG, "%s", text) : 0;
}

int trace_next(struct trace_reader *t, struct trace_record *r)
{
	for (;;) {
		size_t start = t->body_at;

		if (!budget_spend(&t->budget, 1))
			return 0;

		if (t->body_at == t->body_bytes) {
			trace_leave_chunk(t);
			if (!read_next_chunk(t)) {
				t->damage.truncated = !t->ended;
				return 0;
			}
			continue;
		}
		if (skip_unselected_record(t))
			continue;
		t->tree.most = nodes_max_of_budget(t);
		if (!msgpack_tree_read(&t->tree, t->body, t->body_bytes, &t->body_at)) {
			if (t->tree.refused && !budget_has_room(&t->budget, UINT64_MAX))
				return 0;
			/* The checksum was right, so the writer wrote invalid data, or memory ran out. Where the next record begins is
			 * unknown, so the rest of this chunk is skipped. */
			note_damage(t, t->chunk_at, t->body_bytes - start);
			t->body_at = t->body_bytes;
			continue;
		}
		t->stats.records++;
		t->record_at = start;
		if (!budget_spend(&t->budget, t->tree.nr / 2 + (t->body_at - start) / STEP_BYTES))
			return 0;
		if (!trace_record_of_node(t->tree.node, t->body + start, t->body_at - start, r)) {
			note_damage(t, t->chunk_at, t->body_at - start);
			continue;
		}
		if (!t->nr_ids || is_selected_id(t, r->id))
			return 1;
	}
}

struct trace_place trace_get_place(const struct trace_reader *t)
{
	return (struct trace_place){ t->chunk_at, (uint32_t)t->record_at };
}

const struct trace_stats *trace_get_stats(const struct trace_reader *t)
{
	return &t->stats;
}

const struct trace_damage *trace_get_damage(const struct trace_reader *t)
{
	return &t->damage;
}

bool trace_describe_damage(const struct trace_reader *t, char *text, size_t bytes)
{
	const struct trace_damage *d = &t->damage;

	if (budget_describe(&t->budget, t->name, text, bytes))
		return true;
	if (!d->bad_chunks && !d->truncated)
		return false;
	if (d->bad_chunks)
		snprintf(text, bytes, "%s: %llu damaged place%s skipped (%llu bytes, the first at byte %llu)%s; what could be "
			 "read is shown", t->name, (unsigned long long)d->bad_chunks, d->bad_chunks == 1 ? " was" : "s were",
			 (unsigned long long)d->skipped_bytes, (unsigned long long)d->first_byte,
			 d->truncated ? ", and the end is missing" : "");
	else if (t->is_being_written)
		snprintf(text, bytes, "%s: it is still being recorded; what has been written so far is shown", t->name);
	else
		snprintf(text, bytes, "%s: the end is missing from byte %llu on (the recorder was killed, or the file was cut); "
			 "what could be read is shown", t->name, (unsigned long long)(d->cut_byte ? d->cut_byte : t->file_bytes));
	return true;
}

const struct trace_chunk *trace_get_chunk(const struct trace_reader *t, uint64_t *file_offset)
{
	*file_offset = t->chunk_at;
	return &t->chunk;
}

void trace_get_progress(const struct trace_reader *t, uint64_t *at, uint64_t *total)
{
	*at = t->at;
	*total = t->file_bytes;
}

static const struct trace_value *value_at_index(const struct trace_record *r, int index)
{
	static const struct trace_value none = { .kind = TRACE_OTHER };

	return index >= 0 && index < r->nr_values ? &r->values[index] : &none;
}

uint64_t trace_u64(const struct trace_record *r, int index)
{
	const struct trace_value *v = value_at_index(r, index);

	return v->kind == TRACE_UINT || v->kind == TRACE_INT ? v->u : 0;
}

int64_t trace_s64(const struct trace_record *r, int index)
{
	return (int64_t)trace_u64(r, index);
}

const char *trace_bytes(const struct trace_record *r, int index, size_t *bytes)
{
	const struct trace_value *v = value_at_index(r, index);
	bool has = v->kind == TRACE_TEXT || v->kind == TRACE_BYTES;

	*bytes = has ? v->bytes : 0;
	return has && v->bytes ? v->p : ""; /* an empty text may have p NULL, which callers need not expect */
}

bool trace_text_is(const struct trace_record *r, int index, const char *text)
{
	size_t bytes;
	const char *p = trace_bytes(r, index, &bytes);

	return bytes == strlen(text) && memcmp(p, text, bytes) == 0;
}

char *trace_text(const struct trace_record *r, int index)
{
	size_t bytes;
	const char *p = trace_bytes(r, index, &bytes);

	return strndup(p, bytes);
}

struct trace_value trace_item(const struct trace_value *list, uint64_t e)
{
	const struct msgpack_node *o = list->list_;

	return list->kind == TRACE_LIST && e < list->u ? value_of_node(&o[e]) : (struct trace_value){ .kind = TRACE_OTHER };
}

struct trace_value trace_element(const struct trace_value *list, uint64_t e, int m)
{
	const struct msgpack_node *o = list->list_;

	if (list->kind != TRACE_LIST || e >= list->u || o[e].kind != NODE_ARRAY || m < 0 || (uint32_t)m >= o[e].nr)
		return (struct trace_value){ .kind = TRACE_OTHER };
	return value_of_node(&o[e] + o[e].children + m);
}
