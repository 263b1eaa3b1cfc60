/* SPDX-License-Identifier: MIT */
/*
 * memory: which memory each component touched, and how: in order, in wider steps, or at random; which regions (by the host's names, or
 * the kernel's: heap, stack, mappings), with which steps, how many pages at a time; and a picture of time against address.  From samples
 * that have an address (page-faults everywhere, precise memory events where the processor has them), and from those of generated code
 * whose registers tell what the instruction is about to touch (--registers all tells most).
 */
#include "analyzer/pictures/memory.h"
#include "analyzer/query/accesses.h"
#include "analyzer/query/lane.h"
#include "analyzer/view/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PICTURES 3
#define PICTURE_CELLS 64
#define PICTURE_ROWS 8
#define INTERVALS 40
#define WORKING_SETS 6

static void fini(void *state)
{
	accesses_fini(state);
}

static void prepare(struct report *r, struct view_instance *v)
{
	struct accesses *s = report_state(r, sizeof(*s), fini);

	v->state = s;
	if (s)
		s->level = report_level(r, r->level);
	r->addresses = true;
	report_each(r, accesses_take, s);
}

/* Of one event: a part of the whole list. */
struct part {
	const struct accesses *all;
	const struct access *list;
	size_t nr;
	const char *event;
};

static const char *component_name(const struct report *r, const struct accesses *s, uint32_t component, char spare[32])
{
	return s->level == LEVELS_MAX ? r->a->function[component].name : report_component_name(r, component, spare);
}

static const char *kind_of(const struct access_region *g)
{
	static const char *const kinds[] = { "host's", "heap", "stack", "mapping", "file" };

	return g->memory ? kinds[g->memory->kind] : "-";
}

/* ------------------------------------------------------------------------------------------- by component, by region */

struct sum {
	uint32_t of; /* component, or region */
	size_t nr, order[NR_ACCESS_ORDERS];
	uint64_t low, high, step; /* step: the one with most samples, so far */
	size_t of_step;
	struct access *list; /* its own */
};

static uint32_t key_of(const struct access *x, bool region)
{
	return region ? x->region : x->component;
}

static int by_component(const void *a, const void *b)
{
	const struct access *x = a, *y = b;

	return x->component != y->component ? (x->component < y->component ? -1 : 1) : x->step < y->step ? -1 : x->step > y->step;
}

static int by_region(const void *a, const void *b)
{
	const struct access *x = a, *y = b;

	return x->region != y->region ? (x->region < y->region ? -1 : 1) : x->step < y->step ? -1 : x->step > y->step;
}

static int by_nr(const void *a, const void *b)
{
	const struct sum *x = a, *y = b;

	return x->nr != y->nr ? (x->nr > y->nr ? -1 : 1) : x->of < y->of ? -1 : x->of > y->of;
}

/* The largest first; copy: room for as many accesses, which the sums then point into. */
static size_t make_sums(const struct part *p, bool region, struct access *copy, struct sum *sum)
{
	size_t nr = 0, of_step = 0;

	memcpy(copy, p->list, p->nr * sizeof(*copy));
	qsort(copy, p->nr, sizeof(*copy), region ? by_region : by_component);
	for (size_t i = 0; i < p->nr; i++) {
		struct sum *s;

		if (i == 0 || key_of(&copy[i], region) != key_of(&copy[i - 1], region))
			sum[nr++] = (struct sum){ .of = key_of(&copy[i], region), .low = UINT64_MAX, .list = &copy[i] };
		s = &sum[nr - 1];
		of_step = s->nr && copy[i].step == copy[i - 1].step ? of_step + 1 : 1;
		if (copy[i].step && of_step > s->of_step) {
			s->step = copy[i].step;
			s->of_step = of_step;
		}
		s->nr++;
		s->order[copy[i].order]++;
		s->low = copy[i].address < s->low ? copy[i].address : s->low;
		s->high = copy[i].address > s->high ? copy[i].address : s->high;
	}
	qsort(sum, nr, sizeof(*sum), by_nr);
	return nr;
}

static void show_sums(struct report *r, const struct part *part, bool region, struct page *p)
{
	struct grid *g = region ? grid_create("regions", "Memory that samples of %s touched", part->event) :
				  grid_create("memory", "Addresses of %s, and in which order", part->event);
	struct access *copy = malloc((part->nr + 1) * sizeof(*copy));
	struct sum *sum = malloc((part->nr + 1) * sizeof(*sum));
	int share = grid_column(g, "share", "share", CELL_SHARE, GRID_BAR, 0);
	int samples = grid_column(g, "samples", "samples", CELL_COUNT, GRID_SAMPLES, 0);
	int in_order = grid_column(g, "sequential", "in order", CELL_PERCENT, 0, 0);
	int strided = grid_column(g, "strided", "strided", CELL_PERCENT, 0, 0);
	int at_random = grid_column(g, "random", "random", CELL_PERCENT, 0, 0);
	int step = grid_column(g, "step", "step", CELL_NUMBER, 0, 0), pages = grid_column(g, "pages", "pages", CELL_NUMBER, 0, 0);
	int ordered = grid_column(g, "ordered_samples", "", CELL_COUNT, GRID_HIDDEN, 0);
	int event = grid_column(g, "event", "", CELL_TEXT, GRID_HIDDEN, 0);
	int low = grid_column(g, "low", "", CELL_HEX, GRID_HIDDEN, 0), high = grid_column(g, "high", "", CELL_HEX, GRID_HIDDEN, 0);
	int kind = region ? grid_column(g, "kind", "of", CELL_TEXT, GRID_FIXED, 8) : -1;
	int name = grid_column(g, "name", region ? "memory" : part->all->level == LEVELS_MAX ? "function" :
					  report_level_name(r, part->all->level), CELL_TEXT, 0, 0);
	size_t nr = copy && sum ? make_sums(part, region, copy, sum) : 0;
	char spare[64];

	grid_set_total(g, share, (double)part->nr);
	grid_set_total(g, samples, (double)part->nr);
	for (size_t i = 0; i < nr; i++) {
		double known = (double)(sum[i].nr - sum[i].order[ACCESS_UNKNOWN]);

		grid_row(g);
		grid_set(g, share, (double)sum[i].nr);
		grid_set(g, samples, (double)sum[i].nr);
		grid_set(g, ordered, known);
		if (known > 0) {
			grid_set(g, in_order, (double)sum[i].order[ACCESS_SEQUENTIAL] / known);
			grid_set(g, strided, (double)sum[i].order[ACCESS_STRIDED] / known);
			grid_set(g, at_random, (double)sum[i].order[ACCESS_RANDOM] / known);
		}
		if (sum[i].step)
			grid_set(g, step, (double)sum[i].step);
		grid_set(g, pages, (double)accesses_pages(sum[i].list, sum[i].nr));
		grid_set_text(g, event, part->event);
		grid_set(g, low, (double)sum[i].low);
		grid_set(g, high, (double)sum[i].high);
		if (region) {
			grid_set_text(g, kind, kind_of(&part->all->region[sum[i].of]));
			grid_set_text(g, name, access_region_name(&part->all->region[sum[i].of], spare));
		} else {
			grid_set_text(g, name, component_name(r, part->all, sum[i].of, spare));
		}
	}
	free(copy);
	free(sum);
	grid_show(g, p);
}

/* ---------------------------------------------------------------------------------------------------------------- steps */

static int by_step(const void *a, const void *b)
{
	const struct access *x = a, *y = b;

	return x->step != y->step ? (x->step < y->step ? -1 : 1) : 0;
}

/* Steps of up to a page each by itself (elements have few sizes), wider ones by powers of two. */
static uint64_t bucket_of(uint64_t step)
{
	return step <= 1u << ACCESSES_PAGE_BITS ? step : 1ull << (63 - __builtin_clzll(step));
}

static void show_steps(const struct part *part, struct page *p)
{
	struct grid *g = grid_create("steps", "Steps between what an instruction touches, of %s", part->event);
	struct access *copy = malloc((part->nr + 1) * sizeof(*copy));
	int share = grid_column(g, "share", "share", CELL_SHARE, GRID_BAR, 0);
	int samples = grid_column(g, "samples", "samples", CELL_COUNT, GRID_SAMPLES, 0);
	int event = grid_column(g, "event", "", CELL_TEXT, GRID_HIDDEN, 0);
	int step = grid_column(g, "step", "", CELL_NUMBER, GRID_HIDDEN, 0);
	int shown = grid_column(g, "shown", "bytes", CELL_TEXT, GRID_TEXT_ONLY, 0);
	char text[32], number[16];
	size_t first = 0;

	grid_set_total(g, share, (double)part->nr);
	grid_set_total(g, samples, (double)part->nr);
	if (copy) {
		memcpy(copy, part->list, part->nr * sizeof(*copy));
		qsort(copy, part->nr, sizeof(*copy), by_step);
	}
	for (size_t i = 0; copy && i < part->nr; i++) {
		uint64_t at = copy[i].step;

		if (i + 1 < part->nr && (at ? bucket_of(at) : 0) == (copy[i + 1].step ? bucket_of(copy[i + 1].step) : 0))
			continue;
		grid_row(g);
		grid_set(g, share, (double)(i + 1 - first));
		grid_set(g, samples, (double)(i + 1 - first));
		grid_set_text(g, event, part->event);
		if (at)
			grid_set(g, step, (double)bucket_of(at));
		snprintf(text, sizeof(text), at > bucket_of(at) ? "%s and more" : "%s",
			 grid_short_number((double)bucket_of(at ? at : 1), number));
		grid_set_text(g, shown, at ? text : "(always the same place, or too few samples)");
		first = i + 1;
	}
	free(copy);
	grid_show(g, p);
}

/* --------------------------------------------------------------------------------------------------------- working sets */

/* Pages that samples touched in one interval: a lower bound, the better the more samples. */
static size_t pages_in(const struct part *part, uint32_t region, uint64_t from_ns, uint64_t to_ns, struct access *copy)
{
	size_t nr = 0;

	for (size_t i = 0; i < part->nr; i++) /* by time */
		if (part->list[i].time_ns >= from_ns && part->list[i].time_ns < to_ns &&
		    (region == UINT32_MAX || part->list[i].region == region))
			copy[nr++] = part->list[i];
	return nr ? accesses_pages(copy, nr) : 0;
}

static void show_working_set(struct report *r, const struct part *part, uint32_t region, uint64_t cell_ns, struct grid *g,
			     const int column[5], const struct page *p, struct access *copy)
{
	struct lanes l = { .cells = INTERVALS, .nr = 1 };
	double height[INTERVALS] = { 0 }, most = 0;
	char text[4 * LANE_CELLS_MAX], spare[64];
	const char *name = region == UINT32_MAX ? "(all)" : access_region_name(&part->all->region[region], spare);

	l.height = height;
	for (int c = 0; c < INTERVALS; c++) {
		uint64_t from_ns = r->first_ns + (uint64_t)c * cell_ns;

		if (from_ns > r->last_ns)
			break;
		height[c] = (double)pages_in(part, region, from_ns, from_ns + cell_ns, copy);
		most = height[c] > most ? height[c] : most;
		if (p->form == PAGE_TEXT)
			continue;
		grid_row(g);
		grid_set_text(g, column[0], name);
		grid_set_text(g, column[1], part->event);
		grid_set(g, column[2], (double)(from_ns - r->a->first_ns));
		grid_set(g, column[3], height[c]);
	}
	if (p->form != PAGE_TEXT)
		return;
	grid_row(g);
	grid_set_text(g, column[0], name);
	grid_set(g, column[3], most);
	lanes_text(&l, 0, most, p->utf8, text);
	grid_set_text(g, column[4], text);
}

static int by_count(const void *a, const void *b, void *counts)
{
	const size_t *count = counts;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;

	return count[i] != count[j] ? (count[i] > count[j] ? -1 : 1) : i < j ? -1 : i > j;
}

/* The regions with most of the event's samples, the first nr of them; freed by the caller. */
static uint32_t *largest_regions(const struct part *part, uint32_t *nr)
{
	size_t *count = calloc((size_t)part->all->nr_regions + 1, sizeof(*count));
	uint32_t *order = malloc(((size_t)part->all->nr_regions + 1) * sizeof(*order)), n = 0;

	for (size_t i = 0; count && i < part->nr; i++)
		count[part->list[i].region]++;
	for (uint32_t i = 0; order && count && i < part->all->nr_regions; i++)
		if (count[i])
			order[n++] = i;
	if (n)
		qsort_r(order, n, sizeof(*order), by_count, count);
	free(count);
	*nr = n < *nr ? n : *nr;
	return order;
}

static void show_working_sets(struct report *r, const struct part *part, struct page *p)
{
	uint64_t cell_ns = (r->last_ns - r->first_ns) / INTERVALS + 1;
	char width[16];
	struct grid *g = grid_create("working_set", "Pages touched (at least) in each %s of %s", grid_duration((double)cell_ns, width),
				     part->event);
	struct access *copy = malloc((part->nr + 1) * sizeof(*copy));
	uint32_t nr = WORKING_SETS, *order = largest_regions(part, &nr);
	int column[5];

	column[0] = grid_column(g, "memory", "memory", CELL_TEXT, 0, 0);
	column[1] = grid_column(g, "event", "", CELL_TEXT, GRID_HIDDEN, 0);
	column[2] = grid_column(g, "begin_ns", "", CELL_DURATION, GRID_HIDDEN, 0);
	column[3] = grid_column(g, "pages", "at most", CELL_NUMBER, 0, 0);
	column[4] = grid_column(g, "lane", "", CELL_TEXT, GRID_TEXT_ONLY | GRID_FIXED, INTERVALS);
	grid_show_all_rows(g);
	if (copy && order) {
		show_working_set(r, part, UINT32_MAX, cell_ns, g, column, p, copy);
		for (uint32_t i = 0; i < nr; i++)
			show_working_set(r, part, order[i], cell_ns, g, column, p, copy);
	}
	free(order);
	free(copy);
	grid_show(g, p);
}

/* ------------------------------------------------------------------------------------------------------------- pictures */

/* Two by four dots a character; without UTF-8 a character a cell, by how many of its dots are set. */
static void draw(const struct report *r, const struct part *part, uint32_t region, struct page *p)
{
	static const unsigned char bit[4][2] = { { 0x01, 0x08 }, { 0x02, 0x10 }, { 0x04, 0x20 }, { 0x40, 0x80 } };
	const struct access_region *x = &part->all->region[region];
	unsigned char cell[PICTURE_ROWS][PICTURE_CELLS] = { { 0 } };
	double time = (double)(r->last_ns - r->first_ns) + 1, range = (double)(x->high - x->low) + 1;
	char size[16], span[16], spare[64], *heading = NULL;
	size_t nr = 0;

	for (size_t i = 0; i < part->nr; i++) {
		int column, row;

		if (part->list[i].region != region)
			continue;
		nr++;
		column = (int)((double)(part->list[i].time_ns - r->first_ns) / time * 2 * PICTURE_CELLS);
		row = 4 * PICTURE_ROWS - 1 - (int)((double)(part->list[i].address - x->low) / range * 4 * PICTURE_ROWS);
		if (column >= 0 && column < 2 * PICTURE_CELLS && row >= 0 && row < 4 * PICTURE_ROWS)
			cell[row / 4][column / 2] |= bit[row % 4][column % 2];
	}
	if (nr < GRID_SMALL || asprintf(&heading, "%s: %zu samples (up: %sB, right: %s)", access_region_name(x, spare), nr,
					grid_short_number(range, size), grid_duration(time, span)) < 0)
		return;
	fputc('\n', p->to);
	page_put_wrapped(p, heading);
	free(heading);
	for (int row = 0; row < PICTURE_ROWS; row++) {
		int last = PICTURE_CELLS;

		while (last > 0 && !cell[row][last - 1])
			last--;
		fputs(p->utf8 ? "│" : "|", p->to);
		for (int c = 0; c < last; c++) {
			unsigned dots = cell[row][c], set = (unsigned)__builtin_popcount(dots);

			if (!dots)
				fputc(' ', p->to);
			else if (p->utf8)
				fprintf(p->to, "%c%c%c", 0xe2, 0xa0 + (dots >> 6), 0x80 + (dots & 0x3f));
			else
				fputc(set == 1 ? '.' : set < 4 ? ':' : '#', p->to);
		}
		fputc('\n', p->to);
	}
}

static void show_part(struct report *r, const struct part *part, struct page *p)
{
	uint32_t nr = PICTURES, *order = largest_regions(part, &nr);

	show_sums(r, part, false, p);
	show_sums(r, part, true, p);
	show_steps(part, p);
	show_working_sets(r, part, p);
	for (uint32_t i = 0; i < nr && p->form == PAGE_TEXT; i++)
		draw(r, part, order[i], p);
	free(order);
}

static void show(struct report *r, const struct view_instance *v, struct page *p)
{
	struct accesses *s = v->state;

	if (!s || !s->nr) {
		page_sentence(p,
				"No sample has an address: record with --registers all (generated code), --event page-faults, or a precise "
			      "memory event where there is one.");
		if (s && r->svg)
			memory_svg(r, s, r->svg);
		return;
	}
	if (accesses_settle(s, r->model)) {
		page_sentence(p, "There was no memory to show all of this.");
		return;
	}
	for (size_t i = 0, end; i < s->nr; i = end) {
		struct part part = { s, s->list + i, 0, "" };
		uint32_t event = s->list[i].event;

		for (end = i; end < s->nr && s->list[end].event == event; end++)
			;
		part.nr = end - i;
		if (event < r->model->nr_events && r->model->event[event].name)
			part.event = r->model->event[event].name;
		show_part(r, &part, p);
	}
	if (s->thinning)
		page_sentence(p, "(of %llu samples with an address one in %llu is in here, over the whole recording: counts and pages are "
			      "of those)", (unsigned long long)s->seen, 1ull << s->thinning);
	if (r->svg)
		memory_svg(r, s, r->svg);
}

const struct view view_memory = { "memory", "addresses per component and region: in order, strided, at random; steps; pages; pictures",
				  prepare, show };
