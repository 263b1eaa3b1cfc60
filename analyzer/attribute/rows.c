/* SPDX-License-Identifier: MIT */
#include "analyzer/attribute/rows.h"

#include "jitreg/base/grow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* This is the limit of the rows that are handed over at a time, few enough for the processor's cache. The number is no power of two,
 * because otherwise all columns would share a few sets of the cache. */
#define BLOCK_ROWS 4040u
#define SLOTS 16384u	 /* size of the hash table of rows that are sums: a power of two, and much larger than BLOCK_ROWS */

/* This struct has the facts that all samples of one row have in common, as two 32-bit numbers a word.  Facts that were not asked for are
 * 0. */
#define KEY_WORDS 7
struct row_key {
	uint64_t word[KEY_WORDS];
};

static uint64_t pack_u32_pair(uint32_t low, uint32_t high)
{
	return low | (uint64_t)high << 32;
}

int rows_init(struct rows *r, const struct attribution *a, const struct attribute_options *o)
{
	const uint64_t by = o->sums_by;
	uint32_t nr_levels = a->model->dictionary.nr_levels;

	memset(r, 0, sizeof(*r));
	r->a = a;
	r->dictionary = &a->model->dictionary;
	r->options = o;
	r->memory = malloc(table_bytes(BLOCK_ROWS, nr_levels));
	if (!r->memory)
		return -ENOMEM;
	table_init(&r->table, r->memory, BLOCK_ROWS, nr_levels);
	r->by_place = true;
	r->wanted_levels = UINT32_MAX;
	if (!by)
		return 0;
	r->table.sum = malloc(BLOCK_ROWS * sizeof(*r->table.sum));
	r->key = malloc((BLOCK_ROWS + 1) * sizeof(*r->key));
	r->slot = calloc(SLOTS, sizeof(*r->slot));
	if (!r->table.sum || !r->key || !r->slot)
		return -ENOMEM;
	r->mask = r->key + BLOCK_ROWS;
#define WANTED(column) (by >> (column)&1 ? UINT32_MAX : 0)
	*r->mask =
		(struct row_key){ { pack_u32_pair(WANTED(TABLE_PROCESS), WANTED(TABLE_THREAD)),
				    pack_u32_pair(WANTED(TABLE_CPU), WANTED(TABLE_EVENT)), pack_u32_pair(UINT32_MAX, WANTED(TABLE_PHASE)),
				    pack_u32_pair(UINT32_MAX, WANTED(TABLE_METHOD) << 8 | (uint8_t)WANTED(TABLE_REASON)),
				    pack_u32_pair(WANTED(TABLE_CODE), WANTED(TABLE_FUNCTION)),
				    pack_u32_pair(WANTED(TABLE_LINE), WANTED(TABLE_IMAGE)),
				    pack_u32_pair(WANTED(TABLE_STACK), WANTED(TABLE_CALLER)) } };
#undef WANTED
	r->by_place = r->mask->word[4] || r->mask->word[5];
	r->wanted_levels = (uint32_t)(by >> TABLE_LEVEL_0);
	return 0;
}

void rows_fini(struct rows *r)
{
	hash_map_fini(&r->expansions);
	hash_map_fini(&r->projections);
	free(r->known.at);
	free(r->paths.at);
	free(r->rows.at);
	free(r->table.sum);
	free(r->key);
	free(r->slot);
	free(r->memory);
	memset(r, 0, sizeof(*r));
}

/* ------------------------------------------------------------------------------------------------------- parent paths */

static bool reserve_path_rows(struct rows *r, uint32_t nr_rows)
{
	return ARRAY_GROW(r->paths) && ARRAY_RESERVE(r->rows, nr_rows);
}

static bool paths_look_alike(const struct rows *r, const struct parent_paths *a, const struct parent_paths *b)
{
	if (a->nr != b->nr)
		return false;
	for (uint32_t i = 0; i < a->nr; i++) {
		const struct expansion_row *x = &r->rows.at[a->first + i], *y = &r->rows.at[b->first + i];

		if (x->share != y->share)
			return false;
		for (uint32_t level = 0; level < LEVELS_MAX; level++)
			if (r->wanted_levels >> level & 1 && x->component[level] != y->component[level])
				return false;
	}
	return true;
}

/* Returns the number of earlier paths that have the same components and shares on the wanted levels, or paths itself if none are found.
 * Only the latest paths with these components are looked at, since the map has one number per hash of components. */
static uint32_t find_alike_paths(struct rows *r, uint32_t paths)
{
	const struct parent_paths *w = &r->paths.at[paths - 1];
	uint64_t h = w->nr;
	uint32_t other;

	for (uint32_t i = 0; i < w->nr; i++)
		for (uint32_t level = 0; level < LEVELS_MAX; level++)
			if (r->wanted_levels >> level & 1)
				h = (h ^ r->rows.at[w->first + i].component[level]) * 0x9e3779b97f4a7c15ull;
	other = hash_map_find(&r->projections, h, 0);
	if (other && paths_look_alike(r, w, &r->paths.at[other - 1]))
		return other;
	hash_map_set(&r->projections, h, 0, paths);
	return paths;
}

/* Returns the number of paths with the same components and shares on the wanted levels as e, and adds e's if there are none. Returns 0
 * if memory ran out. */
static uint32_t find_or_add_paths(struct rows *r, const struct expansion *e)
{
	uint32_t i, seen;

	if (!reserve_path_rows(r, e->nr))
		return 0;
	r->paths.at[r->paths.nr] = (struct parent_paths){ r->rows.nr, e->nr, 0 };
	memcpy(r->rows.at + r->rows.nr, e->row, e->nr * sizeof(*e->row));
	r->rows.nr += e->nr;
	i = ++r->paths.nr;
	seen = find_alike_paths(r, i);
	r->paths.at[i - 1].seen = seen;
	if (seen != i) { /* the rows just added are dropped, because those of `seen` are the same */
		r->rows.nr -= e->nr;
		r->paths.nr--;
	}
	return seen;
}

uint32_t rows_parent_paths(struct rows *r, const struct deciding_components *s, uint64_t time_ns, struct time_range *holds)
{
	uint64_t a = 0, b = (uint64_t)s->shared_half << 8 | s->nr;
	struct known_paths *known;
	struct expansion e;
	uint32_t i;

	for (uint32_t n = 0; n < s->nr; n++)
		a = a * 0x9e3779b97f4a7c15ull + s->component[n] + 1;
	i = hash_map_find(&r->expansions, a, b);
	known = i ? &r->known.at[i - 1] : NULL;
	if (!known || time_ns < known->holds.from_ns || time_ns >= known->holds.until_ns) {
		sample_expand_components(r->dictionary, s, time_ns, &e);
		if (!known) {
			if (!ARRAY_GROW(r->known) || !r->known.at)
				return 0;
			known = &r->known.at[r->known.nr++];
			hash_map_set(&r->expansions, a, b, r->known.nr);
		}
		*known = (struct known_paths){ find_or_add_paths(r, &e), e.holds };
	}
	if (!known->paths)
		known->holds = (struct time_range){ 0, 0 };
	*holds = known->holds;
	return known->paths;
}

const struct expansion_row *rows_of_paths(const struct rows *r, uint32_t paths, uint32_t *nr)
{
	static const struct expansion_row none = { 1, { 0 } };

	*nr = 1;
	if (paths == ROWS_NONE)
		return &none;
	*nr = r->paths.at[paths - 1].nr;
	return r->rows.at + r->paths.at[paths - 1].first;
}

/* --------------------------------------------------------------------------------------------- rows of the table */

int rows_flush(struct rows *r)
{
	int ret = 0;

	if (r->table.nr && r->options->rows)
		ret = r->options->rows(r->options->rows_context, r->a, &r->table);
	r->table.nr = 0;
	if (r->slot)
		memset(r->slot, 0, SLOTS * sizeof(*r->slot));
	return ret;
}

static void fill_row(struct table *t, uint32_t row, const struct row_facts *f, const struct expansion_row *way)
{
	t->column[TABLE_PROCESS][row] = f->process;
	t->column[TABLE_THREAD][row] = f->thread;
	t->column[TABLE_CPU][row] = f->cpu;
	t->column[TABLE_EVENT][row] = f->event;
	t->column[TABLE_MODE][row] = f->mode;
	t->column[TABLE_CODE][row] = f->code;
	t->column[TABLE_FUNCTION][row] = f->location->function;
	t->column[TABLE_LINE][row] = f->location->line;
	t->column[TABLE_IMAGE][row] = f->location->image;
	t->column[TABLE_METHOD][row] = f->method;
	t->column[TABLE_REASON][row] = f->reason;
	t->column[TABLE_PHASE][row] = f->phase;
	t->column[TABLE_STACK][row] = f->stack;
	t->column[TABLE_MEMORY][row] = f->memory;
	t->column[TABLE_CALLER][row] = f->caller;
	for (uint32_t level = 0; level < t->nr_levels; level++)
		t->column[TABLE_LEVEL_0 + level][row] = way->component[level];
}

static void make_row_key(const struct rows *r, const struct row_facts *f, uint32_t paths, struct row_key *key)
{
	const uint64_t *mask = r->mask->word;
	uint64_t *w = key->word;

	w[0] = pack_u32_pair(f->process, f->thread) & mask[0];
	w[1] = pack_u32_pair(f->cpu, f->event) & mask[1];
	w[2] = pack_u32_pair(f->mode, f->phase) & mask[2];
	w[3] = pack_u32_pair(paths, (uint32_t)f->method << 8 | (uint32_t)f->reason) & mask[3];
	w[4] = w[5] = 0;
	if (r->by_place) {
		w[4] = pack_u32_pair(f->code, f->location->function) & mask[4];
		w[5] = pack_u32_pair(f->location->line, f->location->image) & mask[5];
	}
	w[6] = pack_u32_pair(f->stack, f->caller) & mask[6];
}

static uint32_t slot_of_row_key(const struct row_key *key)
{
	const uint64_t *w = key->word;
	uint64_t h = w[0] * 0x9e3779b97f4a7c15ull + w[1] * 0xc2b2ae3d27d4eb4full + w[2] * 0x165667b19e3779f9ull +
		     w[3] * 0xd6e8feb86659fd93ull + w[4] * 0xff51afd7ed558ccdull + w[5] * 0xc4ceb9fe1a85ec53ull +
		     w[6] * 0x94d049bb133111ebull;

	return (uint32_t)((h ^ h >> 32) * 0x9e3779b97f4a7c15ull >> 40) & (SLOTS - 1);
}

static bool same_row_key(const struct row_key *a, const struct row_key *b)
{
	uint64_t differ = 0;

	for (int i = 0; i < KEY_WORDS; i++)
		differ |= a->word[i] ^ b->word[i];
	return !differ;
}

/* Finds or adds the rows of samples with these facts and parent paths, nr of them, and returns the first. Returns BLOCK_ROWS if there is
 * no room, so that rows_flush() is needed. */
static uint32_t find_or_add_sum_rows(struct rows *r, const struct row_facts *f, uint32_t paths, uint32_t nr)
{
	const struct expansion_row *way;
	struct table *t = &r->table;
	struct row_key key;
	uint32_t at, row;

	make_row_key(r, f, paths, &key);
	for (at = slot_of_row_key(&key); r->slot[at]; at = (at + 1) & (SLOTS - 1))
		if (same_row_key(&r->key[r->slot[at] - 1], &key))
			return r->slot[at] - 1u;
	if (nr > t->capacity - t->nr)
		return BLOCK_ROWS;
	row = t->nr;
	r->slot[at] = (uint16_t)(row + 1);
	r->key[row] = key;
	way = rows_of_paths(r, paths, &nr);
	for (uint32_t i = 0; i < nr; i++) {
		fill_row(t, t->nr, f, &way[i]);
		t->sum[t->nr++] = (struct group_sum){ .first_ns = UINT64_MAX };
	}
	return row;
}

static void add_share_to_sum(struct group_sum *s, const struct group_sum *of, double share)
{
	s->samples += of->samples * share;
	s->kernel += of->kernel * share;
	s->weight += of->weight * share;
	s->weight_squares += of->weight_squares * share * share;
	s->first_ns = of->first_ns < s->first_ns ? of->first_ns : s->first_ns;
	s->last_ns = of->last_ns > s->last_ns ? of->last_ns : s->last_ns;
}

int rows_add_sum(struct rows *r, const struct row_facts *f, const struct group_sum *sum)
{
	uint32_t paths = f->paths ? r->paths.at[f->paths - 1].seen : ROWS_NONE, nr, row;
	const struct expansion_row *way = rows_of_paths(r, paths, &nr);
	int ret = 0;

	row = find_or_add_sum_rows(r, f, paths, nr);
	if (row == BLOCK_ROWS) {
		ret = rows_flush(r);
		row = find_or_add_sum_rows(r, f, paths, nr);
	}
	for (uint32_t i = 0; i < nr; i++)
		add_share_to_sum(&r->table.sum[row + i], sum, way[i].share);
	return ret;
}

int rows_add(struct rows *r, const struct row_facts *f, uint64_t sample)
{
	const struct expansion_row *way;
	struct table *t = &r->table;
	uint32_t nr;
	int ret = 0;

	if (t->sum) {
		double weight = (double)f->weight;

		return rows_add_sum(r, f, &(struct group_sum){ 1, f->mode == TABLE_MODE_KERNEL, weight, weight * weight, f->time_ns,
							       f->time_ns });
	}
	way = rows_of_paths(r, f->paths, &nr);
	if (nr > t->capacity - t->nr)
		ret = rows_flush(r);
	r->sample_row = t->nr;
	for (uint32_t i = 0; i < nr; i++) {
		uint32_t row = t->nr++; /* every column is set below */

		t->time_ns[row] = f->time_ns;
		t->ip[row] = f->ip;
		t->address[row] = f->address;
		t->weight[row] = f->weight;
		t->share[row] = way[i].share;
		t->column[TABLE_SAMPLE][row] = (uint32_t)sample;
		fill_row(t, row, f, &way[i]);
	}
	return ret;
}

/* ------------------------------------------------------------------------------------------------- rows as text */

static void write_printable_text(FILE *to, const char *text)
{
	for (; *text; text++)
		fputc((unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text, to);
}

static bool is_taken(const char *name)
{
	const size_t bytes = strlen(name);

	for (const char *at = CSV_SAMPLE_COLUMNS; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
		if (strcspn(at, ",") == bytes && memcmp(at, name, bytes) == 0)
			return true;
	return false;
}

const char *sample_column_of_level(const char *name, char spare[SAMPLE_COLUMN_BYTES])
{
	if (!is_taken(name))
		return name;
	snprintf(spare, SAMPLE_COLUMN_BYTES, "%s (level)", name);
	return spare;
}

static void write_level_headings(FILE *to, const struct dictionary *d, const char *prefix)
{
	char spare[SAMPLE_COLUMN_BYTES];

	for (uint32_t i = 0; i < d->nr_levels; i++)
		fprintf(to, "\t%s%s", prefix, d->level[i].name ? sample_column_of_level(d->level[i].name, spare) : "?");
}

void sample_lines_begin(const struct sample_lines *l)
{
	const struct dictionary *d = l->rows->dictionary;

	fputs("time_ns\tpid\ttid\tmode\tevent\tweight\tip\timage\tfunction\tline\tmethod\treason\tphase", l->to);
	write_level_headings(l->to, d, "");
	if (l->also_by_stack) {
		fputs("\tstack_method\tstack_function", l->to);
		write_level_headings(l->to, d, "stack_");
	}
	fputc('\n', l->to);
}

/* Writes the components of a parent path as name#id, a column per level.  If way is NULL, the columns are empty. */
static void write_component_columns(const struct sample_lines *l, const struct expansion_row *way)
{
	const struct dictionary *d = l->rows->dictionary;

	for (uint32_t i = 0; i < d->nr_levels; i++) {
		uint32_t c = way ? way->component[i] : COMPONENT_NONE;

		fputc('\t', l->to);
		if (c) {
			write_printable_text(l->to, d->components.at[c].name ? d->components.at[c].name : "");
			fprintf(l->to, "#%llu", (unsigned long long)d->components.at[c].id);
		}
	}
}

static void write_stack_attribution(const struct sample_lines *l, const struct sample_world *w, const struct sample *s,
				    const struct process *p, const struct sample_place *at)
{
	struct sample_world without_tags = *w;
	struct sample_answer a;
	struct expansion e;

	without_tags.stack_only = true;
	sample_decide_components(&without_tags, s, p, at, &a);
	sample_expand_components(l->rows->dictionary, &a.deciding, s->time_ns, &e);
	fprintf(l->to, "\t%s\t", method_names[a.method]);
	write_printable_text(l->to, w->locator->a->function[a.caller_function].name);
	write_component_columns(l, a.deciding.nr ? &e.row[0] : NULL);
}

void sample_lines_add(const struct sample_lines *l, const struct sample_world *w, const struct sample *s, const struct process *p,
		      const struct sample_place *at, const struct row_facts *f)
{
	static const char *const modes[] = { "user", "kernel", "other" };
	const struct attribution *a = w->locator->a;
	const struct line *line = &a->line[f->location->line];
	FILE *to = l->to;
	uint32_t nr;

	fprintf(to, "%llu\t%u\t%u\t%s\t%u\t%llu\t%#llx\t", (unsigned long long)s->time_ns, p->pid, a->model->threads.at[f->thread].tid,
		modes[f->mode < 2 ? f->mode : 2], f->event, (unsigned long long)f->weight, (unsigned long long)f->ip);
	write_printable_text(to, a->image[f->location->image].path);
	fputc('\t', to);
	write_printable_text(to, a->function[f->location->function].name);
	fputc('\t', to);
	if (f->location->line) {
		write_printable_text(to, line->file);
		fprintf(to, ":%u", line->number);
	}
	fprintf(to, "\t%s\t%s\t%u", method_names[f->method], reason_names[f->reason], f->phase);
	write_component_columns(l, f->paths ? rows_of_paths(l->rows, f->paths, &nr) : NULL);
	if (l->also_by_stack)
		write_stack_attribution(l, w, s, p, at);
	fputc('\n', to);
}
