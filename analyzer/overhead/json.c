/* SPDX-License-Identifier: MIT */
/* Writes the JSON of `tailor overhead`.  No other file of this folder uses jansson. */
#include "analyzer/output/json_text.h"
#include "analyzer/output/page.h"
#include "analyzer/overhead/view.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>

static void put_member(json_t *o, const char *key, json_t *value)
{
	json_object_set_new(o, key, value);
}

static json_t *json_of_number(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

static json_t *json_of_spread(const struct spread *s)
{
	json_t *j = json_object();

	put_member(j, "median", json_of_number(s->median));
	put_member(j, "low", json_of_number(s->low));
	put_member(j, "high", json_of_number(s->high));
	put_member(j, "lower_quartile", json_of_number(s->lower_quartile));
	put_member(j, "upper_quartile", json_of_number(s->upper_quartile));
	return j;
}

/* Returns a list of what was measured in the runs of a configuration, one per round. */
static json_t *json_of_runs(const struct overhead *o, unsigned rate, enum capture c)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < o->nr_rounds; i++) {
		const struct overhead_run *r = overhead_run_of(o, i, rate, c);
		json_t *j = json_object();

		put_member(j, "wall_s", json_of_number(r->wall_s));
		put_member(j, "cpu_s", json_of_number(r->cpu_s));
		if (c != CAPTURE_BARE) {
			put_member(j, "recorder_s", json_of_number(r->recorder_s));
			put_member(j, "outside_s", json_of_number(r->outside_s));
			put_member(j, "samples", json_of_number(r->samples));
			put_member(j, "sample_bytes", json_of_number(r->sample_bytes));
			put_member(j, "trace_bytes", json_of_number(r->trace_bytes));
		}
		json_array_append_new(list, j);
	}
	return list;
}

static json_t *json_of_row(const struct overhead *o, unsigned rate, enum capture c)
{
	struct overhead_row r = overhead_make_row(o, rate, c);
	json_t *j = json_object();

	put_member(j, "capture", json_text(capture_kinds[c].key));
	put_member(j, "name", json_text(capture_kinds[c].name));
	put_member(j, "options", json_text(capture_options(c)));
	put_member(j, "rate", json_integer((json_int_t)o->rate[rate]));
	put_member(j, "period", o->period[rate] > 0 ? json_of_number(o->period[rate]) : json_null());
#define FIGURE_(name, first, other, value) put_member(j, #name, json_of_spread(&r.name));
	FIGURES(FIGURE_)
#undef FIGURE_
	put_member(j, "attribution", json_text(capture_kinds[c].stack_only ? "stack" : "auto"));
	if (!o->has_components)
		put_member(j, "attributed", json_null());
	put_member(j, "runs", json_of_runs(o, rate, c));
	return j;
}

int overhead_json(const struct overhead *o, FILE *to)
{
	struct spread wall = overhead_bare_spread(o, true), cpu = overhead_bare_spread(o, false);
	json_t *j = json_object(), *list = json_array();
	int ret;

	for (size_t i = 0; o->command[i]; i++)
		json_array_append_new(list, json_text(o->command[i]));
	put_member(j, "schema", json_integer(PAGE_SCHEMA));
	put_member(j, "command", list);
	put_member(j, "rounds", json_integer(o->nr_rounds));
	put_member(j, "event", json_pack("{s:o, s:o}", "name", json_text(o->event_name), "unit", json_text(o->unit)));
	put_member(j, "run_phase", json_boolean(o->has_run));
	list = json_array();
	for (unsigned rate = 0; rate < o->nr_rates; rate++)
		json_array_append_new(list, json_of_runs(o, rate, CAPTURE_BARE));
	put_member(j, "bare", json_pack("{s:o, s:o, s:o}", "wall_s", json_of_spread(&wall), "cpu_s", json_of_spread(&cpu), "runs", list));
	list = json_array();
	for (unsigned rate = 0; rate < o->nr_rates; rate++)
		for (int c = CAPTURE_BARE + 1; c < NR_CAPTURES; c++)
			json_array_append_new(list, json_of_row(o, rate, (enum capture)c));
	put_member(j, "rows", list);
	list = json_array();
	for (unsigned i = 0; i < o->nr_notices; i++)
		json_array_append_new(list, json_text(o->notice[i]));
	put_member(j, "notices", list);
	ret = j && json_dumpf(j, to, JSON_TEXT_FORM) == 0 ? 0 : -ENOMEM;
	fputc('\n', to);
	json_decref(j);
	return ret;
}
