/* SPDX-License-Identifier: MIT */
#include "analyzer/model/image_copies.h"

#include <stdlib.h>
#include <string.h>

#define ANY_SIZE UINT64_MAX

/* Files that own their parts, by build id and size: 1 + index of the first. */
struct owners {
	struct hash_map with_parts, with_symbols;
};

static bool add(struct hash_map *to, uint64_t key, uint64_t bytes, uint32_t number)
{
	return hash_map_find(to, key, bytes) || hash_map_set(to, key, bytes, number + 1);
}

static bool list_owners(const struct model *m, struct owners *o)
{
	bool ok = true;

	for (uint32_t i = 0; i < m->nr_files && ok; i++) {
		const struct image_file *f = m->file[i];
		uint64_t key;

		if (!f->elf || f->of_machine || !image_file_has_build_id(f))
			continue;
		key = hash_text(f->key);
		ok = add(&o->with_parts, key, f->bytes, i) && add(&o->with_parts, key, ANY_SIZE, i);
		if (elf_has_symbols(f->elf))
			ok = ok && add(&o->with_symbols, key, ANY_SIZE, i);
	}
	return ok;
}

/* NULL: there is none, or another key has the same hash. */
static struct image_file *find_owner(const struct model *m, const struct hash_map *among, const char *build_id, uint64_t bytes)
{
	uint32_t i = hash_map_find(among, hash_text(build_id), bytes);

	return i && strcmp(m->file[i - 1]->key, build_id) == 0 ? m->file[i - 1] : NULL;
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
	if (f->debug) { /* the recorder found it in the root of this copy's process */
		elf_object_set_debug(owner->elf, f->debug);
		elf_object_add_lines(owner->elf, f->debug_path, f->key);
		f->debug = NULL;
	}
}

bool image_copies_share(struct model *m)
{
	struct owners o = { 0 };
	bool ok = list_owners(m, &o);

	for (uint32_t i = 0; i < m->nr_files && ok; i++)
		if (!m->file[i]->elf && image_file_has_build_id(m->file[i]))
			share_parts(m, &o, m->file[i]);
	for (uint32_t i = 0; i < m->nr_files && ok; i++) {
		const struct image_file *f = m->file[i];
		bool lacks = f->elf && !f->shares_elf && !f->of_machine && image_file_has_build_id(f) && !elf_has_symbols(f->elf);
		struct image_file *owner = lacks ? find_owner(m, &o.with_symbols, f->key, ANY_SIZE) : NULL;

		if (owner)
			elf_object_borrow_symbols(f->elf, owner->elf);
	}
	hash_map_fini(&o.with_parts);
	hash_map_fini(&o.with_symbols);
	return ok;
}
