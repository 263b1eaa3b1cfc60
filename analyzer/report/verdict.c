/* SPDX-License-Identifier: MIT */
#include "analyzer/report/verdict.h"

#include "analyzer/leading/programs.h"
#include "analyzer/listing/code_queries.h"
#include "analyzer/query/plan_tree.h"
#include "analyzer/report/first.h"
#include "analyzer/report/missing.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NAME_COLUMNS 32
#define DETAIL_COLUMNS 24
#define FEW 100	     /* samples; with fewer, the 95 % interval of a share may reach more than ten points to either side */
#define FEW_REMEDY "Few samples: record longer, or raise the rate (-r)."
#define PART_FROM 0.0015 /* share from which an operator is named, because it is printed as more than 0.1 % */
#define QUERY_FROM 0.5 /* share of the largest query from which queries are the parts, if no operator is large enough */
#define WORTH 0.005  /* share from which unattributed or unsampled time is worth a sentence */
#define EVENT_TIMER "cpu-timer"
#define COVERED 0.95 /* share of an event's count; if the samples stand for less, that is worth a sentence */

/* ------------------------------------------------------------------------------------------------------------- gather */

static double share_of_total(const struct report *r, const struct group_sum *part, const struct group_sum *all)
{
	double total = report_measure(r, all);

	return total > 0 ? report_measure(r, part) / total : 0;
}

static void name_operator(const struct report *r, uint32_t component, const struct page *p, char name[VERDICT_TEXT])
{
	const char *detail = r->model->dictionary.components.at[component].detail;
	char own_spare[32], spare[32], cut[VERDICT_TEXT / 2], more[VERDICT_TEXT / 3];
	const char *own = report_component_own_name(r, component, own_spare), *label = report_component_name(r, component, spare);

	if (strncmp(label + strlen(own), " (", 2) == 0) {
		page_cut_name(p, own, NAME_COLUMNS, cut, sizeof(cut));
		snprintf(name, VERDICT_TEXT, "%s (%s)", cut, page_cut_name(p, detail, DETAIL_COLUMNS, more, sizeof(more)));
	} else {
		snprintf(name, VERDICT_TEXT, "%s", page_cut_name(p, label, NAME_COLUMNS, cut, sizeof(cut)));
	}
}

static void name_function(const struct report *r, uint32_t function, const struct page *p, char name[VERDICT_TEXT])
{
	const struct function *f = &r->a->function[function];
	const char *path = basename(r->a->image[f->image].path);
	char cut[VERDICT_TEXT / 2], image[VERDICT_TEXT / 3], whole[FUNCTION_ALSO], also[FUNCTION_ALSO];

	page_cut_name(p, f->name, NAME_COLUMNS, cut, sizeof(cut));
	page_cut_name(p, path, DETAIL_COLUMNS, image, sizeof(image));
	page_cut_name(p, attribution_also(r->a, f, whole), NAME_COLUMNS, also, sizeof(also));
	if (f->symbol)
		snprintf(name, VERDICT_TEXT, *path == '(' || *path == '[' ? "%s%s%s%s %s" : "%s%s%s%s (%s)", cut, *also ? " (" : "",
			 also, *also ? ")" : "", image);
	else
		snprintf(name, VERDICT_TEXT, "%s", cut);
}

/* Write a function such as "work (server.js:15)", without the column and without folders. */
static void name_language_function(const struct report *r, uint32_t component, const struct page *p, char name[VERDICT_TEXT])
{
	char own_spare[32], cut[VERDICT_TEXT / 2], file[VERDICT_TEXT / 3];
	const char *place = component_place(r, component), *slash = strrchr(place, '/'), *line;

	place = slash ? slash + 1 : place;
	line = strchr(place, ':');
	snprintf(file, sizeof(file), "%.*s", line ? (int)(line + 1 - place + (int)strcspn(line + 1, ":")) : -1, place);
	page_cut_name(p, report_component_own_name(r, component, own_spare), NAME_COLUMNS, cut, sizeof(cut));
	snprintf(name, VERDICT_TEXT, *file ? "%s (%s)" : "%s", cut, file);
}

/* Gather the largest parts by self measure, among the values of g that are at least `first`. Components of one name in several processes
 * are one part. add_up: shares are rounded as in a table whose rows add up. If memory runs out, there are no parts. */
static void gather_parts(const struct report *r, const struct report_group *g, uint32_t first, bool add_up,
			 void (*name)(const struct report *r, uint32_t value, const struct page *p, char name[VERDICT_TEXT]),
			 const struct page *p, struct verdict *v)
{
	struct split s;
	double *measure = NULL;
	int *tenths = NULL;

	if (split_make_with_totals(r, g, NULL, &s)) {
		measure = calloc((size_t)s.nr_order + 1, sizeof(*measure));
		tenths = calloc((size_t)s.nr_order + 1, sizeof(*tenths));
	}
	for (uint32_t i = 0; measure && i < s.nr_order; i++)
		measure[i] = report_measure(r, &s.sum[r->event][s.order[i]]);
	if (measure && tenths && add_up)
		grid_round_to_tenths(measure, s.nr_order, report_measure(r, &s.total[r->event]), tenths);
	for (uint32_t i = 0; measure && tenths && i < s.nr_order && v->nr_parts < VERDICT_PARTS; i++) {
		const struct group_sum *sum = &s.sum[r->event][s.order[i]], *all = &s.total[r->event];
		struct verdict_part *part = &v->part[v->nr_parts];
		double n = view_effective_samples(sum, all), share = share_of_total(r, sum, all);

		if (s.order[i] < first || sum->samples <= 0 || (add_up && share < PART_FROM))
			continue;
		part->share = (add_up ? tenths[i] : round(1000 * share)) / 1000;
		grid_interval(share * n, n, &part->low, &part->high);
		name(r, s.order[i], p, part->name);
		v->nr_parts++;
	}
	free(measure);
	free(tenths);
	split_fini(&s);
}

/* Return the share of a level's largest component. */
static double largest_share(const struct default_report *d, const struct report *r, uint32_t level)
{
	const struct report_group *g = d->in_run.level[level];
	double largest = 0;

	for (uint32_t i = 0; i < g->g.nr; i++)
		if (report_value(g, i, 0))
			largest = fmax(largest, share_of_total(r, &g->g.sum[i], &d->in_run.process->g.total));
	return largest;
}

/* Return the level of the plan, or that of queries if no operator has the share PART_FROM and one query has the share QUERY_FROM. */
static uint32_t level_of_parts(const struct default_report *d, const struct report *r)
{
	const uint32_t query = plan_query_level(&r->model->dictionary, d->plan_level);
	const bool by_query = query != LEVELS_MAX && largest_share(d, r, d->plan_level) < PART_FROM &&
			      largest_share(d, r, query) >= QUERY_FROM;

	return by_query ? query : d->plan_level;
}

static void gather_programs(const struct report *r, const struct report_group *by_process, const struct page *p, struct verdict *v)
{
	struct program *list;
	const uint32_t nr = programs_list(r, by_process, &list);

	for (uint32_t i = 0; i < nr && v->nr_parts < VERDICT_PARTS; i++) {
		struct verdict_part *part = &v->part[v->nr_parts++];
		const double share = share_of_total(r, &list[i].sum, &by_process->g.total);
		const double n = view_effective_samples(&list[i].sum, &by_process->g.total);

		part->share = round(1000 * share) / 1000;
		grid_interval(share * n, n, &part->low, &part->high);
		page_cut_name(p, basename(list[i].name), NAME_COLUMNS, part->name, VERDICT_TEXT);
	}
	programs_free(list, nr);
}

/* Gather the largest of what leads: operators if there is a plan with samples in its phase, functions of the host's language, or programs.
 * Functions of any code take their place otherwise. */
static void gather_largest_parts(const struct default_report *d, const struct report *r, const struct page *p, struct verdict *v)
{
	if (d->leads == LEADING_PROGRAMS)
		gather_programs(r, d->all.process, p, v);
	else if (d->leads == LEADING_LANGUAGE)
		gather_parts(r, d->in_run.level[r->model->host_level[HOST_LEVEL_FUNCTION]], 1, false, name_language_function, p, v);
	else if (d->leads == LEADING_PLAN && d->plan_level != LEVELS_MAX && d->in_run.process->g.total.samples > 0)
		gather_parts(r, d->in_run.level[level_of_parts(d, r)], 1, true, name_operator, p, v);
	else
		gather_parts(r, d->function, 0, false, name_function, p, v);
}

/* Returns the share of a function, which is one of jit_hosts.h that stands for functions without names. */
static double share_of_function(const struct default_report *d, const struct report *r, const char *name, const char *where)
{
	const uint32_t level = r->model->host_level[HOST_LEVEL_FUNCTION];
	const struct report_group *by = level < LEVELS_MAX ? d->in_run.level[level] : NULL;
	double share = 0;

	for (uint32_t i = 0; by && i < by->g.nr; i++) {
		const struct component *c = &r->model->dictionary.components.at[report_value(by, i, 0)];

		if (c->name && c->detail && strcmp(c->name, name) == 0 && strcmp(c->detail, where) == 0)
			share += share_of_total(r, &by->g.sum[i], &by->g.total);
	}
	return share;
}

static void gather_time_split(const struct default_report *d, const struct report *r, struct verdict *v)
{
	const struct report_group *by = v->has_run ? d->run_function : d->function;
	const struct group_sum *all = &by->g.total;
	const bool has_all = default_report_has_all(d, r->a); /* with a filter, it is not known which executions its samples are of */

	for (uint32_t i = 0; i < d->mode->g.nr && v->in_run > 0; i++)
		if (report_value(d->mode, i, 0) == SAMPLE_MODE_KERNEL)
			v->kernel += share_of_total(r, &d->mode->g.sum[i], all);
	for (uint32_t i = 0; i < by->g.nr; i++) {
		const struct function *f = &r->a->function[report_value(by, i, 0)];

		if (f->unknown)
			v->unregistered += share_of_total(r, &by->g.sum[i], all);
		else if (f->jit)
			v->generated += share_of_total(r, &by->g.sum[i], all);
	}
	unnamed_find(r, by, 0, &v->without);
	v->truncated = totals_truncated_share(r, d->function_total);
	without_names_find(r, by, &v->nameless);
	v->deep_python = share_of_function(d, r, JIT_PYTHON_DEEP, JIT_PYTHON_DEEP_WHERE);
	v->v8_interpreted = share_of_function(d, r, JIT_V8_INTERPRETED, JIT_V8_INTERPRETED_WHERE);
	v->host = fmax(1 - v->kernel - v->generated - v->unregistered, 0);
	v->run_share = share_of_total(r, &d->in_run.process->g.total, &d->all.process->g.total);
	for (uint32_t i = 0; i < r->model->marks.nr; i++) {
		const struct mark *k = &r->model->marks.at[i];

		if (k->name && code_mark_is_compiling(k)) {
			v->compile_ns += code_mark_ns(r, k);
		} else if (has_all && k->name && code_mark_is_run(r, k) && !r->filter.has_instance) {
			v->run_ns += code_mark_ns(r, k);
			v->nr_runs++;
		}
	}
}

/* Return the sentence of the recorder's first notice of a kind that has these words, or NULL if there is none. */
static const char *find_notice(const struct model *m, enum notice_kind kind, const char *words)
{
	for (uint32_t i = 0; i < m->notices.nr; i++)
		if (m->notices.at[i].kind == kind && strstr(m->notices.at[i].sentence, words))
			return m->notices.at[i].sentence;
	return NULL;
}

/* Gather what the trace knows about an event, which may have no samples. */
static void gather_evidence(const struct model *m, const struct model_event *e, struct verdict *v)
{
	v->has_count = e->nr_counts || e->of_threads.enabled_ns;
	v->counters_ns = (double)e->on_cpu_ns;
	v->counted = (double)e->counted;
	v->event_name = e->name ? e->name : "";
	v->period_ns = e->rate ? 1e9 / (double)e->rate : e->is_clock ? (double)e->period : 0;
	v->period = (double)e->period;
	v->user_only = e->exclude_kernel;
	v->has_registers = e->registers != 0;
	v->no_samples_of = find_notice(m, NOTICE_NO_SAMPLES, "");
	if (v->no_samples_of && strncmp(v->no_samples_of, TRACE_NO_SAMPLES_OF, strlen(TRACE_NO_SAMPLES_OF)) == 0)
		v->no_samples_of += strlen(TRACE_NO_SAMPLES_OF);
	/* An EVENT record does not tell in whose place its event was recorded, but the notice of that has the event's name. */
	v->fallback = *v->event_name ? find_notice(m, NOTICE_FALLBACK, e->name) : NULL;
	v->disk_full = find_notice(m, NOTICE_DISK_FULL, "") != NULL;
}

static void gather_lost_samples(const struct report *r, struct verdict *v)
{
	const struct model *m = r->model;
	const struct model_event *e = r->event < m->nr_events ? &m->event[r->event] : NULL;
	uint64_t most = 0;

	v->lost = model_count_lost(m, LOSS_OF_SAMPLES);
	for (int i = 0; i < NR_LOSSES; i++)
		if (trace_losses[i].of == LOSS_OF_SAMPLES && m->lost[i] > most) {
			most = m->lost[i];
			v->lost_by = (enum loss_reason)i;
		}
	v->running = 1;
	for (uint32_t i = 0; i < m->nr_events; i++)
		v->several_events |= i != r->event && !m->event[i].is_switch;
	if (!e)
		return;
	if (model_event_is_multiplexed(e))
		v->running = (double)e->running_ns / (double)e->on_cpu_ns;
	v->covered = e->sampled > 0 ? e->sampled + e->unsampled : 0;
	v->unsampled = e->unsampled;
	v->timer = e->name && strcmp(e->name, EVENT_TIMER) == 0;
	v->user_part_of_clock = e->is_clock && e->exclude_kernel;
	v->why_not_covered = model_why_not_covered(m);
	v->stack_bytes = e->stack_bytes;
	gather_evidence(m, e, v);
	if (e->name && e->weighs != WEIGHT_NS && !strstr(e->name, "cycles"))
		v->event = e->name;
}

void verdict_gather(const struct default_report *d, const struct report *r, const struct page *p, struct verdict *v)
{
	const struct model *m = r->model;
	const struct group_sum *in_run = &d->in_run.process->g.total;

	memset(v, 0, sizeof(*v));
	v->recorded = r->a->nr_samples;
	v->unfiltered = !filter_is_given(r->filter.arguments) && r->idle <= 0;
	v->of_components = r->filter.arguments->nr_components > 0;
	v->bad_blocks = r->a->bad_blocks;
	v->samples = d->all.process->g.total.samples;
	v->in_run = in_run->samples;
	v->of_programs = d->leads == LEADING_PROGRAMS;
	v->has_run = d->has_run && v->in_run > 0 && !v->of_programs;
	v->phase = filter_phase(&r->filter);
	v->outside = d->has_run && v->in_run <= 0 && !v->of_programs;
	v->event = "";
	v->without.maker = v->event_name = "";
	v->command_cpu_ns = (double)m->command_cpu_ns;
	v->way = m->way;
	v->has_components = m->dictionary.components.nr > 1;
	if (m->has_end && m->end_ns > m->begin_ns)
		v->recording_s = (double)(m->end_ns - m->begin_ns) / 1e9;
	gather_lost_samples(r, v);
	if (v->samples <= 0)
		return;
	gather_largest_parts(d, r, p, v);
	gather_time_split(d, r, v);
	for (uint32_t i = 0; i < NR_METHODS; i++)
		v->method[i] = share_of_total(r, report_find_sum(d->in_run.method, i), &d->in_run.method->g.total);
	for (uint32_t i = 0; i < NR_REASONS; i++)
		v->reason[i] = share_of_total(r, report_find_sum(d->in_run.reason, i), &d->in_run.reason->g.total);
}

/* ---------------------------------------------------------------------------------------------------------------- say */

#define SENTENCE 1024

struct sentence {
	char text[SENTENCE];
	size_t bytes;
};

static void __attribute__((format(printf, 2, 3))) append_to_sentence(struct sentence *l, const char *format, ...)
{
	va_list list;
	int n;

	va_start(list, format);
	n = vsnprintf(l->text + l->bytes, sizeof(l->text) - l->bytes, format, list);
	va_end(list);
	if (n > 0)
		l->bytes = l->bytes + (size_t)n < sizeof(l->text) ? l->bytes + (size_t)n : sizeof(l->text) - 1;
}

static void print_sentence(struct sentence *l, struct page *p)
{
	page_text(p, "", 2, "%s", l->text);
	*l = (struct sentence){ .text = "" };
}

static void print_largest_parts(const struct verdict *v, struct page *p)
{
	struct sentence l = { .text = "" };
	char of[VERDICT_TEXT], phase[VERDICT_TEXT / 3], event[VERDICT_TEXT / 2];

	page_cut(p, v->event, NAME_COLUMNS, event, sizeof(event));
	first_whole(v, p, phase);
	if (!*v->event)
		snprintf(of, sizeof(of), "%s", phase);
	else
		snprintf(of, sizeof(of), v->has_run ? "the %s of %s" : "the %s", event, phase);
	for (int i = 0; i < v->nr_parts; i++) {
		const struct verdict_part *part = &v->part[i];

		if (i && part->share < 0.0005)
			break;
		append_to_sentence(&l, "%s%s: %.1f %%", i ? "; " : "", part->name, 100 * part->share);
		if (i == 0)
			append_to_sentence(&l, " of %s (95 %% interval: %.1f to %.1f %%)", of, 100 * part->low, 100 * part->high);
	}
	if (v->nr_parts) {
		append_to_sentence(&l, ".");
		print_sentence(&l, p);
	}
}

struct part_of_all {
	double share;
	const char *name;
};

static int compare_part_shares(const void *a, const void *b)
{
	const struct part_of_all *x = a, *y = b;

	return x->share < y->share ? 1 : x->share > y->share ? -1 : 0;
}

#define PARTS_MAX (NR_METHODS + NR_REASONS)

/* Append a list such as ": 62.3 % kernel, 36.4 % host", the largest first. Shares are rounded so that all nr parts add up, of which only
 * the first nr_named are listed, without those that round to zero. if_one: the text to write in place of a share if one part has all of the
 * named ones, or NULL. */
static void append_parts(struct sentence *l, const char *if_one, struct part_of_all *part, size_t nr_named, size_t nr)
{
	double share[PARTS_MAX], named = 0, all = 0;
	int tenths[PARTS_MAX], said = 0;

	qsort(part, nr_named, sizeof(*part), compare_part_shares);
	qsort(part + nr_named, nr - nr_named, sizeof(*part), compare_part_shares);
	for (size_t i = 0; i < nr; i++) {
		share[i] = part[i].share;
		all += share[i];
		named += i < nr_named ? share[i] : 0;
	}
	if (if_one && part[0].share > 1e-9 && part[0].share >= named - 1e-9) {
		append_to_sentence(l, "%s %s", if_one, part[0].name);
		return;
	}
	grid_round_to_tenths(share, nr, 1, tenths);
	for (size_t i = 0; i < nr_named; i++)
		if (tenths[i])
			append_to_sentence(l, "%s %.1f %% %s", said++ ? "," : ":",
					   fmin(tenths[i] / 10.0, part[i].share < all - 1e-9 ? 99.9 : 100), part[i].name);
}

static void print_time_split(const struct verdict *v, struct page *p)
{
	struct part_of_all part[] = { { v->host, "host and libraries" }, { v->kernel, "kernel" }, { v->generated, "generated code" },
				      { v->unregistered, "unregistered code" } };
	struct sentence l = { .text = "" };
	char text[16], phase[VERDICT_TEXT / 3];
	const char *of = first_whole(v, p, phase) + (v->has_run ? strlen("the ") : 0);

	append_to_sentence(&l, "%c%s", toupper((unsigned char)*of), of + 1);
	append_parts(&l, NULL, part, sizeof(part) / sizeof(part[0]), sizeof(part) / sizeof(part[0]));
	if (v->has_run) {
		if (v->run_share < 1 - 1e-9)
			append_to_sentence(&l, "; %.1f %% of all samples are in it", grid_percent(v->run_share));
		else
			append_to_sentence(&l, "; all samples are in it");
		if (v->nr_runs > 0)
			append_to_sentence(&l, " (%.0f run%s, %s)", v->nr_runs, v->nr_runs > 1 ? "s" : "", grid_duration(v->run_ns, text));
	}
	if (v->compile_ns > 0)
		append_to_sentence(&l, "; compilation took %s", grid_duration(v->compile_ns, text));
	append_to_sentence(&l, ".");
	print_sentence(&l, p);
}

static void print_attributed_share(const struct verdict *v, struct page *p)
{
	static const char *const names[] = { [METHOD_IP] = "by instruction", [METHOD_TAG] = "by tag",
					     [METHOD_TAG_UNWOUND] = "by tag in the call stack", [METHOD_STACK] = "by call stack",
					     [METHOD_PLAN_WALK] = "by plan walk" };
	_Static_assert(sizeof(names) / sizeof(names[0]) == NR_METHODS, "every method has a name");
	struct part_of_all by[PARTS_MAX];
	size_t nr = 0;
	double attributed = 1 - v->method[METHOD_NONE];
	struct sentence l = { .text = "" };
	char phase[VERDICT_TEXT / 3];

	if (v->has_components) {
		append_to_sentence(&l, "%.1f %% of %.0f sample%s%s%s %s attributed", grid_percent(attributed), v->in_run,
				   v->in_run > 1 ? "s" : "", v->has_run ? " in " : "", v->has_run ? first_whole(v, p, phase) : "",
				   v->in_run > 1 ? "are" : "is");
		for (int i = METHOD_NONE + 1; i < NR_METHODS; i++)
			by[nr++] = (struct part_of_all){ v->method[i], names[i] };
		for (int i = REASON_NONE + 1; i < NR_REASONS; i++)
			by[nr++] = (struct part_of_all){ v->reason[i], "" };
		append_parts(&l, ", all", by, NR_METHODS - 1, nr);
	} else {
		append_to_sentence(&l, "Functions and lines only: the host declared no components; %.0f sample%s", v->samples,
				   v->samples > 1 ? "s" : "");
	}
	append_to_sentence(&l, ".");
	if ((v->has_run ? v->in_run : v->samples) < FEW)
		append_to_sentence(&l, " " FEW_REMEDY);
	print_sentence(&l, p);
}

static void print_unattributed_share(const struct verdict *v, struct page *p)
{
	double none = v->method[METHOD_NONE];
	struct sentence l = { .text = "" };
	char text[MISSING_TEXT];
	int most = REASON_NONE;

	for (int i = REASON_NONE + 1; i < NR_REASONS; i++)
		if (v->reason[i] > (most ? v->reason[most] : 0))
			most = i;
	if (!v->has_components || none < WORTH || !most || v->of_programs)
		return;
	if (v->composition && (most == REASON_HOST || most == REASON_COMPILER || most == REASON_COLLECTOR))
		return; /* the sentence about the composition says this already */
	append_to_sentence(&l, "Unattributed: %.1f %%, %s \"%s\" (%s).", grid_percent(none),
			   v->reason[most] < none - 1e-9 ? "mainly" : "all", reason_names[most],
			   missing_attribution(v, (enum reason)most, text));
	if ((most != REASON_TRUNCATED || !first_says_truncated(v)) && *missing_attribution_remedy(v, (enum reason)most, text))
		append_to_sentence(&l, " %s", text);
	print_sentence(&l, p);
}

static void say_nameless(const struct verdict *v, const struct without_debug *w, struct page *p)
{
	char image[VERDICT_TEXT / 3], phase[VERDICT_TEXT / 3], cause[WITHOUT_DEBUG_TEXT], remedy[WITHOUT_DEBUG_TEXT];

	page_text(p, "", 2, "%.1f %% of %s ran in functions of %s without a name: %s. %s", grid_percent(w->share),
		  first_whole(v, p, phase), page_cut(p, basename(w->path), NAME_COLUMNS, image, sizeof(image)),
		  without_debug_cause(w, false, cause), without_debug_remedy(w, false, remedy));
}

static void print_lost_samples(const struct verdict *v, struct page *p)
{
	struct sentence l = { .text = "" };

	if (v->lost) {
		const char *remedy = missing_loss_remedy(v, v->lost_by);

		append_to_sentence(&l, "Lost: %llu samples (%.1f %%)", (unsigned long long)v->lost,
				   grid_percent((double)v->lost / ((double)v->lost + (double)v->recorded)));
		append_to_sentence(&l, ", %s.%s%s", trace_losses[v->lost_by].text, *remedy ? " " : "", remedy);
		print_sentence(&l, p);
	}
	if (v->recorded && v->running < 1) {
		append_to_sentence(&l,
				   "Multiplexed: the event ran %.0f %% of the time, and weights are scaled.%s", 100 * v->running,
				   v->several_events ? " Record fewer events at a time." : "");
		print_sentence(&l, p);
	} else if (v->recorded && v->covered > 0 && v->covered < COVERED && v->user_part_of_clock) {
		append_to_sentence(&l,
				   "Covered: samples stand for %.0f %% of the processor time; the kernel's part of it is not sampled, nor "
				   "are threads shorter than a period.", 100 * v->covered);
		print_sentence(&l, p);
	} else if (v->recorded && v->covered > 0 && v->covered < COVERED && !v->lost) {
		append_to_sentence(
			&l,
			"Covered: samples stand for %.0f %% of the count (%s), and weights are scaled. Lower the period (--period).",
			100 * v->covered, v->why_not_covered ? v->why_not_covered : "");
		print_sentence(&l, p);
	}
	if (v->recorded && v->unsampled >= WORTH) {
		append_to_sentence(&l,
				   "Not sampled: %s%.1f %% of the count are threads shorter than a period, a row of their own (counted, "
				   "and in no sample). %s", v->user_part_of_clock && !v->timer ? "at most " : "",
				   grid_percent(v->unsampled),
				   v->timer ? "Timers ring at the kernel's tick at most." : "Lower the period (--period).");
		print_sentence(&l, p);
	}
}

void verdict_print(const struct verdict *v, struct page *p)
{
	first_print(v, p);
	if (v->samples <= 0)
		return;
	if (v->of_programs)
		print_largest_parts(v, p);
	if (v->composition)
		composition_print(v->composition, p);
	if (!v->of_programs)
		print_largest_parts(v, p);
	if (!v->outside && (!v->composition || v->has_run))
		print_time_split(v, p);
	if (v->composition)
		print_lost_samples(v, p);
}

void verdict_print_notes(const struct verdict *v, struct page *p)
{
	if (v->samples > 0 && !v->outside) {
		if (!v->composition)
			print_attributed_share(v, p);
		else if ((v->has_run ? v->in_run : v->samples) < FEW)
			page_text(p, "", 2, "%.0f sample%s. " FEW_REMEDY, v->samples, v->samples > 1 ? "s" : "");
		print_unattributed_share(v, p);
		first_print_unnamed(v, p);
		for (uint32_t i = 0; i < v->nameless.nr; i++)
			say_nameless(v, &v->nameless.image[i], p);
	}
	if (!v->composition)
		print_lost_samples(v, p);
	if (v->fallback)
		page_text(p, "", 2, "Event: %.200s.", v->fallback);
}
