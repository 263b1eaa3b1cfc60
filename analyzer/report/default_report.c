/* SPDX-License-Identifier: MIT */
/* Asks for the sums of the report without --view, and completes them. */
#include "analyzer/report/default_report.h"

#include "analyzer/report/composition.h"

static void ask_report_sums(struct report_sums *s, struct report *r, unsigned flags)
{
	s->process = report_add_group(r, flags, TABLE_PROCESS, -1);
	if (flags & REPORT_OUTSIDE && !s->whole)
		return;
	for (uint32_t i = 0; i < r->model->dictionary.nr_levels; i++)
		s->level[i] = report_add_group(r, flags, (int)(TABLE_LEVEL_0 + i), -1);
	s->method = report_add_group(r, flags, TABLE_METHOD, -1);
	s->reason = report_add_group(r, flags, TABLE_REASON, -1);
}

static struct report_group *ask_level_totals(struct report *r, enum host_level level)
{
	uint32_t i = r->model->host_level[level];

	return i == LEVELS_MAX ? NULL : totals_ask(r, REPORT_RUN, TABLE_LEVEL_0 + i);
}

void default_report_ask(struct default_report *d, struct report *r, bool for_programs)
{
	*d = (struct default_report){ .plan_level = report_find_level(r, NULL), .has_run = r->has_run };
	d->all.whole = for_programs;
	ask_report_sums(&d->all, r, r->has_run ? REPORT_OUTSIDE : 0);
	if (r->has_run)
		ask_report_sums(&d->in_run, r, REPORT_RUN);
	d->event = report_add_group(r, 0, TABLE_EVENT, -1);
	d->function = report_add_group(r, 0, TABLE_FUNCTION, -1);
	d->line = report_add_group(r, 0, TABLE_LINE, -1);
	d->image = report_add_group(r, 0, TABLE_IMAGE, -1);
	if (for_programs || d->plan_level == LEVELS_MAX || r->model->has_host_levels) {
		d->function_total = totals_ask(r, 0, TABLE_FUNCTION);
		d->line_total = totals_ask(r, 0, TABLE_LINE);
	}
	if (!for_programs && r->model->has_host_levels) {
		d->own_total = ask_level_totals(r, HOST_LEVEL_FUNCTION);
		d->module_total = ask_level_totals(r, HOST_LEVEL_MODULE);
	}
	if (!for_programs && (d->plan_level == LEVELS_MAX || r->model->has_host_levels))
		d->work = composition_ask(r);
	if (!for_programs) {
		d->mode = report_add_group(r, REPORT_RUN, TABLE_MODE, -1);
		d->by_query = d->plan_level < LEVELS_MAX ? plan_queries_ask(r, d->plan_level, REPORT_RUN) : NULL;
		d->run_function = r->has_run ? report_add_group(r, REPORT_RUN, TABLE_FUNCTION, -1) : d->function;
		return;
	}
	d->phase = report_add_group(r, 0, TABLE_PHASE, -1);
	d->thread = report_add_group(r, 0, TABLE_THREAD, -1);
}

static enum leading find_leading(const struct default_report *d, const struct report *r)
{
	struct leading_sums sums = { .process = d->all.process };

	leading_set_levels(&sums, r, d->in_run.level);
	return leading_of_report(&sums, r);
}

/* Complete the sums of all samples. Each sample was summed either inside or outside of the run phase, so they are the sums of both. */
static int add_run_phase(struct default_report *d)
{
	int ret = report_group_add(d->all.process, d->in_run.process);

	for (uint32_t i = 0; i < LEVELS_MAX && d->all.level[i]; i++)
		ret |= report_group_add(d->all.level[i], d->in_run.level[i]);
	if (d->all.whole) {
		ret |= report_group_add(d->all.method, d->in_run.method);
		ret |= report_group_add(d->all.reason, d->in_run.reason);
	}
	return ret ? -ENOMEM : 0;
}

int default_report_settle(struct default_report *d, const struct report *r)
{
	int ret = 0;

	for (uint32_t i = 0; d->phase && i < d->phase->g.nr; i++)
		d->nr_runs += report_value(d->phase, i, 0) > 0 && d->phase->g.sum[i].samples > 0;
	if (!d->has_run || (d->all.whole && d->in_run.process->g.total.samples <= 0)) {
		d->has_run = false;
		d->in_run = d->all;
	} else {
		ret = add_run_phase(d);
	}
	d->leads = find_leading(d, r);
	if (d->leads == LEADING_PLAN && d->plan_level != LEVELS_MAX && !d->all.whole)
		d->function_total = d->line_total = NULL; /* below a plan, functions are shown by their own samples */
	return ret;
}

bool default_report_has_all(const struct default_report *d, const struct attribution *a)
{
	return d->event->g.total.samples + 0.5 >= (double)a->nr_samples;
}
