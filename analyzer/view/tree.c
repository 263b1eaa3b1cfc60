/* SPDX-License-Identifier: MIT */
/*
 * The view tree shows calls from the outermost frame inwards, with self and total. The view callers shows each sampled function with its
 * callers, and the view callees each function with its callees. All show functions, or with --level the components of a level.
 */
#include "analyzer/query/calltree.h"
#include "analyzer/view/view.h"

#include <stdlib.h>
#include <string.h>

#define SHOWN_PART 0.005 /* in text form, branches with a smaller share are left out, unless --top 0 */
#define PREFIX_MAX 512

static void prepare_call_tree_views(struct report *r, struct view_instance *v)
{
	v->group[0] = report_add_group(r, 0, TABLE_STACK, -1);
	r->stacks = true;
}

static uint32_t requested_level(const struct report *r)
{
	return r->level ? report_find_level(r, r->level) : LEVELS_MAX;
}

struct drawing {
	struct report *r;
	const struct calltree *t;
	struct grid *g;
	const struct page *p;
	/* place is -1 if there are no columns file, line, text and place. */
	int total, own, samples, id, parent, depth, name, file, line, text, place;
	double least;
	uint32_t left_out;
};

/* Sets the columns of the place of a call, such as "spin.c:6  s += 1.5 / i;", and of its parts. */
static void set_place_of_call(struct drawing *d, uint32_t line)
{
	char text[SOURCE_TEXT_COLUMNS_MAX], place[SOURCE_TEXT_COLUMNS_MAX + 64];
	const struct line *l = &d->r->a->line[line];
	size_t bytes;
	const char *found;

	if (d->place < 0)
		return;
	grid_set_text(d->g, d->place, "");
	if (!line)
		return;
	found = source_text_of_line(d->r, line, &bytes);
	grid_set_text(d->g, d->file, l->file);
	grid_set(d->g, d->line, l->number);
	if (!found)
		return;
	source_text_cut(found, bytes, text);
	grid_set_text(d->g, d->text, text);
	snprintf(place, sizeof(place), "%.40s:%u  %s", basename(l->file), l->number, text);
	grid_set_text(d->g, d->place, place);
}

static void draw_call(struct drawing *d, uint32_t call, const char *prefix, bool last)
{
	const struct call *c = &d->t->at[call];
	char branch[PREFIX_MAX + 8], spare[32];

	snprintf(branch, sizeof(branch), "%s%s", prefix, !c->parent ? "" : d->p->utf8 ? (last ? "└" : "├") : last ? "`" : "|");
	grid_row(d->g);
	grid_set(d->g, d->total, c->total);
	grid_set(d->g, d->own, d->t->at[0].total > 0 ? c->own / d->t->at[0].total : 0);
	grid_set(d->g, d->samples, c->total_samples);
	grid_set(d->g, d->id, call);
	if (c->parent)
		grid_set(d->g, d->parent, c->parent);
	grid_set(d->g, d->depth, c->depth - 1);
	grid_set_prefix(d->g, d->name, branch);
	grid_set_text(d->g, d->name, calltree_name(d->r, d->t, call, spare));
	set_place_of_call(d, c->line);
}

static uint32_t count_shown_children(const struct drawing *d, uint32_t call)
{
	const struct call *c = &d->t->at[call];
	uint32_t nr = 0;

	for (uint32_t i = 0; i < c->nr_children; i++)
		nr += d->t->at[c->child[i]].total >= d->least;
	return nr;
}

/*
 * Draws the tree without recursion, because a tree may be deeper than the C stack allows. Calls whose prefix would have PREFIX_MAX bytes or
 * more are drawn no farther to the right.
 */
static void draw_calls(struct drawing *d)
{
	struct place {
		/* next: the next child to draw. nr: number of children that are shown, which come first, because they are sorted. */
		uint32_t next, nr;
		uint32_t prefix; /* bytes */
	} *place = calloc((size_t)d->t->nr + 1, sizeof(*place));
	char prefix[PREFIX_MAX] = "";

	if (!place)
		return;
	place[0].nr = count_shown_children(d, 0);
	d->left_out = d->t->at[0].nr_children - place[0].nr;
	for (uint32_t at = 0;;) {
		const struct call *c = &d->t->at[at];
		const char *branch = !c->parent || place[c->parent].next == place[c->parent].nr ? " " : d->p->utf8 ? "│" : "|";
		struct place *own = &place[at], *below;
		uint32_t call;

		if (own->next == own->nr) {
			if (!at)
				break;
			at = c->parent;
			continue;
		}
		call = c->child[own->next++];
		below = &place[call];
		below->prefix = own->prefix;
		if (at && c->parent && own->prefix + strlen(branch) < PREFIX_MAX) {
			memcpy(prefix + own->prefix, branch, strlen(branch));
			below->prefix += (uint32_t)strlen(branch);
		}
		prefix[below->prefix] = 0;
		draw_call(d, call, prefix, own->next == own->nr);
		below->nr = count_shown_children(d, call);
		d->left_out += d->t->at[call].nr_children - below->nr;
		at = call;
	}
	free(place);
}

static void add_place_columns(struct drawing *d)
{
	bool any = false;
	size_t bytes;

	if (d->t->at[0].nr_children) /* only the first text that is missing is explained, so the largest function is asked for first */
		source_text_of_line(d->r, d->t->at[d->t->at[0].child[0]].line, &bytes);
	for (uint32_t i = 1; i < d->t->nr && !any; i++)
		any = d->t->at[i].total >= d->least && source_text_of_line(d->r, d->t->at[i].line, &bytes) != NULL;
	d->file = grid_column(d->g, "file", "", CELL_TEXT, GRID_HIDDEN, 0);
	d->line = grid_column(d->g, "line", "", CELL_COUNT, GRID_HIDDEN, 0);
	d->text = grid_column(d->g, "text", "", CELL_TEXT, GRID_HIDDEN, 0);
	d->place = grid_column(d->g, "place", "line", CELL_TEXT, GRID_TEXT_ONLY | GRID_DIM | (any ? 0 : GRID_HIDDEN), 0);
}

static void show_call_tree(struct report *r, const struct view_instance *v, struct page *p, bool inverted, const char *name,
			   const char *heading)
{
	struct grid *g = grid_create(name, "%s", heading);
	struct drawing d = { .r = r, .g = g, .p = p, .place = -1 };
	struct calltree t;
	bool made = calltree_make(r, v->group[0], requested_level(r), inverted, &t);

	d.t = &t;
	d.total = grid_column(g, "share", inverted ? "share" : "total", CELL_SHARE, GRID_BAR, 0);
	d.own = grid_column(g, "self", "self", CELL_PERCENT, inverted ? GRID_HIDDEN : 0, 0);
	d.samples = grid_column(g, "samples", "samples", CELL_COUNT, GRID_SAMPLES, 0);
	d.id = grid_column(g, "id", "", CELL_COUNT, GRID_HIDDEN, 0);
	d.parent = grid_column(g, "parent", "", CELL_COUNT, GRID_HIDDEN, 0);
	d.depth = grid_column(g, "depth", "", CELL_COUNT, GRID_HIDDEN, 0);
	d.name = grid_column(g, "name", requested_level(r) == LEVELS_MAX ? "function" : report_level_name(r, requested_level(r)), CELL_TEXT,
			     0, 0);
	grid_show_all_rows(g);
	grid_mark_tree_column(g, d.total);
	if (made) {
		grid_set_total(g, d.total, t.at[0].total);
		grid_set_total(g, d.samples, t.at[0].total_samples);
		d.least = p->form == PAGE_TEXT && p->top ? SHOWN_PART * t.at[0].total : 0;
		if (inverted && requested_level(r) == LEVELS_MAX)
			add_place_columns(&d);
		draw_calls(&d);
		if (t.at[0].own > 0) { /* samples without any function, or any component of the level */
			grid_row(g);
			grid_set(g, d.total, t.at[0].own);
			grid_set(g, d.own, t.at[0].own / t.at[0].total);
			grid_set(g, d.samples, t.at[0].own_samples);
			grid_set(g, d.depth, 0);
			grid_set_text(g, d.name, "(unattributed)");
		}
	}
	calltree_fini(&t);
	grid_show(g, p);
	if (d.left_out)
		page_sentence(p, "(%u branches of less than %.1f %% each omitted; --top 0 shows all)", d.left_out, 100 * SHOWN_PART);
}

static void show_tree_view(struct report *r, const struct view_instance *v, struct page *p)
{
	show_call_tree(r, v, p, false, "tree", "Calls, from the outermost frame inwards");
}

static void show_callers_view(struct report *r, const struct view_instance *v, struct page *p)
{
	show_call_tree(r, v, p, true, "callers", "Callers of the sampled functions");
	view_say_source_texts(r, p);
}

/* ------------------------------------------------------------------------------------------------------------- callees */

struct pair {
	uint32_t from, to; /* keys of caller and callee */
	double total, samples;
};

static int compare_pair_keys(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

struct callee {
	uint32_t key, call; /* call: a call of this callee, which names the row; 0: there is none */
	double total, own, samples;
	uint32_t first, nr; /* pairs in which it is the caller: pair[first] to pair[first + nr - 1] */
};

static int compare_callee_totals(const void *a, const void *b)
{
	const struct callee *x = a, *y = b;

	if (x->total < y->total || x->total > y->total)
		return x->total > y->total ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

static int compare_pair_totals(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	if (x->total < y->total || x->total > y->total)
		return x->total > y->total ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

/*
 * Fills the table of callees. The total of a function (or component) is the sum over its calls, without those below another call of the
 * same one, which would count twice.
 */
static void fill_callees(const struct report *r, const struct calltree *t, struct grid *g, const int column[5], const struct page *p)
{
	uint32_t nr_keys = t->level == LEVELS_MAX ? r->a->nr_functions : r->model->dictionary.components.nr, nr = 0;
	struct callee *key = calloc((size_t)nr_keys + 1, sizeof(*key));
	struct pair *pair = calloc((size_t)t->nr + 1, sizeof(*pair));
	uint32_t *name_of = calloc((size_t)nr_keys + 1, sizeof(*name_of));
	char spare[32];

	for (uint32_t i = 1; key && pair && name_of && i < t->nr; i++) {
		const struct call *c = &t->at[i];

		if (c->key >= nr_keys)
			continue;
		key[c->key].key = c->key;
		name_of[c->key] = key[c->key].call = i;
		key[c->key].own += c->own;
		if (!c->again) {
			key[c->key].total += c->total;
			key[c->key].samples += c->total_samples;
		}
		if (c->parent && !c->pair_again)
			pair[nr++] = (struct pair){ t->at[c->parent].key, c->key, c->total, c->total_samples };
	}
	if (!key || !pair || !name_of)
		goto out;
	if (nr)
		qsort(pair, nr, sizeof(*pair), compare_pair_keys);
	for (uint32_t i = 0, to = 0; i < nr; i++) { /* pairs with the same from and to become one */
		if (i && pair[to].from == pair[i].from && pair[to].to == pair[i].to) {
			pair[to].total += pair[i].total;
			pair[to].samples += pair[i].samples;
			continue;
		}
		to = i ? to + 1 : 0;
		pair[to] = pair[i];
		if (key[pair[to].from].nr++ == 0)
			key[pair[to].from].first = to;
	}
	for (uint32_t i = 0; i < nr_keys; i++)
		if (key[i].nr)
			qsort(pair + key[i].first, key[i].nr, sizeof(*pair), compare_pair_totals);
	qsort(key, nr_keys, sizeof(*key), compare_callee_totals);
	for (uint32_t i = 0; i < nr_keys && key[i].call; i++) {
		if (p->form == PAGE_TEXT && p->top && i >= (uint32_t)p->top)
			break;
		grid_row(g);
		grid_set(g, column[0], key[i].total);
		grid_set(g, column[1], t->at[0].total > 0 ? key[i].own / t->at[0].total : 0);
		grid_set(g, column[2], key[i].samples);
		grid_set_text(g, column[3], "");
		grid_set_text(g, column[4], calltree_name(r, t, key[i].call, spare));
		for (uint32_t n = 0; n < key[i].nr; n++) {
			const struct pair *x = &pair[key[i].first + n];

			if (p->form == PAGE_TEXT && p->top && (n >= (uint32_t)p->top || x->total < SHOWN_PART * t->at[0].total))
				break;
			grid_row(g);
			grid_set(g, column[0], x->total);
			grid_set(g, column[2], x->samples);
			grid_set_text(g, column[3], calltree_name(r, t, key[i].call, spare));
			grid_set_prefix(g, column[4], p->utf8 ? "  → " : "  -> ");
			grid_set_text(g, column[4], calltree_name(r, t, name_of[x->to], spare));
		}
	}
out:
	free(key);
	free(pair);
	free(name_of);
}

static void show_callees_view(struct report *r, const struct view_instance *v, struct page *p)
{
	struct grid *g = grid_create("callees", "Callees of each function");
	struct calltree t;
	int column[5];

	column[0] = grid_column(g, "share", "total", CELL_SHARE, GRID_BAR, 0);
	column[1] = grid_column(g, "self", "self", CELL_PERCENT, 0, 0);
	column[2] = grid_column(g, "samples", "samples", CELL_COUNT, GRID_SAMPLES, 0);
	column[3] = grid_column(g, "caller", "", CELL_TEXT, GRID_HIDDEN, 0);
	column[4] = grid_column(g, "name", requested_level(r) == LEVELS_MAX ? "function" : report_level_name(r, requested_level(r)),
				CELL_TEXT, 0, 0);
	grid_show_all_rows(g);
	grid_mark_tree_column(g, column[0]);
	if (calltree_make(r, v->group[0], requested_level(r), false, &t)) {
		grid_set_total(g, column[0], t.at[0].total);
		grid_set_total(g, column[2], t.at[0].total_samples);
		fill_callees(r, &t, g, column, p);
	}
	calltree_fini(&t);
	grid_show(g, p);
}

const struct view view_tree = { "tree", "calls from the outermost frame inwards, self and total (--level: of components)",
				prepare_call_tree_views, show_tree_view };
const struct view view_callers = { "callers", "sampled functions with their callers", prepare_call_tree_views, show_callers_view };
const struct view view_callees = { "callees", "functions with their callees", prepare_call_tree_views, show_callees_view };
