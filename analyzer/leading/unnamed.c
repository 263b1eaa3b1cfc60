/* SPDX-License-Identifier: MIT */
#include "analyzer/leading/unnamed.h"

#include "jitreg/hosts/host_versions.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define MAKERS_MAX 16

/* ---------------------------------------------------------------------------------------------------------------- find */

/* Sum up the shares of samples in code without names, and find the JIT that has most of them, among the first MAKERS_MAX. */
static void sum_unnamed_code(const struct report *r, const struct report_group *by, uint32_t column, struct unnamed *u)
{
	struct {
		const char *path;
		double share;
	} maker[MAKERS_MAX];
	const double all = report_measure(r, &by->g.total);
	/* A file of perf may lack mappings (lost records, a cut file), so an address without one is no evidence of a JIT. */
	const bool is_import = r->model->way == JIT_WAY_IMPORT;
	int nr = 0, at;

	for (uint32_t i = 0; i < by->g.nr; i++) {
		const struct function *f = &r->a->function[report_value(by, i, column)];
		const char *path = f->maker ? f->maker : "";
		double share = all > 0 ? report_measure(r, &by->g.sum[i]) / all : 0;

		if (f->unknown ? is_import : !f->jit || f->symbol)
			continue;
		u->code += share;
		for (at = 0; at < nr && strcmp(maker[at].path, path) != 0; at++)
			;
		if (at == MAKERS_MAX)
			continue;
		if (at == nr) {
			maker[nr].path = path;
			maker[nr++].share = 0;
		}
		maker[at].share += share;
		if (maker[at].share > u->maker_share) {
			u->maker_share = maker[at].share;
			u->maker = path;
		}
	}
}

static bool host_is_lacking(const struct model *m, const struct jit_host *host)
{
	for (uint32_t i = 0; host && i < m->lacks.nr; i++)
		if (host_is_named(m->lacks.at[i].jit_hosts, host->name))
			return true;
	return false;
}

/* Was a program started with the option, and no process of the same executable without it, apart from forked ones? It is not known here
 * which program the report's samples belong to. */
static bool option_is_in_force(const struct model *m, const char *option, size_t bytes)
{
	const char *program = NULL;

	for (uint32_t i = 0; i < m->processes.nr && !program; i++)
		if (process_has_option(m->processes.at[i], option, bytes))
			program = m->processes.at[i]->executable ? m->processes.at[i]->executable : "";
	for (uint32_t i = 0; i < m->processes.nr && program; i++) {
		const struct process *p = m->processes.at[i];

		if (!p->parent && strcmp(p->executable ? p->executable : "", program) == 0 && !process_has_option(p, option, bytes))
			return false;
	}
	return program != NULL;
}

struct search {
	const char *wanted;
	size_t bytes;
	bool found;
};

static void compare_option(void *search, const char *option)
{
	struct search *s = search;

	s->found |= strncmp(option, s->wanted, s->bytes) == 0 && !option[s->bytes];
}

/* Find the option among those by which the JIT names its code that the program was started with. In an imported recording, perf's command
 * line is searched, too, because it may have no others. */
static void find_option_in_force(const struct model *m, struct unnamed *u)
{
	const struct jit_host *host = jit_host_of_object(u->maker);

	for (const char *text = host ? host->in_force : NULL; text && *text && !u->recording.in_force;) {
		struct search s = { text, strcspn(text, " "), false };

		if (u->recording.way == JIT_WAY_IMPORT && m->command)
			jit_host_each_option_in(m->command, compare_option, &s);
		if (s.found || option_is_in_force(m, text, s.bytes)) {
			snprintf(u->in_force, sizeof(u->in_force), "%.*s", (int)s.bytes - (text[s.bytes - 1] == '='), text);
			u->recording.in_force = u->in_force;
		}
		text += s.bytes + (text[s.bytes] == ' ');
	}
}

static const char *find_why_not_read(const struct model *m)
{
	const size_t beginning = strlen(TRACE_NAMES_NOT_READ);

	for (uint32_t i = 0; i < m->notices.nr; i++) {
		const char *sentence = m->notices.at[i].sentence;

		if (m->notices.at[i].kind == NOTICE_NAMES_NOT_READ)
			return sentence + (strncmp(sentence, TRACE_NAMES_NOT_READ, beginning) == 0 ? beginning : 0);
	}
	return NULL;
}

void unnamed_find(const struct report *r, const struct report_group *by, uint32_t column, struct unnamed *u)
{
	*u = (struct unnamed){ .maker = "", .recording = { r->model->way, r->model->no_adapt, NULL } };
	u->not_read = find_why_not_read(r->model);
	u->is_machine = model_has_no_command(r->model);
	sum_unnamed_code(r, by, column, u);
	u->is_lacking = host_is_lacking(r->model, jit_host_of_object(u->maker));
	find_option_in_force(r->model, u);
	u->interpreter = interpreted_find(r, by, column, &u->interpreted);
}

bool unnamed_tells_interpreter(const struct unnamed *u)
{
	const bool is_part = u->is_machine || (u->interpreter && u->interpreter->silent == SILENT_INSIDE);

	return u->interpreter && u->interpreted >= (is_part ? INTERPRETED_FIRST_OF_MACHINE : INTERPRETED_FIRST);
}

/* ---------------------------------------------------------------------------------------------------------------- say */

/* Write how the code can get names, or "" if the sentence about the host's version (u->is_lacking) says it already. */
static void write_advice(const struct unnamed *u, const struct jit_host *host, char text[JIT_ADVICE_BYTES + 8])
{
	char advice[JIT_ADVICE_BYTES];

	*text = 0;
	if (!u->not_read && u->is_lacking)
		return;
	if (u->not_read) /* this is why the code has no names, so nothing else needs to be tried */
		snprintf(advice, sizeof(advice), "%s", u->not_read);
	else
		jit_host_advise(host, &u->recording, advice);
	snprintf(text, JIT_ADVICE_BYTES + 8, " %s.", advice);
}

static const char *write_whole(double share, const char *whole, char text[128])
{
	if (whole)
		snprintf(text, 128, "%.1f %% of %.96s ran", round(1000 * share) / 10, whole);
	else
		snprintf(text, 128, "A part of the samples ran");
	return text;
}

void unnamed_write_code(const struct unnamed *u, const char *whole, const char *object, char text[UNNAMED_SENTENCE])
{
	const struct jit_host *host = jit_host_of_object(u->maker);
	char advice[JIT_ADVICE_BYTES + 8], in_force[96] = "", maker[192], of[128];

	write_advice(u, host, advice);
	if (u->recording.in_force)
		snprintf(in_force, sizeof(in_force), ", although it was started with %.48s", u->recording.in_force);
	if (host && strcasecmp(host->name, object) != 0)
		snprintf(maker, sizeof(maker), "%.64s (%.96s)", host->name, object);
	else
		snprintf(maker, sizeof(maker), "%.96s", *object ? object : "a JIT");
	snprintf(text, UNNAMED_SENTENCE, "%s in code that %s generated and did not name%s.%s", write_whole(u->maker_share, whole, of),
		 maker, in_force, advice);
}

void unnamed_write_interpreted(const struct unnamed *u, const char *whole, char text[UNNAMED_SENTENCE])
{
	const struct interpreter *i = u->interpreter;
	char what[128], of[128];

	if (i->silent == SILENT_WITHOUT_PLAN || i->silent == SILENT_INSIDE)
		snprintf(what, sizeof(what), "%s, whose statements and operators are not known here", i->language);
	else
		snprintf(what, sizeof(what), "%s's interpreter: %s functions have no names there", i->language, i->language);
	snprintf(text, UNNAMED_SENTENCE, "%s in %s.%s%s%s", write_whole(u->interpreted, whole, of), what, *i->helps ? " " : "", i->helps,
		 *i->helps ? "." : "");
}

void unnamed_each_first(const struct unnamed *u, const char *whole, void (*each)(void *context, const char *sentence), void *context)
{
	const char *slash = strrchr(u->maker, '/');
	char text[UNNAMED_SENTENCE];

	if (u->code >= UNNAMED_FIRST) {
		unnamed_write_code(u, whole, slash ? slash + 1 : u->maker, text);
		each(context, text);
	}
	if (unnamed_tells_interpreter(u)) {
		unnamed_write_interpreted(u, whole, text);
		each(context, text);
	}
}
