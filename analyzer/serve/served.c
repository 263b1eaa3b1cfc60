/* SPDX-License-Identifier: MIT */
#include "analyzer/serve/served.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Keeps a column of html_columns_write(), each number as wide as the column needs. */
static int keep_served_column(void *context, const struct html_column *column, const uint64_t *number, uint32_t nr)
{
	struct served *s = context;
	struct served_column *c = &s->column[s->nr_columns];

	if (s->nr_columns == HTML_COLUMNS_MAX || strlen(column->name) >= sizeof(c->name))
		return -E2BIG;
	c->data = malloc((size_t)nr * column->width + 8);
	if (!c->data)
		return -ENOMEM;
	strcpy(c->name, column->name);
	c->width = column->width;
	c->nr = nr;
	s->nr_columns++;
	for (uint32_t i = 0; i < nr; i++)
		switch (c->width) {
		case 1:
			((uint8_t *)c->data)[i] = (uint8_t)number[i];
			break;
		case 2:
			((uint16_t *)c->data)[i] = (uint16_t)number[i];
			break;
		case 4:
			((uint32_t *)c->data)[i] = (uint32_t)number[i];
			break;
		default:
			((uint64_t *)c->data)[i] = number[i];
		}
	return 0;
}

/* Keeps the output of put() as a string on the heap.  Returns 0 or -ENOMEM. */
static int keep_printed_text(char **text, size_t *bytes, const struct html_trace *t, const struct html_columns *c,
			     void (*put)(const struct html_trace *, const struct html_columns *, FILE *))
{
	FILE *f = open_memstream(text, bytes);
	bool ok;

	if (!f)
		return -ENOMEM;
	put(t, c, f);
	ok = !ferror(f);
	return fclose(f) == 0 && ok ? 0 : -ENOMEM;
}

static void print_plain_html(const struct html_trace *t, const struct html_columns *c, FILE *to)
{
	(void)c;
	html_put_plain(t, to);
}

const struct served_column *served_find(const struct served *s, const char *name)
{
	for (uint32_t i = 0; i < s->nr_columns; i++)
		if (strcmp(s->column[i].name, name) == 0)
			return &s->column[i];
	return NULL;
}

/* Makes the crossfilter over all rows, in the same way as web/table.js does in a page. Returns 0 or -ENOMEM. */
static int make_crossfilter(struct served *s, const struct html_rows *r, bool numbered)
{
	const struct served_column *way = served_find(s, "way"), *weight = served_find(s, "weight");
	const bool alike = numbered && r->weights.nr == 1;
	bool whole = true;

	s->fails = calloc(r->nr + 1, sizeof(*s->fails));
	s->share = calloc((size_t)r->ways.nr + 1, sizeof(*s->share));
	s->weight = calloc((size_t)r->weights.nr + 1, sizeof(*s->weight));
	if (!s->fails || !s->share || !s->weight || !way || !weight)
		return -ENOMEM;
	for (uint32_t i = 0; i < r->ways.nr; i++) {
		s->share[i] = r->ways.at[i].share;
		whole &= r->ways.at[i].share >= 1 && r->ways.at[i].share <= 1;
	}
	for (uint32_t i = 0; i < r->weights.nr; i++)
		s->weight[i] = (double)r->weights.at[i];
	s->cross = (struct crossfilter){ (uint32_t)r->nr, s->fails, { way->data, way->width }, whole ? NULL : s->share,
					 { alike ? NULL : weight->data, weight->width }, numbered ? s->weight : NULL };
	return 0;
}

int served_keep_trace(struct served *s, struct html_trace *t)
{
	struct html_columns columns = { .keep = keep_served_column, .context = s };
	int ret = html_rows_settle(&t->rows);
	bool numbered = true;

	memset(s, 0, sizeof(*s));
	if (ret == 0)
		ret = html_columns_write(&columns, t);
	for (uint32_t i = 0; i < columns.nr; i++)
		numbered &= !columns.column[i].numbers;
	if (ret == 0)
		ret = keep_printed_text(&s->facts, &s->facts_bytes, t, &columns, html_put_facts);
	if (ret == 0)
		ret = keep_printed_text(&s->plain, &s->plain_bytes, t, &columns, print_plain_html);
	if (ret == 0)
		ret = make_crossfilter(s, &t->rows, numbered);
	html_rows_fini(&t->rows);
	return ret;
}

void served_fini(struct served *s)
{
	for (uint32_t i = 0; i < s->nr_columns; i++)
		free(s->column[i].data);
	for (uint32_t i = 0; i < SERVED_FILTERS; i++)
		free(s->bit[i].filter);
	free(s->facts);
	free(s->plain);
	free(s->share);
	free(s->weight);
	free(s->fails);
	memset(s, 0, sizeof(*s));
}
