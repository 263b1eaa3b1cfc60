/* SPDX-License-Identifier: MIT */
/*
 * memory: which memory each component touched, and how: sequential, strided or random; which regions (by the host's names, or
 * the kernel's: heap, stack, mappings), strides, pages at a time; and a picture of time against address.  From samples
 * that have an address (page-faults everywhere, precise memory events where the processor has them), and from those of generated code
 * whose registers tell what the instruction is about to touch (--registers all tells most).
 */
#include "analyzer/pictures/memory.h"
#include "analyzer/query/accesses.h"
#include "analyzer/view/memory_time.h"

#include <stdlib.h>
#include <string.h>

static void free_accesses_state(void *state)
{
	accesses_fini(state);
}

static void prepare_memory_view(struct report *r, struct view_instance *v)
{
	struct accesses *s = report_add_state(r, sizeof(*s), free_accesses_state);

	v->state = s;
	if (s)
		s->level = report_find_level(r, r->level);
	r->addresses = true;
	report_add_callback(r, accesses_add_rows, s);
}

static const char *component_name(const struct report *r, const struct accesses *s, uint32_t component, char spare[32])
{
	return s->level == LEVELS_MAX ? r->a->function[component].name : report_component_name(r, component, spare);
}

static const char *region_kind_text(const struct access_region *g)
{
	static const char *const kinds[] = { "named", "heap", "stack", "mapping", "file" };

	return g->memory ? kinds[g->memory->kind] : "-";
}

/* ------------------------------------------------------------------------------------------- by component, by region */

struct sum {
	uint32_t of; /* component, or region */
	size_t nr, order[NR_ACCESS_ORDERS];
	uint64_t low, high, stride; /* stride: the one with most samples, so far */
	size_t of_stride;
	struct access *list; /* its own */
};

static uint32_t sum_key_of_access(const struct access *x, bool region)
{
	return region ? x->region : x->component;
}

static int compare_access_components(const void *a, const void *b)
{
	const struct access *x = a, *y = b;

	return x->component != y->component ? (x->component < y->component ? -1 : 1) : x->stride < y->stride ? -1 : x->stride > y->stride;
}

static int compare_access_regions(const void *a, const void *b)
{
	const struct access *x = a, *y = b;

	return x->region != y->region ? (x->region < y->region ? -1 : 1) : x->stride < y->stride ? -1 : x->stride > y->stride;
}

static int compare_sum_counts(const void *a, const void *b)
{
	const struct sum *x = a, *y = b;

	return x->nr != y->nr ? (x->nr > y->nr ? -1 : 1) : x->of < y->of ? -1 : x->of > y->of;
}

/* The largest first; copy: room for as many accesses, which the sums then point into. */
static size_t make_access_sums(const struct memory_part *p, bool region, struct access *copy, struct sum *sum)
{
	size_t nr = 0, of_stride = 0;

	memcpy(copy, p->list, p->nr * sizeof(*copy));
	qsort(copy, p->nr, sizeof(*copy), region ? compare_access_regions : compare_access_components);
	for (size_t i = 0; i < p->nr; i++) {
		struct sum *s;

		if (i == 0 || sum_key_of_access(&copy[i], region) != sum_key_of_access(&copy[i - 1], region))
			sum[nr++] = (struct sum){ .of = sum_key_of_access(&copy[i], region), .low = UINT64_MAX, .list = &copy[i] };
		s = &sum[nr - 1];
		of_stride = s->nr && copy[i].stride == copy[i - 1].stride ? of_stride + 1 : 1;
		if (copy[i].stride && of_stride > s->of_stride) {
			s->stride = copy[i].stride;
			s->of_stride = of_stride;
		}
		s->nr++;
		s->order[copy[i].order]++;
		s->low = copy[i].address < s->low ? copy[i].address : s->low;
		s->high = copy[i].address > s->high ? copy[i].address : s->high;
	}
	qsort(sum, nr, sizeof(*sum), compare_sum_counts);
	return nr;
}

static void show_access_sums(struct report *r, const struct memory_part *part, bool region, struct page *p)
{
	struct grid *g = region ? grid_create("regions", "Memory regions, event %s", part->event) :
				  grid_create("memory", "Memory accesses, event %s", part->event);
	struct access *copy = malloc((part->nr + 1) * sizeof(*copy));
	struct sum *sum = malloc((part->nr + 1) * sizeof(*sum));
	int share = grid_column(g, "share", "share", CELL_SHARE, GRID_BAR, 0);
	int samples = grid_column(g, "samples", "samples", CELL_COUNT, GRID_SAMPLES, 0);
	int sequential = grid_column(g, "sequential", "sequential", CELL_PERCENT, 0, 0);
	int strided = grid_column(g, "strided", "strided", CELL_PERCENT, 0, 0);
	int irregular = grid_column(g, "random", "random", CELL_PERCENT, 0, 0);
	int stride = grid_column(g, "stride", "stride", CELL_NUMBER, 0, 0), pages = grid_column(g, "pages", "pages", CELL_NUMBER, 0, 0);
	int ordered = grid_column(g, "ordered_samples", "", CELL_COUNT, GRID_HIDDEN, 0);
	int event = grid_column(g, "event", "", CELL_TEXT, GRID_HIDDEN, 0);
	int low = grid_column(g, "low", "", CELL_HEX, GRID_HIDDEN, 0), high = grid_column(g, "high", "", CELL_HEX, GRID_HIDDEN, 0);
	int kind = region ? grid_column(g, "kind", "kind", CELL_TEXT, GRID_FIXED, 8) : -1;
	int name = grid_column(g, "name", region ? "memory" : part->all->level == LEVELS_MAX ? "function" :
					  report_level_name(r, part->all->level), CELL_TEXT, 0, 0);
	size_t nr = copy && sum ? make_access_sums(part, region, copy, sum) : 0;
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
			grid_set(g, sequential, (double)sum[i].order[ACCESS_SEQUENTIAL] / known);
			grid_set(g, strided, (double)sum[i].order[ACCESS_STRIDED] / known);
			grid_set(g, irregular, (double)sum[i].order[ACCESS_RANDOM] / known);
		}
		if (sum[i].stride)
			grid_set(g, stride, (double)sum[i].stride);
		grid_set(g, pages, (double)accesses_pages(sum[i].list, sum[i].nr));
		grid_set_text(g, event, part->event);
		grid_set_address(g, low, sum[i].low);
		grid_set_address(g, high, sum[i].high);
		if (region) {
			grid_set_text(g, kind, region_kind_text(&part->all->region[sum[i].of]));
			grid_set_text(g, name, access_region_name(&part->all->region[sum[i].of], spare));
		} else {
			grid_set_text(g, name, component_name(r, part->all, sum[i].of, spare));
		}
	}
	free(copy);
	free(sum);
	grid_show(g, p);
}

/* ---------------------------------------------------------------------------------------------------------------- strides */

static int compare_strides(const void *a, const void *b)
{
	const struct access *x = a, *y = b;

	return x->stride != y->stride ? (x->stride < y->stride ? -1 : 1) : 0;
}

/* Strides of up to a page each by itself (elements have few sizes), wider ones by powers of two. */
static uint64_t stride_bucket(uint64_t stride)
{
	return stride <= 1u << ACCESSES_PAGE_BITS ? stride : 1ull << (63 - __builtin_clzll(stride));
}

static void show_strides(const struct memory_part *part, struct page *p)
{
	struct grid *g = grid_create("strides", "Strides per instruction, event %s", part->event);
	struct access *copy = malloc((part->nr + 1) * sizeof(*copy));
	int share = grid_column(g, "share", "share", CELL_SHARE, GRID_BAR, 0);
	int samples = grid_column(g, "samples", "samples", CELL_COUNT, GRID_SAMPLES, 0);
	int event = grid_column(g, "event", "", CELL_TEXT, GRID_HIDDEN, 0);
	int stride = grid_column(g, "stride", "", CELL_NUMBER, GRID_HIDDEN, 0);
	int shown = grid_column(g, "shown", "bytes", CELL_TEXT, GRID_TEXT_ONLY, 0);
	char text[32], number[16];
	size_t first = 0;

	grid_set_total(g, share, (double)part->nr);
	grid_set_total(g, samples, (double)part->nr);
	if (copy) {
		memcpy(copy, part->list, part->nr * sizeof(*copy));
		qsort(copy, part->nr, sizeof(*copy), compare_strides);
	}
	for (size_t i = 0; copy && i < part->nr; i++) {
		uint64_t at = copy[i].stride;

		if (i + 1 < part->nr && (at ? stride_bucket(at) : 0) == (copy[i + 1].stride ? stride_bucket(copy[i + 1].stride) : 0))
			continue;
		grid_row(g);
		grid_set(g, share, (double)(i + 1 - first));
		grid_set(g, samples, (double)(i + 1 - first));
		grid_set_text(g, event, part->event);
		if (at)
			grid_set(g, stride, (double)stride_bucket(at));
		snprintf(text, sizeof(text), at > stride_bucket(at) ? "%s and more" : "%s",
			 grid_short_number((double)stride_bucket(at ? at : 1), number));
		grid_set_text(g, shown, at ? text : "(constant address, or too few samples)");
		first = i + 1;
	}
	free(copy);
	grid_show(g, p);
}

static void show_event_accesses(struct report *r, const struct memory_part *part, struct page *p)
{
	show_access_sums(r, part, false, p);
	show_access_sums(r, part, true, p);
	show_strides(part, p);
	memory_show_working_sets(r, part, p);
	memory_draw(r, part, p);
}

static void show_memory_view(struct report *r, const struct view_instance *v, struct page *p)
{
	struct accesses *s = v->state;

	if (!s || !s->nr) {
		page_sentence(p,
				"No sample has an address: record with --registers all (generated code), --event page-faults@1, or a "
				"precise memory event where there is one.");
		if (s && r->svg)
			memory_svg(r, s, r->svg);
		return;
	}
	if (accesses_settle(s, r->model)) {
		page_sentence(p, "Out of memory: a part of this view is missing.");
		return;
	}
	for (size_t i = 0, end; i < s->nr; i = end) {
		struct memory_part part = { s, s->list + i, 0, "" };
		uint32_t event = s->list[i].event;

		for (end = i; end < s->nr && s->list[end].event == event; end++)
			;
		part.nr = end - i;
		if (event < r->model->nr_events && r->model->event[event].name)
			part.event = r->model->event[event].name;
		show_event_accesses(r, &part, p);
	}
	if (s->thinning)
		page_sentence(p, "(1 in %llu of the %llu samples with an address is used, evenly over the recording; counts and pages are "
			      "of these)", 1ull << s->thinning, (unsigned long long)s->seen);
	if (r->svg)
		memory_svg(r, s, r->svg);
}

const struct view view_memory = { "memory", "accesses by component and region: sequential, strided, random; strides; pages; pictures",
				  prepare_memory_view, show_memory_view };
