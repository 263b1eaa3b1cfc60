/* SPDX-License-Identifier: MIT */
#include "analyzer/cmd_compare.h"

#include "analyzer/cmd_db.h"
#include "analyzer/compare/profile_report.h"

#include "jitreg/base/command.h"

#include <string.h>

struct ask {
	struct profile_question question;
	const char *level;
};

static void ask_profile_groups(void *context, struct report *r)
{
	struct ask *a = context;

	profile_ask(&a->question, r, a->level);
}

int compare_read_profile(const char *path, const struct trace_arguments *arguments, const char *level, struct profile *p, bool *whole)
{
	struct trace_arguments with = *arguments;
	struct trace_session session = { 0 };
	struct ask a = { .level = level };
	int status;

	if (db_is_named(path))
		return db_read_profile(path, arguments, p);
	with.level = level && strcmp(level, "function") == 0 ? NULL : level;
	status = trace_session_read(&session, path, &with, ask_profile_groups, &a);
	if (status)
		return status;
	if (profile_make(&a.question, &session.report, path, p)) {
		trace_print_error("%s: out of memory", path);
		trace_session_close(&session, CMD_DONE);
		return CMD_FAILED;
	}
	*whole &= trace_session_close(&session, CMD_DONE) == CMD_DONE;
	return CMD_DONE;
}
