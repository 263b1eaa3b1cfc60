/* SPDX-License-Identifier: MIT */
/*
 * Each record is in a list in the order of arrival, and in a hash table by the thing that it describes (its subject).  A record about code
 * is also in a hash table by the page in which the code starts.
 *
 * A DEBUG_INFO, INLINES, CODE_MAP or UNWINDING_INFO belongs to a LOAD that comes after it (or, CODE_MAP only, before it).  It is bound to
 * that LOAD when the LOAD comes, and is removed with it.  Unbound ones wait.
 */
#include "agent/recorder/guests/registration_cache.h"

#include "jitreg/base/hash_map.h"
#include "jitreg/hosts/jit_hosts.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_SHIFT 12
#define SECTIONS_MAX 4096u
#define NR_SUBJECT 4
#define PLACE_NONE UINT64_MAX /* value of `address` in records that are not about an address of code */

struct record {
	struct record *before, *behind; /* neighbours in the order of arrival */
	struct record *same_subject, *same_page; /* hash chains */
	uint64_t subject[NR_SUBJECT];
	uint64_t address;
	uint32_t id, tid, bytes;
	bool bound;
	unsigned char data[];
};

struct registration_cache {
	struct record *first, *last;
	struct record **by_subject, **by_page;
	size_t capacity; /* size of each table, a power of two */
	uint64_t nr, bytes, limit, forgotten;
};

#define CAPACITY_MIN 1024u

int registration_cache_create(uint64_t limit_bytes, struct registration_cache **out)
{
	struct registration_cache *s = calloc(1, sizeof(*s));

	if (s) {
		s->limit = limit_bytes;
		s->capacity = CAPACITY_MIN;
		s->by_subject = calloc(s->capacity, sizeof(*s->by_subject));
		s->by_page = calloc(s->capacity, sizeof(*s->by_page));
	}
	if (!s || !s->by_subject || !s->by_page) {
		registration_cache_destroy(s);
		return -ENOMEM;
	}
	*out = s;
	return 0;
}

void registration_cache_destroy(struct registration_cache *s)
{
	if (!s)
		return;
	for (struct record *next, *r = s->first; r; r = next) {
		next = r->behind;
		free(r);
	}
	free(s->by_subject);
	free(s->by_page);
	free(s);
}

/* --------------------------------------------------------------------------------------------------------- the tables */

static struct record **chain_of_subject(const struct registration_cache *s, const uint64_t *subject)
{
	uint64_t hash = 0;

	for (int i = 0; i < NR_SUBJECT; i++)
		hash = hash_pair(subject[i], hash);
	return &s->by_subject[hash & (s->capacity - 1)];
}

static struct record **chain_of_page(const struct registration_cache *s, uint64_t address)
{
	return &s->by_page[hash_pair(address >> PAGE_SHIFT, 0) & (s->capacity - 1)];
}

static void insert_into_indexes(struct registration_cache *s, struct record *r)
{
	struct record **chain = chain_of_subject(s, r->subject);

	r->same_subject = *chain;
	*chain = r;
	if (r->address != PLACE_NONE) {
		chain = chain_of_page(s, r->address);
		r->same_page = *chain;
		*chain = r;
	}
}

static void remove_from_indexes(struct registration_cache *s, struct record *r)
{
	struct record **chain;

	for (chain = chain_of_subject(s, r->subject); *chain != r; chain = &(*chain)->same_subject)
		;
	*chain = r->same_subject;
	if (r->address == PLACE_NONE)
		return;
	for (chain = chain_of_page(s, r->address); *chain != r; chain = &(*chain)->same_page)
		;
	*chain = r->same_page;
}

static void grow_cache_indexes(struct registration_cache *s)
{
	struct record **subject = calloc(2 * s->capacity, sizeof(*subject)), **page = calloc(2 * s->capacity, sizeof(*page));

	if (!subject || !page) { /* the old tables work, but slower */
		free(subject);
		free(page);
		return;
	}
	free(s->by_subject);
	free(s->by_page);
	s->by_subject = subject;
	s->by_page = page;
	s->capacity *= 2;
	for (struct record *r = s->first; r; r = r->behind)
		insert_into_indexes(s, r);
}

static void forget_record(struct registration_cache *s, struct record *r)
{
	remove_from_indexes(s, r);
	*(r->before ? &r->before->behind : &s->first) = r->behind;
	*(r->behind ? &r->behind->before : &s->last) = r->before;
	s->nr--;
	s->bytes -= sizeof(*r) + r->bytes;
	free(r);
}

static struct record *find_record_of_subject(const struct registration_cache *s, const uint64_t *subject)
{
	struct record *r = *chain_of_subject(s, subject);

	while (r && memcmp(r->subject, subject, sizeof(r->subject)) != 0)
		r = r->same_subject;
	return r;
}

/* ----------------------------------------------------------------------------------------- bound records, and removal */

static bool is_companion_of_load(const struct record *r)
{
	return r->id == JITREG_DEBUG_INFO || r->id == JITREG_INLINES || r->id == JITREG_CODE_MAP || r->id == JITREG_UNWINDING_INFO;
}

/* Is the record removed when [start, end) is cleared?  replaced: other code takes the place.  Then only records of code and of images stop
 * being valid, and records that belong to code only if they were bound to a LOAD before. */
static bool is_record_cleared(const struct record *r, uint64_t start, uint64_t end, bool replaced)
{
	if (r->address < start || r->address >= end)
		return false;
	return !replaced || (is_companion_of_load(r) ? r->bound : r->id == JITREG_LOAD || r->id == JITREG_IMAGE);
}

/* Removes records about code that starts within [start, start + bytes). */
static void clear_address_range(struct registration_cache *s, uint64_t start, uint64_t bytes, bool replaced)
{
	uint64_t end = bytes > UINT64_MAX - start ? UINT64_MAX : start + bytes;
	uint64_t pages = (end >> PAGE_SHIFT) - (start >> PAGE_SHIFT);

	if (pages > s->nr) {
		for (struct record *next, *r = s->first; r; r = next) {
			next = r->behind;
			if (r->address != PLACE_NONE && is_record_cleared(r, start, end, replaced))
				forget_record(s, r);
		}
		return;
	}
	for (uint64_t page = start >> PAGE_SHIFT; page <= end >> PAGE_SHIFT; page++)
		for (struct record *next, *r = *chain_of_page(s, page << PAGE_SHIFT); r; r = next) {
			next = r->same_page;
			if (r->address >> PAGE_SHIFT == page && is_record_cleared(r, start, end, replaced))
				forget_record(s, r);
		}
}

static void unload_code(struct registration_cache *s, uint64_t address, uint64_t bytes)
{
	clear_address_range(s, address, bytes ? bytes : 1, false);
}

/* Binds companions that came before their LOAD to it. */
static void bind_companions_to_load(struct registration_cache *s, uint64_t address, uint32_t tid)
{
	uint64_t waiting[NR_SUBJECT] = { JITREG_UNWINDING_INFO, tid, 1 };
	struct record *r = find_record_of_subject(s, waiting);

	if (r) { /* the record named no code, so it belongs to the next LOAD of its thread */
		remove_from_indexes(s, r);
		r->subject[1] = r->address = address;
		r->subject[2] = 0;
		insert_into_indexes(s, r);
	}
	for (r = *chain_of_page(s, address); r; r = r->same_page)
		if (r->address == address && is_companion_of_load(r))
			r->bound = true;
}

/* Removes code that is replaced by the text sections of an ELF file in memory.  Returns the address of the first section, or PLACE_NONE. */
static uint64_t clear_code_of_elf(struct registration_cache *s, const unsigned char *elf, uint64_t bytes)
{
	uint64_t first = PLACE_NONE;
	Elf64_Ehdr h;

	if (bytes < sizeof(h))
		return first;
	memcpy(&h, elf, sizeof(h));
	if (memcmp(h.e_ident, ELFMAG, SELFMAG) || h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_shentsize != sizeof(Elf64_Shdr) ||
	    h.e_shnum > SECTIONS_MAX || h.e_shoff > bytes || h.e_shnum * sizeof(Elf64_Shdr) > bytes - h.e_shoff)
		return first;
	for (int i = 0; i < h.e_shnum; i++) {
		Elf64_Shdr sh;

		memcpy(&sh, elf + h.e_shoff + (size_t)i * sizeof(sh), sizeof(sh));
		if (!(sh.sh_flags & SHF_EXECINSTR) || !sh.sh_addr || !sh.sh_size)
			continue;
		clear_address_range(s, sh.sh_addr, sh.sh_size, true);
		if (first == PLACE_NONE)
			first = sh.sh_addr;
	}
	return first;
}

/* -------------------------------------------------------------------------------------------------------------- adding */

static uint64_t hash_schema_value(const struct schema_value *v)
{
	uint64_t h = 14695981039346656037ull;

	for (size_t i = 0; i < v->bytes; i++)
		h = (h ^ ((const unsigned char *)v->p)[i]) * 1099511628211ull;
	return h;
}

static void keep_record(struct registration_cache *s, uint32_t tid, const void *bytes, size_t nr, const uint64_t *subject, uint64_t address)
{
	const uint64_t load[NR_SUBJECT] = { JITREG_LOAD, address };
	struct record *r = find_record_of_subject(s, subject);

	if (r)
		forget_record(s, r);
	while (s->first && s->bytes + sizeof(*r) + nr > s->limit) {
		forget_record(s, s->first);
		s->forgotten++;
	}
	r = sizeof(*r) + nr <= s->limit ? malloc(sizeof(*r) + nr) : NULL;
	if (!r) {
		s->forgotten++;
		return;
	}
	if (s->nr >= s->capacity)
		grow_cache_indexes(s);
	*r = (struct record){ .before = s->last, .address = address, .id = (uint32_t)subject[0], .tid = tid, .bytes = (uint32_t)nr };
	memcpy(r->subject, subject, sizeof(r->subject));
	memcpy(r->data, bytes, nr);
	*(s->last ? &s->last->behind : &s->first) = r;
	s->last = r;
	s->nr++;
	s->bytes += sizeof(*r) + nr;
	r->bound = r->id == JITREG_CODE_MAP && find_record_of_subject(s, load);
	insert_into_indexes(s, r);
}

static void drop_record_of_subject(struct registration_cache *s, const uint64_t *subject)
{
	struct record *r = find_record_of_subject(s, subject);

	if (r)
		forget_record(s, r);
}

static void move_code(struct registration_cache *s, uint64_t from, uint64_t to, uint64_t bytes)
{
	uint64_t subject[NR_SUBJECT] = { JITREG_LOAD, from };
	struct record *load = find_record_of_subject(s, subject);

	if (!load || from == to)
		return;
	remove_from_indexes(s, load);
	load->address = load->subject[1] = PLACE_NONE; /* the code's own record is not removed when its new place is cleared */
	insert_into_indexes(s, load);
	clear_address_range(s, from, 1, false);
	clear_address_range(s, to, bytes, true);
	remove_from_indexes(s, load);
	load->address = load->subject[1] = to;
	memcpy(load->data + offsetof(struct jitreg_load_record, code_addr), &to, sizeof(to));
	insert_into_indexes(s, load);
}

/* Removes the components with the numbers from first to first + nr - 1, their links, edges, counters and flows, and the scopes that begin
 * there. */
static void end_scope(struct registration_cache *s, uint64_t first, uint64_t nr)
{
	for (struct record *next, *r = s->first; r; r = next) {
		bool ends = false;

		next = r->behind;
		switch (r->id) {
		case JITREG_COMPONENT:
		case JITREG_COUNTER:
		case JITREG_FLOW:
			ends = r->subject[2] - first < nr;
			break;
		case JITREG_LINK:
		case JITREG_EDGE:
			ends = r->subject[2] - first < nr || r->subject[3] - first < nr;
			break;
		case JITREG_SCOPE:
			ends = r->subject[1] - first < nr;
			break;
		default:
			break;
		}
		if (ends)
			forget_record(s, r);
	}
}

/* Removes an object, all objects below it, which were announced after it, and their steps. */
static void end_object_tree(struct registration_cache *s, uint64_t address)
{
	uint64_t subject[NR_SUBJECT] = { JITREG_OBJECT, address };
	struct record *o = find_record_of_subject(s, subject), *next;

	for (struct record *r = o ? o->behind : NULL; r; r = next) {
		struct jitreg_object_record object;
		uint64_t upper[NR_SUBJECT] = { JITREG_OBJECT };

		next = r->behind;
		if (r->id == JITREG_OBJECT_STEPS) {
			struct jitreg_object_steps_record steps;

			memcpy(&steps, r->data, sizeof(steps));
			upper[1] = steps.address;
			if (steps.address == address || !find_record_of_subject(s, upper))
				forget_record(s, r);
			continue;
		}
		if (r->id != JITREG_OBJECT)
			continue;
		memcpy(&object, r->data, sizeof(object));
		upper[1] = object.upper;
		if (object.upper && (object.upper == address || !find_record_of_subject(s, upper)))
			forget_record(s, r);
	}
	if (o)
		forget_record(s, o);
}

#define NONE (-1)

/* Records of one kind have the same subject if these fields are equal.  is_place: the first field is an address at which code may be. */
static const struct subject_fields {
	uint32_t id;
	int field[NR_SUBJECT - 1];
	bool is_place;
} subject_fields[] = {
	{ JITREG_LOAD, { F(load, code_addr), NONE, NONE }, true },
	{ JITREG_DEBUG_INFO, { F(debug_info, code_addr), NONE, NONE }, true },
	{ JITREG_INLINES, { F(inlines, code_addr), NONE, NONE }, true },
	{ JITREG_CODE_MAP, { F(code_map, code_addr), NONE, NONE }, true },
	{ JITREG_REGION, { F(region, address), NONE, NONE }, true },
	{ JITREG_EH_FRAME, { F(eh_frame, address), NONE, NONE }, false },
	{ JITREG_LEVEL, { F(level, level), NONE, NONE }, false },
	{ JITREG_COMPONENT, { F(component, level), F(component, component), NONE }, false },
	{ JITREG_EDGE, { F(edge, level), F(edge, from), F(edge, to) }, false },
	{ JITREG_TAG, { F(tag, where), F(tag, address), NONE }, false },
	{ JITREG_SCOPE, { F(scope, first_id), F(scope, nr_ids), NONE }, false },
	{ JITREG_OBJECT, { F(object, address), NONE, NONE }, false },
	{ JITREG_OBJECT_STEPS, { F(object_steps, address), F(object_steps, first), NONE }, false },
	{ JITREG_STEP_WORD, { F(step_word, function), NONE, NONE }, false },
	{ JITREG_COUNTER_BLOCK, { F(counter_block, block), NONE, NONE }, false },
	{ JITREG_COUNTER_VALUES, { F(counter_values, block), NONE, NONE }, false },
	{ JITREG_FLOW, { F(flow, level), F(flow, component), NONE }, false },
};

/* Finds a record's subject, and its address, or PLACE_NONE. IMAGE_UNLOAD and UNLINK have the subject of the record that they remove.
 * Returns false for other kinds of records that are never kept, because they are about one moment, end or move code or objects, or are
 * unknown. */
static bool find_record_subject(uint32_t id, uint32_t tid, const struct schema_value *v, uint64_t subject[NR_SUBJECT], uint64_t *address)
{
	*address = PLACE_NONE;
	memset(subject, 0, NR_SUBJECT * sizeof(*subject));
	subject[0] = id;
	for (size_t i = 0; i < sizeof(subject_fields) / sizeof(subject_fields[0]); i++) {
		const struct subject_fields *f = &subject_fields[i];

		if (f->id != id)
			continue;
		for (int n = 0; n < NR_SUBJECT - 1; n++)
			subject[n + 1] = f->field[n] == NONE ? 0 : v[f->field[n]].u;
		if (f->is_place)
			*address = subject[1];
		return true;
	}
	switch (id) {
	case JITREG_CONTROL:
		subject[1] = v[F(control, action)].u;
		subject[2] = subject[1] == JIT_CONTROL_LACK ? hash_schema_value(&v[F(control, name)]) : tid;
		return subject[1] == JIT_CONTROL_THREAD_NAME || subject[1] == JIT_CONTROL_LACK;
	case JITREG_UNWINDING_INFO:
		subject[1] = tid;
		subject[2] = 1; /* the record waits for a LOAD (bind_companions_to_load()) */
		return true;
	case JITREG_IMAGE:
		subject[1] = v[F(image, load_bias)].u;
		subject[2] = hash_schema_value(&v[F(image, path)]);
		return true;
	case JITREG_IMAGE_UNLOAD:
		subject[0] = JITREG_IMAGE;
		subject[1] = v[F(image_unload, load_bias)].u;
		subject[2] = hash_schema_value(&v[F(image_unload, path)]);
		return true;
	case JITREG_LINK:
	case JITREG_UNLINK:
		subject[0] = JITREG_LINK;
		subject[1] = v[F(link, lower_level)].u << 32 | v[F(link, upper_level)].u;
		subject[2] = v[F(link, lower)].u;
		subject[3] = v[F(link, upper)].u;
		return true;
	case JITREG_COUNTER:
		subject[1] = v[F(counter, level)].u;
		subject[2] = v[F(counter, component)].u;
		subject[3] = hash_schema_value(&v[F(counter, name)]);
		return true;
	case JITREG_MARK:
		subject[1] = v[F(mark, mark)].u;
		subject[3] = UINT64_MAX;
		if (subject[1])
			return true;
		subject[1] = v[F(mark, level)].u << 32 ^ hash_schema_value(&v[F(mark, name)]);
		subject[2] = v[F(mark, component)].u;
		subject[3] = v[F(mark, instance)].u;
		return true;
	case JITREG_SOURCE:
		subject[1] = v[F(source, level)].u;
		subject[2] = hash_schema_value(&v[F(source, name)]);
		return true;
	default:
		return false;
	}
}

/* Applies a record that ends or moves earlier registrations.  Returns true for such a record, which is not kept. */
static bool apply_if_change(struct registration_cache *s, uint32_t id, const struct schema_value *v, const uint64_t subject[NR_SUBJECT])
{
	const uint64_t block[NR_SUBJECT] = { JITREG_COUNTER_BLOCK, subject[1] };

	switch (id) {
	case JITREG_MOVE:
		move_code(s, v[F(move, old_code_addr)].u, v[F(move, new_code_addr)].u, v[F(move, code_size)].u);
		return true;
	case JITREG_CODE_UNLOAD:
		unload_code(s, v[F(code_unload, address)].u, v[F(code_unload, bytes)].u);
		return true;
	case JITREG_OBJECT_END:
		end_object_tree(s, v[F(object_end, address)].u);
		return true;
	case JITREG_IMAGE_UNLOAD:
	case JITREG_UNLINK:
		drop_record_of_subject(s, subject);
		return true;
	case JITREG_SCOPE:
		if (v[F(scope, action)].u == JITREG_SCOPE_BEGIN)
			return false;
		end_scope(s, v[F(scope, first_id)].u, v[F(scope, nr_ids)].u);
		return true;
	case JITREG_COUNTER_VALUES:
		if (!(v[F(counter_values, flags)].u & JITREG_VALUES_LAST))
			return false;
		drop_record_of_subject(s, subject);
		drop_record_of_subject(s, block);
		return true;
	case JITREG_MARK: /* only marks that have begun and not ended are kept */
		if (v[F(mark, action)].u == JITREG_MARK_BEGIN)
			return false;
		if (!v[F(mark, mark)].u || v[F(mark, action)].u == JITREG_MARK_END)
			drop_record_of_subject(s, subject);
		return true;
	default:
		return false;
	}
}

void registration_cache_add(struct registration_cache *s, uint32_t tid, const void *record, size_t bytes, const struct schema_value *v)
{
	uint64_t subject[NR_SUBJECT], address;
	struct jitreg_prefix prefix;
	bool is_kept;

	memcpy(&prefix, record, sizeof(prefix));
	is_kept = find_record_subject(prefix.id, tid, v, subject, &address);
	if (apply_if_change(s, prefix.id, v, subject) || !is_kept)
		return;
	if (prefix.id == JITREG_LOAD) {
		clear_address_range(s, address, v[F(load, code_size)].u, true);
		bind_companions_to_load(s, address, tid);
	} else if (prefix.id == JITREG_IMAGE && v[F(image, flags)].u & JITREG_IMAGE_MEMORY_ELF) {
		subject[1] = address = clear_code_of_elf(s, v[F(image, bytes)].p, v[F(image, bytes)].bytes);
		subject[2] = 0;
		subject[3] = 1;
	}
	keep_record(s, tid, record, bytes, subject, address);
}

void registration_cache_each_record(const struct registration_cache *s,
				    void (*each)(void *context, uint32_t tid, const void *record, size_t bytes), void *context)
{
	for (const struct record *r = s->first; r; r = r->behind)
		each(context, r->tid, r->data, r->bytes);
}

uint64_t registration_cache_nr_records(const struct registration_cache *s)
{
	return s->nr;
}

uint64_t registration_cache_bytes(const struct registration_cache *s)
{
	return s->bytes;
}

uint64_t registration_cache_take_forgotten(struct registration_cache *s)
{
	uint64_t forgotten = s->forgotten;

	s->forgotten = 0;
	return forgotten;
}
