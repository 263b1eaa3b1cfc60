/* SPDX-License-Identifier: MIT */
/* The JSON of `tailor overhead`; the only user of jansson in this folder. */
#include "analyzer/output/json_text.h"
#include "analyzer/output/page.h"
#include "analyzer/overhead/view.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>

static void put(json_t *o, const char *key, json_t *value)
{
	json_object_set_new(o, key, value);
}

static json_t *number(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

static json_t *spread(const struct spread *s)
{
	json_t *j = json_object();

	put(j, "median", number(s->median));
	put(j, "low", number(s->low));
	put(j, "high", number(s->high));
	put(j, "lower_quartile", number(s->lower_quartile));
	put(j, "upper_quartile", number(s->upper_quartile));
	return j;
}

/* As measured, round by round. */
static json_t *runs(const struct overhead *o, unsigned rate, enum capture c)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < o->nr_rounds; i++) {
		const struct overhead_run *r = overhead_run_of(o, i, rate, c);
		json_t *j = json_object();

		put(j, "wall_s", number(r->wall_s));
		put(j, "cpu_s", number(r->cpu_s));
		if (c != CAPTURE_BARE) {
			put(j, "recorder_s", number(r->recorder_s));
			put(j, "outside_s", number(r->outside_s));
			put(j, "samples", number(r->samples));
			put(j, "sample_bytes", number(r->sample_bytes));
			put(j, "trace_bytes", number(r->trace_bytes));
		}
		json_array_append_new(list, j);
	}
	return list;
}

static json_t *row(const struct overhead *o, unsigned rate, enum capture c)
{
	struct overhead_row r = overhead_row(o, rate, c);
	json_t *j = json_object();

	put(j, "capture", json_text(capture_kinds[c].key));
	put(j, "name", json_text(capture_kinds[c].name));
	put(j, "options", json_text(capture_kinds[c].options));
	put(j, "rate", json_integer((json_int_t)o->rate[rate]));
	put(j, "period", o->period[rate] > 0 ? number(o->period[rate]) : json_null());
#define FIGURE_(name, first, other, value) put(j, #name, spread(&r.name));
	FIGURES(FIGURE_)
#undef FIGURE_
	put(j, "attribution", json_text(capture_kinds[c].stack_only ? "stack" : "auto"));
	if (!o->has_components)
		put(j, "attributed", json_null());
	put(j, "runs", runs(o, rate, c));
	return j;
}

int overhead_json(const struct overhead *o, FILE *to)
{
	struct spread wall = overhead_bare(o, true), cpu = overhead_bare(o, false);
	json_t *j = json_object(), *list = json_array();
	int ret;

	for (size_t i = 0; o->command[i]; i++)
		json_array_append_new(list, json_text(o->command[i]));
	put(j, "schema", json_integer(PAGE_SCHEMA));
	put(j, "command", list);
	put(j, "rounds", json_integer(o->nr_rounds));
	put(j, "event", json_pack("{s:o, s:o}", "name", json_text(o->event_name), "unit", json_text(o->unit)));
	put(j, "run_phase", json_boolean(o->has_run));
	list = json_array();
	for (unsigned rate = 0; rate < o->nr_rates; rate++)
		json_array_append_new(list, runs(o, rate, CAPTURE_BARE));
	put(j, "bare", json_pack("{s:o, s:o, s:o}", "wall_s", spread(&wall), "cpu_s", spread(&cpu), "runs", list));
	list = json_array();
	for (unsigned rate = 0; rate < o->nr_rates; rate++)
		for (int c = CAPTURE_BARE + 1; c < NR_CAPTURES; c++)
			json_array_append_new(list, row(o, rate, (enum capture)c));
	put(j, "rows", list);
	list = json_array();
	for (unsigned i = 0; i < o->nr_notices; i++)
		json_array_append_new(list, json_text(o->notice[i]));
	put(j, "notices", list);
	ret = j && json_dumpf(j, to, JSON_TEXT_FORM) == 0 ? 0 : -ENOMEM;
	fputc('\n', to);
	json_decref(j);
	return ret;
}
