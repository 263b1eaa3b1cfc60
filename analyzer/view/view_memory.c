/* SPDX-License-Identifier: MIT */
/*
 * memory: which addresses each component touched, and how: in order, in equal steps, or at random; how many pages; and a picture
 * of time against address for the regions with most of it.  From samples that have an address (page-faults everywhere, precise
 * memory events where the processor has them), and from those of generated code whose registers tell what the instruction is
 * about to touch (--registers all tells most).
 */
#include "view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_BITS 12
#define NEAR 64			/* bytes: the same cache line, or the next one */
#define GAP (64ull << 20)	/* addresses further apart are of different regions */
#define REGIONS_SHOWN 3
#define PICTURE_CELLS 64
#define PICTURE_ROWS 8
#define ACCESSES_MAX (1u << 22) /* what is kept: enough for any picture */

struct access {
	uint64_t time_ns, address;
	uint32_t thread, component, event;
};

struct accesses {
	uint32_t level; /* LEVELS_MAX: of functions */
	struct access *list;
	size_t nr, capacity;
	uint64_t more; /* that were not kept */
};

static int take_rows(void *context, const struct attribution *a, const struct table *t, const uint32_t *rows, uint32_t nr)
{
	struct accesses *s = context;

	(void)a;
	for (uint32_t i = 0; i < nr; i++) {
		uint32_t row = rows[i];

		if (!t->address[row] || t->share[row] < 0.5)
			continue;
		if (s->nr == ACCESSES_MAX) {
			s->more++;
			continue;
		}
		if (s->nr == s->capacity) {
			size_t capacity = s->capacity ? 2 * s->capacity : 1024;
			struct access *bigger = realloc(s->list, capacity * sizeof(*bigger));

			if (!bigger)
				return -ENOMEM;
			s->list = bigger;
			s->capacity = capacity;
		}
		s->list[s->nr++] = (struct access){
			.time_ns = t->time_ns[row], .address = t->address[row], .thread = t->column[TABLE_THREAD][row],
			.event = t->column[TABLE_EVENT][row],
			.component = t->column[s->level < t->nr_levels ? TABLE_LEVEL_0 + s->level : TABLE_FUNCTION][row] };
	}
	return 0;
}

static void fini(void *state)
{
	struct accesses *s = state;

	free(s->list);
}

static void prepare(struct report *r, struct shown *v)
{
	struct accesses *s = report_state(r, sizeof(*s), fini);

	v->state = s;
	if (s)
		s->level = report_level(r, r->level);
	r->addresses = true;
	report_each(r, take_rows, s);
}

#define COMPARE(a, b) ((a) < (b) ? -1 : (a) > (b))

static int by_component(const void *a, const void *b)
{
	const struct access *x = a, *y = b;

	if (x->component != y->component)
		return COMPARE(x->component, y->component);
	if (x->thread != y->thread)
		return COMPARE(x->thread, y->thread);
	return COMPARE(x->time_ns, y->time_ns);
}

static int by_address(const void *a, const void *b)
{
	const struct access *x = a, *y = b;

	if (x->address != y->address)
		return COMPARE(x->address, y->address);
	return COMPARE(x->time_ns, y->time_ns);
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return COMPARE(x, y);
}

/* Of one component: [from, end) of the sorted list. */
struct pattern {
	uint32_t component;
	size_t nr, pages, in_order, steps, at_random;
	uint64_t low, high;
};

static int by_nr(const void *a, const void *b)
{
	const struct pattern *x = a, *y = b;

	if (x->nr != y->nr)
		return COMPARE(y->nr, x->nr);
	return COMPARE(x->component, y->component);
}

static size_t count_pages(const struct access *list, size_t nr)
{
	uint64_t *page = malloc((nr + 1) * sizeof(*page));
	size_t pages = 0;

	for (size_t i = 0; page && i < nr; i++)
		page[i] = list[i].address >> PAGE_BITS;
	if (page && nr)
		qsort(page, nr, sizeof(*page), by_number);
	for (size_t i = 0; page && i < nr; i++)
		pages += i == 0 || page[i] != page[i - 1];
	free(page);
	return pages;
}

/* Each access against the one of the same thread before it. */
static struct pattern pattern_of(const struct access *list, size_t nr)
{
	struct pattern p = { .component = list->component, .nr = nr, .low = UINT64_MAX };
	int64_t before = 0;

	p.pages = count_pages(list, nr);
	for (size_t i = 0; i < nr; i++) {
		int64_t step;

		p.low = list[i].address < p.low ? list[i].address : p.low;
		p.high = list[i].address > p.high ? list[i].address : p.high;
		if (i == 0 || list[i].thread != list[i - 1].thread) {
			before = 0;
			continue;
		}
		step = (int64_t)(list[i].address - list[i - 1].address);
		if ((step >= 0 && step <= NEAR) || (step < 0 && step >= -NEAR) || step == 1 << PAGE_BITS)
			p.in_order++;
		else if (step == before)
			p.steps++;
		else
			p.at_random++;
		before = step;
	}
	return p;
}

static int by_event(const void *a, const void *b)
{
	const struct access *x = a, *y = b;

	return COMPARE(x->event, y->event);
}

static const char *event_name(const struct report *r, const struct accesses *s)
{
	uint32_t e = s->nr ? s->list[0].event : 0;

	return e < r->model->nr_events && r->model->event[e].name ? r->model->event[e].name : "";
}

static void show_patterns(struct report *r, struct accesses *s, struct page *p)
{
	struct grid *g = grid_create("memory", "Addresses of %s, each against the one before it of its thread", event_name(r, s));
	struct pattern *list = calloc(s->nr + 1, sizeof(*list));
	int share = grid_column(g, "share", "share", CELL_SHARE, GRID_BAR, 0);
	int samples = grid_column(g, "samples", "samples", CELL_COUNT, GRID_SAMPLES, 0);
	int in_order = grid_column(g, "in_order", "in order", CELL_PERCENT, 0, 0), steps = grid_column(g, "steps", "steps",
			CELL_PERCENT, 0, 0);
	int at_random = grid_column(g, "random", "random", CELL_PERCENT, 0, 0), pages = grid_column(g, "pages", "pages",
			CELL_NUMBER, 0, 0);
	int event = grid_column(g, "event", "", CELL_TEXT, GRID_HIDDEN, 0);
	int low = grid_column(g, "low", "", CELL_HEX, GRID_HIDDEN, 0), high = grid_column(g, "high", "", CELL_HEX, GRID_HIDDEN, 0);
	int name = grid_column(g, "name", s->level == LEVELS_MAX ? "function" : report_level_name(r, s->level), CELL_TEXT, 0, 0);
	size_t nr = 0;
	char spare[32];

	grid_set_total(g, share, (double)s->nr);
	grid_set_total(g, samples, (double)s->nr);
	if (list)
		qsort(s->list, s->nr, sizeof(*s->list), by_component);
	for (size_t i = 0, end; list && i < s->nr; i = end) {
		for (end = i; end < s->nr && s->list[end].component == s->list[i].component; end++)
			;
		list[nr++] = pattern_of(s->list + i, end - i);
	}
	if (nr)
		qsort(list, nr, sizeof(*list), by_nr);
	for (size_t i = 0; i < nr; i++) {
		double known = (double)(list[i].in_order + list[i].steps + list[i].at_random);

		grid_row(g);
		grid_set(g, share, (double)list[i].nr);
		grid_set(g, samples, (double)list[i].nr);
		if (known > 0) {
			grid_set(g, in_order, (double)list[i].in_order / known);
			grid_set(g, steps, (double)list[i].steps / known);
			grid_set(g, at_random, (double)list[i].at_random / known);
		}
		grid_set(g, pages, (double)list[i].pages);
		grid_set_text(g, event, event_name(r, s));
		grid_set_address(g, low, list[i].low);
		grid_set_address(g, high, list[i].high);
		grid_set_text(g, name, s->level == LEVELS_MAX ? r->a->function[list[i].component].name :
								 report_component_name(r, list[i].component, spare));
	}
	free(list);
	grid_show(g, p);
}

struct region {
	size_t first, nr; /* accesses, by address */
	uint64_t low, high;
};

static int by_size(const void *a, const void *b)
{
	const struct region *x = a, *y = b;

	if (x->nr != y->nr)
		return COMPARE(y->nr, x->nr);
	return COMPARE(x->low, y->low);
}

/* Two by four dots a character; without UTF-8 a character a cell, by how many of its dots are set. */
static void draw(const struct report *r, const struct accesses *s, const struct region *x, struct page *p)
{
	static const unsigned char bit[4][2] = { { 0x01, 0x08 }, { 0x02, 0x10 }, { 0x04, 0x20 }, { 0x40, 0x80 } };
	unsigned char cell[PICTURE_ROWS][PICTURE_CELLS] = { { 0 } };
	double time = (double)(r->last_ns - r->first_ns) + 1, range = (double)(x->high - x->low) + 1;
	char size[16], begin[16];

	for (size_t i = x->first; i < x->first + x->nr; i++) {
		int column = (int)((double)(s->list[i].time_ns - r->first_ns) / time * 2 * PICTURE_CELLS);
		int row = 4 * PICTURE_ROWS - 1 - (int)((double)(s->list[i].address - x->low) / range * 4 * PICTURE_ROWS);

		if (column >= 0 && column < 2 * PICTURE_CELLS && row >= 0 && row < 4 * PICTURE_ROWS)
			cell[row / 4][column / 2] |= bit[row % 4][column % 2];
	}
	fprintf(p->to, "\n%#llx to %#llx: %zu samples (up: %sB, right: %s)\n", (unsigned long long)x->low,
		(unsigned long long)x->high, x->nr, grid_short_number((double)(x->high - x->low) + 1, size), grid_duration(time, begin));
	for (int row = 0; row < PICTURE_ROWS; row++) {
		int last = PICTURE_CELLS;

		while (last > 0 && !cell[row][last - 1])
			last--;
		fputs(p->utf8 ? "│" : "|", p->to);
		for (int c = 0; c < last; c++) {
			unsigned dots = cell[row][c], nr = (unsigned)__builtin_popcount(dots);

			if (!dots)
				fputc(' ', p->to);
			else if (p->utf8)
				fprintf(p->to, "%c%c%c", 0xe2, 0xa0 + (dots >> 6), 0x80 + (dots & 0x3f));
			else
				fputc(nr == 1 ? '.' : nr < 4 ? ':' : '#', p->to);
		}
		fputc('\n', p->to);
	}
}

static void show_regions(struct report *r, struct accesses *s, struct page *p)
{
	struct grid *g = grid_create("regions", "Regions of %s", event_name(r, s));
	struct region *list = calloc(s->nr + 1, sizeof(*list));
	int share = grid_column(g, "share", "share", CELL_SHARE, 0, 0), samples = grid_column(g, "samples", "samples",
			CELL_COUNT, GRID_SAMPLES, 0);
	int low = grid_column(g, "low", "from", CELL_HEX, 0, 0), high = grid_column(g, "high", "to", CELL_HEX, 0, 0);
	int pages = grid_column(g, "pages", "pages", CELL_NUMBER, 0, 0), bytes = grid_column(g, "bytes", "bytes", CELL_NUMBER, 0, 0);
	int event = grid_column(g, "event", "", CELL_TEXT, GRID_HIDDEN, 0);
	size_t nr = 0;

	grid_set_total(g, share, (double)s->nr);
	grid_set_total(g, samples, (double)s->nr);
	qsort(s->list, s->nr, sizeof(*s->list), by_address);
	for (size_t i = 0; list && i < s->nr; i++) {
		if (i == 0 || s->list[i].address - s->list[i - 1].address > GAP)
			list[nr++] = (struct region){ i, 0, s->list[i].address, 0 };
		list[nr - 1].nr++;
		list[nr - 1].high = s->list[i].address;
	}
	if (nr)
		qsort(list, nr, sizeof(*list), by_size);
	for (size_t i = 0; i < nr; i++) {
		grid_row(g);
		grid_set(g, share, (double)list[i].nr);
		grid_set(g, samples, (double)list[i].nr);
		grid_set_text(g, event, event_name(r, s));
		grid_set_address(g, low, list[i].low);
		grid_set_address(g, high, list[i].high);
		grid_set(g, pages, (double)count_pages(s->list + list[i].first, list[i].nr));
		grid_set(g, bytes, (double)(list[i].high - list[i].low) + 1);
	}
	grid_show(g, p);
	for (size_t i = 0; i < nr && i < REGIONS_SHOWN && p->form == PAGE_TEXT; i++)
		if (list[i].nr >= GRID_SMALL)
			draw(r, s, &list[i], p);
	free(list);
}

static void show(struct report *r, const struct shown *v, struct page *p)
{
	struct accesses *s = v->state;

	if (!s || !s->nr) {
		page_sentence(p,
				"No sample has an address: record with --registers all (generated code), --event page-faults, or a precise "
			      "memory event where there is one.");
		return;
	}
	qsort(s->list, s->nr, sizeof(*s->list), by_event);
	for (size_t i = 0, end; i < s->nr; i = end) {
		struct accesses of_event = { .level = s->level, .list = s->list + i };

		for (end = i; end < s->nr && s->list[end].event == s->list[i].event; end++)
			;
		of_event.nr = end - i;
		show_patterns(r, &of_event, p);
		show_regions(r, &of_event, p);
	}
	if (s->more)
		page_sentence(p, "(%llu later samples are not in here)", (unsigned long long)s->more);
}

const struct view view_memory = { "memory", "addresses per component: in order, in steps, at random; pages; pictures", prepare, show };
