/* SPDX-License-Identifier: MIT */
#include "analyzer/query/filter.h"

#include "jitreg/base/suggest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool thread_passes_filter(const struct filter *f, const struct attribution *a, uint32_t v, uint32_t set)
{
	(void)set;
	return a->model->threads.at[v].tid == f->arguments->tid;
}

/* Matches the name of a thread.  A thread without a name in the trace has its process's. */
static bool thread_has_name(const struct filter_arguments *a, const struct model *m, uint32_t thread)
{
	const struct thread *t = &m->threads.at[thread];

	return regexec(a->thread_name, *t->comm ? t->comm : m->numbered.at[t->process]->comm, 0, NULL, 0) == 0;
}

static bool thread_name_passes_filter(const struct filter *f, const struct attribution *a, uint32_t v, uint32_t set)
{
	(void)set;
	return thread_has_name(f->arguments, a->model, v);
}

bool filter_wants_mark(const struct filter_arguments *a, const struct model *m, const struct mark *k)
{
	uint32_t thread;

	if ((a->has_tid && k->tid != a->tid) || (a->has_pid && m->numbered.at[k->process]->pid != a->pid))
		return false;
	thread = a->thread_name ? model_find_thread_of(m, k->process, k->tid, k->begin_ns) : MODEL_NO_THREAD;
	return !a->thread_name || (thread != MODEL_NO_THREAD && thread_has_name(a, m, thread));
}

static bool process_passes_filter(const struct filter *f, const struct attribution *a, uint32_t v, uint32_t set)
{
	const struct process *p = a->model->numbered.at[v];

	(void)set;
	return (!f->arguments->has_pid || p->pid == f->arguments->pid) &&
	       (!f->arguments->service || strcmp(process_service(p), f->arguments->service) == 0) &&
	       (!f->arguments->program || strcmp(process_program(p), f->arguments->program) == 0);
}

/* PID 0 is the task that a processor runs if it has nothing else to run. */
static bool process_is_not_idle(const struct filter *f, const struct attribution *a, uint32_t v, uint32_t set)
{
	(void)f, (void)set;
	return a->model->numbered.at[v]->pid != 0;
}

/* Checks whether samples with PID 0 are of idle processors.  That is so in the machine's first PID namespace, of which a recording of
 * the whole machine has kthreadd with PID 2.  In other namespaces, all processes outside of them are reported with PID 0. */
static bool has_idle_tasks(const struct model *m)
{
	for (uint32_t i = 0; i < m->processes.nr; i++)
		if (m->numbered.at[i]->pid == 2 && strcmp(m->numbered.at[i]->comm, "kthreadd") == 0)
			return true;
	return false;
}

static bool event_passes_filter(const struct filter *f, const struct attribution *a, uint32_t v, uint32_t set)
{
	(void)set;
	return a->model->event[v].name && strcmp(a->model->event[v].name, f->arguments->event) == 0;
}

/* Matches a function's label, or a function that a linker has folded into it, by symbol or as the label has it. */
static bool function_stands_for(const struct function *function, const char *name)
{
	const size_t bytes = strlen(name);
	const char *other = function->label && function->folded ? function->label + strlen(function->name) : NULL;

	return (function->label && strcmp(function->label, name) == 0) || (function->folded && strcmp(function->folded, name) == 0) ||
	       (other && strncmp(other, " (= ", 4) == 0 && strncmp(other + 4, name, bytes) == 0 && strchr(")( ", other[4 + bytes]));
}

/* Matches a function's name, with or without its parameters, or its symbol, or those of others that it stands for. */
static bool function_has_name(const struct function *function, const char *name)
{
	size_t bytes = strlen(name);

	return (strncmp(function->name, name, bytes) == 0 && (!function->name[bytes] ||
		(function->mangled && function->name[bytes] == '('))) || (function->mangled && strcmp(function->mangled, name) == 0) ||
	       function_stands_for(function, name);
}

static bool function_passes_filter(const struct filter *f, const struct attribution *a, uint32_t v, uint32_t set)
{
	(void)set;
	return v && function_has_name(&a->function[v], f->arguments->function);
}

/* Checks whether name is path, or its end behind a slash. */
static bool path_has_name(const char *path, const char *name)
{
	size_t bytes = strlen(path), wanted = strlen(name);

	return bytes >= wanted && strcmp(path + bytes - wanted, name) == 0 && (bytes == wanted || path[bytes - wanted - 1] == '/');
}

/* Checks whether name is FILE:NUMBER of the line, with FILE as path_has_name() has it. */
static bool line_has_name(const struct line *l, const char *name)
{
	const char *colon = strrchr(name, ':');
	char file[4096];

	if (!l->file || !colon || (size_t)(colon - name) >= sizeof(file) || strtoul(colon + 1, NULL, 10) != l->number)
		return false;
	memcpy(file, name, (size_t)(colon - name));
	file[colon - name] = 0;
	return path_has_name(l->file, file);
}

static bool frame_has_name(const struct attribution *a, uint32_t node, enum table_column column, const char *name)
{
	uint32_t value = attribution_of_frame(a, node, column);

	switch (column) {
	case TABLE_FUNCTION:
		return value && function_has_name(&a->function[value], name);
	case TABLE_LINE:
		return value && line_has_name(&a->line[value], name);
	default:
		return value && path_has_name(a->image[value].path, name);
	}
}

static bool component_passes_filter(const struct filter *f, const struct attribution *a, uint32_t v, uint32_t set)
{
	const struct component *c = &a->model->dictionary.components.at[v];

	return v && c->level == f->component_level[set] && labels_match(f->labels, &a->model->dictionary, v, f->component_name[set]);
}

/* Checks the stack that ends with node v. It passes if its last frame has the name, or if its caller's stack passes, which was tested
 * before, because callers have smaller numbers. */
static bool stack_passes_filter(const struct filter *f, const struct attribution *a, uint32_t v, uint32_t set)
{
	const char *name = f->component_name[set];
	uint32_t component;

	if (!v)
		return false;
	if (f->set[set].allowed[a->stacks.node[v].caller])
		return true;
	if (f->frame_column[set] && frame_has_name(a, v, f->frame_column[set], name))
		return true;
	component = attribution_of_frame(a, v, TABLE_LEVEL_0 + f->component_level[set]);
	return component_passes_filter(f, a, component, set);
}

/* Checks the function or component of a sample itself (table_condition.or_column), which the stack may not show. */
static bool own_passes_filter(const struct filter *f, const struct attribution *a, uint32_t v, uint32_t set)
{
	if (f->condition[set].or_column == TABLE_FUNCTION)
		return v && function_has_name(&a->function[v], f->component_name[set]);
	return component_passes_filter(f, a, v, set);
}

static bool mark_passes_filter(const struct filter *f, const struct attribution *a, uint32_t v, uint32_t set)
{
	(void)set;
	return v && (!f->has_instance || a->model->marks.at[v - 1].instance == f->instance);
}

static void add_set(struct filter *f, enum table_column column,
		    bool (*passes)(const struct filter *f, const struct attribution *a, uint32_t value, uint32_t set))
{
	f->set[f->table.nr_conditions].passes = passes;
	f->condition[f->table.nr_conditions++] = (struct table_condition){ .column = column, .allowed = (unsigned char *)"" };
	f->table.conditions = f->condition;
}

const char *filter_parse_mark(struct filter *f, const struct filter_arguments *arguments)
{
	const char *hash = arguments->mark ? strrchr(arguments->mark, '#') : NULL;
	size_t bytes;

	memset(f, 0, sizeof(*f));
	f->arguments = arguments;
	if (!arguments->mark || strcmp(arguments->mark, "all") == 0)
		return "run";
	if (hash) {
		f->has_instance = true;
		f->instance = strtoull(hash + 1, NULL, 10);
	}
	bytes = hash ? (size_t)(hash - arguments->mark) : strlen(arguments->mark);
	if (bytes >= sizeof(f->mark_name))
		bytes = sizeof(f->mark_name) - 1;
	memcpy(f->mark_name, arguments->mark, bytes);
	f->mark_name[bytes] = 0;
	return f->mark_name;
}

/* Returns the level of LEVEL:NAME, or LEVELS_MAX if there is no such level. */
static uint32_t find_wanted_level(const struct dictionary *dictionary, const char *wanted)
{
	size_t bytes = strcspn(wanted, ":");

	for (uint32_t i = 0; i < dictionary->nr_levels; i++)
		if (dictionary->level[i].name && strlen(dictionary->level[i].name) == bytes &&
		    memcmp(dictionary->level[i].name, wanted, bytes) == 0)
			return i;
	return LEVELS_MAX;
}

int filter_fail_without_level(const struct model *m, const char *level, size_t bytes, struct diag *d)
{
	const char *names[LEVELS_MAX];
	char wanted[64], text[300];

	snprintf(wanted, sizeof(wanted), "%.*s", (int)(bytes < 63 ? bytes : 63), level);
	for (uint32_t i = 0; i < m->dictionary.nr_levels; i++)
		names[i] = m->dictionary.level[i].name;
	return diag_fail(d, EINVAL, "the trace has no level '%s'%s", wanted,
			 suggest(wanted, names, m->dictionary.nr_levels, text, sizeof(text)));
}

/* Checks whether the user gave NAME and not LEVEL:NAME. NAME may have "::", as C++ names do. */
static bool has_no_level(const char *wanted)
{
	const char *colon = strchr(wanted, ':');

	return !colon || colon[1] == ':';
}

/* Returns the first level with a component of that name, else the level "function", because more functions may be found while samples are
 * read, else level 0. Returns LEVELS_MAX if there is no level. */
static uint32_t find_level_of_name(const struct filter *f, const struct dictionary *dictionary, const char *name)
{
	uint32_t found = LEVELS_MAX;

	for (uint32_t i = 1; i < dictionary->components.nr; i++)
		if (dictionary->components.at[i].level < found && labels_match(f->labels, dictionary, i, name))
			found = dictionary->components.at[i].level;
	found = found < LEVELS_MAX ? found : find_wanted_level(dictionary, "function");
	return found < LEVELS_MAX || !dictionary->nr_levels ? found : 0;
}

static int add_component_filter(struct filter *f, const struct model *m, const char *wanted, struct diag *d)
{
	bool is_name = has_no_level(wanted);
	uint32_t level = is_name ? find_level_of_name(f, &m->dictionary, wanted) : find_wanted_level(&m->dictionary, wanted);

	if (level == LEVELS_MAX && is_name)
		return diag_fail(d, EINVAL, "the trace has no component '%.80s', nor any other; --function and --below take functions",
				 wanted);
	if (level == LEVELS_MAX)
		return filter_fail_without_level(m, wanted, strcspn(wanted, ":"), d);
	f->component_level[f->table.nr_conditions] = level;
	f->component_name[f->table.nr_conditions] = is_name ? wanted : strchr(wanted, ':') + 1;
	add_set(f, TABLE_LEVEL_0 + level, component_passes_filter);
	return 0;
}

/* Returns the column that --below matches frames by, or 0 if wanted names another level. Frames have functions, lines and images, whatever
 * levels the host has. */
static enum table_column column_of_frames(const char *wanted)
{
	static const struct {
		const char *level;
		enum table_column column;
	} columns[] = { { "function:", TABLE_FUNCTION }, { "line:", TABLE_LINE }, { "image:", TABLE_IMAGE } };

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		if (strncmp(wanted, columns[i].level, strlen(columns[i].level)) == 0)
			return columns[i].column;
	return 0;
}

static int add_below_filter(struct filter *f, const struct model *m, const char *wanted, struct diag *d)
{
	bool is_name = has_no_level(wanted);
	uint32_t level = is_name ? find_level_of_name(f, &m->dictionary, wanted) : find_wanted_level(&m->dictionary, wanted);
	uint32_t i = f->table.nr_conditions;
	enum table_column column = is_name ? TABLE_FUNCTION : column_of_frames(wanted);

	if (level == LEVELS_MAX && !column)
		return filter_fail_without_level(m, wanted, strcspn(wanted, ":"), d);
	f->component_level[i] = level;
	f->frame_column[i] = column;
	f->component_name[i] = is_name ? wanted : strchr(wanted, ':') + 1;
	add_set(f, TABLE_STACK, stack_passes_filter);
	if (level != LEVELS_MAX || column == TABLE_FUNCTION) {
		f->or_set[i].passes = own_passes_filter;
		f->condition[i].or_column = level != LEVELS_MAX ? TABLE_LEVEL_0 + level : TABLE_FUNCTION;
	}
	return 0;
}

int filter_init(struct filter *f, const struct model *m, const struct labels *labels, uint64_t first_ns, struct diag *d)
{
	const struct filter_arguments *a = f->arguments;
	int ret = 0;

	f->labels = labels;
	if (a->from_s > 0)
		f->table.from_ns = first_ns + (uint64_t)(a->from_s * 1e9);
	if (a->to_s > 0)
		f->table.to_ns = first_ns + (uint64_t)(a->to_s * 1e9);
	if (a->event)
		add_set(f, TABLE_EVENT, event_passes_filter);
	if (a->has_tid)
		add_set(f, TABLE_THREAD, thread_passes_filter);
	if (a->thread_name)
		add_set(f, TABLE_THREAD, thread_name_passes_filter);
	if (a->has_pid || a->service || a->program)
		add_set(f, TABLE_PROCESS, process_passes_filter);
	else if (has_idle_tasks(m)) {
		f->leaves_out_idle = true;
		f->idle = (uint32_t)f->table.nr_conditions;
		add_set(f, TABLE_PROCESS, process_is_not_idle);
	}
	if (a->function)
		add_set(f, TABLE_FUNCTION, function_passes_filter);
	if (*f->mark_name)
		add_set(f, TABLE_PHASE, mark_passes_filter);
	for (int i = 0; ret == 0 && i < a->nr_components; i++)
		ret = add_component_filter(f, m, a->component[i], d);
	for (int i = 0; ret == 0 && i < a->nr_below; i++)
		ret = add_below_filter(f, m, a->below[i], d);
	return ret;
}

bool filter_is_given(const struct filter_arguments *a)
{
	return a->event || a->nr_components || a->nr_below || a->function || a->service || a->program || a->mark ||
	       a->from_s > 0 || a->to_s > 0 || a->has_tid || a->has_pid || a->thread_name;
}

static uint32_t count_column_values(const struct attribution *a, enum table_column column)
{
	switch (column) {
	case TABLE_EVENT:
		return a->model->nr_events;
	case TABLE_THREAD:
		return a->model->threads.nr;
	case TABLE_PROCESS:
		return a->model->processes.nr;
	case TABLE_FUNCTION:
		return a->nr_functions;
	case TABLE_PHASE:
		return a->model->marks.nr + 1;
	case TABLE_STACK:
		return a->stacks.nr;
	default:
		return a->model->dictionary.components.nr;
	}
}

static int update_set(const struct filter *f, struct filter_set *s, uint32_t set, const struct attribution *a, enum table_column column)
{
	uint32_t nr = count_column_values(a, column);

	if (nr > s->capacity) {
		unsigned char *bigger = realloc(s->allowed, 2 * (size_t)nr);

		if (!bigger)
			return -ENOMEM;
		s->allowed = bigger;
		s->capacity = 2 * nr;
	}
	for (; s->nr < nr; s->nr++) {
		s->allowed[s->nr] = s->passes(f, a, s->nr, set);
		s->any |= s->allowed[s->nr];
	}
	return 0;
}

int filter_update_sets(struct filter *f, const struct attribution *a)
{
	for (uint32_t i = 0; i < f->table.nr_conditions; i++) {
		struct filter_set *s = &f->set[i], *or_set = &f->or_set[i];

		if (update_set(f, s, i, a, f->condition[i].column))
			return -ENOMEM;
		if (s->nr) {
			f->condition[i].allowed = s->allowed;
			f->condition[i].nr_allowed = s->nr;
		}
		if (!or_set->passes)
			continue;
		if (update_set(f, or_set, i, a, f->condition[i].or_column))
			return -ENOMEM;
		f->condition[i].or_allowed = or_set->allowed;
		f->condition[i].nr_or_allowed = or_set->nr;
	}
	return 0;
}

/* Writes a text that suggests similar names of functions (level LEVELS_MAX) or of components of a level. It is "" if there are none. */
static const char *suggest_name(const struct filter *f, const struct attribution *a, const char *wanted, uint32_t level, char *text,
				size_t bytes)
{
	const struct dictionary *d = &a->model->dictionary;
	uint32_t nr = level == LEVELS_MAX ? a->nr_functions : d->components.nr;
	const char **names = calloc((size_t)nr + 1, sizeof(*names));

	*text = 0;
	for (uint32_t i = 1; names && i < nr; i++)
		if (level == LEVELS_MAX)
			names[i] = a->function[i].symbol || a->function[i].jit ? a->function[i].name : NULL;
		else if (d->components.at[i].level == level)
			names[i] = i < f->labels->nr && f->labels->label[i] ? f->labels->label[i] : d->components.at[i].name;
	if (names)
		suggest(wanted, names, nr, text, bytes);
	free(names);
	return text;
}

#define NUMBER_BYTES 24

/* Writes a text that suggests numbers of threads or processes, or "". */
static const char *suggest_number(const struct model *m, bool threads, char *text, size_t bytes)
{
	uint32_t nr = threads ? m->threads.nr : m->processes.nr;
	char (*number)[NUMBER_BYTES] = calloc((size_t)nr + 1, sizeof(*number));
	const char **names = calloc((size_t)nr + 1, sizeof(*names));

	*text = 0;
	for (uint32_t i = 0; number && names && i < nr; i++) {
		snprintf(number[i], NUMBER_BYTES, "%u", threads ? m->threads.at[i].tid : m->processes.at[i]->pid);
		names[i] = number[i];
	}
	if (number && names) /* no number is like another, so any are suggested */
		suggest("", names, nr, text, bytes);
	free(number);
	free(names);
	return text;
}

static const char *suggest_thread_name(const struct model *m, char *text, size_t bytes)
{
	const char **names = calloc((size_t)m->threads.nr + 1, sizeof(*names));

	*text = 0;
	for (uint32_t i = 0; names && i < m->threads.nr; i++)
		names[i] = *m->threads.at[i].comm ? m->threads.at[i].comm : NULL;
	if (names)
		suggest("", names, m->threads.nr, text, bytes);
	free(names);
	return text;
}

static const char *suggest_event(const struct model *m, const char *wanted, char *text, size_t bytes)
{
	const char **names = calloc((size_t)m->nr_events + 1, sizeof(*names));

	*text = 0;
	for (uint32_t i = 0; names && i < m->nr_events; i++)
		names[i] = m->event[i].name;
	if (names)
		suggest(wanted, names, m->nr_events, text, bytes);
	free(names);
	return text;
}

#define MARK_NAMES_MAX 64u

/* Checks whether the mark exists. If no mark has its name, text suggests others. It is "" if only the instance does not exist. */
static bool mark_is_there(const struct filter *f, const struct model *m, char *text, size_t bytes)
{
	const char *names[MARK_NAMES_MAX];
	bool instances = false;
	uint32_t nr = 0;

	for (uint32_t i = 0; i < m->marks.nr; i++) {
		const char *name = m->marks.at[i].name;
		uint32_t n = 0;

		if (!name)
			continue;
		if (strcmp(name, f->mark_name) == 0) {
			instances = true;
			if (!f->has_instance || m->marks.at[i].instance == f->instance)
				return true;
		}
		while (n < nr && strcmp(names[n], name) != 0)
			n++;
		if (n == nr && nr < MARK_NAMES_MAX)
			names[nr++] = name;
	}
	*text = 0;
	if (!instances)
		suggest(f->mark_name, names, nr, text, bytes);
	return false;
}

int filter_check_matches(const struct filter *f, const struct attribution *attribution, struct diag *d)
{
	char text[400];
	const struct filter_arguments *a = f->arguments;

	if (*f->mark_name && !mark_is_there(f, attribution->model, text, sizeof(text)))
		return diag_fail(d, EINVAL, "the trace has no mark '%.80s'%s", a->mark, text);
	for (uint32_t i = 0; i < f->table.nr_conditions; i++) {
		if (f->set[i].any || f->or_set[i].any)
			continue;
		switch (f->condition[i].column) {
		case TABLE_EVENT:
			return diag_fail(d, EINVAL, "the trace has no event '%.80s'%s", a->event,
					 suggest_event(attribution->model, a->event, text, sizeof(text)));
		case TABLE_THREAD:
			if (f->set[i].passes == thread_name_passes_filter)
				return diag_fail(d, EINVAL, "the trace has no thread whose name matches '%.80s'%s", a->thread_name_text,
						 suggest_thread_name(attribution->model, text, sizeof(text)));
			return diag_fail(d, EINVAL, "the trace has no thread %llu%s", (unsigned long long)a->tid,
					 suggest_number(attribution->model, true, text, sizeof(text)));
		case TABLE_PROCESS:
			if (f->leaves_out_idle) /* the condition is not the user's: all samples are of idle processors */
				continue;
			if (a->service)
				return diag_fail(d, EINVAL, "no sample of the trace is of a service '%.80s' (`report --view processes "
						 "--csv` has the services)", a->service);
			if (a->program)
				return diag_fail(d, EINVAL, "no sample of the trace is of the program '%.80s'", a->program);
			return diag_fail(d, EINVAL, "the trace has no process %llu%s", (unsigned long long)a->pid,
					 suggest_number(attribution->model, false, text, sizeof(text)));
		case TABLE_FUNCTION:
			return diag_fail(d, EINVAL, "no sample of the trace is in a function '%.80s'%s", a->function,
					 suggest_name(f, attribution, a->function, LEVELS_MAX, text, sizeof(text)));
		case TABLE_STACK:
			return diag_fail(d, EINVAL, "no sample's call stack has a frame of '%.80s' (--below)%s", f->component_name[i],
					 suggest_name(f, attribution, f->component_name[i], f->component_level[i], text, sizeof(text)));
		default:
			return diag_fail(d, EINVAL, "the trace has no component '%.80s'%s", f->component_name[i],
					 suggest_name(f, attribution, f->component_name[i], f->component_level[i], text, sizeof(text)));
		}
	}
	return 0;
}

void filter_fini(struct filter *f)
{
	for (uint32_t i = 0; i < FILTER_SETS_MAX; i++) {
		free(f->set[i].allowed);
		free(f->or_set[i].allowed);
	}
	memset(f, 0, sizeof(*f));
}
