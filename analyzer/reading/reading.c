/* SPDX-License-Identifier: MIT */
#include "analyzer/reading/reading.h"

#include "analyzer/fleet/asked.h"
#include "analyzer/merge/window_trace.h"
#include "jitreg/base/large_pages.h"

#include <errno.h>
#include <string.h>

static int prepare_report(struct reading *s, const struct reading_arguments *a, struct diag *d)
{
	struct report *r = &s->report;
	const struct model *m = s->model;
	uint64_t first_ns = 0;
	int ret;

	r->model = s->model;
	r->arguments = &a->filter;
	r->level = a->level;
	r->reader = s->reader;
	r->stack_only = a->stack_only;
	labels_make(m, &r->labels);
	r->has_stacks = attribute_has_stacks(s->reader, m);
	r->stacks = a->filter.nr_below > 0;
	if (a->filter.from_s > 0 || a->filter.to_s > 0)
		first_ns = attribute_first_sample_ns(s->reader, m);
	ret = filter_init(&r->filter, m, &r->labels, first_ns, d);
	if (ret)
		return ret;
	if (!a->filter.event)
		r->event = attribute_first_event(s->reader, m);
	for (uint32_t i = 0; a->filter.event && i < m->nr_events; i++)
		if (m->event[i].name && strcmp(m->event[i].name, a->filter.event) == 0)
			r->event = i;
	/*
	 * Marks named "run" (or as --mark says) limit reports to the run phase. They do not with --mark all, and not if the host registers
	 * plans as objects (jitreg_object()), because worker processes then execute parts of a query outside of its marks.
	 */
	for (uint32_t i = 0; i < m->marks.nr && !m->objects.nr && !(a->filter.mark && strcmp(a->filter.mark, "all") == 0); i++)
		r->has_run |= m->marks.at[i].name && strcmp(m->marks.at[i].name, s->options.run_mark) == 0;
	if (a->level && report_find_level(r, a->level) == LEVELS_MAX)
		return filter_fail_without_level(m, a->level, strlen(a->level), d);
	return 0;
}

/*
 * Opens a trace. If path names a window of a store, merges the traces that were kept of its epochs into a temporary file, opens it, and
 * removes its name. Otherwise, unless live is set, waits for a recorder that is still writing the trace.
 */
static int open_trace(struct reading *s, const char *path, bool live, struct diag *d)
{
	char *made = NULL;
	struct window w;
	int ret = 0;

	if (store_is_named(path)) {
		ret = asked_window(path, &(struct asked_options){ 0 }, &w, d);
		if (ret == 0)
			ret = window_trace_make(path, &w, &made, d);
	} else if (!live) {
		trace_wait_for_recorder(path);
	}
	if (ret == 0)
		ret = trace_open(made ? made : path, &s->reader, d);
	if (made)
		window_trace_remove(made);
	return ret;
}

static int read_samples(struct reading *s, void (*ask)(void *context, struct report *r), void *context, struct diag *d)
{
	int ret;

	ask(context, &s->report);
	s->options.stacks = s->report.stacks;
	s->options.without_lines = s->report.without_lines && !report_asks_lines(&s->report);
	s->options.declarations = s->report.declarations;
	s->options.addresses = s->report.addresses;
	s->options.sums_by = s->options.each ? 0 : report_sums_by(&s->report);
	ret = attribute_trace(s->reader, s->model, &s->options, &s->attribution, d);
	s->damaged = trace_describe_damage(s->reader, s->damage, sizeof(s->damage)) || s->damaged;
	if (ret)
		return ret;
	s->report.a = s->attribution;
	report_add_unsampled_idle_time(&s->report);
	if (s->report.labels.nr != s->model->dictionary.components.nr) {
		labels_fini(&s->report.labels);
		labels_make(s->model, &s->report.labels);
	}
	return filter_update_sets(&s->report.filter, s->attribution);
}

static void destroy_all(struct reading *s)
{
	report_fini(&s->report);
	if (s->attribution)
		attribution_destroy(s->attribution);
	if (s->model)
		model_destroy(s->model);
	if (s->reader)
		trace_close(s->reader);
	memset(s, 0, sizeof(*s));
}

int reading_open(struct reading *s, const char *path, const struct reading_arguments *arguments,
		 void (*ask)(void *context, struct report *r), void *context, struct diag *d)
{
	int ret;

	*d->text = 0;
	s->options.run_mark = filter_parse_mark(&s->report.filter, &arguments->filter);
	s->options.stack_only = arguments->stack_only;
	s->options.no_demangle = arguments->no_demangle;
	s->options.unwinder = arguments->unwinder;
	s->options.threads = arguments->threads;
	s->options.rows = report_add_rows;
	s->options.shows = report_shows_sample;
	s->options.rows_context = &s->report;
	large_pages_prepare_heap();
	ret = open_trace(s, path, arguments->live, d);
	if (ret == 0) {
		ret = model_create(s->reader, &s->model, d);
		s->damaged = trace_describe_damage(s->reader, s->damage, sizeof(s->damage));
	}
	if (ret == 0)
		ret = prepare_report(s, arguments, d);
	if (ret == 0)
		ret = read_samples(s, ask, context, d);
	if (ret == 0 && s->report.error)
		ret = diag_fail(d, ENOMEM, "%s: out of memory", path);
	if (ret == 0)
		ret = filter_check_matches(&s->report.filter, s->attribution, d);
	if (ret) {
		if (!*d->text)
			diag_fail(d, -ret, "%s: %s", path, strerror(-ret));
		destroy_all(s);
	}
	return ret;
}

int reading_close(struct reading *s, struct diag *d)
{
	int ret = 0;

	/* Making reports uses up the same budget as reading the trace, so it is checked again at the end. */
	if (s->attribution && s->damaged)
		ret = diag_fail(d, EBADMSG, "%s", s->damage);
	else if (s->attribution)
		ret = trace_check_budget(s->reader, d);
	destroy_all(s);
	return ret;
}
