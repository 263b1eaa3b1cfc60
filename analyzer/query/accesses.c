/* SPDX-License-Identifier: MIT */
#include "analyzer/query/accesses.h"

#include "jitreg/base/grow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define GAP (64ull << 20)	/* addresses further apart are of different regions, where neither has a name */
#define ACCESSES_MAX (1u << 20) /* what is kept: enough for any picture */

/* One of 2^thinning, whichever way the samples come; those of a larger thinning are some of those of a smaller one. */
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
			if (access_is_kept(&s->list[i], s->thinning))
				s->list[nr++] = s->list[i];
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

		if (!t->address[row] || t->share[row] < 0.5)
			continue;
		s->seen++;
		x = (struct access){
			.time_ns = t->time_ns[row], .address = t->address[row], .thread = t->column[TABLE_THREAD][row],
			.event = t->column[TABLE_EVENT][row], .memory = t->column[TABLE_MEMORY][row], .instruction = t->ip[row],
			.phase = t->column[TABLE_PHASE][row],
			.component = t->column[s->level < t->nr_levels ? TABLE_LEVEL_0 + s->level : TABLE_FUNCTION][row] };
		if (s->thinning && !access_is_kept(&x, s->thinning))
			continue;
		if (!GROW(s->list, s->nr, s->capacity))
			return -ENOMEM;
		s->list[s->nr++] = x;
		if (s->nr >= most)
			thin_out_accesses(s, most);
	}
	return 0;
}

void accesses_fini(struct accesses *s)
{
	free(s->list);
	free(s->region);
	memset(s, 0, sizeof(*s));
}

#define COMPARE(a, b) \
	if ((a) != (b)) \
	return (a) < (b) ? -1 : 1

static int compare_pages(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	COMPARE(*x, *y);
	return 0;
}

size_t accesses_pages(const struct access *list, size_t nr)
{
	uint64_t *page = malloc((nr + 1) * sizeof(*page));
	size_t pages = 0;

	for (size_t i = 0; page && i < nr; i++)
		page[i] = list[i].address >> ACCESSES_PAGE_BITS;
	if (page && nr)
		qsort(page, nr, sizeof(*page), compare_pages);
	for (size_t i = 0; page && i < nr; i++)
		pages += i == 0 || page[i] != page[i - 1];
	free(page);
	return pages;
}

/* -------------------------------------------------------------------------------------------------------------- regions */

static int compare_memory(const struct memory *x, const struct memory *y)
{
	COMPARE(!x, !y);
	if (!x)
		return 0;
	COMPARE(x->process, y->process);
	COMPARE(x->kind, y->kind);
	if (x->kind == MEMORY_ANONYMOUS) { /* all have the same name, which says nothing */
		COMPARE(x->address, y->address);
		return 0;
	}
	return strcmp(x->name, y->name);
}

static int compare_access_memory(const void *a, const void *b, void *model)
{
	const struct model *m = model;
	const struct access *x = a, *y = b;
	int c = x->memory == y->memory ? 0 : compare_memory(m->memory[x->memory], m->memory[y->memory]);

	if (c)
		return c;
	COMPARE(x->address, y->address);
	COMPARE(x->time_ns, y->time_ns);
	return 0;
}

static bool same_region(const struct model *m, const struct access *x, const struct access *y)
{
	const struct memory *p = m->memory[x->memory], *q = m->memory[y->memory];

	return compare_memory(p, q) == 0 && (p || y->address - x->address <= GAP);
}

static int find_regions(struct accesses *s, const struct model *m)
{
	if (s->nr)
		qsort_r(s->list, s->nr, sizeof(*s->list), compare_access_memory, (void *)(uintptr_t)m);
	for (size_t i = 0; i < s->nr; i++) {
		struct access_region *r;

		if (i == 0 || !same_region(m, &s->list[i - 1], &s->list[i])) {
			if ((s->nr_regions & (s->nr_regions - 1)) == 0) {
				r = realloc(s->region, (s->nr_regions ? 2 * (size_t)s->nr_regions : 1) * sizeof(*r));
				if (!r)
					return -ENOMEM;
				s->region = r;
			}
			s->region[s->nr_regions++] = (struct access_region){ m->memory[s->list[i].memory], s->list[i].address,
									     s->list[i].address, 0 };
		}
		r = &s->region[s->nr_regions - 1];
		r->nr++;
		r->high = s->list[i].address > r->high ? s->list[i].address : r->high;
		s->list[i].region = s->nr_regions - 1;
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
	return 0;
}

static bool same_stream(const struct access *x, const struct access *y)
{
	return x->event == y->event && x->region == y->region && x->thread == y->thread && x->instruction == y->instruction;
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static int direction_of_access(const struct access *from, const struct access *to)
{
	return to->address > from->address ? 1 : to->address < from->address ? -1 : 0;
}

static void classify_access_order(struct access *list, size_t nr, bool strided)
{
	if (nr < ACCESSES_RUN)
		return;
	for (size_t i = 0; i < nr; i++)
		list[i].order = ACCESS_RANDOM;
	for (size_t first = 0, end; first + 1 < nr; first = end) {
		int to = direction_of_access(&list[first], &list[first + 1]);

		for (end = first + 1; end < nr; end++) {
			int next = direction_of_access(&list[end - 1], &list[end]);

			if (next && to && next != to)
				break;
			to = to ? to : next;
		}
		for (size_t i = first; i < end && end - first >= ACCESSES_RUN; i++)
			list[i].order = strided ? ACCESS_STRIDED : ACCESS_SEQUENTIAL;
	}
}

enum granule { GRANULE_BYTE, GRANULE_PAGE, GRANULE_SOME_PAGES };

/* Page faults are of pages, of which sequential ones are sequential accesses; so are those of each 2nd, 4th or 16th page, because the
 * kernel maps that many at a fault.  Where only a part of the faults is sampled, nothing is known of strides. */
static enum granule granule_of_event(const struct model_event *e)
{
	if (!e || !e->name || !strstr(e->name, "faults"))
		return GRANULE_BYTE;
	return e->period == 1 ? GRANULE_PAGE : GRANULE_SOME_PAGES;
}

static uint64_t stride_of_stream(const struct access *list, size_t nr, enum granule granule)
{
	uint64_t stride = 0, mask = granule == GRANULE_BYTE ? UINT64_MAX : ~((1ull << ACCESSES_PAGE_BITS) - 1);

	for (size_t i = 1; i < nr; i++) {
		uint64_t from = list[i - 1].address & mask, to = list[i].address & mask;

		stride = common_divisor(stride, to > from ? to - from : from - to);
	}
	if (granule == GRANULE_SOME_PAGES || (granule == GRANULE_PAGE && !(stride & (stride - 1))))
		return 0;
	return stride;
}

static void classify_access_stream(struct access *list, size_t nr, enum granule granule)
{
	uint64_t stride;

	if (nr < ACCESSES_RUN)
		return;
	stride = stride_of_stream(list, nr, granule);
	for (size_t i = 0; i < nr; i++)
		list[i].stride = stride;
	for (size_t first = 0, end; first < nr; first = end) {
		for (end = first + 1; end < nr && list[end].phase == list[first].phase; end++)
			;
		classify_access_order(list + first, end - first, stride > ACCESSES_LINE);
	}
}

int accesses_settle(struct accesses *s, const struct model *m)
{
	if (find_regions(s, m))
		return -ENOMEM;
	if (s->nr)
		qsort(s->list, s->nr, sizeof(*s->list), compare_access_streams);
	for (size_t i = 0, end; i < s->nr; i = end) {
		const struct model_event *e = s->list[i].event < m->nr_events ? &m->event[s->list[i].event] : NULL;

		for (end = i; end < s->nr && same_stream(&s->list[end], &s->list[i]); end++)
			;
		classify_access_stream(s->list + i, end - i, granule_of_event(e));
	}
	if (s->nr)
		qsort(s->list, s->nr, sizeof(*s->list), compare_access_times);
	return 0;
}

const char *access_region_name(const struct access_region *g, char spare[64])
{
	const struct memory *m = g->memory;

	if (m && m->kind != MEMORY_ANONYMOUS)
		return *m->name ? m->name : "(no name)";
	snprintf(spare, 64, "%#llx to %#llx", (unsigned long long)g->low, (unsigned long long)g->high);
	return spare;
}
