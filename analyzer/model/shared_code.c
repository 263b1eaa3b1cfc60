/* SPDX-License-Identifier: MIT */
#include "analyzer/model/shared_code.h"

#include "analyzer/model/read.h"
#include "jitreg/base/grow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ANY_SIZE UINT64_MAX
#define COPIES_MAX (1u << 20) /* limit of struct code that is added because a file is mapped at several addresses */

static bool is_shared(const struct code *c)
{
	return c && c->kind == CODE_REGION && file_identity_is_known(&c->identity);
}

static uint64_t base_of(const struct code *c)
{
	return c->address - c->map_offset;
}

/* Finds or adds the struct shared_code of a mapping, and returns 1 + its index.  Returns 0 if memory ran out. */
static uint32_t add_group(struct model *m, const struct code *c)
{
	uint32_t first = hash_map_find(&m->shared_codes.by_file, c->identity.inode, c->identity.device), last = 0;

	for (uint32_t i = first; i; i = m->shared_codes.at[i - 1].next) {
		if (m->shared_codes.at[i - 1].base == base_of(c))
			return i;
		last = i;
	}
	if (!ARRAY_PUSH(m->shared_codes, (struct shared_code){ .device = c->identity.device, .inode = c->identity.inode,
							       .base = base_of(c) }))
		return 0;
	if (last)
		m->shared_codes.at[last - 1].next = m->shared_codes.nr;
	else if (!hash_map_set(&m->shared_codes.by_file, c->identity.inode, c->identity.device, m->shared_codes.nr))
		return 0;
	return m->shared_codes.nr;
}

static bool find_groups(struct model *m)
{
	for (uint32_t i = 0; i < m->codes.nr; i++)
		if (is_shared(m->codes.at[i])) {
			m->codes.at[i]->shared = add_group(m, m->codes.at[i]);
			if (!m->codes.at[i]->shared)
				return false;
		}
	for (uint32_t i = 0; i < m->processes.nr; i++)
		m->processes.at[i]->shared = m->shared_codes.at;
	return true;
}

/* Adds a copy of a function for processes that map its file at other addresses, move bytes further on. Returns NULL if it is no LOAD, if
 * there are COPIES_MAX already, or if memory ran out. The code is then unknown at those addresses. */
static struct code *copy(struct model *m, const struct code *from, uint64_t move)
{
	struct code *c = from->kind == CODE_LOAD && m->shared_codes.nr_copies < COPIES_MAX ?
		model_add_code(m, CODE_LOAD, m->numbered.at[from->process], from->from_ns) : NULL;

	if (!c)
		return NULL;
	m->shared_codes.nr_copies++;
	c->address = from->address + move;
	c->bytes = from->bytes;
	c->name = from->name ? strdup(from->name) : NULL;
	code_name_no_file(c);
	c->host_levels = from->host_levels;
	c->lines = from->lines;
	c->nr_lines = from->nr_lines;
	return c;
}

static bool share(struct model *m, const struct code_fact *f, const struct code *region)
{
	const struct shared_code *own = &m->shared_codes.at[region->shared - 1];

	for (uint32_t i = hash_map_find(&m->shared_codes.by_file, own->inode, own->device); i; i = m->shared_codes.at[i - 1].next) {
		uint64_t move = m->shared_codes.at[i - 1].base - own->base;
		void *owner = move ? copy(m, f->owner, move) : f->owner;

		if (owner && code_map_add(&m->shared_codes.at[i - 1].code, f->start + move, f->end + move, f->from_ns, owner))
			return false;
	}
	return true;
}

/* Returns the region of shared memory that code of p is in. A perf map may register code with a time before its memory was mapped, so else
 * the last region at the address counts. Returns NULL if there is none, or if other code was there when that one was mapped. */
static const struct code *region_of(const struct process *p, const struct code_fact *f)
{
	struct code_answer a = model_ask_region(p, f->start, f->from_ns);
	const struct code *c = a.fact ? a.fact->owner : NULL;

	if (!c) {
		a = model_ask_region(p, f->start, UINT64_MAX);
		c = a.fact ? a.fact->owner : NULL;
		if (c && code_map_ask(&p->code, f->start, c->from_ns).fact != f)
			return NULL;
	}
	return c && c->shared ? c : NULL;
}

int shared_code_settle(struct model *m)
{
	if (!find_groups(m))
		return -ENOMEM;
	for (uint32_t i = 0; m->shared_codes.nr && i < m->processes.nr; i++)
		for (size_t n = 0; n < m->processes.at[i]->code.facts.nr; n++) {
			const struct code_fact *f = &m->processes.at[i]->code.facts.at[n];
			const struct code *c = f->owner;
			const struct code *region = c && (c->kind == CODE_LOAD || c->kind == CODE_ELF) && f->start < f->end ?
				region_of(m->processes.at[i], f) : NULL;

			if (region && !share(m, f, region))
				return -ENOMEM;
		}
	for (uint32_t i = 0; i < m->shared_codes.nr; i++)
		if (code_map_index(&m->shared_codes.at[i].code))
			return -ENOMEM;
	return 0;
}

void shared_codes_fini(struct shared_codes *s)
{
	for (uint32_t i = 0; i < s->nr; i++)
		code_map_fini(&s->at[i].code);
	free(s->at);
	hash_map_fini(&s->by_file);
}

/* ------------------------------------------------------------------------------------------------------ copies of files */

bool image_file_has_build_id(const struct image_file *f)
{
	return f->key && f->path && strcmp(f->key, f->path) != 0;
}

/* Files that have their own parts, and those of them with symbols: (hash of the build id, size or ANY_SIZE) -> 1 + index of the first
 * file. Files with symbols are found by ANY_SIZE alone. */
struct owners {
	struct hash_map with_parts, with_symbols;
};

static bool add_owner(struct hash_map *to, uint64_t key, uint64_t bytes, uint32_t number)
{
	return hash_map_find(to, key, bytes) || hash_map_set(to, key, bytes, number + 1);
}

static bool list_owners(const struct model *m, struct owners *o)
{
	bool ok = true;

	for (uint32_t i = 0; i < m->files.nr && ok; i++) {
		const struct image_file *f = m->files.at[i];
		uint64_t key;

		if (!f->elf || f->of_machine || !image_file_has_build_id(f))
			continue;
		key = hash_text(f->key);
		ok = add_owner(&o->with_parts, key, f->bytes, i) && add_owner(&o->with_parts, key, ANY_SIZE, i);
		if (elf_has_symbols(f->elf))
			ok = ok && add_owner(&o->with_symbols, key, ANY_SIZE, i);
	}
	return ok;
}

/* Finds the first file with this build id in a map of struct owners. bytes: the file's size, or ANY_SIZE. Returns NULL if there is none, or
 * if a different build id has the same hash. */
static struct image_file *find_owner(const struct model *m, const struct hash_map *among, const char *build_id, uint64_t bytes)
{
	uint32_t i = hash_map_find(among, hash_text(build_id), bytes);

	return i && strcmp(m->files.at[i - 1]->key, build_id) == 0 ? m->files.at[i - 1] : NULL;
}

static void share_parts(const struct model *m, const struct owners *o, struct image_file *f)
{
	struct image_file *owner = find_owner(m, &o->with_parts, f->key, f->bytes);

	owner = owner ? owner : find_owner(m, &o->with_parts, f->key, ANY_SIZE);
	if (!owner)
		return;
	f->elf = owner->elf;
	f->shares_elf = true;
	f->generated |= owner->generated;
	free(f->reason);
	f->reason = strdup(owner->reason ? owner->reason : "");
	if (f->debug) { /* the recorder found the debug file in the root of this copy's process */
		elf_object_set_debug(owner->elf, f->debug);
		elf_object_add_lines(owner->elf, f->debug_path, f->key);
		f->debug = NULL;
	}
}

bool shared_files_settle(struct model *m)
{
	struct owners o = { 0 };
	bool ok = list_owners(m, &o);

	for (uint32_t i = 0; i < m->files.nr && ok; i++)
		if (!m->files.at[i]->elf && image_file_has_build_id(m->files.at[i]))
			share_parts(m, &o, m->files.at[i]);
	for (uint32_t i = 0; i < m->files.nr && ok; i++) {
		const struct image_file *f = m->files.at[i];
		bool lacks = f->elf && !f->shares_elf && !f->of_machine && image_file_has_build_id(f) && !elf_has_symbols(f->elf);
		struct image_file *owner = lacks ? find_owner(m, &o.with_symbols, f->key, ANY_SIZE) : NULL;

		if (owner)
			elf_object_borrow_symbols(f->elf, owner->elf);
	}
	hash_map_fini(&o.with_parts);
	hash_map_fini(&o.with_symbols);
	return ok;
}

/* --------------------------------------------------------------------------------------------------- images of processes */

/* May what is known of an address depend on nothing but the file, its path and the place in it?  Of generated code it may depend on the
 * process, too, whose sources and components its lines have. */
static bool may_be_alike(const struct code *c)
{
	return c->kind == CODE_IMAGE && c->file && c->file->elf && c->path && !c->generated && !c->writable && !c->host_levels;
}

/* Finds the part of an image in which addresses are those of one segment of the file, from the beginning of the mapping on. */
static bool find_text(const struct code *c, struct image_text *out)
{
	struct elf_mapped_range r;

	if (c->bias_known) {
		*out = (struct image_text){ 0, c->address, c->address + c->bytes, c->bias };
		return true;
	}
	if (!elf_find_mapped_range(c->file->elf, c->map_offset, &r))
		return false;
	out->start = c->map_start;
	out->end = c->map_start + (r.bytes < c->bytes ? r.bytes : c->bytes);
	out->bias = c->map_start - r.address;
	return true;
}

/* Images that were given a number, by file and path: hash -> 1 + index of the first one among the model's codes. */
static bool number_image(struct model *m, struct hash_map *first, struct code *c)
{
	const uint64_t path = hash_text(c->path);
	const uint32_t i = hash_map_find(first, path, c->file->number);
	const struct code *like = i ? m->codes.at[i - 1] : c;

	if (strcmp(like->path, c->path) != 0) /* another path has the same hash */
		return true;
	c->text.number = 1 + like->number;
	return i || hash_map_set(first, path, c->file->number, 1 + c->number);
}

bool shared_images_settle(struct model *m)
{
	struct hash_map first = { 0 };
	bool ok = true;

	for (uint32_t i = 0; i < m->codes.nr && ok; i++) {
		struct code *c = m->codes.at[i];

		if (may_be_alike(c) && find_text(c, &c->text))
			ok = number_image(m, &first, c);
	}
	hash_map_fini(&first);
	return ok;
}

/* ------------------------------------------------------------------------------------------------- debug information */

void model_add_parts(const struct trace_record *r, struct elf_object *elf,
		     int (*add)(struct elf_object *elf, uint64_t file_offset, const void *bytes, size_t nr))
{
	const struct trace_value *parts = F(image_file, parts) < r->nr_values ? &r->values[F(image_file, parts)] : NULL;

	for (uint64_t i = 0; parts && parts->kind == TRACE_LIST && i < parts->u; i++) {
		struct trace_value at = trace_element(parts, i, 0), bytes = trace_element(parts, i, 1);

		if (at.kind == TRACE_UINT && bytes.kind == TRACE_BYTES)
			add(elf, at.u, bytes.p, bytes.bytes);
	}
}

/* Brings the debug sections of a file back. */
static bool load_debug_sections(void *context, uint32_t number, struct elf_object *elf)
{
	struct files *files = context;
	struct trace_record r;

	if (!trace_read_record_at(files->again, files->at[number]->place, &r) || r.id != TRACE_IMAGE_FILE)
		return false;
	model_add_parts(&r, elf, debug_restore);
	return true;
}

void model_shelve_file(struct model *m, struct image_file *f)
{
	m->files.shelf.load = load_debug_sections;
	m->files.shelf.context = &m->files;
	m->files.again = m->reader;
	f->place = m->place;
	debug_shelve(&m->files.shelf, f->elf, f->number);
}
