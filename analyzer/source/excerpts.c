/* SPDX-License-Identifier: MIT */
#include "analyzer/source/excerpts.h"

#include "jitreg/base/grow.h"

#include <stdlib.h>
#include <string.h>

#define FILES_MAX 256u
#define LINES_A_STEP 8

/* These are numbers of lines that are kept before and after each hot line. All hot lines get the first number, then, while there is room,
 * the next one. */
static const uint32_t around[] = { 0, 3, 12 };

struct choosing {
	struct report *r;
	struct excerpts *to;
	struct hash_map by_name; /* (hash of a file's name, 0) -> 1 + index of the file */
	struct chosen {
		unsigned char *taken; /* a bit for each line: it is chosen */
		uint32_t nr_lines;
	} file[FILES_MAX];
	size_t left;
	bool full;
};

const char *excerpt_text(struct report *r, const struct excerpt *e, uint32_t n, size_t *bytes)
{
	const char *text = source_text_find(r, NULL, e->of->file, n, bytes);

	*bytes = *bytes < EXCERPT_LINE_BYTES ? *bytes : EXCERPT_LINE_BYTES;
	return text ? text : "";
}

/* Finds or adds the file of a line. Returns its index in the excerpts, or UINT32_MAX if the line has no text of a file, or if room, memory
 * or the budget is used up. */
static uint32_t find_file(struct choosing *c, uint32_t line)
{
	const struct line *l = &c->r->a->line[line];
	uint64_t h = hash_text(l->file);
	uint32_t i = hash_map_find(&c->by_name, h, 0);
	bool newer;

	if (i)
		return strcmp(c->to->at[i - 1].of->file, l->file) == 0 ? i - 1 : UINT32_MAX;
	if (c->to->nr == FILES_MAX || !source_text_is_of_file(c->r, line, &newer) || !ARRAY_GROW(*c->to))
		return UINT32_MAX;
	i = c->to->nr;
	c->file[i].nr_lines = source_text_nr_lines(c->r, l);
	c->file[i].taken = report_spend(c->r, c->file[i].nr_lines / LINES_A_STEP + 1) ? calloc(c->file[i].nr_lines / 8 + 1, 1) : NULL;
	if (!c->file[i].taken || !hash_map_set(&c->by_name, h, 0, i + 1)) {
		free(c->file[i].taken);
		return UINT32_MAX;
	}
	c->to->at[i] = (struct excerpt){ .of = l, .newer = newer };
	c->to->nr++;
	return i;
}

static void take_line(struct choosing *c, uint32_t file, uint32_t n)
{
	struct chosen *f = &c->file[file];
	size_t bytes;

	if (n < 1 || n > f->nr_lines || f->taken[(n - 1) / 8] & (1u << ((n - 1) % 8)) || c->full)
		return;
	excerpt_text(c->r, &c->to->at[file], n, &bytes);
	c->full = bytes + 1 > c->left;
	if (c->full)
		return;
	c->left -= bytes + 1;
	f->taken[(n - 1) / 8] |= (unsigned char)(1u << ((n - 1) % 8));
	c->to->at[file].nr++;
}

static int compare_costs(const void *a, const void *b, void *context)
{
	const double *cost = context;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;

	if (cost[i] < cost[j] || cost[i] > cost[j])
		return cost[i] > cost[j] ? -1 : 1;
	return i < j ? -1 : i > j;
}

static void choose_lines(struct choosing *c, const uint32_t *hot, uint32_t nr)
{
	for (size_t round = 0; round < sizeof(around) / sizeof(around[0]); round++)
		for (uint32_t i = 0; i < nr && !c->full && report_spend(c->r, around[round] + 1); i++) {
			uint32_t n = c->r->a->line[hot[i]].number, file = find_file(c, hot[i]);
			uint32_t from = n > around[round] ? n - around[round] : 1;

			for (uint32_t at = from; file != UINT32_MAX && at - from <= 2 * around[round]; at++)
				take_line(c, file, at);
		}
}

/* Turns the bits of the chosen lines into line numbers, and frees the bits. If memory runs out, the file has no lines. */
static void settle_file(struct choosing *c, uint32_t file)
{
	struct excerpt *e = &c->to->at[file];
	uint32_t at = 0;

	e->number = calloc((size_t)e->nr + 1, sizeof(*e->number));
	e->line = calloc((size_t)e->nr + 1, sizeof(*e->line));
	if (!e->number || !e->line)
		e->nr = 0;
	for (uint32_t n = 1; n <= c->file[file].nr_lines && at < e->nr; n++)
		if (c->file[file].taken[(n - 1) / 8] & (1u << ((n - 1) % 8)))
			e->number[at++] = n;
	free(c->file[file].taken);
}

static int compare_numbers(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static void set_lines(struct choosing *c, const uint32_t *hot, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++) {
		const struct line *l = &c->r->a->line[hot[i]];
		uint32_t file = hash_map_find(&c->by_name, hash_text(l->file), 0);
		struct excerpt *e = file ? &c->to->at[file - 1] : NULL;
		const uint32_t *found;

		if (!e || strcmp(e->of->file, l->file) != 0)
			continue;
		found = bsearch(&l->number, e->number, e->nr, sizeof(*e->number), compare_numbers);
		if (found && !e->line[found - e->number])
			e->line[found - e->number] = hot[i];
	}
}

void excerpts_make(struct report *r, const double *cost, size_t bytes, struct excerpts *out)
{
	struct choosing *c = calloc(1, sizeof(*c));
	uint32_t *hot = calloc((size_t)r->a->nr_lines + 1, sizeof(*hot)), nr = 0;

	*out = (struct excerpts){ 0 };
	for (uint32_t i = 1; hot && c && bytes && i < r->a->nr_lines; i++)
		if (cost[i] > 0)
			hot[nr++] = i;
	if (nr) {
		*c = (struct choosing){ .r = r, .to = out, .left = bytes };
		qsort_r(hot, nr, sizeof(*hot), compare_costs, (void *)(uintptr_t)cost);
		choose_lines(c, hot, nr);
		for (uint32_t i = 0; i < out->nr; i++)
			settle_file(c, i);
		set_lines(c, hot, nr);
		hash_map_fini(&c->by_name);
	}
	free(hot);
	free(c);
}

void excerpts_fini(struct excerpts *e)
{
	for (uint32_t i = 0; i < e->nr; i++) {
		free(e->at[i].number);
		free(e->at[i].line);
	}
	free(e->at);
}
