/* SPDX-License-Identifier: MIT */
/*
 * An epoch has pieces of an ELF file with the file's own bytes, and zeros where its samples need nothing. So the pieces of two epochs are
 * combined byte by byte, except for two tables. In .eh_frame, consecutive entries that an epoch does not need are one long entry, so the
 * combined table gets an entry wherever any epoch has the beginning of one. Go's table of functions (.gopclntab) differs as a whole, so
 * only the record with the most bytes that are not zero stays.
 *
 * Files of one build id and size at several paths are copies of one another. An epoch has the parts at any one of these paths, so the parts
 * of all copies are combined at the first path, and the other paths get records without parts.
 */
#include "analyzer/merge/merge_files.h"

#include "jitreg/base/grow.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BYTES_MAX ((uint64_t)1 << 31)
#define SECTIONS_MAX 512u /* maximum number of sections of a file that are searched */

/* A piece has bytes of a file, on the heap. Those of an ELF file are at an offset, and those of a source file are text that begins at a
 * line. */
struct piece {
	uint64_t at;
	char *bytes;
	size_t nr;
	uint32_t of; /* number of the record of this file that it is from, from 1 on */
};

struct merged_file {
	enum merged_kind { MERGED_IMAGE, MERGED_DEBUG_FILE, MERGED_LINES } kind;
	/* key: key of the IMAGE_FILE, or for lines the file's name; path: NULL for lines, and until the first record is added */
	char *key, *path, *build_id, *reason;
	char *at; /* path of an image, by which copies are told apart; "" for other kinds */
	size_t build_id_bytes;
	uint64_t file_bytes, device, inode, generation;
	bool has_build_id, newer;
	uint32_t debug; /* for an image: index + 1 of its debug file */
	ARRAY(struct piece) pieces;
	uint32_t nr_records;
	uint64_t most_bytes; /* bytes that are not zero in most_record, the record with the most of them */
	uint32_t most_record;
};

static bool has_identity(const struct merged_file *f)
{
	return f->device || f->inode || f->generation;
}

/* Return whether these are records of one file. The kernel reports a mapped file by its build id or by its identity (device, inode), and
 * the list of mappings after a cut always has the identity. So one file may have records of both kinds, and these are compared by build
 * id. */
static bool are_same(const struct merged_file *a, const struct merged_file *b)
{
	bool by_build_id = (!has_identity(a) || !has_identity(b)) && a->has_build_id && b->has_build_id;

	return a->kind == b->kind && strcmp(a->key, b->key) == 0 && a->file_bytes == b->file_bytes && strcmp(a->at, b->at) == 0 &&
	       (by_build_id || (a->device == b->device && a->inode == b->inode && a->generation == b->generation));
}

struct file_hash {
	uint64_t key, who;
};

static struct file_hash hash_of_file(const struct merged_file *f, bool with_identity)
{
	const struct merged_file none = { 0 }, *of = with_identity ? f : &none;

	return (struct file_hash){ hash_text(f->key), hash_pair(of->device ^ (uint64_t)f->kind << 60, of->inode) ^ of->generation ^
							      f->file_bytes ^ hash_pair(hash_text(f->at), 0) };
}

static struct merged_file *add_file(struct merge_files *m, const struct merged_file *like)
{
	struct merged_file *f = ARRAY_GROW(m->files) ? &m->files.at[m->files.nr] : NULL;
	struct file_hash h = hash_of_file(like, true), any = hash_of_file(like, false);

	if (!f || !hash_map_set(&m->at, h.key, h.who, m->files.nr + 1))
		return NULL;
	if (like->has_build_id && !hash_map_find(&m->at, any.key, any.who) && !hash_map_set(&m->at, any.key, any.who, m->files.nr + 1))
		return NULL;
	*f = *like;
	f->key = strdup(like->key);
	f->at = strdup(like->at);
	if (f->key && f->at) {
		m->files.nr++;
		return f;
	}
	free(f->key);
	free(f->at);
	return NULL;
}

/* Find or add a file. Return NULL if memory runs out, or if another file has the same hashes. */
static struct merged_file *get_file(struct merge_files *m, const struct merged_file *like)
{
	struct file_hash h = hash_of_file(like, true), any = hash_of_file(like, false);
	uint32_t at = hash_map_find(&m->at, h.key, h.who);
	struct merged_file *f;

	if (at)
		return are_same(&m->files.at[at - 1], like) ? &m->files.at[at - 1] : NULL;
	at = like->has_build_id ? hash_map_find(&m->at, any.key, any.who) : 0;
	f = at && are_same(&m->files.at[at - 1], like) ? &m->files.at[at - 1] : NULL;
	if (!f)
		return add_file(m, like);
	if (!has_identity(like))
		return f;
	f->device = like->device;
	f->inode = like->inode;
	f->generation = like->generation;
	return hash_map_set(&m->at, h.key, h.who, at) ? f : NULL;
}

static int add_piece(struct merge_files *m, struct merged_file *f, uint64_t at, const struct trace_value *v)
{
	struct piece *p = ARRAY_GROW(f->pieces) ? &f->pieces.at[f->pieces.nr] : NULL;

	m->bytes += v->bytes;
	if (!p || m->bytes > BYTES_MAX)
		return -ENOMEM;
	*p = (struct piece){ at, malloc(v->bytes + 1), v->bytes, f->nr_records };
	if (!p->bytes)
		return -ENOMEM;
	if (v->bytes)
		memcpy(p->bytes, v->p, v->bytes);
	f->pieces.nr++;
	return 0;
}

static int add_pieces(struct merge_files *m, struct merged_file *f, const struct trace_record *r, int field)
{
	const struct trace_value *list = field < r->nr_values ? &r->values[field] : NULL;
	int ret = 0;

	f->nr_records++;
	for (uint64_t i = 0; list && list->kind == TRACE_LIST && i < list->u && ret == 0; i++) {
		struct trace_value at = trace_element(list, i, 0), bytes = trace_element(list, i, 1);

		if (at.kind == TRACE_UINT && (bytes.kind == TRACE_BYTES || bytes.kind == TRACE_TEXT) && bytes.bytes <= UINT64_MAX - at.u)
			ret = add_piece(m, f, at.u, &bytes);
	}
	return ret;
}

/* Return how many bytes of the record that was added last are not zero. */
static uint64_t bytes_of_last_record(const struct merged_file *f)
{
	uint64_t bytes = 0;

	for (uint32_t i = f->pieces.nr; i-- > 0 && f->pieces.at[i].of == f->nr_records;)
		for (size_t n = 0; n < f->pieces.at[i].nr; n++)
			bytes += f->pieces.at[i].bytes[n] != 0;
	return bytes;
}

static void set_text(char **text, char *value)
{
	free(*text);
	*text = value;
}

int merge_files_add_image(struct merge_files *m, const struct trace_record *r)
{
	bool debug = trace_text_is(r, F(image_file, reason), TRACE_DEBUG_FILE);
	struct merged_file like = { .kind = debug ? MERGED_DEBUG_FILE : MERGED_IMAGE,
				    .key = trace_text(r, F(image_file, key)),
				    .at = debug ? strdup("") : trace_text(r, F(image_file, path)),
				    .file_bytes = trace_u64(r, F(image_file, file_bytes)),
				    .device = trace_u64(r, F(image_file, device)),
				    .inode = trace_u64(r, F(image_file, inode)),
				    .generation = trace_u64(r, F(image_file, generation)) };
	struct merged_file *f;
	const char *build_id;
	uint64_t bytes;
	size_t id_bytes;
	int ret;

	trace_bytes(r, F(image_file, build_id), &id_bytes);
	like.has_build_id = id_bytes > 0;
	f = like.key && like.at ? get_file(m, &like) : NULL;
	free(like.key);
	free(like.at);
	if (!f)
		return -ENOMEM;
	if (!debug)
		m->image = (uint32_t)(f - m->files.at) + 1;
	else if (m->image && strcmp(m->files.at[m->image - 1].key, f->key) == 0)
		m->files.at[m->image - 1].debug = (uint32_t)(f - m->files.at) + 1;
	ret = add_pieces(m, f, r, F(image_file, parts));
	if (ret)
		return ret;
	bytes = bytes_of_last_record(f);
	if (bytes <= f->most_bytes && f->nr_records > 1)
		return 0;
	f->most_bytes = bytes;
	f->most_record = f->nr_records;
	set_text(&f->path, trace_text(r, F(image_file, path)));
	set_text(&f->reason, trace_text(r, F(image_file, reason)));
	build_id = trace_bytes(r, F(image_file, build_id), &f->build_id_bytes);
	set_text(&f->build_id, malloc(f->build_id_bytes + 1));
	if (!f->path || !f->reason || !f->build_id)
		return -ENOMEM;
	if (f->build_id_bytes)
		memcpy(f->build_id, build_id, f->build_id_bytes);
	return 0;
}

int merge_files_add_lines(struct merge_files *m, const struct trace_record *r)
{
	struct merged_file like = { .kind = MERGED_LINES, .key = trace_text(r, F(source_lines, file)), .at = (char[]){ "" } };
	struct merged_file *f = like.key ? get_file(m, &like) : NULL;

	free(like.key);
	if (!f)
		return -ENOMEM;
	f->newer |= trace_u64(r, F(source_lines, newer)) != 0;
	return add_pieces(m, f, r, F(source_lines, pieces));
}

static int compare_pieces(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->of < y->of ? -1 : x->of > y->of;
}

/* ------------------------------------------------------------------------------------------------------------ images */

/* Read bytes that one piece has as a whole. Return false if no piece has all of them. */
static bool read_at(const struct merged_file *f, uint64_t at, void *to, uint64_t nr)
{
	for (uint32_t i = 0; i < f->pieces.nr; i++) {
		const struct piece *p = &f->pieces.at[i];

		if (at >= p->at && at - p->at <= p->nr && nr <= p->nr - (at - p->at)) {
			memcpy(to, p->bytes + (at - p->at), nr);
			return true;
		}
	}
	return false;
}

/* Return the place and size of the section of a name, or an empty piece if the file has no such section or its headers are in no piece. */
static struct piece find_section(const struct merged_file *f, const char *name)
{
	size_t bytes = strlen(name) + 1;
	Elf64_Shdr names, s;
	char text[32];
	Elf64_Ehdr h;

	if (!read_at(f, 0, &h, sizeof(h)) || h.e_shoff > f->file_bytes || bytes > sizeof(text) ||
	    !read_at(f, h.e_shoff + (uint64_t)h.e_shstrndx * sizeof(s), &names, sizeof(names)) || names.sh_offset > f->file_bytes)
		return (struct piece){ 0 };
	for (uint16_t i = 0; i < h.e_shnum && i < SECTIONS_MAX; i++)
		if (read_at(f, h.e_shoff + (uint64_t)i * sizeof(s), &s, sizeof(s)) &&
		    read_at(f, names.sh_offset + s.sh_name, text, bytes) && memcmp(text, name, bytes) == 0)
			return (struct piece){ .at = s.sh_offset, .nr = s.sh_size };
	return (struct piece){ 0 };
}

struct entries {
	struct piece section;
	/* a byte for each position of .eh_frame; 1: an entry of any record begins, or the last one ends, there; NULL: no piece has the
	 * section as a whole */
	unsigned char *begins;
};

static bool has_section(const struct entries *e, const struct piece *p)
{
	return e->section.nr && e->section.at >= p->at && e->section.nr <= p->nr && e->section.at - p->at <= p->nr - e->section.nr;
}

/* Note the beginnings of the entries in one piece, and the end of the last one. */
static void note_entries(struct entries *e, const struct piece *copy)
{
	uint64_t at = 0;
	uint32_t length = 1;

	if (!has_section(e, copy) || (!e->begins && !(e->begins = calloc(1, e->section.nr))))
		return;
	while (length && e->section.nr - at >= sizeof(length)) {
		memcpy(&length, copy->bytes + (e->section.at - copy->at) + at, sizeof(length));
		if (length > e->section.nr - at - sizeof(length))
			return;
		e->begins[at] = 1;
		at += sizeof(length) + (uint64_t)length;
	}
	if (at < e->section.nr)
		e->begins[at] = 1;
}

static struct entries find_entries(const struct merged_file *f)
{
	struct entries e = { .section = find_section(f, ".eh_frame") };

	for (uint32_t i = 0; i < f->pieces.nr; i++)
		note_entries(&e, &f->pieces.at[i]);
	return e;
}

/* Set the length of each entry so that it ends where the next one begins. */
static void set_entry_lengths(const struct entries *e, struct piece *in)
{
	uint64_t last = UINT64_MAX;
	char *section;

	if (!e->begins || !has_section(e, in))
		return;
	section = in->bytes + (e->section.at - in->at);
	for (uint64_t at = 0; at < e->section.nr; at++) {
		uint32_t length = (uint32_t)(at - last - sizeof(length));

		if (!e->begins[at])
			continue;
		if (last != UINT64_MAX && at - last >= sizeof(length))
			memcpy(section + last, &length, sizeof(length));
		last = at;
	}
}

/* Fill the zeros of a piece with the bytes of another one, which lies within it. */
static void lay_over(struct piece *to, const struct piece *from)
{
	char *at = to->bytes + (from->at - to->at);

	for (size_t i = 0; i < from->nr; i++)
		at[i] = at[i] ? at[i] : from->bytes[i];
}

/* Combine pieces that overlap or touch. Return 0 or -ENOMEM. */
static int unite_pieces(struct merged_file *f)
{
	uint32_t nr = 0;

	qsort(f->pieces.at, f->pieces.nr, sizeof(*f->pieces.at), compare_pieces);
	for (uint32_t i = 0; i < f->pieces.nr; i++) {
		struct piece *last = nr ? &f->pieces.at[nr - 1] : NULL, *p = &f->pieces.at[i];
		uint64_t end = p->at + p->nr;

		if (!last || p->at > last->at + last->nr) {
			f->pieces.at[nr++] = *p;
			continue;
		}
		if (end > last->at + last->nr) {
			char *bigger = realloc(last->bytes, end - last->at + 1);

			if (!bigger) {
				f->pieces.nr = nr;
				return -ENOMEM;
			}
			memset(bigger + last->nr, 0, end - last->at - last->nr);
			last->bytes = bigger;
			last->nr = end - last->at;
		}
		lay_over(last, p);
		free(p->bytes);
		p->bytes = NULL;
	}
	f->pieces.nr = nr;
	return 0;
}

static void keep_one_record(struct merged_file *f)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < f->pieces.nr; i++)
		if (f->pieces.at[i].of == f->most_record)
			f->pieces.at[kept++] = f->pieces.at[i];
		else
			free(f->pieces.at[i].bytes);
	f->pieces.nr = kept;
}

static int write_image(struct merged_file *f, struct trace_writer *w, uint64_t time_ns)
{
	struct trace_file_part *part;
	int ret = 0;

	if (f->nr_records > 1 && find_section(f, ".gopclntab").nr)
		keep_one_record(f);
	if (f->nr_records > 1) {
		struct entries e = find_entries(f);

		ret = unite_pieces(f);
		for (uint32_t i = 0; i < f->pieces.nr && ret == 0; i++)
			set_entry_lengths(&e, &f->pieces.at[i]);
		free(e.begins);
	}
	part = calloc((size_t)f->pieces.nr + 1, sizeof(*part));
	if (ret || !part) {
		free(part);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < f->pieces.nr; i++)
		part[i] = (struct trace_file_part){ f->pieces.at[i].at, { f->pieces.at[i].bytes, f->pieces.at[i].nr } };
	ret = TRACE_PUT(w, image_file, time_ns, 0, 0, .key = trace_string(f->key), .path = trace_string(f->path),
			.build_id = { f->build_id, f->build_id_bytes }, .file_bytes = f->file_bytes, .reason = trace_string(f->reason),
			.parts = { part, f->pieces.nr }, .device = f->device, .inode = f->inode, .generation = f->generation);
	free(part);
	return ret;
}

/* Move the pieces of a file to those of another one, behind them. Return 0 or -ENOMEM; the pieces that were not moved stay where they
 * are. */
static int take_pieces(struct merged_file *to, struct merged_file *from)
{
	for (uint32_t i = 0; i < from->pieces.nr; i++) {
		if (!ARRAY_GROW(to->pieces)) {
			memmove(from->pieces.at, from->pieces.at + i, (from->pieces.nr - i) * sizeof(*from->pieces.at));
			from->pieces.nr -= i;
			return -ENOMEM;
		}
		to->pieces.at[to->pieces.nr] = from->pieces.at[i];
		to->pieces.at[to->pieces.nr++].of += to->nr_records;
	}
	from->pieces.nr = 0;
	if (from->most_bytes > to->most_bytes) {
		to->most_bytes = from->most_bytes;
		to->most_record = from->most_record + to->nr_records;
	}
	to->nr_records += from->nr_records;
	return 0;
}

/* Give the pieces of f, which is a copy of first and was added later, to first. If both have a debug file, the pieces of these are joined,
 * too. If only f has one, first gets it. Return 0 or -ENOMEM. */
static int join_copy(struct merge_files *m, struct merged_file *first, struct merged_file *f)
{
	int ret = take_pieces(first, f);

	if (ret)
		return ret;
	if (strcmp(first->reason, TRACE_COPY) == 0) /* the epoch that was read first had the parts at the path of f */
		set_text(&first->reason, strdup(f->reason));
	set_text(&f->reason, strdup(TRACE_COPY));
	if (!first->reason || !f->reason)
		return -ENOMEM;
	if (!f->debug || f->debug == first->debug)
		return 0;
	if (!first->debug)
		first->debug = f->debug;
	else
		ret = take_pieces(&m->files.at[first->debug - 1], &m->files.at[f->debug - 1]);
	f->debug = 0;
	return ret;
}

static int join_copies(struct merge_files *m)
{
	struct hash_map first_of = { 0 }; /* build id and size -> 1 + index */
	int ret = 0;

	for (uint32_t i = 0; i < m->files.nr && ret == 0; i++) {
		struct merged_file *f = &m->files.at[i];
		uint32_t first = hash_map_find(&first_of, hash_text(f->key), f->file_bytes);

		if (f->kind != MERGED_IMAGE || !f->has_build_id)
			continue;
		if (!first)
			ret = hash_map_set(&first_of, hash_text(f->key), f->file_bytes, i + 1) ? 0 : -ENOMEM;
		else if (strcmp(m->files.at[first - 1].key, f->key) == 0)
			ret = join_copy(m, &m->files.at[first - 1], f);
	}
	hash_map_fini(&first_of);
	return ret;
}

int merge_files_write_images(struct merge_files *m, struct trace_writer *w, uint64_t time_ns)
{
	int ret = join_copies(m);

	for (uint32_t i = 0; i < m->files.nr && ret == 0; i++) {
		if (m->files.at[i].kind != MERGED_IMAGE)
			continue;
		ret = write_image(&m->files.at[i], w, time_ns);
		if (ret == 0 && m->files.at[i].debug) /* readers expect the record of a debug file after that of its image */
			ret = write_image(&m->files.at[m->files.at[i].debug - 1], w, time_ns);
	}
	return ret;
}

/* ------------------------------------------------------------------------------------------------------------- lines */

int merge_files_write_lines(struct merge_files *m, struct trace_writer *w, uint64_t time_ns)
{
	int ret = 0;

	for (uint32_t i = 0; i < m->files.nr && ret == 0; i++) {
		struct merged_file *f = &m->files.at[i];
		struct trace_source_piece *piece;

		if (f->kind != MERGED_LINES)
			continue;
		piece = calloc((size_t)f->pieces.nr + 1, sizeof(*piece));
		if (!piece)
			return -ENOMEM;
		qsort(f->pieces.at, f->pieces.nr, sizeof(*f->pieces.at), compare_pieces);
		for (uint32_t n = 0; n < f->pieces.nr; n++)
			piece[n] = (struct trace_source_piece){ f->pieces.at[n].at, { f->pieces.at[n].bytes, f->pieces.at[n].nr } };
		ret = TRACE_PUT(w, source_lines, time_ns, 0, 0, .file = trace_string(f->key), .newer = f->newer,
				.pieces = { piece, f->pieces.nr });
		free(piece);
	}
	return ret;
}

void merge_files_fini(struct merge_files *m)
{
	for (uint32_t i = 0; i < m->files.nr; i++) {
		struct merged_file *f = &m->files.at[i];

		for (uint32_t n = 0; n < f->pieces.nr; n++)
			free(f->pieces.at[n].bytes);
		free(f->pieces.at);
		free(f->key);
		free(f->at);
		free(f->path);
		free(f->build_id);
		free(f->reason);
	}
	free(m->files.at);
	hash_map_fini(&m->at);
	memset(m, 0, sizeof(*m));
}
