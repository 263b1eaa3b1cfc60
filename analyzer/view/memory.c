/* SPDX-License-Identifier: MIT */
/*
 * The view memory shows which memory each component touched, and whether in sequence, with a stride or at random. It shows the regions (by
 * the host's names, or those of the kernel, such as heap and stack), strides, pages touched per interval, and a picture of time against
 * address. It uses samples that have an address, which are those of page-faults, on every machine, and of precise memory events, where the
 * processor has them. It also uses samples of generated code from whose registers the address can be computed that the instruction is about
 * to touch. Most often, that needs --registers all.
 */
#include "analyzer/accesses/accesses.h"
#include "analyzer/pictures/memory.h"
#include "analyzer/view/memory_time.h"

#include <stdlib.h>

#define OUT_OF_MEMORY "Out of memory: a part of this view is missing."

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
	return s->level == LEVELS_MAX ? function_label(&r->a->function[component]) : report_component_name(r, component, spare);
}

static const char *region_kind_text(const struct access_region *g)
{
	static const char *const kinds[] = { "named", "heap", "stack", "mapping", "file" };

	return g->memory ? kinds[g->memory->kind] : "-";
}

/* ------------------------------------------------------------------------------------------- by component, by region */

struct part_sum {
	uint32_t of; /* component or region */
	struct access_sum sum;
};

static int compare_part_sums(const void *a, const void *b)
{
	const struct part_sum *x = a, *y = b;

	if (x->sum.samples != y->sum.samples)
		return x->sum.samples > y->sum.samples ? -1 : 1;
	return x->of < y->of ? -1 : x->of > y->of;
}

/*
 * Returns the sums by component or region, the largest first, and sets *nr. If memory runs out, *nr is 0, and the result may be NULL. The
 * caller frees the list.
 */
static struct part_sum *make_access_sums(const struct memory_part *p, const struct access_orders *o, bool region, size_t *nr)
{
	const struct accesses *s = p->all;
	uint32_t *key = calloc(s->nr + 1, sizeof(*key)), nr_keys = 1;
	struct access_sum *sum;
	struct part_sum *list;
	bool ok;

	for (size_t i = 0; key && i < s->nr; i++) {
		key[i] = region ? s->at[i].region : s->at[i].component;
		nr_keys = key[i] >= nr_keys ? key[i] + 1 : nr_keys;
	}
	sum = malloc(nr_keys * sizeof(*sum));
	list = malloc(nr_keys * sizeof(*list));
	ok = key && sum && list && access_orders_sum(o, &s->columns, key, nr_keys, sum) == 0;
	*nr = 0;
	for (uint32_t k = 0; ok && k < nr_keys; k++)
		if (sum[k].low <= sum[k].high)
			list[(*nr)++] = (struct part_sum){ k, sum[k] };
	if (ok)
		qsort(list, *nr, sizeof(*list), compare_part_sums);
	free(key);
	free(sum);
	return list;
}

static void show_access_sums(struct report *r, const struct memory_part *part, const struct access_orders *o, bool region, struct page *p)
{
	struct grid *g = region ? grid_create("regions", "Memory regions, event %s", part->event) :
				  grid_create("memory", "Memory accesses, event %s", part->event);
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
	size_t nr;
	struct part_sum *list = make_access_sums(part, o, region, &nr);
	char spare[64];

	grid_set_total(g, share, part->samples);
	grid_set_total(g, samples, part->samples);
	for (size_t i = 0; i < nr; i++) {
		const struct access_sum *x = &list[i].sum;
		double known = x->order[ACCESS_SEQUENTIAL] + x->order[ACCESS_STRIDED] + x->order[ACCESS_RANDOM];

		grid_row(g);
		grid_set(g, share, x->samples);
		grid_set(g, samples, x->samples);
		grid_set(g, ordered, known);
		if (known > 0) {
			grid_set(g, sequential, x->order[ACCESS_SEQUENTIAL] / known);
			grid_set(g, strided, x->order[ACCESS_STRIDED] / known);
			grid_set(g, irregular, x->order[ACCESS_RANDOM] / known);
		}
		if (x->stride)
			grid_set(g, stride, (double)x->stride);
		grid_set(g, pages, x->pages);
		grid_set_text(g, event, part->event);
		grid_set_address(g, low, x->low);
		grid_set_address(g, high, x->high);
		if (region) {
			grid_set_text(g, kind, region_kind_text(&part->all->regions.at[list[i].of]));
			grid_set_text(g, name, access_region_name(&part->all->regions.at[list[i].of], spare));
		} else {
			grid_set_text(g, name, component_name(r, part->all, list[i].of, spare));
		}
	}
	free(list);
	grid_show(g, p);
}

/* ---------------------------------------------------------------------------------------------------------------- strides */

static void show_strides(const struct memory_part *part, const struct access_orders *o, struct page *p)
{
	struct grid *g = grid_create("strides", "Strides per instruction, event %s", part->event);
	int share = grid_column(g, "share", "share", CELL_SHARE, GRID_BAR, 0);
	int samples = grid_column(g, "samples", "samples", CELL_COUNT, GRID_SAMPLES, 0);
	int event = grid_column(g, "event", "", CELL_TEXT, GRID_HIDDEN, 0);
	int stride = grid_column(g, "stride", "", CELL_NUMBER, GRID_HIDDEN, 0);
	int shown = grid_column(g, "shown", "bytes", CELL_TEXT, GRID_TEXT_ONLY, 0);
	char text[32], number[16];
	uint32_t nr;
	struct access_stride *list = access_orders_strides(o, &part->all->columns, &nr);

	grid_set_total(g, share, part->samples);
	grid_set_total(g, samples, part->samples);
	for (uint32_t i = 0; i < nr; i++) {
		grid_row(g);
		grid_set(g, share, list[i].samples);
		grid_set(g, samples, list[i].samples);
		grid_set_text(g, event, part->event);
		if (list[i].stride)
			grid_set(g, stride, (double)list[i].stride);
		snprintf(text, sizeof(text), list[i].stride > 1u << ACCESSES_PAGE_BITS ? "%s and more" : "%s",
			 grid_short_number((double)list[i].stride, number));
		grid_set_text(g, shown, list[i].stride ? text : "(constant address, or too few samples)");
	}
	free(list);
	grid_show(g, p);
}

static void show_event_accesses(struct report *r, const struct memory_part *part, struct page *p)
{
	struct access_orders o;
	const size_t begin = (size_t)(part->list - part->all->at);

	if (accesses_find_orders(part->all, begin, begin + part->nr, &o)) {
		page_sentence(p, OUT_OF_MEMORY);
		return;
	}
	show_access_sums(r, part, &o, false, p);
	show_access_sums(r, part, &o, true, p);
	show_strides(part, &o, p);
	access_orders_fini(&o);
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
		if (s && v->options.svg)
			memory_svg(r, s, v->options.svg);
		return;
	}
	if (accesses_settle(s, r->model)) {
		page_sentence(p, OUT_OF_MEMORY);
		return;
	}
	for (size_t i = 0, end; i < s->nr; i = end) {
		struct memory_part part = { .all = s, .list = s->at + i, .event = "" };
		uint32_t event = s->at[i].event;

		for (end = i; end < s->nr && s->at[end].event == event; end++)
			part.samples += s->at[end].share;
		part.nr = end - i;
		if (event < r->model->nr_events && r->model->event[event].name)
			part.event = r->model->event[event].name;
		show_event_accesses(r, &part, p);
	}
	if (s->thinning)
		page_sentence(p, "(1 in %llu of the %.0f samples with an address is used, evenly over the recording; counts and pages are "
			      "of these)", 1ull << s->thinning, s->seen);
	if (v->options.svg)
		memory_svg(r, s, v->options.svg);
}

const struct view view_memory = { "memory", "accesses by component and region: sequential, strided, random; strides; pages; pictures",
				  prepare_memory_view, show_memory_view };
