/* SPDX-License-Identifier: MIT */
/* The report for programs.  Keys are stable: new ones may come; a renamed one raises "schema".  jansson's door. */
#include "analyzer/check/check.h"
#include "analyzer/output/json_text.h"
#include "analyzer/query/without_debug.h"
#include "analyzer/report/default_report.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>

static void put(json_t *o, const char *key, json_t *value)
{
	json_object_set_new(o, key, value);
}

static json_t *count(double samples)
{
	double whole = (double)(int64_t)(samples + 0.5);

	/* shares of samples that several parents have are not whole */
	return samples - whole < 1e-6 && whole - samples < 1e-6 ? json_integer((json_int_t)whole) : json_real(samples);
}

static json_t *share(double part, double total)
{
	return json_real(total > 0 ? part / total : 0);
}

static const char *level_name(const struct dictionary *d, uint32_t i)
{
	return d->level[i].name ? d->level[i].name : "";
}

static json_t *components(const struct report *r, const struct report_sums *sums)
{
	const struct dictionary *d = &r->model->dictionary;
	json_t *list = json_array();

	for (uint32_t i = 1; i < d->nr_components; i++) {
		const struct component *c = &d->component[i];
		const struct group_sum *sum = report_sum(sums->level[c->level], i);
		json_t *o, *parents, *counters;
		const struct scope *query;

		if (!c->announced && sum->samples == 0)
			continue; /* a line without samples */
		o = json_object();
		parents = json_array();
		counters = json_object();
		put(o, "level", json_text(level_name(d, c->level)));
		put(o, "id", json_integer((json_int_t)c->id));
		put(o, "name", json_text(c->name));
		if (c->detail && *c->detail)
			put(o, "detail", json_text(c->detail));
		if (c->flags & JITREG_COMPONENT_RUNTIME)
			put(o, "runtime", json_true());
		query = model_find_scope(r->model, i);
		if (query)
			put(o, "query", json_text(query->name));
		put(o, "process", json_integer(r->model->numbered[c->process]->pid));
		put(o, "samples", count(sum->samples));
		put(o, "kernel", count(sum->kernel));
		put(o, "weight", json_real(sum->weight));
		put(o, "share", share(report_measure(r, sum), report_measure(r, &sums->process->g.total)));
		for (uint32_t n = 0; n < c->nr_links; n++) {
			const struct component *up = &d->component[c->links[n].upper];
			json_t *p = json_object();

			put(p, "level", json_text(level_name(d, up->level)));
			put(p, "id", json_integer((json_int_t)up->id));
			put(p, "name", json_text(up->name));
			put(p, "weight", json_integer(c->links[n].weight));
			json_array_append_new(parents, p);
		}
		put(o, "parents", parents);
		for (const struct counter *n = c->counters; n; n = n->next)
			put(counters, n->name, json_integer(n->value));
		put(o, "counters", counters);
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *named(const struct report_group *sums, const char *const *names, int first, int nr)
{
	json_t *o = json_object();

	for (int i = first; i < nr; i++)
		put(o, names[i], count(report_sum(sums, (uint32_t)i)->samples));
	return o;
}

/* Samples with a component that has no link to this level: with the reasons, all that are unattributed at it. */
static double unlinked(const struct default_report *d, uint32_t level)
{
	double rest = report_sum(d->all.level[level], COMPONENT_NONE)->samples - report_sum(d->all.method, METHOD_NONE)->samples;

	return rest >= 0.5 ? rest : 0;
}

/* Samples with a component of this level that was never announced. */
static double unannounced(const struct default_report *d, const struct report *r, uint32_t level)
{
	const struct report_group *g = d->all.level[level];
	double sum = 0;

	for (uint32_t i = 0; i < g->g.nr; i++) {
		const struct component *c = &r->model->dictionary.component[report_value(g, i, 0)];

		sum += report_value(g, i, 0) && !c->announced && !c->source && !host_levels_have(r->model, level) ? g->g.sum[i].samples : 0;
	}
	return sum;
}

static json_t *levels(const struct default_report *d, const struct report *r)
{
	const struct dictionary *dictionary = &r->model->dictionary;
	json_t *list = json_array();

	for (uint32_t i = 0; i < dictionary->nr_levels; i++) {
		json_t *o = json_object();

		put(o, "id", json_integer(dictionary->level_id[i]));
		put(o, "name", json_text(level_name(dictionary, i)));
		put(o, "rank", json_integer(dictionary->level[i].rank));
		put(o, "plan", json_boolean(i == d->plan_level));
		put(o, "samples", count(d->all.level[i]->g.total.samples - report_sum(d->all.level[i], 0)->samples));
		put(o, "unlinked", count(unlinked(d, i)));
		put(o, "unannounced", count(unannounced(d, r, i)));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *edges(const struct dictionary *d)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < d->nr_edges; i++) {
		json_t *o = json_object();

		put(o, "level", json_text(level_name(d, d->component[d->edges[i].from].level)));
		put(o, "from", json_integer((json_int_t)d->component[d->edges[i].from].id));
		put(o, "to", json_integer((json_int_t)d->component[d->edges[i].to].id));
		put(o, "label", json_text(d->edges[i].label));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *functions(const struct default_report *d, const struct report *r)
{
	const struct attribution *a = r->a;
	json_t *list = json_array();

	for (uint32_t i = 0; i < a->nr_functions; i++) {
		const struct function *f = &a->function[i];
		json_t *o;

		if (report_sum(d->function, i)->samples == 0)
			continue;
		o = json_object();
		put(o, "name", json_text(f->name));
		put(o, "image", json_text(a->image[f->image].path));
		put(o, "symbol", json_boolean(f->symbol));
		put(o, "generated", json_boolean(f->jit));
		put(o, "samples", count(report_sum(d->function, i)->samples));
		put(o, "share", share(report_measure(r, report_sum(d->function, i)), report_measure(r, &d->function->g.total)));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *lines(const struct default_report *d, const struct report *r)
{
	const struct attribution *a = r->a;
	json_t *list = json_array();

	for (uint32_t i = 1; i < a->nr_lines; i++) {
		json_t *o;

		if (report_sum(d->line, i)->samples == 0)
			continue;
		o = json_object();
		put(o, "file", json_text(a->line[i].file));
		put(o, "line", json_integer(a->line[i].number));
		put(o, "generated", json_boolean(a->line[i].jit));
		put(o, "samples", count(report_sum(d->line, i)->samples));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *images(const struct default_report *d, const struct report *r)
{
	json_t *list = json_array();

	for (uint32_t i = 1; i < r->a->nr_images; i++) {
		json_t *o = json_object();

		put(o, "path", json_text(r->a->image[i].path));
		put(o, "samples", count(report_sum(d->image, i)->samples));
		put(o, "share", share(report_measure(r, report_sum(d->image, i)), report_measure(r, &d->image->g.total)));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *processes(const struct default_report *d, const struct report *r)
{
	const struct model *m = r->model;
	json_t *list = json_array();

	for (uint32_t i = 0; i < m->nr_processes; i++) {
		const struct process *p = m->numbered[i];
		json_t *o = json_object();

		put(o, "pid", json_integer(p->pid));
		put(o, "comm", json_text(p->comm));
		put(o, "executable", json_text(p->executable));
		put(o, "parent", p->parent_pid ? json_integer(p->parent_pid) : json_null());
		put(o, "agent", json_boolean(p->has_guest));
		if (p->header_version)
			put(o, "jitreg", json_sprintf("%u.%u", p->header_version >> 16, p->header_version & 0xffff));
		put(o, "samples", count(report_sum(d->all.process, i)->samples));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *threads(const struct default_report *d, const struct report *r)
{
	const struct model *m = r->model;
	json_t *list = json_array();

	for (uint32_t i = 0; i < m->nr_threads; i++) {
		json_t *o = json_object();

		put(o, "tid", json_integer(m->thread[i].tid));
		put(o, "pid", json_integer(m->numbered[m->thread[i].process]->pid));
		put(o, "comm", json_text(m->thread[i].comm));
		put(o, "samples", count(report_sum(d->thread, i)->samples));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *events(const struct default_report *d, const struct report *r)
{
	const struct model *m = r->model;
	json_t *list = json_array();

	for (uint32_t i = 0; i < m->nr_events; i++) {
		const struct model_event *e = &m->event[i];
		json_t *o = json_object();

		put(o, "name", json_text(e->name));
		put(o, "unit", json_text(e->unit));
		put(o, "scope", json_text(e->scope));
		put(o, "rate", json_integer((json_int_t)e->rate));
		put(o, "period", json_integer((json_int_t)e->period));
		put(o, "stack_bytes", json_integer(e->stack_bytes));
		put(o, "samples", count(report_sum(d->event, i)->samples));
		put(o, "weight", json_real(report_sum(d->event, i)->weight));
		put(o, "counted", json_integer((json_int_t)e->counted));
		if (e->sampled > 0)
			put(o, "sampled", json_real(e->sampled));
		put(o, "lost", json_integer((json_int_t)e->count_lost));
		if (e->on_cpu_ns)
			put(o, "running", json_real((double)e->running_ns / (double)e->on_cpu_ns));
		put(o, "shown", json_boolean(i == r->event));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *marks(const struct model *m)
{
	static const char *const covers[] = { "", "thread", "task", "process" };
	json_t *list = json_array();

	for (uint32_t i = 0; i < m->nr_marks; i++) {
		const struct mark *k = &m->mark[i];
		json_t *o = json_object();

		put(o, "name", json_text(k->name));
		put(o, "pid", json_integer(m->numbered[k->process]->pid));
		put(o, "tid", json_integer(k->tid));
		put(o, "begin_ns", json_integer((json_int_t)k->begin_ns));
		put(o, "end_ns", k->end_ns == UINT64_MAX ? json_null() : json_integer((json_int_t)k->end_ns));
		put(o, "instance", json_integer((json_int_t)k->instance));
		put(o, "units", json_integer((json_int_t)k->units));
		if (k->component)
			put(o, "component", json_integer((json_int_t)m->dictionary.component[k->component].id));
		if (k->covers && k->covers <= JITREG_COVERS_PROCESS)
			put(o, "covers", json_text(covers[k->covers]));
		if (k->parent)
			put(o, "parent", json_integer((json_int_t)k->parent - 1));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *notices(const struct model *m)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < m->nr_notices; i++) {
		json_t *o = json_object();

		put(o, "kind", json_text(trace_notices[m->notice[i].kind]));
		put(o, "sentence", json_text(m->notice[i].sentence));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *losses(const struct model *m)
{
	json_t *list = json_array();

	for (int i = 0; i <= NR_LOSSES; i++) {
		json_t *o;

		if (!m->lost[i])
			continue;
		o = json_object();
		put(o, "reason", json_text(i < NR_LOSSES ? trace_losses[i].text : "unknown"));
		put(o, "count", json_integer((json_int_t)m->lost[i]));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *run_phase(const struct default_report *d, const struct report *r)
{
	json_t *o = json_object();
	const struct report_sums *s = &d->in_run;
	double all = report_measure(r, &s->process->g.total);

	put(o, "marks", json_integer(d->nr_runs));
	put(o, "samples", count(s->process->g.total.samples));
	if (d->plan_level != LEVELS_MAX)
		put(o, "on_operator", share(all - report_measure(r, report_sum(s->level[d->plan_level], 0)), all));
	put(o, "kernel", count(s->process->g.total.kernel));
	put(o, "methods", named(s->method, method_names, 0, NR_METHODS));
	put(o, "reasons", named(s->reason, reason_names, 1, NR_REASONS));
	put(o, "components", components(r, s));
	return o;
}

/* What the host said that cannot be right. */
static json_t *host_data(const struct default_report *d, const struct report *r)
{
	const struct check_sums sums = { (const struct report_group *const *)d->all.level };
	struct findings *f = calloc(1, sizeof(*f));
	enum finding_kind order[NR_FINDINGS];
	uint32_t nr = f && !check_model(f, r->model, &sums) ? check_order(f, order) : 0;
	json_t *list = json_array();

	for (uint32_t i = 0; i < nr; i++) {
		const struct finding *found = &f->of[order[i]];
		json_t *o = json_object();

		put(o, "kind", json_text(finding_ids[order[i]]));
		put(o, "count", json_integer((json_int_t)found->count));
		put(o, "samples", count(found->samples));
		put(o, "sentence", json_text(finding_sentences[order[i]]));
		put(o, "example", json_text(found->example));
		put(o, "remedy", json_text(finding_remedies[order[i]]));
		json_array_append_new(list, o);
	}
	free(f);
	return list;
}

/* Images whose functions have no names, or whose code has no lines, and what would bring them. */
static json_t *without_debug(const struct without_debug_list *l, bool lines)
{
	char text[WITHOUT_DEBUG_TEXT];
	json_t *list = json_array();

	for (uint32_t i = 0; i < l->nr; i++) {
		const struct without_debug *w = &l->image[i];
		json_t *o = json_object();

		put(o, "image", json_text(w->path));
		put(o, "share", json_real(w->share));
		put(o, "cause", json_text(without_debug_cause(w, lines, text)));
		put(o, "remedy", json_text(without_debug_remedy(w, lines, text)));
		put(o, "package", json_text(w->package));
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

	put(o, "schema", json_integer(PAGE_SCHEMA));
	put(samples, "total", count(total->samples));
	put(samples, "attributed", count(total->samples - report_sum(d->all.method, METHOD_NONE)->samples));
	put(samples, "lost", json_integer((json_int_t)model_lost(m, LOSS_OF_SAMPLES)));
	put(samples, "kernel", count(total->kernel));
	put(samples, "recorded", json_integer((json_int_t)a->nr_samples));
	put(samples, "first_ns", json_integer((json_int_t)a->first_ns));
	put(samples, "last_ns", json_integer((json_int_t)a->last_ns));
	put(o, "samples", samples);
	put(o, "command", json_text(m->command));
	put(o, "complete", json_boolean(m->has_end));
	put(o, "recorder_cpu_ns", json_integer((json_int_t)m->recorder_cpu_ns));
	put(o, "methods", named(d->all.method, method_names, 0, NR_METHODS));
	put(o, "reasons", named(d->all.reason, reason_names, 1, NR_REASONS));
	put(o, "levels", levels(d, r));
	put(o, "components", components(r, &d->all));
	put(o, "edges", edges(&m->dictionary));
	put(o, "run", run_phase(d, r));
	put(jit, "samples", json_integer((json_int_t)a->jit_samples));
	put(jit, "named", json_integer((json_int_t)a->jit_named));
	put(jit, "with_lines", json_integer((json_int_t)a->jit_lines));
	put(jit, "line_0", json_integer((json_int_t)a->line0_samples));
	put(o, "jit", jit);
	put(o, "functions", functions(d, r));
	put(o, "lines", lines(d, r));
	put(o, "images", images(d, r));
	put(o, "processes", processes(d, r));
	put(o, "threads", threads(d, r));
	put(o, "events", events(d, r));
	put(o, "marks", marks(m));
	put(o, "notices", notices(m));
	put(o, "losses", losses(m));
	put(o, "host_data", host_data(d, r));
	without_names_find(r, d->function, &without);
	put(o, "without_names", without_debug(&without, false));
	without_lines_find(r, d->image, &without);
	put(o, "without_lines", without_debug(&without, true));
	ret = json_dumpf(o, to, JSON_TEXT_FORM) || fputc('\n', to) == EOF ? -EIO : 0;
	json_decref(o);
	return ret;
}
