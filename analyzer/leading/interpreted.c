/* SPDX-License-Identifier: MIT */
#include "analyzer/leading/interpreted.h"

#include "jitreg/hosts/jit_hosts.h"

#include <stdlib.h>
#include <string.h>

#define PYTHON "libpython3 python3" /* file names of CPython and its library */

static const struct interpreter interpreters[] = {
	{ "Ruby", "libruby ruby", "Run ruby with --yjit, if it was built with it", SILENT_ALWAYS, NULL },
	{ "Perl", "libperl perl", "Devel::NYTProf names them", SILENT_ALWAYS, NULL },
	{ "Lua", "liblua5 lua5 lua", "LuaJIT's traces have names", SILENT_ALWAYS, NULL },
	{ "Tcl", "libtcl tclsh", "", SILENT_ALWAYS, NULL },
	{ "R", "libR.so", "Rprof() names them", SILENT_ALWAYS, NULL },
	{ "Python", PYTHON, "Record with `tailor run -- COMMAND` or `tailor attach --inject PID`, or run python 3.12 or "
	  "later with -X perf", SILENT_IN_IMPORTS, NULL },
	{ "PostgreSQL", "postgres", "Record with `tailor attach PID` or `tailor run -- COMMAND`", SILENT_WITHOUT_PLAN, NULL },
	{ "SQLite", "libsqlite3 sqlite3", "Record with `tailor run -- COMMAND`", SILENT_WITHOUT_PLAN, NULL },
	{ "DuckDB", "libduckdb duckdb _duckdb", "Record with `tailor run -- COMMAND`", SILENT_WITHOUT_PLAN, NULL },
	{ "a SQLite inside of the program", "", "Statements are read of a libsqlite3.so.0 that is a file of its own", SILENT_INSIDE,
	  "sqlite3" },
};
#define NR_INTERPRETERS (sizeof(interpreters) / sizeof(interpreters[0]))

static int number_of_interpreter(const char *path)
{
	for (size_t i = 0; i < NR_INTERPRETERS; i++)
		if (*interpreters[i].objects && jit_host_path_is_of_objects(path, interpreters[i].objects))
			return (int)i;
	return -1;
}

/* Returns the number of the engine inside of another program that a function belongs to by its name, or -1. */
static int number_of_engine_inside(const struct function *f)
{
	for (size_t i = 0; f->symbol && i < NR_INTERPRETERS; i++) {
		const char *begin = interpreters[i].functions;

		if (begin && strncmp(f->name, begin, strlen(begin)) == 0)
			return (int)i;
	}
	return -1;
}

/* Does a process whose program is the interpreter have functions of its language? */
static bool functions_are_heard(const struct interpreter *i, const struct model *m)
{
	for (uint32_t n = 0; m->has_host_levels && n < m->processes.nr; n++) {
		const struct process *p = m->processes.at[n];

		if (!p->executable || !jit_host_path_is_of_objects(p->executable, i->objects))
			continue;
		for (size_t f = 0; f < p->code.facts.nr; f++) {
			const struct code *c = p->code.facts.at[f].owner;

			if (c && c->kind == CODE_LOAD && c->host_levels)
				return true;
		}
	}
	return false;
}

/* Does a process that has a plan run the engine? */
static bool plan_is_heard(const struct interpreter *i, const struct model *m)
{
	for (uint32_t n = 0; n < m->processes.nr; n++) {
		const struct process *p = m->processes.at[n];

		if (!p->has_dictionary)
			continue;
		if (p->executable && jit_host_path_is_of_objects(p->executable, i->objects))
			return true;
		for (size_t f = 0; f < p->code.facts.nr; f++) {
			const struct code *c = p->code.facts.at[f].owner;

			if (c && c->kind == CODE_IMAGE && c->path && jit_host_path_is_of_objects(c->path, i->objects))
				return true;
		}
	}
	return false;
}

/* Has the recorder said why functions have no names? */
static bool has_notice_of_names(const struct model *m)
{
	for (uint32_t i = 0; i < m->notices.nr; i++)
		if (m->notices.at[i].kind == NOTICE_NAMES)
			return true;
	return false;
}

static bool is_silent(const struct interpreter *i, const struct report *r)
{
	const struct model *m = r->model;
	const bool is_import = m->way == JIT_WAY_IMPORT, is_machine = model_has_no_command(m);

	if (i->silent == SILENT_IN_IMPORTS && is_machine && !is_import)
		return !has_notice_of_names(m) && !functions_are_heard(i, m);
	if (i->silent == SILENT_IN_IMPORTS)
		return is_import && !m->has_host_levels;
	if (i->silent == SILENT_ALWAYS || i->silent == SILENT_INSIDE)
		return true;
	return report_find_level(r, NULL) == LEVELS_MAX || (is_machine && !plan_is_heard(i, m));
}

const struct interpreter *interpreted_find(const struct report *r, const struct report_group *by, uint32_t column, double *share)
{
	const struct attribution *a = r->a;
	const double all = report_measure(r, &by->g.total);
	double sum[NR_INTERPRETERS] = { 0 };
	int *of_image = malloc(((size_t)a->nr_images + 1) * sizeof(*of_image)); /* for each image, so that each path is examined once */
	size_t most = 0;

	for (uint32_t i = 0; of_image && i < a->nr_images; i++)
		of_image[i] = number_of_interpreter(a->image[i].path);
	for (uint32_t i = 0; of_image && i < by->g.nr; i++) {
		const struct function *f = &a->function[report_value(by, i, column)];

		const int of = f->jit || f->unknown ? -1 : of_image[f->image] >= 0 ? of_image[f->image] : number_of_engine_inside(f);

		if (of >= 0)
			sum[of] += report_measure(r, &by->g.sum[i]);
	}
	free(of_image);
	for (size_t i = 0; i < NR_INTERPRETERS; i++) {
		if (!is_silent(&interpreters[i], r))
			sum[i] = 0;
		if (sum[i] > sum[most])
			most = i;
	}
	*share = all > 0 ? sum[most] / all : 0;
	return *share > 0 ? &interpreters[most] : NULL;
}

bool interpreted_is_python(const char *path)
{
	return jit_host_path_is_of_objects(path, PYTHON);
}
