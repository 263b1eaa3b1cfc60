/* SPDX-License-Identifier: MIT */
/*
 * Reads what is mapped: files (MMAP, IMAGE, IMAGE_UNLOAD) and what the trace has of them (IMAGE_FILE), ELF objects that a JIT made, and
 * executable memory of which nothing else is known (REGION).
 */
#include "analyzer/model/processes.h"
#include "analyzer/model/read.h"

#include "analyzer/model/memory.h"
#include "analyzer/model/shared_code.h"
#include "analyzer/symbols/demangle.h"
#include "analyzer/symbols/machine_file.h"
#include "jitreg/base/deleted_path.h"
#include "jitreg/base/mapping_kind.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

static char *hex_text_of_bytes(const char *bytes, size_t nr)
{
	char *text = malloc(2 * nr + 1);

	for (size_t i = 0; text && i < nr; i++)
		snprintf(text + 2 * i, 3, "%02x", (unsigned char)bytes[i]);
	if (text)
		text[2 * nr] = 0;
	return text;
}

static char *hex_text_of_field(const struct trace_record *r, int index)
{
	size_t nr;
	const char *p = trace_bytes(r, index, &nr);

	return hex_text_of_bytes(p, nr);
}

/* Adds an executable region. mapper, which may be NULL, belongs to it, or is freed if nothing is added. Returns NULL if memory ran out,
 * or if the range wraps. */
static struct code *add_region(struct model *m, const struct process *p, struct code_map *regions, uint64_t start, uint64_t bytes,
		       uint64_t time_ns, char *mapper, uint64_t mapper_offset)
{
	struct code *c = bytes <= UINT64_MAX - start ? model_add_code(m, CODE_REGION, p, time_ns) : NULL;

	if (!c) {
		free(mapper);
		return NULL;
	}
	c->address = start;
	c->bytes = bytes;
	c->name = strdup("anonymous code");
	c->mapper = mapper;
	c->mapper_offset = mapper_offset;
	c->path = strdup("(generated)");
	c->build_id = strdup("");
	code_map_add(regions, start, start + bytes, time_ns, c);
	return c;
}

void model_read_region(struct model *m, struct process *p, const struct trace_record *r)
{
	add_region(m, p, &p->guest_regions, trace_u64(r, F(region, address)), trace_u64(r, F(region, bytes)), r->time_ns,
		   trace_text(r, F(region, mapper)), trace_u64(r, F(region, mapper_offset)));
}

/* Images without a path of a file. */
static bool is_special_image(const char *path)
{
	return strcmp(path, "[vdso]") == 0 || strcmp(path, TRACE_OUTSIDE) == 0;
}

static void read_code_mapping(struct model *m, struct process *p, const struct trace_record *r)
{
	uint64_t start = trace_u64(r, F(mmap, address)), bytes = trace_u64(r, F(mmap, bytes));
	const struct file_identity identity = { trace_u64(r, F(mmap, device)), trace_u64(r, F(mmap, inode)),
						trace_u64(r, F(mmap, generation)) };
	char *path = trace_text(r, F(mmap, path));
	struct code *c;

	/* An anonymous mapping does not say what is in it, and must not hide what a JIT registered. */
	if (!path || bytes > UINT64_MAX - start || (mapping_kind(path, strlen(path)) < MAPPING_DEVICE && !is_special_image(path))) {
		free(path);
		c = add_region(m, p, &p->regions, start, bytes, r->time_ns, NULL, 0);
		if (c) {
			c->identity = identity;
			c->map_offset = trace_u64(r, F(mmap, file_offset));
		}
		return;
	}
	c = model_add_code(m, CODE_IMAGE, p, r->time_ns);
	if (!c) {
		free(path);
		return;
	}
	c->path = path;
	c->build_id = hex_text_of_field(r, F(mmap, build_id));
	c->identity = identity;
	c->map_start = c->address = start;
	c->bytes = bytes;
	c->map_offset = trace_u64(r, F(mmap, file_offset));
	c->writable = (trace_u64(r, F(mmap, prot)) & PROT_WRITE) != 0;
	process_note_mapping(p, path, r->time_ns);
	code_map_add(&p->code, start, start + bytes, r->time_ns, c);
}

void model_read_mmap(struct model *m, struct process *p, const struct trace_record *r)
{
	memory_read_mapping(m, p, r);
	if (trace_u64(r, F(mmap, prot)) & PROT_EXEC)
		read_code_mapping(m, p, r);
}

/* Adds the size of an object's compressed sections, once decompressed, to files.inflated_bytes, and checks that the budget has room for
 * that sum. Returns false if it has none, which ends the reading of the trace. */
static bool has_room_for(struct model *m, const struct elf_object *elf)
{
	uint64_t bytes = elf_object_inflated_bytes(elf);

	m->files.inflated_bytes = bytes > UINT64_MAX - m->files.inflated_bytes ? UINT64_MAX : m->files.inflated_bytes + bytes;
	return !bytes || trace_budget_has_room(m->reader, m->files.inflated_bytes);
}

static void read_memory_elf(struct model *m, struct process *p, const struct trace_record *r)
{
	struct elf_section text;
	struct elf_object *elf;
	struct code *c;
	size_t nr;
	const char *bytes = trace_bytes(r, F(image, bytes), &nr);

	if (elf_object_open_memory(bytes, nr, trace_budget(m->reader), &elf, NULL)) {
		m->bad_records++;
		return;
	}
	c = has_room_for(m, elf) ? model_add_code(m, CODE_ELF, p, r->time_ns) : NULL;
	if (!c) {
		elf_object_destroy(elf);
		return;
	}
	c->elf = elf;
	c->path = strdup("(generated)");
	c->build_id = strdup("");
	for (size_t i = 0; elf_get_text(elf, i, &text); i++)
		if (text.address && text.bytes <= UINT64_MAX - text.address)
			code_map_add(&p->code, text.address, text.address + text.bytes, r->time_ns, c);
}

/* Adds a file. Returns NULL if memory ran out. */
static struct image_file *add_image_file(struct model *m)
{
	struct image_file *f = calloc(1, sizeof(*f)), **slot = f ? ARRAY_ADD(m->files) : NULL;

	if (!slot) {
		free(f);
		return NULL;
	}
	*slot = f;
	f->number = m->files.nr - 1;
	return f;
}

/* Adds a library that came with its bytes, because its file may be gone by now.  Returns NULL if memory ran out. */
static struct image_file *read_bytes_of_image(struct model *m, const struct trace_record *r, const char *bytes, size_t nr)
{
	struct image_file *f = add_image_file(m);
	struct elf_object *elf;

	if (!f)
		return NULL;
	f->key = hex_text_of_field(r, F(image, build_id));
	f->path = trace_text(r, F(image, path));
	f->reason = strdup("");
	if (f->key && f->path && !*f->key)
		model_set_text(&f->key, strdup(f->path));
	if (elf_object_create(nr, trace_budget(m->reader), &elf, NULL))
		return f;
	if (elf_object_add_part(elf, 0, bytes, nr) || elf_object_open(elf, NULL) || !has_room_for(m, elf))
		elf_object_destroy(elf);
	else
		f->elf = elf;
	return f;
}

/* The agent knows the program that runs, which for `ld.so PROGRAM` is not the file that the kernel mapped first. A file that is gone keeps
 * the name that the kernel's mapping has. */
static void take_executable_of_guest(struct process *p, char *path)
{
	const size_t bytes = path ? strlen(path) : 0;

	if (bytes == 0 || deleted_path_bytes(path, bytes) != bytes) {
		free(path);
		return;
	}
	model_set_text(&p->executable, path);
	p->executable_ns = 0; /* no mapping is earlier */
}

void model_read_image(struct model *m, struct process *p, const struct trace_record *r)
{
	const struct trace_value *segments = F(image, segments) < r->nr_values ? &r->values[F(image, segments)] : NULL;
	uint64_t flags = trace_u64(r, F(image, flags));
	struct image_file *file = NULL;
	const char *bytes_of_file;
	size_t nr_bytes;

	if (flags & JITREG_IMAGE_MEMORY_ELF) {
		read_memory_elf(m, p, r);
		return;
	}
	if (flags & JITREG_IMAGE_MAIN)
		take_executable_of_guest(p, trace_text(r, F(image, path)));
	bytes_of_file = trace_bytes(r, F(image, bytes), &nr_bytes);
	if (nr_bytes)
		file = read_bytes_of_image(m, r, bytes_of_file, nr_bytes);
	for (uint64_t i = 0; segments && segments->kind == TRACE_LIST && i < segments->u; i++) {
		uint64_t start = trace_element(segments, i, 0).u, bytes = trace_element(segments, i, 1).u;
		struct code *c;

		if (!(trace_element(segments, i, 3).u & 4) || bytes > UINT64_MAX - start)
			continue;
		c = model_add_code(m, CODE_IMAGE, p, r->time_ns);
		if (!c)
			return;
		c->path = flags & JITREG_IMAGE_VDSO ? strdup("[vdso]") : trace_text(r, F(image, path));
		c->build_id = hex_text_of_field(r, F(image, build_id));
		c->bias = trace_u64(r, F(image, load_bias));
		c->bias_known = true;
		c->generated = nr_bytes > 0;
		c->file = file;
		c->map_start = c->address = start;
		c->bytes = bytes;
		c->map_offset = trace_element(segments, i, 2).u;
		code_map_add(&p->code, start, start + bytes, r->time_ns, c);
	}
}

void model_read_image_unload(struct model *m, struct process *p, const struct trace_record *r)
{
	uint64_t bias = trace_u64(r, F(image_unload, load_bias));

	(void)m;
	for (size_t i = 0, nr = p->code.facts.nr; i < nr; i++) {
		const struct code_fact f = p->code.facts.at[i];
		const struct code *c = f.owner;

		if (c && c->kind == CODE_IMAGE && c->bias_known && c->bias == bias && f.from_ns <= r->time_ns)
			code_map_add(&p->code, f.start, f.end, r->time_ns, NULL);
	}
}

/*
 * Makes an ELF object of a file's parts in the trace.  Returns false, and leaves *out as it is, if there are none, if an ELF file cannot
 * have the file's size, or if memory runs out.  Else it returns true, and *out is NULL if the parts do not make an ELF file, or the
 * budget has no room for its decompressed sections.
 */
static bool read_elf_parts(struct model *m, const struct trace_record *r, struct elf_object **out)
{
	const struct trace_value *parts = F(image_file, parts) < r->nr_values ? &r->values[F(image_file, parts)] : NULL;

	if (!parts || parts->kind != TRACE_LIST || parts->u == 0 ||
	    elf_object_create(trace_u64(r, F(image_file, file_bytes)), trace_budget(m->reader), out, NULL))
		return false;
	model_add_parts(r, *out, elf_object_add_part);
	if (elf_object_open(*out, NULL) || !has_room_for(m, *out)) {
		elf_object_destroy(*out);
		*out = NULL;
	}
	return true;
}

/* Reads a debug file, which belongs to the file before it if their keys are the same.  Its symbols are in the trace.  Its lines are read
 * from the path where it was found, if that is on this machine. */
static void read_debug_file(struct model *m, const struct trace_record *r)
{
	struct image_file *f = m->files.nr ? m->files.at[m->files.nr - 1] : NULL;
	struct elf_object *elf = NULL;
	char *path;

	if (!f || !f->key || f->debug || (!f->elf && !image_file_has_build_id(f)) || !trace_text_is(r, F(image_file, key), f->key) ||
	    !read_elf_parts(m, r, &elf) || !elf)
		return;
	path = trace_text(r, F(image_file, path));
	if (!f->elf) { /* the file gets the parts of a copy later */
		f->debug = path ? elf : NULL;
		f->debug_path = path;
		if (!path)
			elf_object_destroy(elf);
		return;
	}
	elf_object_set_debug(f->elf, elf);
	if (path)
		elf_object_add_lines(f->elf, path, f->key);
	free(path);
}

void model_read_image_file(struct model *m, struct process *p, const struct trace_record *r)
{
	struct image_file *f;
	struct elf_object *elf;

	(void)p;
	if (trace_text_is(r, F(image_file, reason), TRACE_DEBUG_FILE)) {
		read_debug_file(m, r);
		return;
	}
	f = add_image_file(m);
	if (!f)
		return;
	f->key = trace_text(r, F(image_file, key));
	f->path = trace_text(r, F(image_file, path));
	f->reason = trace_text(r, F(image_file, reason));
	f->bytes = trace_u64(r, F(image_file, file_bytes));
	f->identity = (struct file_identity){ trace_u64(r, F(image_file, device)), trace_u64(r, F(image_file, inode)),
					      trace_u64(r, F(image_file, generation)) };
	if (!read_elf_parts(m, r, &elf))
		return;
	if (!elf)
		model_set_text(&f->reason, strdup("its parts do not make an ELF file"));
	f->elf = elf;
	if (elf)
		model_shelve_file(m, f);
}

const struct image_file *model_find_lacking(const struct model *m, const char *path, bool lines)
{
	for (uint32_t i = 0; path && *path == '/' && i < m->files.nr; i++) {
		const struct image_file *f = m->files.at[i];

		if (!f->path || !f->reason || strcmp(f->path, path) != 0 || f->generated || strcmp(f->reason, TRACE_NOT_ELF) == 0)
			continue;
		if (!f->elf || !(lines ? elf_has_lines(f->elf) : elf_has_symbols(f->elf)))
			return f;
	}
	return NULL;
}

bool model_is_here(const struct image_file *f)
{
	return f && f->key && strcmp(f->key, f->path) != 0 && elf_file_is(f->path, f->key);
}

/* Reads an IMAGE_CODE record. Returns NULL if memory ran out, or if the record has no function. */
static struct function_codes *read_function_codes(const struct trace_record *r)
{
	const struct trace_value *list = F(image_code, functions) < r->nr_values ? &r->values[F(image_code, functions)] : NULL;
	struct function_codes *c = list && list->kind == TRACE_LIST ? calloc(1, sizeof(*c)) : NULL;

	if (!c)
		return NULL;
	c->key = trace_text(r, F(image_code, key));
	c->identity = (struct file_identity){ trace_u64(r, F(image_code, device)), trace_u64(r, F(image_code, inode)),
					      trace_u64(r, F(image_code, generation)) };
	c->function = calloc(list->u + 1, sizeof(*c->function));
	for (uint64_t i = 0; c->function && i < list->u; i++) {
		struct trace_value at = trace_element(list, i, 0), code = trace_element(list, i, 1);

		if (at.kind == TRACE_UINT && code.kind == TRACE_BYTES)
			function_codes_add(c, at.u, code.p, code.bytes);
	}
	if (!c->key || !c->nr) {
		function_codes_free(c);
		return NULL;
	}
	function_codes_sort(c);
	return c;
}

void model_read_image_code(struct model *m, struct process *p, const struct trace_record *r)
{
	struct function_codes *c = read_function_codes(r), **slot = c ? ARRAY_ADD(m->files.functions) : NULL;

	(void)p;
	if (slot)
		*slot = c;
	else
		function_codes_free(c);
}

#define FILES_LOOKED 64u /* limit of files with the same path or key, or mappings at the same address, that are compared */

/* This indexes the trace's files by key, by path, and by path and identity. Files with the same key or path are a list, whose first is in a
 * map. */
struct file_index {
	struct hash_map key, path; /* hash of the text -> 1 + index of the first file */
	struct hash_map identity;  /* (hashes of path and identity), for files whose identity is known -> 1 + index of the first file */
	uint32_t *next_key, *next_path; /* 1 + index of the next file in the list, per file */
};

static uint64_t hash_identity(const struct file_identity *i)
{
	return i->device * 0x9e3779b97f4a7c15ull ^ i->inode;
}

static bool index_image_files(const struct model *m, struct file_index *x)
{
	*x = (struct file_index){ .next_key = calloc((size_t)m->files.nr + 1, sizeof(*x->next_key)),
				  .next_path = calloc((size_t)m->files.nr + 1, sizeof(*x->next_path)) };
	for (uint32_t i = m->files.nr; i > 0 && x->next_key && x->next_path; i--) {
		uint64_t key = hash_text(m->files.at[i - 1]->key), path = hash_text(m->files.at[i - 1]->path);
		const struct file_identity *identity = &m->files.at[i - 1]->identity;

		x->next_key[i - 1] = hash_map_find(&x->key, key, 0);
		x->next_path[i - 1] = hash_map_find(&x->path, path, 0);
		if (!hash_map_set(&x->key, key, 0, i) || !hash_map_set(&x->path, path, 0, i))
			return false;
		if (file_identity_is_known(identity) && !hash_map_set(&x->identity, path, hash_identity(identity), i))
			return false;
	}
	return x->next_key && x->next_path;
}

static void free_file_index(struct file_index *x)
{
	hash_map_fini(&x->key);
	hash_map_fini(&x->path);
	hash_map_fini(&x->identity);
	free(x->next_key);
	free(x->next_path);
}

/* Checks whether a file may be that of an image.  A file with another build id, or without one and with another identity, is another file,
 * which came to this path earlier or later.  A build id may be padded with zeros, or cut. */
static bool file_may_be_of_image(const struct image_file *f, const struct code *c)
{
	size_t a = strlen(f->key), b = strlen(c->build_id);

	if (strcmp(f->key, f->path) == 0)
		return file_identity_may_be_same(&f->identity, &c->identity);
	return !b || strncmp(f->key, c->build_id, a < b ? a : b) == 0;
}

/* Finds the identities (device, inode) of images without a build id.  The guest knows only their paths, but the kernel reported which file
 * it mapped at that address last. */
static bool identify_images(struct model *m)
{
	struct hash_map mapped = { 0 }; /* (process, address) -> 1 + index */
	uint32_t *before = calloc((size_t)m->codes.nr + 1, sizeof(*before));
	bool ok = before != NULL;

	for (uint32_t i = 0; i < m->codes.nr && ok; i++) {
		const struct code *c = m->codes.at[i];

		if (c->kind != CODE_IMAGE || !file_identity_is_known(&c->identity))
			continue;
		before[i] = hash_map_find(&mapped, c->process, c->map_start);
		ok = hash_map_set(&mapped, c->process, c->map_start, i + 1);
	}
	for (uint32_t i = 0; i < m->codes.nr && ok; i++) {
		struct code *c = m->codes.at[i];
		const struct code *best = NULL;
		uint32_t looked = 0;

		if (c->kind != CODE_IMAGE || file_identity_is_known(&c->identity) || !c->build_id || *c->build_id)
			continue;
		for (uint32_t n = hash_map_find(&mapped, c->process, c->map_start); n && looked++ < FILES_LOOKED; n = before[n - 1]) {
			const struct code *k = m->codes.at[n - 1];

			if (k->path && c->path && strcmp(k->path, c->path) == 0 && k->from_ns <= c->from_ns &&
			    (!best || k->from_ns > best->from_ns))
				best = k;
		}
		if (best)
			c->identity = best->identity;
		if (best && c->file)
			c->file->identity = best->identity;
	}
	hash_map_fini(&mapped);
	free(before);
	return ok;
}

/* Finds the file at the image's own path.  Several files may have the path, because it leads to another file in each container.  with_id:
 * only files with a build id. */
static struct image_file *find_file_at_path(const struct model *m, const struct file_index *x, const struct code *c, bool with_id)
{
	uint32_t looked = 0, i = hash_map_find(&x->identity, hash_text(c->path), hash_identity(&c->identity));
	struct image_file *found = NULL;

	if (i && strcmp(m->files.at[i - 1]->path, c->path) == 0 && file_identity_is_same(&m->files.at[i - 1]->identity, &c->identity) &&
	    (!with_id || image_file_has_build_id(m->files.at[i - 1])) && file_may_be_of_image(m->files.at[i - 1], c))
		return m->files.at[i - 1];
	for (i = hash_map_find(&x->path, hash_text(c->path), 0); i && looked++ < FILES_LOOKED; i = x->next_path[i - 1]) {
		struct image_file *f = m->files.at[i - 1];

		if (strcmp(f->path, c->path) != 0 || (with_id && !image_file_has_build_id(f)) || !file_may_be_of_image(f, c))
			continue;
		if (file_identity_is_same(&f->identity, &c->identity))
			return f;
		found = found ? found : f; /* the file may have another identity, in another mount */
	}
	return found;
}

/* Finds the first file with this build id, whatever its path. */
static struct image_file *find_file_of_build_id(const struct model *m, const struct file_index *x, const char *build_id)
{
	uint32_t looked = 0;

	for (uint32_t i = *build_id ? hash_map_find(&x->key, hash_text(build_id), 0) : 0; i && looked++ < FILES_LOOKED;
	     i = x->next_key[i - 1])
		if (strcmp(m->files.at[i - 1]->key, build_id) == 0)
			return m->files.at[i - 1];
	return NULL;
}

static struct image_file *find_image_file(const struct model *m, const struct file_index *x, const struct code *c)
{
	struct image_file *f = find_file_at_path(m, x, c, *c->build_id);

	f = f ? f : find_file_of_build_id(m, x, c->build_id);
	return f || !*c->build_id ? f : find_file_at_path(m, x, c, false);
}

/* Marks both files of a library that a JIT wrote as generated.  There are two if the guest registered the bytes, and the recorder could
 * read the file as well. */
static void share_generated_flag(const struct model *m, const struct file_index *x)
{
	for (uint32_t n = 0; n < m->files.nr; n++) {
		const struct image_file *f = m->files.at[n];
		uint32_t looked = 0;

		if (!f->generated)
			continue;
		for (uint32_t i = hash_map_find(&x->key, hash_text(f->key), 0); i && looked++ < FILES_LOOKED; i = x->next_key[i - 1]) {
			struct image_file *other = m->files.at[i - 1];

			if (strcmp(other->key, f->key) == 0 && strcmp(other->path, f->path) == 0)
				other->generated |= strcmp(f->key, f->path) != 0 || file_identity_is_same(&f->identity, &other->identity);
		}
	}
}

/* Assigns the contents of each IMAGE_CODE record to the first file with its key. If the key is a path, the identities must not differ.
 * Then all files with the same build id get the code of the first one. */
static void assign_code_to_files(struct model *m, const struct file_index *x)
{
	for (uint32_t n = 0; n < m->files.functions.nr; n++) {
		struct function_codes *c = m->files.functions.at[n];
		uint32_t looked = 0;

		for (uint32_t i = hash_map_find(&x->key, hash_text(c->key), 0); i && looked++ < FILES_LOOKED; i = x->next_key[i - 1]) {
			struct image_file *f = m->files.at[i - 1];

			if (strcmp(f->key, c->key) != 0 ||
			    (strcmp(f->key, f->path) == 0 && !file_identity_may_be_same(&f->identity, &c->identity)))
				continue;
			c->next = f->code;
			f->code = c;
			break;
		}
	}
	for (uint32_t n = 0; n < m->files.nr; n++) {
		bool has_id = image_file_has_build_id(m->files.at[n]);
		const struct image_file *f = has_id ? find_file_of_build_id(m, x, m->files.at[n]->key) : NULL;

		m->files.at[n]->code = f ? f->code : m->files.at[n]->code;
	}
}

/* Indexes the kernel's mappings: (process, address) -> 1 + index of the last one. */
static bool index_mappings(const struct model *m, struct hash_map *mapped)
{
	bool ok = true;

	for (uint32_t i = 0; i < m->codes.nr && ok; i++) {
		const struct code *c = m->codes.at[i];

		if (c->kind == CODE_IMAGE && !c->bias_known)
			ok = hash_map_set(mapped, c->process, c->map_start, i + 1);
	}
	return ok;
}

/* Finds the file of an image that the guest registered, whose path may be a link. Of several copies of the file, the one counts that the
 * kernel mapped at this place. */
static struct image_file *find_file_of_guest(const struct model *m, const struct file_index *x, const struct hash_map *mapped,
					     const struct code *c)
{
	uint32_t n = hash_map_find(mapped, c->process, c->map_start);
	const struct code *k = n ? m->codes.at[n - 1] : NULL;
	struct image_file *f = find_image_file(m, x, c), *of_kernel;

	if (!f || !k || !k->path || !k->build_id || !*c->build_id || strcmp(f->path, c->path) == 0)
		return f;
	of_kernel = find_image_file(m, x, k);
	return of_kernel && strcmp(of_kernel->key, f->key) == 0 ? of_kernel : f;
}

/* Sets the file of an image, and names the image by it, because the loader's path may contain a link. */
static void set_file_of_image(struct code *c, struct image_file *f)
{
	c->file = f;
	if (f)
		model_set_text(&c->path, strdup(f->path));
}

/* Checks whether a mapping of a file is memory that code is generated into: a heap with code in it (SBCL's core), or a file that was made
 * to be mapped twice (LLVM's ORC).  No loader makes code of an ELF file writable.  What is in such a file outside of its segments is no
 * code of its own. */
static bool mapping_is_generated_into(const struct code *c)
{
	uint64_t address;

	if (c->generated || c->bias_known || !c->file)
		return false;
	if (!c->file->elf)
		return c->writable || strcmp(c->file->reason, TRACE_NOT_ELF) == 0;
	return c->writable && !elf_offset_to_address(c->file->elf, c->map_offset, &address);
}

#define IN_FILE UINT64_MAX /* mapper_offset of a region whose mapper is the mapped file itself */

/* Turns a mapping into a region, so that it does not hide code that a JIT registers.  If the guest knows which code mapped it, the guest's
 * region stands for it. */
static void turn_mapping_into_region(struct model *m, struct code *c)
{
	static const char deleted[] = " (deleted)";
	struct process *p = m->numbered.at[c->process];
	const struct code_fact *f = code_map_starting_at(&p->guest_regions, c->address);
	struct code *region = f && ((struct code *)f->owner)->bytes == c->bytes ? f->owner : c;
	const char *file = basename(c->path), *end = strstr(file, deleted);
	char *name = NULL;

	for (size_t i = 0; i < p->code.facts.nr; i++)
		if (p->code.facts.at[i].owner == c)
			p->code.facts.at[i].end = p->code.facts.at[i].start;
	if (asprintf(&name, "code in %.*s", end ? (int)(end - file) : (int)strlen(file), file) >= 0)
		model_set_text(&region->name, name);
	if (region != c)
		return;
	c->kind = CODE_REGION;
	c->file = NULL;
	c->mapper = c->path; /* without an agent, only the file's name says whose code it is */
	c->mapper_offset = IN_FILE;
	c->path = strdup("(generated)");
	code_map_add(&p->regions, c->address, c->address + c->bytes, c->from_ns, c);
}

/* Returns the length of a demangled name without its parameters. */
static int bytes_without_parameters(const char *name)
{
	const char *end = *name == '(' ? NULL : strchr(name, '(');

	return end ? (int)(end - name) : (int)strlen(name);
}

/* Names a region by the function that mapped it, if its image and symbol are known, else by the place in the image. */
static void name_region_by_mapper(const struct model *m, struct code *c)
{
	const char *image = basename(c->mapper);
	char *name = NULL, *readable = NULL;
	struct elf_function f;
	int ret = -1;

	for (uint32_t i = 0; i < m->files.nr && ret < 0; i++)
		if (m->files.at[i]->elf && strcmp(m->files.at[i]->path, c->mapper) == 0 &&
		    elf_find_function(m->files.at[i]->elf, c->mapper_offset, &f) && f.bytes) {
			readable = demangle(f.name);
			ret = asprintf(&name, "%s, mapped by %.*s in %s", c->name, bytes_without_parameters(readable ? readable : f.name),
				       readable ? readable : f.name, image);
			free(readable);
		}
	if (ret < 0)
		ret = asprintf(&name, "%s, mapped by %s+0x%llx", c->name, image, (unsigned long long)c->mapper_offset);
	if (ret >= 0)
		model_set_text(&c->name, name);
}

static bool is_unloaded_between(const struct process *p, const struct code *from, const struct code *to)
{
	for (size_t i = 0; i < p->code.facts.nr; i++) {
		const struct code_fact *f = &p->code.facts.at[i];

		if (!f->owner && f->start <= from->address && f->end > from->address && f->from_ns > from->from_ns &&
		    f->from_ns <= to->from_ns)
			return true;
	}
	return false;
}

/* Finds the files of mappings by those of the guest's images.  A recorder that starts late finds mappings by the paths that links lead to,
 * after the guest has registered them by the paths that it loads by.  The trace has their files by one of the two paths. */
static bool find_files_of_guest(struct model *m)
{
	struct hash_map told = { 0 }; /* (process, address) -> 1 + index */
	bool ok = true;

	for (uint32_t i = 0; i < m->codes.nr && ok; i++) {
		const struct code *c = m->codes.at[i];

		if (c->kind == CODE_IMAGE && c->bias_known && c->file)
			ok = hash_map_set(&told, c->process, c->map_start, i + 1);
	}
	for (uint32_t i = 0; i < m->codes.nr && ok; i++) {
		struct code *c = m->codes.at[i];
		uint32_t n = c->kind == CODE_IMAGE && !c->file ? hash_map_find(&told, c->process, c->map_start) : 0;
		const struct code *k = n ? m->codes.at[n - 1] : NULL;

		if (k && k->bytes == c->bytes && k->from_ns <= c->from_ns && !is_unloaded_between(m->numbered.at[c->process], k, c))
			set_file_of_image(c, k->file);
	}
	hash_map_fini(&told);
	return ok;
}

/* Searches for the debug information that the trace lacks of files with a build id: in the folders of --debug-path, and in the files
 * themselves, if they are on this machine. */
static void search_debug_files(const struct model *m)
{
	for (uint32_t i = 0; i < m->files.nr; i++) {
		const struct image_file *f = m->files.at[i];

		if (!f->elf || f->of_machine || !f->key || !f->path || strcmp(f->key, f->path) == 0)
			continue;
		debug_path_search(f->elf, f->path, f->key);
		if (elf_object_is_partial(f->elf) || (f->reason && *f->reason))
			elf_object_add_lines(f->elf, f->path, f->key);
	}
}

/* Checks for a file with the image's path, and with its identity if both are known. */
static bool has_file_of_image(const struct model *m, const struct code *c)
{
	for (uint32_t i = 0; i < m->files.nr; i++)
		if (strcmp(m->files.at[i]->path, c->path) == 0 && file_identity_may_be_same(&m->files.at[i]->identity, &c->identity))
			return true;
	return false;
}

static bool is_image_of_file(const struct code *c)
{
	return c->kind == CODE_IMAGE && c->path && c->path[0] == '/' && c->build_id;
}

/* Adds a file of this machine, or, if elf is NULL, the reason why there is none. */
static void add_file_of_machine(struct model *m, const struct code *c, struct elf_object *elf, const char *key, const char *reason)
{
	struct image_file *f = add_image_file(m);

	if (!f)
		return;
	f->elf = elf;
	f->of_machine = elf != NULL;
	f->identity = c->identity;
	f->key = strdup(*key ? key : c->path);
	f->path = strdup(c->path);
	f->reason = strdup(reason);
}

/* Opens the ELF files of mapped images on this machine. This is done for a trace that is still being written, because the recorder adds
 * their symbols only now and then, and at its end. */
static void add_files_of_machine(struct model *m)
{
	for (uint32_t i = 0; i < m->codes.nr; i++) {
		const struct code *c = m->codes.at[i];
		struct elf_object *elf;
		const char *key;

		if (!is_image_of_file(c) || has_file_of_image(m, c))
			continue;
		elf = machine_file_find(m->numbered.at[c->process]->pid, c->path, &c->identity, c->build_id, &key);
		if (elf)
			add_file_of_machine(m, c, elf, key, "");
	}
}

/* Has a file of this machine been the image's since the recording? The build ids tell. Of a file without one, the identity was compared,
 * and the time of its last change is. */
static bool is_file_of_recording(const struct model *m, const struct code *c, const char *key)
{
	struct stat st;

	if (*c->build_id)
		return strncmp(key, c->build_id, strlen(key) < strlen(c->build_id) ? strlen(key) : strlen(c->build_id)) == 0 && *key;
	return stat(c->path, &st) == 0 && st.st_mtime >= 0 && (uint64_t)st.st_mtime < m->real_ns / 1000000000u;
}

#define KILLED_FILES_MAX 1000u /* limit of files that are looked for, since a trace may name any number of paths */

/*
 * A recorder that was killed has not written the symbols of all files. Before files are assigned to images, those that are still on this
 * machine are added. Afterwards, with_reasons, a reason is added for each path of which no image has a file.
 */
static void add_files_of_killed_recorder(struct model *m, bool with_reasons)
{
	struct hash_map known = { 0 }; /* hashes of the paths and keys of files that the trace has, and of paths that were looked for */
	uint32_t looked = 0;
	bool ok = true;

	for (uint32_t i = 0; i < m->files.nr && ok; i++)
		ok = hash_map_set(&known, hash_text(m->files.at[i]->path), 0, 1) &&
		     hash_map_set(&known, hash_text(m->files.at[i]->key), 0, 1);
	for (uint32_t i = 0; i < m->codes.nr && looked < KILLED_FILES_MAX && ok; i++) {
		const struct code *c = m->codes.at[i];
		struct elf_object *elf = NULL;
		const char *key = "";

		if (!is_image_of_file(c) || c->file || hash_map_find(&known, hash_text(c->path), 0) ||
		    hash_map_find(&known, hash_text(c->build_id), 0))
			continue;
		ok = hash_map_set(&known, hash_text(c->path), 0, 1);
		looked++;
		if (!with_reasons)
			elf = machine_file_find(m->numbered.at[c->process]->pid, c->path, &c->identity, c->build_id, &key);
		if (elf && is_file_of_recording(m, c, key))
			add_file_of_machine(m, c, elf, key, "");
		else if (with_reasons)
			add_file_of_machine(m, c, NULL, c->build_id, "the recorder was killed before it read it, and the file at this path "
					    "is gone or another");
	}
	hash_map_fini(&known);
}

/* A library that was loaded from a file in memory counts as generated if the host has registered texts of its own, since these are the
 * sources of generated code. Otherwise it is a plugin, and its bytes are in the trace because no path leads to its file. */
static void settle_libraries_in_memory(struct model *m)
{
	for (uint32_t i = 0; !m->sources.nr && i < m->codes.nr; i++)
		if (m->codes.at[i]->kind == CODE_IMAGE && m->codes.at[i]->path && path_is_of_memory_file(m->codes.at[i]->path))
			m->codes.at[i]->generated = false;
}

void model_settle_images(struct model *m)
{
	struct hash_map mapped = { 0 };
	struct file_index index;
	bool ok;

	if (trace_is_being_written(m->reader))
		add_files_of_machine(m);
	else if (!m->has_end)
		add_files_of_killed_recorder(m, false);
	settle_libraries_in_memory(m);
	ok = shared_files_settle(m);
	ok = index_image_files(m, &index) && ok && identify_images(m) && index_mappings(m, &mapped);
	search_debug_files(m);
	for (uint32_t i = 0; i < m->codes.nr && ok; i++) {
		struct code *c = m->codes.at[i];

		if (c->kind == CODE_IMAGE && c->path && c->build_id) {
			set_file_of_image(c, c->file	   ? c->file :
					     c->bias_known ? find_file_of_guest(m, &index, &mapped, c) :
							     find_image_file(m, &index, c));
			if (mapping_is_generated_into(c))
				turn_mapping_into_region(m, c);
			if (c->file)
				c->file->generated |= c->generated;
		}
	}
	ok = ok && find_files_of_guest(m);
	if (!trace_is_being_written(m->reader) && !m->has_end)
		add_files_of_killed_recorder(m, true);
	if (ok)
		share_generated_flag(m, &index);
	if (ok)
		assign_code_to_files(m, &index);
	free_file_index(&index);
	hash_map_fini(&mapped);
	/* Libraries that a JIT wrote may be mapped again in the list of a recorder that starts late.  These mappings are of generated
	 * code, too. */
	for (uint32_t i = 0; i < m->codes.nr; i++)
		if (m->codes.at[i]->kind == CODE_IMAGE && m->codes.at[i]->file)
			m->codes.at[i]->generated |= m->codes.at[i]->file->generated;
	for (uint32_t i = 0; i < m->codes.nr; i++)
		if (m->codes.at[i]->kind == CODE_REGION && m->codes.at[i]->mapper && *m->codes.at[i]->mapper && m->codes.at[i]->name &&
		    m->codes.at[i]->mapper_offset != IN_FILE)
			name_region_by_mapper(m, m->codes.at[i]);
}

void files_fini(struct files *files)
{
	for (uint32_t i = 0; i < files->nr; i++) {
		struct image_file *f = files->at[i];

		if (!f->of_machine && !f->shares_elf)
			elf_object_destroy(f->elf);
		elf_object_destroy(f->debug);
		free(f->debug_path);
		free(f->key);
		free(f->path);
		free(f->reason);
		free(f);
	}
	free(files->at);
	for (uint32_t i = 0; i < files->functions.nr; i++)
		function_codes_free(files->functions.at[i]);
	free(files->functions.at);
}
