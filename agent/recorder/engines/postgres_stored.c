/* SPDX-License-Identifier: MIT */
/*
 * Finds the stored functions that backends execute, by frames of PL/pgSQL's handler on sampled stacks.  A word of such a frame is the
 * address of the function's struct.  Which word it is depends on how the library was compiled, and is learnt from the first frame in
 * which a word leads to such a struct.  The agent in a server sees no calls of these functions, so they are read from outside also for
 * backends with an agent.
 */
#include "agent/recorder/engines/postgres.h"

#include "agent/recorder/process/proc_file.h"
#include "agent/recorder/process/proc_mem.h"
#include "jitreg/engines/postgres_stored.h"

#include <string.h>

/* A function is known from a little before its first frame on, because frames that were sampled before the library's mapping was noticed
 * were not looked at. */
#define BEFORE_NS 100000000u

static int note_library(void *context, const struct proc_mapping *m)
{
	const char *name = strrchr(m->path, '/');
	uint64_t *base = context;

	if (name && m->offset == 0 && strncmp(name, POSTGRES_STORED_LIBRARY, sizeof(POSTGRES_STORED_LIBRARY) - 1) == 0)
		*base = m->start;
	return *base != 0;
}

/* Finds the handlers of a backend that may have mapped the library since it was last looked for. */
static void find_handlers(struct postgres_backend *b)
{
	static const char *const symbols[] = {
#define SYMBOL(NAME, symbol) symbol,
		POSTGRES_STORED_HANDLERS(SYMBOL)
#undef SYMBOL
	};
	struct postgres_range *all = &b->stored.all;
	uint64_t base = 0, range[2], at;

	b->stored.maybe_mapped = false;
	proc_each_mapping(b->pid, note_library, &base);
	for (int i = 0; base && i < POSTGRES_NR_STORED_HANDLERS; i++) {
		at = proc_mem_find_symbol(b->pid, base, symbols[i]);
		if (!at || !proc_mem_find_function(b->pid, base, at, range))
			continue;
		b->stored.handler[i] = (struct postgres_range){ range[0], range[1] };
		all->begin = all->begin && all->begin < range[0] ? all->begin : range[0];
		all->end = all->end > range[1] ? all->end : range[1];
	}
}

void postgres_stored_inherit(struct postgres_backend *b, const struct postgres_backend *parent)
{
	memcpy(b->stored.handler, parent->stored.handler, sizeof(b->stored.handler));
	b->stored.all = parent->stored.all;
	b->stored.maybe_mapped = parent->stored.maybe_mapped;
}

static bool is_known(const struct postgres_backend *b, uint64_t word)
{
	return hash_map_find(&b->stored.known, word, 0);
}

/* Keeps a frame until the next look.  word: index of its return address. */
static void keep_frame(struct engines *e, struct postgres_backend *b, const struct sample_seen *seen, uint32_t word, uint32_t nr_words,
		       int handler)
{
	struct postgres_stored_frame *f = &e->memory->stored[e->nr_stored];
	uint32_t before = word < POSTGRES_STORED_BELOW ? word : POSTGRES_STORED_BELOW, after = nr_words - word;

	if (e->nr_stored == POSTGRES_STORED_FRAMES)
		return;
	if (after > POSTGRES_STORED_WORDS - POSTGRES_STORED_BELOW)
		after = POSTGRES_STORED_WORDS - POSTGRES_STORED_BELOW;
	memset(f, 0, sizeof(*f));
	memcpy(f->word + POSTGRES_STORED_BELOW - before, seen->stack + 8 * (size_t)(word - before), 8 * (size_t)(before + after));
	f->backend = b;
	f->time_ns = seen->time_ns;
	f->handler = handler;
	e->nr_stored++;
}

void postgres_stored_note_word(struct engines *e, struct postgres_backend *b, const struct sample_seen *seen, uint32_t word,
			       uint64_t return_address, uint32_t nr_words)
{
	for (int i = 0; i < POSTGRES_NR_STORED_HANDLERS; i++) {
		const struct postgres_range *h = &b->stored.handler[i];
		const int learnt = b->server->stored_word[i];
		uint64_t at = (uint64_t)word + (uint32_t)learnt - POSTGRES_STORED_BELOW, function;

		if (return_address - h->begin - 1 >= h->end - h->begin)
			continue;
		if (learnt && at < nr_words) {
			memcpy(&function, seen->stack + 8 * at, sizeof(function));
			if (is_known(b, function))
				continue;
		}
		keep_frame(e, b, seen, word, nr_words, i);
	}
}

/* Writes the function whose struct is at address, if one is there.  Returns whether it is known then. */
static bool read_function(struct engines *e, struct postgres_backend *b, uint64_t address, const struct postgres_stored_frame *f)
{
	struct postgres_reader r = postgres_server_reader(e, b);
	char name[POSTGRES_NAME_BYTES];

	if (is_known(b, address))
		return true;
	if (!postgres_stored_name(&r, address, name) || !hash_map_set(&b->stored.known, address, 0, 1))
		return false;
	postgres_write_stored(e, b, name, address, b->stored.handler[f->handler].begin,
			      f->time_ns > b->born_ns + BEFORE_NS ? f->time_ns - BEFORE_NS : b->born_ns);
	return true;
}

static void read_frame(struct engines *e, const struct postgres_stored_frame *f)
{
	struct postgres_backend *b = f->backend;
	int *learnt = &b->server->stored_word[f->handler];

	page_cache_reset(&e->memory->pages, b->pid);
	if (*learnt && read_function(e, b, f->word[*learnt], f))
		return;
	for (int i = 1; i < POSTGRES_STORED_WORDS; i++)
		if (f->word[i] > 65535 && f->word[i] < 1ull << 47 && read_function(e, b, f->word[i], f)) {
			*learnt = i;
			return;
		}
}

void postgres_stored_read(struct engines *e)
{
	for (uint32_t i = 0; i < e->backends.nr; i++)
		if (e->backends.at[i]->stored.maybe_mapped && e->backends.at[i]->sampled && e->backends.at[i]->server->layout)
			find_handlers(e->backends.at[i]);
	for (uint32_t i = 0; i < e->nr_stored; i++)
		read_frame(e, &e->memory->stored[i]);
	e->nr_stored = 0;
}

void postgres_stored_forget(struct engines *e, struct postgres_backend *b)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < e->nr_stored; i++)
		if (e->memory->stored[i].backend != b)
			e->memory->stored[nr++] = e->memory->stored[i];
	e->nr_stored = nr;
	hash_map_fini(&b->stored.known);
}
