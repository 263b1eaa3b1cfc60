/* SPDX-License-Identifier: MIT */
#include "analyzer/accesses/accesses.h"

#include "jitreg/base/grow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define GAP (64ull << 20)	/* addresses further apart are in different regions if no area covers them */
#define ACCESSES_MAX (1u << 20) /* limit of the rows that are kept by default; so many are enough for any picture */

/* Return whether the access is one of those that a thinning of 2^thinning keeps. This depends on a hash of the access alone, and a larger
 * thinning keeps a part of what a smaller one keeps. So rows can be thinned out further at any time. */
static bool access_is_kept(const struct access *x, unsigned thinning)
{
	uint64_t h = (x->time_ns ^ x->address << 20 ^ x->thread) * 0x9e3779b97f4a7c15ull;

	h = (h ^ h >> 32) * 0xd6e8feb86659fd93ull;
	return ((h ^ h >> 32) & ((1ull << thinning) - 1)) == 0;
}

static void thin_out_accesses(struct accesses *s, size_t most)
{
	while (s->nr >= most && s->thinning < 32) {
		size_t nr = 0;

		s->thinning++;
		for (size_t i = 0; i < s->nr; i++)
			if (access_is_kept(&s->at[i], s->thinning))
				s->at[nr++] = s->at[i];
		s->nr = nr;
	}
}

int accesses_add_rows(void *context, const struct attribution *a, const struct table *t, const uint32_t *rows, uint32_t nr)
{
	struct accesses *s = context;
	size_t most = s->most ? s->most : ACCESSES_MAX;

	(void)a;
	for (uint32_t i = 0; i < nr; i++) {
		uint32_t row = rows[i];
		struct access x;

		if (!t->address[row] || t->share[row] <= TABLE_NO_SAMPLE)
			continue;
		s->seen += t->share[row];
		x = (struct access){
			.time_ns = t->time_ns[row], .address = t->address[row], .thread = t->column[TABLE_THREAD][row],
			.event = t->column[TABLE_EVENT][row], .memory = t->column[TABLE_MEMORY][row], .instruction = t->ip[row],
			.phase = t->column[TABLE_PHASE][row], .sample = t->column[TABLE_SAMPLE][row], .share = t->share[row],
			.component = t->column[s->level < t->nr_levels ? TABLE_LEVEL_0 + s->level : TABLE_FUNCTION][row] };
		if (s->thinning && !access_is_kept(&x, s->thinning))
			continue;
		if (!ARRAY_PUSH(*s, x))
			return -ENOMEM;
		if (s->nr >= most)
			thin_out_accesses(s, most);
	}
	return 0;
}

void accesses_fini(struct accesses *s)
{
	free(s->at);
	free(s->regions.at);
	free(s->columns_memory);
	memset(s, 0, sizeof(*s));
}

#define COMPARE(a, b) \
	if ((a) != (b)) \
	return (a) < (b) ? -1 : 1

/* -------------------------------------------------------------------------------------------------------------- regions */

static int compare_memory(const struct memory *x, const struct memory *y)
{
	COMPARE(!x, !y);
	if (!x)
		return 0;
	COMPARE(x->process, y->process);
	COMPARE(x->kind, y->kind);
	if (x->kind == MEMORY_ANONYMOUS) { /* all have the same name, so an area is a region */
		COMPARE(x->address, y->address);
		return 0;
	}
	return strcmp(x->name, y->name);
}

static int compare_access_memory(const void *a, const void *b, void *model)
{
	const struct model *m = model;
	const struct access *x = a, *y = b;
	int c = x->memory == y->memory ? 0 : compare_memory(m->areas.at[x->memory], m->areas.at[y->memory]);

	if (c)
		return c;
	COMPARE(x->address, y->address);
	COMPARE(x->time_ns, y->time_ns);
	return 0;
}

static bool same_region(const struct model *m, const struct access *x, const struct access *y)
{
	const struct memory *p = m->areas.at[x->memory], *q = m->areas.at[y->memory];

	return compare_memory(p, q) == 0 && (p || y->address - x->address <= GAP);
}

static int find_regions(struct accesses *s, const struct model *m)
{
	if (s->nr)
		qsort_r(s->at, s->nr, sizeof(*s->at), compare_access_memory, (void *)(uintptr_t)m);
	for (size_t i = 0; i < s->nr; i++) {
		struct access_region *r;

		if (i == 0 || !same_region(m, &s->at[i - 1], &s->at[i])) {
			struct access_region new = { m->areas.at[s->at[i].memory], s->at[i].address, s->at[i].address, 0 };

			if (!ARRAY_PUSH(s->regions, new))
				return -ENOMEM;
		}
		r = &s->regions.at[s->regions.nr - 1];
		r->samples += s->at[i].share;
		r->high = s->at[i].address > r->high ? s->at[i].address : r->high;
		s->at[i].region = s->regions.nr - 1;
	}
	return 0;
}

/* -------------------------------------------------------------------------------------------------------------- streams */

static int compare_access_streams(const void *a, const void *b)
{
	const struct access *x = a, *y = b;

	COMPARE(x->event, y->event);
	COMPARE(x->region, y->region);
	COMPARE(x->thread, y->thread);
	COMPARE(x->instruction, y->instruction);
	COMPARE(x->time_ns, y->time_ns);
	COMPARE(x->address, y->address);
	return 0;
}

static int compare_access_times(const void *a, const void *b)
{
	const struct access *x = a, *y = b;

	COMPARE(x->event, y->event);
	COMPARE(x->time_ns, y->time_ns);
	COMPARE(x->address, y->address);
	COMPARE(x->sample, y->sample);
	return 0;
}

static bool same_stream(const struct access *x, const struct access *y)
{
	return x->event == y->event && x->region == y->region && x->thread == y->thread && x->instruction == y->instruction;
}

enum access_granule access_granule_of_event(const char *name, uint64_t period)
{
	if (!name || !strstr(name, "faults"))
		return GRANULE_BYTE;
	return period == 1 ? GRANULE_PAGE : GRANULE_SOME_PAGES;
}

static int compare_access_addresses(const void *a, const void *b)
{
	const struct access *x = a, *y = b;

	COMPARE(x->address, y->address);
	return 0;
}

static void number_pages(struct accesses *s)
{
	uint32_t page = 0;

	qsort(s->at, s->nr, sizeof(*s->at), compare_access_addresses);
	for (size_t i = 0; i < s->nr; i++) {
		page += i && s->at[i].address >> ACCESSES_PAGE_BITS != s->at[i - 1].address >> ACCESSES_PAGE_BITS;
		s->at[i].page = page;
	}
	s->columns.nr_pages = page + 1;
}

static void number_streams(struct accesses *s)
{
	uint32_t stream = 0;

	qsort(s->at, s->nr, sizeof(*s->at), compare_access_streams);
	for (size_t i = 0; i < s->nr; i++) {
		stream += i && !same_stream(&s->at[i], &s->at[i - 1]);
		s->at[i].stream = stream;
	}
	s->columns.nr_streams = stream + 1;
}

#define ACCESS_COLUMNS(_) 	_(uint64_t, address) _(double, share) _(uint32_t, sample) \
	_(uint32_t, stream) _(uint32_t, page) _(uint32_t, phase)

/* Fill in the columns, which are in one piece of memory. Wider numbers come first, so that all are aligned. */
static int fill_access_columns(struct accesses *s, const struct model *m)
{
	struct access_columns *c = &s->columns;
	unsigned char *at;
	uint8_t *granule;

#define COLUMN_BYTES(type, name) +sizeof(type)
	at = s->columns_memory = malloc(s->nr * (0 ACCESS_COLUMNS(COLUMN_BYTES)) + c->nr_streams);
	if (!at)
		return -ENOMEM;
#define FILL_COLUMN(type, name) \
	{ \
		type *column = (type *)(void *)at; \
\
		for (size_t i = 0; i < s->nr; i++) \
			column[i] = s->at[i].name; \
		c->name = column; \
		at += s->nr * sizeof(type); \
	}
	ACCESS_COLUMNS(FILL_COLUMN)
	c->granule = granule = at;
	for (size_t i = 0; i < s->nr; i++) {
		const struct model_event *e = s->at[i].event < m->nr_events ? &m->event[s->at[i].event] : NULL;

		granule[s->at[i].stream] = (uint8_t)access_granule_of_event(e ? e->name : NULL, e ? e->period : 0);
	}
	return 0;
}

int accesses_settle(struct accesses *s, const struct model *m)
{
	if (!s->nr)
		return 0;
	if (find_regions(s, m))
		return -ENOMEM;
	number_pages(s);
	number_streams(s);
	qsort(s->at, s->nr, sizeof(*s->at), compare_access_times);
	return fill_access_columns(s, m);
}

int accesses_find_orders(const struct accesses *s, size_t begin, size_t end, struct access_orders *o)
{
	uint32_t *row = malloc((end - begin + 1) * sizeof(*row));
	int ret;

	for (size_t i = begin; row && i < end; i++)
		row[i - begin] = (uint32_t)i;
	ret = row ? access_orders_find(o, &s->columns, row, (uint32_t)(end - begin)) : -ENOMEM;
	free(row);
	return ret;
}

const char *access_region_name(const struct access_region *g, char spare[64])
{
	const struct memory *m = g->memory;

	if (m && m->kind != MEMORY_ANONYMOUS)
		return *m->name ? m->name : "(no name)";
	snprintf(spare, 64, "%#llx to %#llx", (unsigned long long)g->low, (unsigned long long)g->high);
	return spare;
}
