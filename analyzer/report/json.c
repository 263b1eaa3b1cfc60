/* SPDX-License-Identifier: MIT */
/* The report for programs.  Keys are stable: new ones may come, none goes.  jansson's door. */
#include "analyzer/output/json_text.h"
#include "analyzer/query/summary.h"
#include "analyzer/report/default_report.h"

#include <errno.h>
#include <jansson.h>

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

static json_t *components(const struct summary *s, const struct sums *sums)
{
	const struct dictionary *d = &s->a->model->dictionary;
	json_t *list = json_array();

	for (uint32_t i = 1; i < d->nr_components; i++) {
		const struct component *c = &d->component[i];
		const struct group_sum *sum = &sums->component[c->level][i];
		json_t *o, *parents, *counters;

		if (!c->announced && sum->samples == 0)
			continue; /* a line that nobody sampled */
		o = json_object();
		parents = json_array();
		counters = json_object();
		put(o, "level", json_text(level_name(d, c->level)));
		put(o, "id", json_integer((json_int_t)c->id));
		put(o, "name", json_text(c->name));
		if (c->detail && *c->detail)
			put(o, "detail", json_text(c->detail));
		put(o, "process", json_integer(s->a->model->numbered[c->process]->pid));
		put(o, "samples", count(sum->samples));
		put(o, "kernel", count(sum->kernel));
		put(o, "weight", json_real(sum->weight));
		put(o, "share", share(summary_measure(sum), summary_measure(&sums->total)));
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

static json_t *named(const struct group_sum *sums, const char *const *names, int first, int nr)
{
	json_t *o = json_object();

	for (int i = first; i < nr; i++)
		put(o, names[i], count(sums[i].samples));
	return o;
}

static json_t *levels(const struct summary *s)
{
	const struct dictionary *d = &s->a->model->dictionary;
	json_t *list = json_array();

	for (uint32_t i = 0; i < d->nr_levels; i++) {
		json_t *o = json_object();

		put(o, "id", json_integer(d->level_id[i]));
		put(o, "name", json_text(level_name(d, i)));
		put(o, "rank", json_integer(d->level[i].rank));
		put(o, "plan", json_boolean(i == s->plan_level));
		put(o, "samples", count(s->all.total.samples - s->all.component[i][0].samples));
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

static json_t *functions(const struct summary *s)
{
	const struct attribution *a = s->a;
	json_t *list = json_array();

	for (uint32_t i = 0; i < a->nr_functions; i++) {
		const struct function *f = &a->function[i];
		json_t *o;

		if (s->all.function[i].samples == 0)
			continue;
		o = json_object();
		put(o, "name", json_text(f->name));
		put(o, "image", json_text(a->image[f->image].path));
		put(o, "symbol", json_boolean(f->symbol));
		put(o, "generated", json_boolean(f->jit));
		put(o, "samples", count(s->all.function[i].samples));
		put(o, "share", share(summary_measure(&s->all.function[i]), summary_measure(&s->all.total)));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *lines(const struct summary *s)
{
	const struct attribution *a = s->a;
	json_t *list = json_array();

	for (uint32_t i = 1; i < a->nr_lines; i++) {
		json_t *o;

		if (s->all.line[i].samples == 0)
			continue;
		o = json_object();
		put(o, "file", json_text(a->line[i].file));
		put(o, "line", json_integer(a->line[i].number));
		put(o, "generated", json_boolean(a->line[i].jit));
		put(o, "samples", count(s->all.line[i].samples));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *images(const struct summary *s)
{
	json_t *list = json_array();

	for (uint32_t i = 1; i < s->a->nr_images; i++) {
		json_t *o = json_object();

		put(o, "path", json_text(s->a->image[i].path));
		put(o, "samples", count(s->all.image[i].samples));
		put(o, "share", share(summary_measure(&s->all.image[i]), summary_measure(&s->all.total)));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *processes(const struct summary *s)
{
	const struct model *m = s->a->model;
	json_t *list = json_array();

	for (uint32_t i = 0; i < m->nr_processes; i++) {
		const struct process *p = m->numbered[i];
		json_t *o = json_object();

		put(o, "pid", json_integer(p->pid));
		put(o, "comm", json_text(p->comm));
		put(o, "executable", json_text(p->executable));
		put(o, "parent", p->parent ? json_integer(p->parent->pid) : json_null());
		put(o, "agent", json_boolean(p->has_guest));
		put(o, "samples", count(s->all.process[i].samples));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *threads(const struct summary *s)
{
	const struct model *m = s->a->model;
	json_t *list = json_array();

	for (uint32_t i = 0; i < m->nr_threads; i++) {
		json_t *o = json_object();

		put(o, "tid", json_integer(m->thread[i].tid));
		put(o, "pid", json_integer(m->numbered[m->thread[i].process]->pid));
		put(o, "comm", json_text(m->thread[i].comm));
		put(o, "samples", count(s->all.thread[i].samples));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *events(const struct summary *s)
{
	const struct model *m = s->a->model;
	json_t *list = json_array();

	for (uint32_t i = 0; i < m->nr_events; i++) {
		const struct event *e = &m->event[i];
		json_t *o = json_object();

		put(o, "name", json_text(e->name));
		put(o, "unit", json_text(e->unit));
		put(o, "scope", json_text(e->scope));
		put(o, "rate", json_integer((json_int_t)e->rate));
		put(o, "period", json_integer((json_int_t)e->period));
		put(o, "stack_bytes", json_integer(e->stack_bytes));
		put(o, "samples", count(s->all.event[i].samples));
		put(o, "weight", json_real(s->all.event[i].weight));
		put(o, "counted", json_integer((json_int_t)e->counted));
		if (e->sampled > 0)
			put(o, "sampled", json_real(e->sampled));
		put(o, "lost", json_integer((json_int_t)e->count_lost));
		if (e->on_cpu_ns)
			put(o, "running", json_real((double)e->running_ns / (double)e->on_cpu_ns));
		put(o, "shown", json_boolean(i == s->event));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *marks(const struct model *m)
{
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
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *told(const struct told *t, uint32_t nr, bool losses)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < nr; i++) {
		json_t *o = json_object();

		put(o, losses ? "reason" : "kind", json_text(t[i].kind));
		if (losses)
			put(o, "count", json_integer((json_int_t)t[i].count));
		else
			put(o, "sentence", json_text(t[i].sentence));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *run_phase(const struct summary *s)
{
	json_t *o = json_object();
	double all = summary_measure(&s->run.total);

	put(o, "marks", json_integer(s->nr_runs));
	put(o, "samples", count(s->run.total.samples));
	if (s->plan_level != LEVELS_MAX)
		put(o, "on_operator", share(all - summary_measure(&s->run.component[s->plan_level][0]), all));
	put(o, "kernel", count(s->run.total.kernel));
	put(o, "methods", named(s->run.method, method_names, 0, NR_METHODS));
	put(o, "reasons", named(s->run.reason, reason_names, 1, NR_REASONS));
	put(o, "components", components(s, &s->run));
	return o;
}

int view_json(const struct summary *s, FILE *to)
{
	const struct attribution *a = s->a;
	const struct model *m = a->model;
	json_t *o = json_object(), *samples = json_object(), *jit = json_object();
	int ret;

	put(samples, "total", count(s->all.total.samples));
	put(samples, "attributed", count(s->all.total.samples - s->all.method[METHOD_NONE].samples));
	put(samples, "lost", json_integer((json_int_t)s->lost));
	put(samples, "kernel", count(s->all.total.kernel));
	put(samples, "recorded", json_integer((json_int_t)a->nr_samples));
	put(samples, "first_ns", json_integer((json_int_t)a->first_ns));
	put(samples, "last_ns", json_integer((json_int_t)a->last_ns));
	put(o, "samples", samples);
	put(o, "command", json_text(m->command));
	put(o, "complete", json_boolean(m->has_end));
	put(o, "recorder_cpu_ns", json_integer((json_int_t)m->recorder_cpu_ns));
	put(o, "methods", named(s->all.method, method_names, 0, NR_METHODS));
	put(o, "reasons", named(s->all.reason, reason_names, 1, NR_REASONS));
	put(o, "levels", levels(s));
	put(o, "components", components(s, &s->all));
	put(o, "edges", edges(&m->dictionary));
	put(o, "run", run_phase(s));
	put(jit, "samples", json_integer((json_int_t)a->jit_samples));
	put(jit, "named", json_integer((json_int_t)a->jit_named));
	put(jit, "with_lines", json_integer((json_int_t)a->jit_lines));
	put(jit, "line_0", json_integer((json_int_t)a->line0_samples));
	put(o, "jit", jit);
	put(o, "functions", functions(s));
	put(o, "lines", lines(s));
	put(o, "images", images(s));
	put(o, "processes", processes(s));
	put(o, "threads", threads(s));
	put(o, "events", events(s));
	put(o, "marks", marks(m));
	put(o, "notices", told(m->notice, m->nr_notices, false));
	put(o, "losses", told(m->loss, m->nr_losses, true));
	ret = json_dumpf(o, to, JSON_INDENT(2) | JSON_PRESERVE_ORDER) || fputc('\n', to) == EOF ? -EIO : 0;
	json_decref(o);
	return ret;
}
