/* SPDX-License-Identifier: MIT */
/* Writes the report for programs, by jansson. Keys are stable. A report may get new ones, and "schema" is raised when one is renamed or
 * removed. */
#include "analyzer/check/check.h"
#include "analyzer/leading/programs.h"
#include "analyzer/output/json_text.h"
#include "analyzer/query/without_debug.h"
#include "analyzer/report/default_report.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>

static void put_member(json_t *o, const char *key, json_t *value)
{
	json_object_set_new(o, key, value);
}

static json_t *json_of_samples(double samples)
{
	double whole = (double)(int64_t)(samples + 0.5);

	/* The number need not be whole, because a sample of several parents is shared among them. */
	return samples - whole < 1e-6 && whole - samples < 1e-6 ? json_integer((json_int_t)whole) : json_real(samples);
}

static json_t *json_of_share(double part, double total)
{
	return json_real(total > 0 ? part / total : 0);
}

/* Add the sum of the samples that have the value (a function or line) anywhere in their call stack, if the trace has call stacks. */
static void put_total(json_t *o, const struct report *r, const struct totals *t, uint32_t value, const struct group_sum *all)
{
	if (value >= t->nr)
		return;
	put_member(o, "total_samples", json_of_samples(t->sum[value].samples));
	put_member(o, "total", json_of_share(report_measure(r, &t->sum[value]), report_measure(r, all)));
}

static const char *level_name(const struct dictionary *d, uint32_t i)
{
	return d->level[i].name ? d->level[i].name : "";
}

static json_t *json_of_components(const struct report *r, const struct report_sums *sums)
{
	const struct dictionary *d = &r->model->dictionary;
	json_t *list = json_array();

	for (uint32_t i = 1; i < d->components.nr; i++) {
		const struct component *c = &d->components.at[i];
		const struct group_sum *sum = report_find_sum(sums->level[c->level], i);
		json_t *o, *parents, *counters;
		const struct scope *query;

		if (!c->announced && sum->samples == 0)
			continue; /* a component that was never announced, such as a line of a text, is listed only if it has samples */
		o = json_object();
		parents = json_array();
		counters = json_object();
		put_member(o, "level", json_text(level_name(d, c->level)));
		put_member(o, "id", json_integer((json_int_t)c->id));
		put_member(o, "name", json_text(c->name));
		if (i < r->labels.nr && r->labels.label[i])
			put_member(o, "label", json_text(r->labels.label[i]));
		if (c->detail && *c->detail)
			put_member(o, "detail", json_text(c->detail));
		if (c->flags & JITREG_COMPONENT_RUNTIME)
			put_member(o, "runtime", json_true());
		query = model_find_scope(r->model, i);
		if (query)
			put_member(o, "query", json_text(query->name));
		put_member(o, "process", json_integer(r->model->numbered.at[c->process]->pid));
		put_member(o, "samples", json_of_samples(sum->samples));
		put_member(o, "kernel", json_of_samples(sum->kernel));
		put_member(o, "weight", json_real(sum->weight));
		put_member(o, "share", json_of_share(report_measure(r, sum), report_measure(r, &sums->process->g.total)));
		for (uint32_t n = 0; n < c->links.nr; n++) {
			const struct component *up = &d->components.at[c->links.at[n].upper];
			json_t *p = json_object();

			put_member(p, "level", json_text(level_name(d, up->level)));
			put_member(p, "id", json_integer((json_int_t)up->id));
			put_member(p, "name", json_text(up->name));
			put_member(p, "weight", json_integer(c->links.at[n].weight));
			json_array_append_new(parents, p);
		}
		put_member(o, "parents", parents);
		for (const struct counter *n = c->counters; n; n = n->next)
			put_member(counters, n->name, json_integer(n->value));
		put_member(o, "counters", counters);
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *json_of_named_sums(const struct report_group *sums, const char *const *names, int first, int nr)
{
	json_t *o = json_object();

	for (int i = first; i < nr; i++)
		put_member(o, names[i], json_of_samples(report_find_sum(sums, (uint32_t)i)->samples));
	return o;
}

/* Return the samples with a component that has no link to this level. Together with the samples of all reasons, these are the samples that
 * are unattributed at the level. Less than half a sample comes from rounding, and counts as 0. */
static double unlinked_samples_at_level(const struct default_report *d, uint32_t level)
{
	double rest = report_find_sum(d->all.level[level], COMPONENT_NONE)->samples - report_find_sum(d->all.method, METHOD_NONE)->samples;

	return rest >= 0.5 ? rest : 0;
}

/* Return the samples with a component of this level that the host never announced. */
static double unannounced_samples_at_level(const struct default_report *d, const struct report *r, uint32_t level)
{
	const struct report_group *g = d->all.level[level];
	double sum = 0;

	for (uint32_t i = 0; i < g->g.nr; i++) {
		const struct component *c = &r->model->dictionary.components.at[report_value(g, i, 0)];

		sum += report_value(g, i, 0) && !c->announced && !c->source && !host_levels_have(r->model, level) ? g->g.sum[i].samples : 0;
	}
	return sum;
}

static json_t *json_of_levels(const struct default_report *d, const struct report *r)
{
	const struct dictionary *dictionary = &r->model->dictionary;
	json_t *list = json_array();

	for (uint32_t i = 0; i < dictionary->nr_levels; i++) {
		json_t *o = json_object();

		put_member(o, "id", json_integer(dictionary->level_id[i]));
		put_member(o, "name", json_text(level_name(dictionary, i)));
		put_member(o, "rank", json_integer(dictionary->level[i].rank));
		put_member(o, "plan", json_boolean(i == d->plan_level));
		put_member(o, "samples", json_of_samples(d->all.level[i]->g.total.samples - report_find_sum(d->all.level[i], 0)->samples));
		put_member(o, "unlinked", json_of_samples(unlinked_samples_at_level(d, i)));
		put_member(o, "unannounced", json_of_samples(unannounced_samples_at_level(d, r, i)));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *json_of_edges(const struct dictionary *d)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < d->edges.nr; i++) {
		json_t *o = json_object();

		put_member(o, "level", json_text(level_name(d, d->components.at[d->edges.at[i].from].level)));
		put_member(o, "from", json_integer((json_int_t)d->components.at[d->edges.at[i].from].id));
		put_member(o, "to", json_integer((json_int_t)d->components.at[d->edges.at[i].to].id));
		put_member(o, "label", json_text(d->edges.at[i].label));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *json_of_functions(const struct default_report *d, const struct report *r)
{
	const struct attribution *a = r->a;
	json_t *list = json_array();
	char also[FUNCTION_ALSO];
	struct totals totals;

	totals_make(r, d->function_total, &totals);
	for (uint32_t i = 0; i < a->nr_functions; i++) {
		const struct function *f = &a->function[i];
		json_t *o;

		if (report_find_sum(d->function, i)->samples == 0 && (i >= totals.nr || totals.sum[i].samples == 0))
			continue;
		o = json_object();
		put_member(o, "name", json_text(f->name));
		put_member(o, "image", json_text(a->image[f->image].path));
		put_member(o, "symbol", json_boolean(f->symbol));
		put_member(o, "generated", json_boolean(f->jit));
		if (*attribution_also(a, f, also))
			put_member(o, "also", json_text(also));
		put_member(o, "samples", json_of_samples(report_find_sum(d->function, i)->samples));
		put_member(o, "share",
			   json_of_share(report_measure(r, report_find_sum(d->function, i)), report_measure(r, &d->function->g.total)));
		put_total(o, r, &totals, i, &d->function->g.total);
		json_array_append_new(list, o);
	}
	totals_fini(&totals);
	return list;
}

static json_t *json_of_lines(const struct default_report *d, const struct report *r)
{
	const struct attribution *a = r->a;
	json_t *list = json_array();
	struct totals totals;

	totals_make(r, d->line_total, &totals);
	for (uint32_t i = 1; i < a->nr_lines; i++) {
		json_t *o;

		if (report_find_sum(d->line, i)->samples == 0 && (i >= totals.nr || totals.sum[i].samples == 0))
			continue;
		o = json_object();
		put_member(o, "file", json_text(a->line[i].file));
		put_member(o, "line", json_integer(a->line[i].number));
		put_member(o, "generated", json_boolean(a->line[i].jit));
		put_member(o, "samples", json_of_samples(report_find_sum(d->line, i)->samples));
		put_total(o, r, &totals, i, &d->line->g.total);
		json_array_append_new(list, o);
	}
	totals_fini(&totals);
	return list;
}

static json_t *json_of_images(const struct default_report *d, const struct report *r)
{
	json_t *list = json_array();

	for (uint32_t i = 1; i < r->a->nr_images; i++) {
		json_t *o = json_object();

		put_member(o, "path", json_text(r->a->image[i].path));
		put_member(o, "samples", json_of_samples(report_find_sum(d->image, i)->samples));
		put_member(o, "share",
			   json_of_share(report_measure(r, report_find_sum(d->image, i)), report_measure(r, &d->image->g.total)));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *json_of_processes(const struct default_report *d, const struct report *r)
{
	const struct model *m = r->model;
	json_t *list = json_array();

	for (uint32_t i = 0; i < m->processes.nr; i++) {
		const struct process *p = m->numbered.at[i];
		json_t *o = json_object();

		put_member(o, "pid", json_integer(p->pid));
		put_member(o, "comm", json_text(p->comm));
		put_member(o, "executable", json_text(p->executable));
		put_member(o, "parent", p->parent_pid ? json_integer(p->parent_pid) : json_null());
		put_member(o, "agent", json_boolean(p->has_guest));
		if (p->header_version)
			put_member(o, "jitreg", json_sprintf("%u.%u", p->header_version >> 16, p->header_version & 0xffff));
		put_member(o, "samples", json_of_samples(report_find_sum(d->all.process, i)->samples));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *json_of_programs(const struct default_report *d, const struct report *r)
{
	json_t *list = json_array();
	struct program *program;
	const uint32_t nr = programs_list(r, d->all.process, &program);

	for (uint32_t i = 0; i < nr; i++) {
		json_t *o = json_object();

		put_member(o, "name", json_text(program[i].name));
		put_member(o, "processes", json_integer(program[i].processes));
		put_member(o, "samples", json_of_samples(program[i].sum.samples));
		put_member(o, "share", json_of_share(report_measure(r, &program[i].sum), report_measure(r, &d->all.process->g.total)));
		json_array_append_new(list, o);
	}
	programs_free(program, nr);
	return list;
}

static json_t *json_of_threads(const struct default_report *d, const struct report *r)
{
	const struct model *m = r->model;
	json_t *list = json_array();

	for (uint32_t i = 0; i < m->threads.nr; i++) {
		json_t *o = json_object();

		put_member(o, "tid", json_integer(m->threads.at[i].tid));
		put_member(o, "pid", json_integer(m->numbered.at[m->threads.at[i].process]->pid));
		put_member(o, "comm", json_text(m->threads.at[i].comm));
		put_member(o, "samples", json_of_samples(report_find_sum(d->thread, i)->samples));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *json_of_events(const struct default_report *d, const struct report *r)
{
	const struct model *m = r->model;
	json_t *list = json_array();

	for (uint32_t i = 0; i < m->nr_events; i++) {
		const struct model_event *e = &m->event[i];
		json_t *o = json_object();

		put_member(o, "name", json_text(e->name));
		put_member(o, "unit", json_text(e->unit));
		put_member(o, "scope", json_text(e->scope));
		put_member(o, "rate", json_integer((json_int_t)e->rate));
		put_member(o, "period", json_integer((json_int_t)e->period));
		put_member(o, "stack_bytes", json_integer(e->stack_bytes));
		put_member(o, "samples", json_of_samples(report_find_sum(d->event, i)->samples));
		put_member(o, "weight", json_real(report_find_sum(d->event, i)->weight));
		put_member(o, "counted", json_integer((json_int_t)e->counted));
		if (e->sampled > 0)
			put_member(o, "sampled", json_real(e->sampled));
		if (e->unsampled > 0)
			put_member(o, "short_threads", json_real(e->unsampled));
		put_member(o, "lost", json_integer((json_int_t)e->count_lost));
		if (e->on_cpu_ns)
			put_member(o, "running", json_real((double)e->running_ns / (double)e->on_cpu_ns));
		put_member(o, "shown", json_boolean(i == r->event));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *json_of_marks(const struct model *m)
{
	static const char *const covers[] = { "", "thread", "task", "process" };
	json_t *list = json_array();

	for (uint32_t i = 0; i < m->marks.nr; i++) {
		const struct mark *k = &m->marks.at[i];
		json_t *o = json_object();

		put_member(o, "name", json_text(k->name));
		put_member(o, "pid", json_integer(m->numbered.at[k->process]->pid));
		put_member(o, "tid", json_integer(k->tid));
		put_member(o, "begin_ns", json_integer((json_int_t)k->begin_ns));
		put_member(o, "end_ns", k->end_ns == UINT64_MAX ? json_null() : json_integer((json_int_t)k->end_ns));
		put_member(o, "instance", json_integer((json_int_t)k->instance));
		put_member(o, "units", json_integer((json_int_t)k->units));
		if (k->component)
			put_member(o, "component", json_integer((json_int_t)m->dictionary.components.at[k->component].id));
		if (k->covers && k->covers <= JITREG_COVERS_PROCESS)
			put_member(o, "covers", json_text(covers[k->covers]));
		if (k->parent)
			put_member(o, "parent", json_integer((json_int_t)k->parent - 1));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *json_of_notices(const struct model *m)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < m->notices.nr; i++) {
		json_t *o = json_object();

		put_member(o, "kind", json_text(trace_notices[m->notices.at[i].kind]));
		put_member(o, "sentence", json_text(m->notices.at[i].sentence));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *json_of_host_lacks(const struct model *m)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < m->lacks.nr; i++) {
		const struct host_lacking *l = &m->lacks.at[i];
		json_t *o = json_object();

		put_member(o, "host", json_text(l->host));
		put_member(o, "version", json_text(l->version));
		put_member(o, "missing", json_text(l->missing));
		put_member(o, "reason", json_text(l->reason));
		put_member(o, "lacks", json_text(l->lacks));
		put_member(o, "helps", json_text(l->helps));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *json_of_losses(const struct model *m)
{
	json_t *list = json_array();

	for (int i = 0; i <= NR_LOSSES; i++) {
		json_t *o;

		if (!m->lost[i])
			continue;
		o = json_object();
		put_member(o, "reason", json_text(i < NR_LOSSES ? trace_losses[i].text : "unknown"));
		put_member(o, "count", json_integer((json_int_t)m->lost[i]));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *json_of_run_phase(const struct default_report *d, const struct report *r)
{
	json_t *o = json_object();
	const struct report_sums *s = &d->in_run;
	double all = report_measure(r, &s->process->g.total);

	put_member(o, "marks", json_integer(d->nr_runs));
	put_member(o, "samples", json_of_samples(s->process->g.total.samples));
	if (d->plan_level != LEVELS_MAX)
		put_member(o, "on_operator", json_of_share(all - report_measure(r, report_find_sum(s->level[d->plan_level], 0)), all));
	put_member(o, "kernel", json_of_samples(s->process->g.total.kernel));
	put_member(o, "methods", json_of_named_sums(s->method, method_names, 0, NR_METHODS));
	put_member(o, "reasons", json_of_named_sums(s->reason, reason_names, 1, NR_REASONS));
	put_member(o, "components", json_of_components(r, s));
	return o;
}

/* List what in the host's data cannot be right, as check_model() finds. */
static json_t *json_of_findings(const struct default_report *d, const struct report *r)
{
	const struct check_sums sums = { (const struct report_group *const *)d->all.level };
	struct findings *f = calloc(1, sizeof(*f));
	enum finding_kind order[NR_FINDINGS];
	uint32_t nr = f && !check_model(f, r->model, &sums) ? check_sort_findings(f, order) : 0;
	json_t *list = json_array();

	for (uint32_t i = 0; i < nr; i++) {
		const struct finding *found = &f->of[order[i]];
		json_t *o = json_object();

		put_member(o, "kind", json_text(finding_ids[order[i]]));
		put_member(o, "count", json_integer((json_int_t)found->count));
		put_member(o, "samples", json_of_samples(found->samples));
		put_member(o, "sentence", json_text(finding_sentences[order[i]]));
		put_member(o, "example", json_text(found->example));
		put_member(o, "remedy", json_text(finding_remedies[order[i]]));
		json_array_append_new(list, o);
	}
	free(f);
	return list;
}

/* List the images whose functions have no names (lines: whose code has no lines), with cause and remedy. */
static json_t *without_debug(const struct without_debug_list *l, bool lines)
{
	char text[WITHOUT_DEBUG_TEXT];
	json_t *list = json_array();

	for (uint32_t i = 0; i < l->nr; i++) {
		const struct without_debug *w = &l->image[i];
		json_t *o = json_object();

		put_member(o, "image", json_text(w->path));
		put_member(o, "share", json_real(w->share));
		put_member(o, "cause", json_text(without_debug_cause(w, lines, text)));
		put_member(o, "remedy", json_text(without_debug_remedy(w, lines, text)));
		put_member(o, "package", json_text(w->package));
		json_array_append_new(list, o);
	}
	return list;
}

int default_report_json(const struct default_report *d, const struct report *r, FILE *to)
{
	const struct attribution *a = r->a;
	const struct model *m = r->model;
	const struct group_sum *total = &d->all.process->g.total;
	json_t *o = json_object(), *samples = json_object(), *jit = json_object();
	struct without_debug_list without;
	int ret;

	put_member(o, "schema", json_integer(PAGE_SCHEMA));
	put_member(samples, "total", json_of_samples(total->samples));
	put_member(samples, "attributed", json_of_samples(total->samples - report_find_sum(d->all.method, METHOD_NONE)->samples));
	put_member(samples, "lost", json_integer((json_int_t)model_count_lost(m, LOSS_OF_SAMPLES)));
	put_member(samples, "kernel", json_of_samples(total->kernel));
	put_member(samples, "recorded", json_integer((json_int_t)a->nr_samples));
	put_member(samples, "first_ns", json_integer((json_int_t)a->first_ns));
	put_member(samples, "last_ns", json_integer((json_int_t)a->last_ns));
	put_member(o, "samples", samples);
	put_member(o, "command", json_text(m->command));
	if (r->idle > 0) /* samples of idle processors are in no sum */
		put_member(o, "idle", json_of_share(r->idle, r->idle + r->not_idle));
	put_member(o, "complete", json_boolean(m->has_end));
	put_member(o, "leads", json_text(leading_names[d->leads]));
	put_member(o, "recorder_cpu_ns", json_integer((json_int_t)m->recorder_cpu_ns));
	put_member(o, "methods", json_of_named_sums(d->all.method, method_names, 0, NR_METHODS));
	put_member(o, "reasons", json_of_named_sums(d->all.reason, reason_names, 1, NR_REASONS));
	put_member(o, "levels", json_of_levels(d, r));
	put_member(o, "components", json_of_components(r, &d->all));
	put_member(o, "edges", json_of_edges(&m->dictionary));
	put_member(o, "run", json_of_run_phase(d, r));
	put_member(jit, "samples", json_integer((json_int_t)a->jit_samples));
	put_member(jit, "named", json_integer((json_int_t)a->jit_named));
	put_member(jit, "with_lines", json_integer((json_int_t)a->jit_lines));
	put_member(jit, "line_0", json_integer((json_int_t)a->line0_samples));
	put_member(o, "jit", jit);
	put_member(o, "functions", json_of_functions(d, r));
	put_member(o, "lines", json_of_lines(d, r));
	put_member(o, "images", json_of_images(d, r));
	put_member(o, "processes", json_of_processes(d, r));
	put_member(o, "programs", json_of_programs(d, r));
	put_member(o, "threads", json_of_threads(d, r));
	put_member(o, "events", json_of_events(d, r));
	put_member(o, "marks", json_of_marks(m));
	put_member(o, "notices", json_of_notices(m));
	put_member(o, "host_lacks", json_of_host_lacks(m));
	put_member(o, "losses", json_of_losses(m));
	put_member(o, "host_data", json_of_findings(d, r));
	without_names_find(r, d->function, &without);
	put_member(o, "without_names", without_debug(&without, false));
	without_lines_find(r, d->image, &without);
	put_member(o, "without_lines", without_debug(&without, true));
	ret = json_dumpf(o, to, JSON_TEXT_FORM) || fputc('\n', to) == EOF ? -EIO : 0;
	json_decref(o);
	return ret;
}
