/* SPDX-License-Identifier: MIT */
#include "analyzer/output/json_text.h"
#include "analyzer/output/page_json.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>

/* Return an integer for a whole number below 9e15, null for infinity and NaN, and otherwise a real number. Counts of samples need not be
 * whole, because samples with several parents are shared among them. */
static json_t *json_of_number(double v)
{
	double whole = round(v);

	if (!isfinite(v))
		return json_null();
	return fabs(v) < 9e15 && fabs(v - whole) < 1e-9 ? json_integer((json_int_t)whole) : json_real(v);
}

void *page_json_create(void)
{
	json_t *page = json_object();

	if (page)
		json_object_set_new(page, "schema", json_integer(PAGE_SCHEMA));
	return page;
}

void page_json_text(void *page, const char *key, const char *text)
{
	json_object_set_new(page, key, json_text(text));
}

void page_json_number(void *page, const char *key, double value)
{
	json_object_set_new(page, key, json_of_number(value));
}

static json_t *get_or_make_member(json_t *o, const char *key, json_t *(*make)(void))
{
	json_t *j = json_object_get(o, key);

	if (!j) {
		j = make();
		json_object_set_new(o, key, j);
	}
	return j;
}

void page_json_note(void *page, const char *sentence)
{
	json_array_append_new(get_or_make_member(page, "notes", json_array), json_text(sentence));
}

void page_json_table(void *page, const char *table)
{
	get_or_make_member(get_or_make_member(page, "tables", json_object), table, json_array);
}

void *page_json_row(void *page, const char *table)
{
	json_t *row = json_object();

	json_array_append_new(get_or_make_member(get_or_make_member(page, "tables", json_object), table, json_array), row);
	return row;
}

void page_json_cell_text(void *row, const char *key, const char *text)
{
	json_object_set_new(row, key, json_text(text));
}

void page_json_cell_number(void *row, const char *key, double value)
{
	json_object_set_new(row, key, json_of_number(value));
}

void page_json_cell_address(void *row, const char *key, uint64_t address)
{
	/* jansson's integers are signed, so a larger address loses its last digits. */
	json_object_set_new(row, key, address <= INT64_MAX ? json_integer((json_int_t)address) : json_real((double)address));
}

void page_json_whole(void *page, const char *key, int64_t value)
{
	json_object_set_new(page, key, json_integer((json_int_t)value));
}

void page_json_cell_null(void *row, const char *key)
{
	json_object_set_new(row, key, json_null());
}

int page_json_end(void *page, FILE *to)
{
	int ret = json_dumpf(page, to, JSON_TEXT_FORM) || fputc('\n', to) == EOF ? -EIO : 0;

	json_decref(page);
	return ret;
}
