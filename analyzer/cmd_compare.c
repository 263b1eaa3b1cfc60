/* SPDX-License-Identifier: MIT */
#include "analyzer/cmd_compare.h"

#include "analyzer/compare/inlined.h"
#include "analyzer/compare/native.h"
#include "analyzer/compare/profile_report.h"
#include "analyzer/fleet/asked.h"
#include "analyzer/fleet/fleet.h"
#include "analyzer/fleet/leading_view.h"
#include "analyzer/history/plans.h"
#include "analyzer/leading/first_notes.h"
#include "analyzer/leading/leading.h"
#include "analyzer/leading/programs.h"
#include "analyzer/model/host_levels.h"
#include "analyzer/reading/reading_command.h"
#include "jitreg/base/command.h"
#include "jitreg/base/message.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct ask {
	struct profile_question question;
	const char *level;
	bool with_inlined;
	bool with_candidates; /* the groups of all that may lead are asked for, because the choice needs the samples */
	bool with_language;
	struct profile_question language;
	struct leading_sums leading;
	struct report_group *functions, *processes;
};

static void ask_profile_groups(void *context, struct report *r)
{
	struct ask *a = context;

	profile_ask(&a->question, r, a->level, a->with_inlined);
	a->functions = report_add_group(r, 0, TABLE_FUNCTION, -1);
	a->processes = report_add_group(r, 0, TABLE_PROCESS, -1);
	if (!a->with_candidates)
		return;
	leading_ask(&a->leading, r);
	a->with_language = a->question.level != LEVELS_MAX && !a->question.with_functions;
	if (a->with_language && r->model->has_host_levels && r->model->host_level[HOST_LEVEL_FUNCTION] != LEVELS_MAX)
		profile_ask_language(&a->language, r, a->with_inlined);
	else if (a->with_language)
		profile_ask_level(&a->language, r, LEVELS_MAX);
}

/* Return the file name of the program with most samples, or NULL if there are no samples or memory runs out. */
static char *name_main_program(const struct report *r, const struct report_group *by)
{
	const char *executable;
	uint32_t most = 0;

	for (uint32_t i = 1; i < by->g.nr; i++)
		if (report_measure(r, &by->g.sum[i]) > report_measure(r, &by->g.sum[most]))
			most = i;
	executable = by->g.nr ? r->model->numbered.at[report_value(by, most, 0)]->executable : NULL;
	return executable && *executable ? strdup(basename(executable)) : NULL;
}

/*
 * Returns the name of a given filter that applies to traces and not to stores, for an error message, or NULL if no such filter was given.
 */
static const char *find_filter_of_traces(const struct reading_arguments *a)
{
	const struct filter_arguments *f = &a->filter;
	const struct {
		bool is_given;
		const char *name;
	} filters[] = {
		{ f->from_s > 0 || f->to_s > 0, "--from and --to in seconds (@WINDOW is of it)" },
		{ f->has_tid, "--thread" },
		{ f->thread_name, "--thread-name" },
		{ f->has_pid, "--process by number (tailor db diff --process NAME)" },
		{ f->function, "--function" },
		{ f->nr_components > 1, "several --component" },
		{ f->nr_below, "--below" },
		{ f->mark, "--mark" },
		{ a->stack_only, "--attribute" },
	};

	for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++)
		if (filters[i].is_given)
			return filters[i].name;
	return NULL;
}

static int check_question(const char *text, const struct reading_arguments *a, const struct asked_view *view, struct diag *d)
{
	const char *other = find_filter_of_traces(a);

	if (other)
		return diag_fail(d, EINVAL, "%s: a store has no %s; `tailor db trace` makes a trace of it", fleet_shown(text), other);
	if (!view || !view->is_list)
		return diag_fail(d, EINVAL, "%s: a store compares components, functions, queries, processes or services, not %s",
				 fleet_shown(text), a->asked ? a->asked->view : a->level);
	return 0;
}

/* Return the options with which a store is queried. */
static struct asked_options options_of_store(const struct reading_arguments *arguments)
{
	const struct filter_arguments *f = &arguments->filter;
	const struct asked_options of_trace = { .event = f->event,
						.service = f->service,
						.component = f->nr_components ? f->component[0] : NULL };
	struct asked_options a = arguments->asked ? *arguments->asked : of_trace;

	if (!a.view)
		a.view = arguments->level;
	return a;
}

int compare_choose_view(struct reading_arguments *arguments, const char *const *source, uint32_t nr)
{
	const struct asked_options a = options_of_store(arguments);
	struct diag d = { "" };
	int ret;

	for (uint32_t i = 0; i < nr; i++)
		if (!arguments->asked && !asked_is_store(source[i]))
			return CMD_DONE;
	if (a.view || find_filter_of_traces(arguments))
		return CMD_DONE;
	ret = leading_view_find(source, nr, &a, &arguments->level, &d);
	if (ret)
		message_print("%s", d.text);
	return ret == -EINVAL ? CMD_MISUSED : ret ? CMD_FAILED : CMD_DONE;
}

static bool is_unattributed(const struct profile *p)
{
	for (uint32_t i = 0; i < p->entries.nr; i++)
		if (!p->entries.at[i].is_none)
			return false;
	return p->entries.nr > 0;
}

static int read_store(const char *text, const struct reading_arguments *arguments, struct profile *p)
{
	const struct asked_options a = options_of_store(arguments);
	const struct asked_view *view = asked_find_view(a.view);
	struct sums_question q;
	struct store *s = NULL;
	struct diag d = { "" };
	int ret = check_question(text, arguments, view, &d);

	if (ret == 0)
		ret = asked_open(text, &a, view->by, &q, &s, &d);
	if (ret == 0)
		ret = sums_profile(s, &q, fleet_shown(text), p, &d);
	if (ret == 0 && !a.view && is_unattributed(p)) {
		profile_fini(p);
		ret = asked_open_functions(text, &a, &q, &s, &d);
		if (ret == 0)
			ret = sums_profile(s, &q, fleet_shown(text), p, &d);
	}
	if (s)
		store_close(s);
	if (ret)
		message_print("%s", d.text);
	return ret == -EINVAL ? CMD_MISUSED : ret ? CMD_FAILED : CMD_DONE;
}

static void show_plan_changes(const struct plan_changes *c, struct page *page)
{
	for (uint32_t i = 0; i < c->nr; i++) {
		char *sentence = plans_sentence(&c->at[i]);

		if (!sentence)
			continue;
		page_fact(page, "plan", sentence);
		page_sentence(page, "%c%s.", toupper((unsigned char)*sentence), sentence + 1);
		free(sentence);
	}
}

void compare_show_plans(char *const side[2], const struct reading_arguments *arguments, struct page *page)
{
	const struct asked_options a = options_of_store(arguments);
	const struct asked_view *view = asked_find_view(a.view);
	struct plan_changes changes = { 0 };
	struct sums_question q[2];
	struct store *s[2] = { NULL, NULL };
	struct diag d = { "" };
	bool ok = view && (view->by == SUMS_COMPONENT || view->by == SUMS_QUERY);

	for (int i = 0; i < 2 && ok; i++)
		ok = !strchr(side[i], ',') && asked_is_store(side[i]) && asked_open(side[i], &a, SUMS_COMPONENT, &q[i], &s[i], &d) == 0;
	if (ok && plans_compare(s, q, &changes, &d) == 0)
		show_plan_changes(&changes, page);
	plans_fini(&changes);
	for (int i = 0; i < 2; i++)
		if (s[i])
			store_close(s[i]);
}

/* ------------------------------------------------------------------------------------------------------- what leads */

/* A trace's profiles of what may lead besides the plan or functions of one program, which leading_choose() decides for all traces. */
struct candidates {
	struct profile language, programs;
	bool has_language; /* the base profile is of a plan, and this one is of functions, those of a language first */
};

static void candidates_fini(struct candidates *c)
{
	if (c->has_language)
		profile_fini(&c->language);
	profile_fini(&c->programs);
}

/* Make a profile whose entries are programs, the largest first. Return 0 or -ENOMEM, after which the caller frees it as well. */
static int make_programs(const struct report *r, const struct report_group *by_process, const struct profile *base, struct profile *p)
{
	struct program *list;
	const uint32_t nr = programs_list(r, by_process, &list);
	double squares = 0;
	bool ok = list != NULL;

	*p = (struct profile){ .trace = strdup(base->trace), .event = strdup(base->event), .unit = strdup(base->unit), .nr_runs = 1,
			       .entries.at = calloc((size_t)nr + 1, sizeof(*p->entries.at)), .run = calloc(1, sizeof(*p->run)),
			       .run_ns = calloc(1, sizeof(*p->run_ns)) };
	ok = ok && p->trace && p->event && p->unit && p->entries.at && p->run && p->run_ns;
	for (uint32_t i = 0; ok && i < nr; i++) {
		struct profile_entry *e = &p->entries.at[p->entries.nr++];
		const char *name = basename(list[i].name);

		*e = (struct profile_entry){ .number = i, .name = strdup(name), .label = strdup(name), .path = strdup(list[i].name),
					     .detail = strdup(""), .samples = list[i].sum.samples,
					     .measure = report_measure(r, &list[i].sum), .run = calloc(1, sizeof(*e->run)) };
		ok = e->name && e->label && e->path && e->detail && e->run;
		if (ok)
			e->run[0] = e->measure;
		p->samples += e->samples;
		p->measure += e->measure;
		squares += list[i].sum.weight_squares;
	}
	if (ok)
		p->run[0] = p->measure;
	p->effective = profile_effective_samples(p, squares);
	programs_free(list, nr);
	return ok ? 0 : -ENOMEM;
}

static int make_candidates(const struct ask *a, struct report *r, const struct profile *base, struct candidates *c,
			   struct leading_facts *facts)
{
	int ret = make_programs(r, a->processes, base, &c->programs);

	*facts = leading_find_facts(&a->leading, r);
	if (ret == 0 && a->with_language) {
		ret = profile_make(&a->language, r, base->trace, &c->language);
		c->has_language = ret == 0;
	}
	return ret;
}

/* Replace the profiles by those of what leads in all traces together. Return what leads. */
static enum leading take_leading(struct profile *p, struct candidates *c, const struct leading_facts *facts, uint32_t nr)
{
	const struct leading_facts all = leading_join_facts(facts, nr);
	const enum leading leads = leading_choose(&all);

	for (uint32_t i = 0; i < nr; i++) {
		const bool of_functions = leads == LEADING_LANGUAGE || leads == LEADING_FUNCTIONS;
		struct profile *of = leads == LEADING_PROGRAMS		      ? &c[i].programs :
				     of_functions && c[i].has_language ? &c[i].language :
									 NULL;
		const struct profile base = p[i];

		if (!of)
			continue;
		p[i] = *of;
		*of = base;
		p[i].program = of->program;
		of->program = NULL;
	}
	return leads;
}

/* Read the profile of one source. c, facts: NULL if the user chose a level, or if a source is a store. */
static int read_profile(const char *path, const struct reading_arguments *arguments, bool with_inlined, struct profile *p,
			struct candidates *c, struct leading_facts *facts, bool *whole)
{
	struct reading_arguments with = *arguments;
	struct reading session = { 0 };
	const char *level = arguments->level;
	struct ask a = { .level = level, .with_inlined = with_inlined, .with_candidates = c != NULL };
	int status;

	if (arguments->asked || asked_is_store(path))
		return read_store(path, arguments, p);
	with.level = level && strcmp(level, "function") == 0 ? NULL : level;
	status = reading_command_open(&session, path, &with, ask_profile_groups, &a);
	if (status)
		return status;
	if (a.functions)
		first_notes_print(&session.report, a.functions, 0);
	status = profile_make(&a.question, &session.report, path, p) ? CMD_FAILED : CMD_DONE;
	if (status == CMD_DONE && c && make_candidates(&a, &session.report, p, c, facts)) {
		profile_fini(p);
		status = CMD_FAILED;
	}
	if (status) {
		message_print("%s: out of memory", path);
		reading_command_close(&session, CMD_DONE);
		return CMD_FAILED;
	}
	p->program = name_main_program(&session.report, a.processes);
	*whole &= reading_command_close(&session, CMD_DONE) == CMD_DONE;
	return CMD_DONE;
}

int compare_read_profiles(const char *const *source, uint32_t nr, const struct reading_arguments *arguments, bool with_inlined,
			  struct profile *p, bool *whole, bool *are_programs)
{
	struct candidates *c = calloc((size_t)nr + 1, sizeof(*c));
	struct leading_facts *facts = calloc((size_t)nr + 1, sizeof(*facts));
	int status = c && facts ? CMD_DONE : CMD_FAILED;
	bool is_open = !arguments->level && !arguments->asked;
	uint32_t read = 0;

	*are_programs = false;
	if (status)
		message_print("out of memory");
	for (uint32_t i = 0; i < nr; i++)
		is_open &= !asked_is_store(source[i]);
	for (; read < nr && status == CMD_DONE; read += status == CMD_DONE)
		status = read_profile(source[read], arguments, with_inlined, &p[read], is_open ? &c[read] : NULL, &facts[read], whole);
	if (status == CMD_DONE && is_open)
		*are_programs = take_leading(p, c, facts, nr) == LEADING_PROGRAMS;
	for (uint32_t i = 0; c && i < nr; i++)
		candidates_fini(&c[i]);
	free(c);
	free(facts);
	return status;
}

void compare_show_leading(bool are_programs, struct page *page)
{
	if (are_programs)
		page_sentence(page, "Several programs ran, so programs are compared; --level function compares functions.");
}

int compare_match_profiles(struct profile *p, uint32_t nr, struct match *m)
{
	if (inlined_settle(p, nr) == 0 && native_settle(p, nr) == 0 && match_make_lines(p, nr, m) == 0)
		return CMD_DONE;
	message_print("out of memory");
	return CMD_FAILED;
}
