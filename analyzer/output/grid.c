/* SPDX-License-Identifier: MIT */
#include "analyzer/output/grid_internal.h"

#include "jitreg/base/grow.h"
#include "jitreg/base/utf8.h"
#include "jitreg/output/output_file.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct grid *grid_create(const char *name, const char *format, ...)
{
	struct grid *g = calloc(1, sizeof(*g));
	va_list list;

	if (!g)
		return NULL;
	g->name = name;
	g->samples = -1;
	g->bar_cells = GRID_BAR_CELLS;
	va_start(list, format);
	if (vasprintf(&g->heading, format, list) < 0)
		g->heading = NULL;
	g->failed = !g->heading;
	va_end(list);
	return g;
}

/* Return a copy of the key that any reader of JSON accepts, and that no other column has. Keys may be foreign text, such as names of
 * events. Return NULL if memory runs out. */
static char *make_unique_column_key(const struct grid *g, const char *key)
{
	char *clean = NULL;
	int same = 1;

	for (int round = 0; round <= g->nr_columns; round++) {
		bool used = false;

		free(clean);
		if (asprintf(&clean, round ? "%s_%d" : "%s", key ? key : "", ++same - 1) < 0)
			return NULL;
		for (char *c = clean; *c;) {
			struct utf8_character next = utf8_next(c);

			for (int i = 0; i < next.bytes && !(next.valid && next.printable); i++)
				c[i] = '?';
			c += next.bytes;
		}
		for (int i = 0; i < g->nr_columns; i++)
			used |= g->column[i].key && strcmp(g->column[i].key, clean) == 0;
		if (!used)
			break;
	}
	return clean;
}

/* Does a column with this key hold names of functions, files and the like, which differ at their ends? They lose their middle if there is
 * no room. Other texts, which differ at their beginnings, lose their end. */
static bool column_holds_names(const char *key)
{
	static const char *const keys[] = { "name", "function", "image", "path", "file", "executable", "parents", "mapper", "memory",
					    "comm" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strcmp(key, keys[i]) == 0)
			return true;
	return false;
}

int grid_column(struct grid *g, const char *key, const char *heading, enum cell_kind kind, unsigned flags, int width)
{
	if (!g || g->nr_columns == COLUMNS_MAX)
		return 0;
	flags |= kind == CELL_TEXT && column_holds_names(key) ? GRID_NAME : 0;
	g->column[g->nr_columns] = (struct column){
		.key = make_unique_column_key(g, key), .heading = strdup(heading), .kind = kind, .flags = flags, .width = width, .gap = 2,
		.tree = flags & GRID_OVERLAP
	};
	g->failed |= !g->column[g->nr_columns].key || !g->column[g->nr_columns].heading;
	if (flags & GRID_SAMPLES)
		g->samples = g->nr_columns;
	return g->nr_columns++;
}

void grid_set_total(struct grid *g, int column, double total)
{
	if (g)
		g->column[column].total = total;
}

void grid_show_all_rows(struct grid *g)
{
	if (g)
		g->all_rows = true;
}

void grid_hide(struct grid *g, int column)
{
	if (g)
		g->column[column].flags |= GRID_HIDDEN;
}

void grid_place(struct grid *g, int column, int gap, int width)
{
	if (!g)
		return;
	g->placed = true;
	g->column[column].gap = gap;
	g->column[column].width = width;
}

void grid_set_bar(struct grid *g, int cells)
{
	if (g)
		g->bar_cells = cells;
}

void grid_mark_tree_column(struct grid *g, int column)
{
	if (g)
		g->column[column].tree = true;
}

void grid_row(struct grid *g)
{
	if (!g)
		return;
	if (!ARRAY_GROW(g->rows)) {
		g->failed = true;
		return;
	}
	g->rows.at[g->rows.nr] = (struct row){ .cell = calloc((size_t)g->nr_columns + 1, sizeof(struct cell)) };
	if (g->rows.at[g->rows.nr].cell)
		g->rows.nr++;
	else
		g->failed = true;
}

static struct cell *cell_of_last_row(struct grid *g, int column)
{
	static struct cell nowhere;

	return g && g->rows.nr && !g->failed ? &g->rows.at[g->rows.nr - 1].cell[column] : &nowhere;
}

void grid_set(struct grid *g, int column, double value)
{
	cell_of_last_row(g, column)->set = true;
	cell_of_last_row(g, column)->value = value;
}

void grid_set_address(struct grid *g, int column, uint64_t address)
{
	cell_of_last_row(g, column)->set = true;
	cell_of_last_row(g, column)->address = address;
}

void grid_set_evidence(struct grid *g, int column, double samples)
{
	cell_of_last_row(g, column)->evidence = samples;
}

void grid_set_blank(struct grid *g, int column)
{
	cell_of_last_row(g, column)->blank = true;
}

static void replace_text(char **to, const char *text)
{
	free(*to);
	*to = strdup(text ? text : "");
}

void grid_set_text(struct grid *g, int column, const char *text)
{
	cell_of_last_row(g, column)->set = true;
	replace_text(&cell_of_last_row(g, column)->text, text);
}

void grid_set_prefix(struct grid *g, int column, const char *prefix)
{
	replace_text(&cell_of_last_row(g, column)->prefix, prefix);
}

void grid_set_detail(struct grid *g, int column, const char *detail)
{
	replace_text(&cell_of_last_row(g, column)->detail, detail);
}

void grid_mark_row_text(struct grid *g)
{
	if (g && g->rows.nr)
		g->rows.at[g->rows.nr - 1].text_only = true;
}

void grid_mark_row_rest(struct grid *g)
{
	if (g && g->rows.nr)
		g->rows.at[g->rows.nr - 1].no_bar = true;
}

static void destroy_grid(struct grid *g)
{
	for (size_t i = 0; i < g->rows.nr; i++) {
		for (int c = 0; c < g->nr_columns; c++) {
			free(g->rows.at[i].cell[c].text);
			free(g->rows.at[i].cell[c].prefix);
			free(g->rows.at[i].cell[c].detail);
		}
		free(g->rows.at[i].cell);
	}
	for (int c = 0; c < g->nr_columns; c++) {
		free(g->column[c].key);
		free(g->column[c].heading);
		free(g->column[c].tenths);
	}
	free(g->rows.at);
	free(g->heading);
	free(g);
}

void grid_discard(struct grid *g)
{
	if (g)
		destroy_grid(g);
}

struct sorting {
	int column;
	enum cell_kind kind;
};

/* Compare rows by the column that they are sorted by. Numbers are sorted from the largest, texts and addresses from the smallest. Rows
 * without a value come behind the others, and rows that only text shows (sums, remarks) last. */
static int compare_rows(const void *a, const void *b, void *context)
{
	const struct row *x = a, *y = b;
	const struct sorting *s = context;
	const struct cell *i = &x->cell[s->column], *j = &y->cell[s->column];
	int differ;

	if (x->text_only != y->text_only)
		return x->text_only ? 1 : -1;
	if (i->set != j->set)
		return i->set ? -1 : 1;
	if (s->kind == CELL_TEXT) {
		differ = strcmp(i->text ? i->text : "", j->text ? j->text : "");
		if (differ)
			return differ;
	} else if (s->kind == CELL_HEX && i->address != j->address) {
		return i->address < j->address ? -1 : 1;
	} else if (i->value < j->value || i->value > j->value) {
		return i->value > j->value ? -1 : 1;
	}
	return x->number < y->number ? -1 : x->number > y->number;
}

static int find_column(const struct grid *g, const char *name)
{
	for (int c = 0; c < g->nr_columns; c++)
		if (strcmp(g->column[c].key, name) == 0 || strcmp(g->column[c].heading, name) == 0)
			return c;
	return -1;
}

static void sort_rows(struct grid *g, struct page *p)
{
	struct sorting s = { find_column(g, p->sort), CELL_TEXT };

	if (s.column < 0 && strcmp(p->sort, "self") == 0) /* a table without totals has a column "share", which others call "self" */
		s.column = find_column(g, "share");
	if (s.column < 0)
		return;
	s.kind = g->column[s.column].kind;
	p->sorted = true;
	for (size_t i = 0; i < g->rows.nr; i++) {
		g->rows.at[i].number = i;
		for (int c = 0; c < g->nr_columns; c++) {
			free(g->rows.at[i].cell[c].prefix);
			g->rows.at[i].cell[c].prefix = NULL;
		}
	}
	if (g->rows.nr)
		qsort_r(g->rows.at, g->rows.nr, sizeof(*g->rows.at), compare_rows, &s);
}

/* Write a table to a CSV file of its own in p->csv_folder. If a page has several tables of one name, the later ones get a number in the
 * file's name, because their columns may differ. The first error is kept in p->error. */
static void write_csv_file(struct grid *g, struct page *p, bool is_first)
{
	char path[PATH_MAX], name[256];
	struct output_file o = { 0 };
	FILE *to = p->to;
	struct diag d = { "" };
	int ret;

	snprintf(name, sizeof(name), "%s", g->name ? g->name : "");
	for (int nr = 2; !is_first; nr++) {
		snprintf(name, sizeof(name), "%s-%d", g->name ? g->name : "", nr);
		is_first = page_note_name(&p->tables, name);
	}
	for (char *c = name; *c; c++) /* the name may contain that of a host's level, which can be any text */
		if (!isalnum((unsigned char)*c) && !strchr("_-", *c))
			*c = '_';
	snprintf(path, sizeof(path), "%s/%s.csv", p->csv_folder, name);
	ret = output_file_open_stream(&o, path, &d);
	if (ret == 0) {
		p->to = o.to;
		p->begun = false;
		grid_show_csv(g, p);
		ret = output_file_end(&o, &d);
	}
	if (ret && !p->error) {
		p->error = ret;
		p->why = strdup(d.text);
	}
	p->to = to;
}

void grid_show(struct grid *g, struct page *p)
{
	bool is_first;

	if (!g || g->failed)
		page_sentence(p, "Out of memory: a part of this table is missing.");
	if (!g)
		return;
	for (int c = 0; p->sort && c < g->nr_columns; c++)
		page_note_name(&p->headings, *g->column[c].heading ? g->column[c].heading : g->column[c].key);
	is_first = page_note_name(&p->tables, g->name ? g->name : "");
	if (p->table && (!g->name || strcmp(p->table, g->name) != 0)) {
		destroy_grid(g);
		return;
	}
	if (p->sort && !g->failed)
		sort_rows(g, p);
	if (p->form == PAGE_JSON)
		grid_show_json(g, p);
	else if (p->form == PAGE_CSV && p->csv_folder)
		write_csv_file(g, p, is_first);
	else if (p->form == PAGE_CSV)
		grid_show_csv(g, p);
	else
		grid_show_text(g, p);
	destroy_grid(g);
}
