/* SPDX-License-Identifier: MIT */
/*
 * Finds loaded objects, the symbols that they export, their names and the libraries that they need, by the objects' own tables. dlsym would
 * need a newer glibc by its symbol version, and would change what dlerror reports to the host. The tables are trusted, because the loader
 * uses the same ones.
 */
#include "agent/guest/guest.h"
#include "agent/guest/sys.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>

struct visit {
	int (*each)(void *context, const struct object *o);
	void *context;
	bool others; /* objects of other namespaces are still to be visited */
};

/* This is glibc's struct r_debug_extended (2.35). The list has one r_debug for the first namespace and one for each that dlmopen made. */
struct namespace {
	struct r_debug base;
	struct namespace *next;
};

/* Reads the list from the program's DT_DEBUG entry, because the symbol _r_debug may be a copy in the program, cut to the old size. */
static const struct namespace *find_loader_debug_list(const struct object *program)
{
	const Elf64_Phdr *ph = program->headers;

	for (int i = 0; i < program->nr_headers; i++)
		if (ph[i].p_type == PT_DYNAMIC)
			for (const Elf64_Dyn *d = (const Elf64_Dyn *)(program->bias + ph[i].p_vaddr); d->d_tag != DT_NULL; d++)
				if (d->d_tag == DT_DEBUG)
					return (const struct namespace *)d->d_un.d_ptr;
	return NULL;
}

/*
 * Visits the objects of the namespaces from n on, except the program and objects whose ELF header cannot be read. The caller holds the
 * loader's lock, or is the only thread. A list in the middle of a change is left out. Returns 1 if v->each() did not return 0.
 */
static int visit_namespace_lists(struct visit *v, const struct namespace *n)
{
	for (; n; n = n->base.r_version >= 2 ? n->next : NULL) {
		if (n->base.r_state != RT_CONSISTENT)
			continue;
		for (const struct link_map *l = n->base.r_map; l; l = l->l_next) {
			const Elf64_Ehdr *h = (const Elf64_Ehdr *)l->l_addr; /* libraries start with their header */
			struct object o = { l->l_addr, NULL, 0, l->l_name ? l->l_name : "" };

			if (!h || !*o.name || !sys_readable_range(h, sizeof(*h)) || memcmp(h->e_ident, ELFMAG, SELFMAG) != 0)
				continue;
			o.headers = (const char *)h + h->e_phoff;
			o.nr_headers = h->e_phnum;
			if (!sys_readable_range(o.headers, o.nr_headers * sizeof(Elf64_Phdr)))
				continue;
			if (v->each(v->context, &o))
				return 1;
		}
	}
	return 0;
}

/* dl_iterate_phdr() shows the caller's namespace only. It holds its lock while this is called. */
static int visit_other_namespaces(struct visit *v, const struct object *program)
{
	const struct namespace *n = find_loader_debug_list(program);

	return visit_namespace_lists(v, n && n->base.r_version >= 2 ? n->next : NULL);
}

/*
 * This is true in a child before fork returns, while the child has one thread. Another thread of the parent may have held the loader's
 * lock, which is then never released. A list that was in the middle of a change is recognised by r_state.
 */
static bool alone;

void objects_set_single_thread(bool is_alone)
{
	alone = is_alone;
}

static int visit_without_loader_lock(struct visit *v)
{
	const Elf64_Phdr *ph = (const Elf64_Phdr *)getauxval(AT_PHDR);
	struct object program = { 0, ph, (uint16_t)getauxval(AT_PHNUM), "" };

	if (!ph)
		return 0;
	for (int i = 0; i < program.nr_headers; i++)
		if (ph[i].p_type == PT_PHDR)
			program.bias = (uintptr_t)ph - ph[i].p_vaddr;
	return v->each(v->context, &program) ? 1 : visit_namespace_lists(v, find_loader_debug_list(&program));
}

static int visit_loader_object(struct dl_phdr_info *i, size_t bytes, void *p)
{
	struct visit *v = p;
	struct object o = { i->dlpi_addr, i->dlpi_phdr, i->dlpi_phnum, i->dlpi_name ? i->dlpi_name : "" };
	int ret = v->each(v->context, &o);

	(void)bytes;
	if (ret == 0 && v->others) {
		v->others = false;
		ret = visit_other_namespaces(v, &o); /* dl_iterate_phdr() visits the program first */
	}
	return ret;
}

int objects_each(int (*each)(void *context, const struct object *o), void *context)
{
	struct visit v = { each, context, false };

	return dl_iterate_phdr(visit_loader_object, &v);
}

int objects_each_in_all_namespaces(int (*each)(void *context, const struct object *o), void *context)
{
	struct visit v = { each, context, true };

	return alone ? visit_without_loader_lock(&v) : dl_iterate_phdr(visit_loader_object, &v);
}

static int read_load_counts(struct dl_phdr_info *i, size_t bytes, void *p)
{
	uint64_t *n = p;

	if (bytes >= offsetof(struct dl_phdr_info, dlpi_subs) + sizeof(i->dlpi_subs)) {
		n[0] = i->dlpi_adds;
		n[1] = i->dlpi_subs;
	}
	return 1;
}

void objects_read_load_counts(uint64_t *loaded, uint64_t *unloaded)
{
	uint64_t n[2] = { 0, 0 };

	dl_iterate_phdr(read_load_counts, n);
	*loaded = n[0];
	*unloaded = n[1];
}

/* Symbols are found by these parts of a dynamic section. */
struct dynamic {
	const Elf64_Sym *symbols;
	const char *strings;
	const uint32_t *gnu_hash;
	const uint32_t *sysv_hash;
	const uint16_t *versions;
};

/* glibc relocates the pointers in place, except in read-only dynamic sections (the vdso). */
static const void *relocated_pointer(const struct object *o, uint64_t p)
{
	return (const void *)(p < o->bias ? o->bias + p : p);
}

static bool read_dynamic_section(const struct object *o, struct dynamic *d)
{
	const Elf64_Phdr *ph = o->headers;
	const Elf64_Dyn *dyn = NULL;

	memset(d, 0, sizeof(*d));
	for (int i = 0; i < o->nr_headers; i++)
		if (ph[i].p_type == PT_DYNAMIC)
			dyn = (const Elf64_Dyn *)(o->bias + ph[i].p_vaddr);
	for (; dyn && dyn->d_tag != DT_NULL; dyn++)
		switch (dyn->d_tag) {
		case DT_SYMTAB:
			d->symbols = relocated_pointer(o, dyn->d_un.d_ptr);
			break;
		case DT_STRTAB:
			d->strings = relocated_pointer(o, dyn->d_un.d_ptr);
			break;
		case DT_GNU_HASH:
			d->gnu_hash = relocated_pointer(o, dyn->d_un.d_ptr);
			break;
		case DT_HASH:
			d->sysv_hash = relocated_pointer(o, dyn->d_un.d_ptr);
			break;
		case DT_VERSYM:
			d->versions = relocated_pointer(o, dyn->d_un.d_ptr);
			break;
		}
	return d->symbols && d->strings && (d->gnu_hash || d->sysv_hash);
}

static bool symbol_is_defined(const struct dynamic *d, uint32_t i)
{
	const Elf64_Sym *s = &d->symbols[i];
	unsigned type = ELF64_ST_TYPE(s->st_info);

	return s->st_shndx != SHN_UNDEF && s->st_value && (type == STT_FUNC || type == STT_OBJECT || type == STT_NOTYPE) &&
	       (!d->versions || !(d->versions[i] & 0x8000)); /* hidden symbols are old versions */
}

static bool symbol_matches_name(const struct dynamic *d, uint32_t i, const char *name)
{
	return symbol_is_defined(d, i) && strcmp(d->strings + d->symbols[i].st_name, name) == 0;
}

/* A GNU hash table has no symbol count.  The last symbol is the one that ends the last chain. */
static uint32_t nr_hashed_symbols(const struct dynamic *d)
{
	uint32_t last = 0;

	if (!d->gnu_hash)
		return d->sysv_hash[1];
	const uint32_t nr_buckets = d->gnu_hash[0], first = d->gnu_hash[1], *buckets = d->gnu_hash + 4 + 2 * d->gnu_hash[2];

	for (uint32_t i = 0; i < nr_buckets; i++)
		last = buckets[i] > last ? buckets[i] : last;
	while (last >= first && last && !(buckets[nr_buckets + last - first] & 1))
		last++;
	return last >= first && last ? last + 1 : 0;
}

void object_each_symbol(const struct object *o, bool (*see)(void *context, const char *name, uint64_t address), void *context)
{
	struct dynamic d;
	uint32_t nr = read_dynamic_section(o, &d) ? nr_hashed_symbols(&d) : 0;

	for (uint32_t i = 1; i < nr; i++)
		if (symbol_is_defined(&d, i) && !see(context, d.strings + d.symbols[i].st_name, o->bias + d.symbols[i].st_value))
			break;
}

/* The GNU hash table is described at https://sourceware.org/ml/binutils/2006-10/msg00377.html, and the other one in the ELF gABI. */
static const Elf64_Sym *find_symbol_by_hash(const struct dynamic *d, const char *name)
{
	uint32_t h = 5381;

	if (d->gnu_hash) {
		uint32_t nr_buckets = d->gnu_hash[0], first = d->gnu_hash[1], words = d->gnu_hash[2];
		const uint32_t *buckets = d->gnu_hash + 4 + 2 * words, *chain = buckets + nr_buckets;
		const uint64_t *bloom = (const uint64_t *)(d->gnu_hash + 4);

		for (const unsigned char *c = (const unsigned char *)name; *c; c++)
			h = h * 33 + *c;
		if (!nr_buckets || !words || !(bloom[h / 64 % words] >> (h % 64) & 1))
			return NULL;
		for (uint32_t i = buckets[h % nr_buckets]; i >= first && i; i++) {
			uint32_t c = chain[i - first];

			if ((c | 1) == (h | 1) && symbol_matches_name(d, i, name))
				return &d->symbols[i];
			if (c & 1)
				break;
		}
		return NULL;
	}
	h = 0;
	for (const unsigned char *c = (const unsigned char *)name; *c; c++) {
		h = (h << 4) + *c;
		h = (h ^ (h >> 24 & 0xf0)) & 0x0fffffff;
	}
	if (d->sysv_hash[0])
		for (uint32_t i = d->sysv_hash[2 + h % d->sysv_hash[0]]; i; i = d->sysv_hash[2 + d->sysv_hash[0] + i])
			if (symbol_matches_name(d, i, name))
				return &d->symbols[i];
	return NULL;
}

void *object_find_symbol(const struct object *o, const char *name)
{
	struct dynamic d;
	const Elf64_Sym *s = read_dynamic_section(o, &d) ? find_symbol_by_hash(&d, name) : NULL;

	return s ? (void *)(o->bias + s->st_value) : NULL;
}

bool object_contains(const struct object *o, const void *address, size_t bytes)
{
	const Elf64_Phdr *ph = o->headers;

	for (int i = 0; i < o->nr_headers; i++) {
		uintptr_t at = (uintptr_t)address - (o->bias + ph[i].p_vaddr);

		if (ph[i].p_type == PT_LOAD && at < ph[i].p_memsz && bytes <= ph[i].p_memsz - at)
			return true;
	}
	return false;
}

/* Returns the dynamic section of o, and sets *strings to the string table that it names.  Returns NULL if either is missing. */
static const Elf64_Dyn *find_dynamic_and_strings(const struct object *o, const char **strings)
{
	const Elf64_Phdr *ph = o->headers;
	const Elf64_Dyn *dyn = NULL;

	*strings = NULL;
	for (int i = 0; i < o->nr_headers; i++)
		if (ph[i].p_type == PT_DYNAMIC)
			dyn = (const Elf64_Dyn *)(o->bias + ph[i].p_vaddr);
	for (const Elf64_Dyn *d = dyn; d && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_STRTAB) /* the loader may have added the bias */
			*strings = (const char *)(d->d_un.d_ptr < o->bias ? o->bias + d->d_un.d_ptr : d->d_un.d_ptr);
	return *strings ? dyn : NULL;
}

bool object_needs_library(const struct object *o, const char *library)
{
	const char *strings;

	for (const Elf64_Dyn *d = find_dynamic_and_strings(o, &strings); d && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_NEEDED && strncmp(strings + d->d_un.d_val, library, strlen(library)) == 0)
			return true;
	return false;
}

bool object_read_soname(const struct object *o, char *name, size_t capacity)
{
	const char *strings;

	for (const Elf64_Dyn *d = find_dynamic_and_strings(o, &strings); d && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_SONAME && strlen(strings + d->d_un.d_val) < capacity) {
			memcpy(name, strings + d->d_un.d_val, strlen(strings + d->d_un.d_val) + 1);
			return true;
		}
	return false;
}

struct next {
	const char *name;
	void *found;
	bool behind_us, anywhere;
};

/* Only objects behind the agent are searched, unless n->anywhere is set. An object before the agent, with a hook of the same function,
 * calls the agent as the next definition, so a call back to that object would not terminate. */
static int find_next_symbol_in(void *context, const struct object *o)
{
	struct next *n = context;

	bool ours = object_contains(o, (const void *)(uintptr_t)find_next_symbol_in, 1);

	if (!ours && (n->behind_us || n->anywhere))
		n->found = object_find_symbol(o, n->name);
	n->behind_us |= ours;
	return n->found != NULL;
}

void *objects_find_next_symbol(const char *name)
{
	struct next n = { name, NULL, false, false };

	if (!objects_each(find_next_symbol_in, &n) && guest_was_loaded_late()) {
		n = (struct next){ name, NULL, false, true };
		objects_each(find_next_symbol_in, &n);
	}
	return n.found;
}

void *objects_find_next_cached(const char *name, void **cache)
{
	void *next = __atomic_load_n(cache, __ATOMIC_ACQUIRE);

	if (!next) {
		next = objects_find_next_symbol(name);
		__atomic_store_n(cache, next, __ATOMIC_RELEASE);
	}
	return next;
}

/* Returns 1 if the agent comes first, and 2 if libc does. */
static int find_first_of_agent_and_libc(void *context, const struct object *o)
{
	(void)context;
	if (object_contains(o, (const void *)(uintptr_t)find_first_of_agent_and_libc, 1))
		return 1;
	return object_find_symbol(o, "__libc_start_main") ? 2 : 0;
}

bool objects_agent_loaded_late(void)
{
	return objects_each(find_first_of_agent_and_libc, NULL) == 2;
}
