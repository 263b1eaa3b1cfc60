/* SPDX-License-Identifier: MIT */
#include "analyzer/reading/one_trace.h"

#include "jitreg/base/message.h"
#include "jitreg/base/utf8.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void one_trace_set(struct argp_state *state, const char **path, const char *arg)
{
	if (*path)
		usage_fail(state, "more than one trace given: %s and %s", *path, arg);
	*path = arg;
}

/*
 * Returns whether a file has a trace's name. Other users may have put files there, so a name with control characters, which a terminal
 * would obey, is refused.
 */
static bool is_trace_name(const struct dirent *e)
{
	size_t n = strlen(e->d_name);

	for (const char *c = e->d_name; *c; c++)
		if (iscntrl((unsigned char)*c) || utf8_is_c1(c))
			return false;
	return n > 4 && strcmp(e->d_name + n - 4, ".tlr") == 0;
}

/*
 * Returns the name of the trace in the working folder that was written last, which the caller frees. Links are ignored. Returns NULL if
 * there is no trace, if the folder cannot be read, or if memory runs out.
 */
static char *find_newest_trace(void)
{
	DIR *folder = opendir(".");
	struct timespec newest = { 0 };
	char *name = NULL;

	for (struct dirent *e = folder ? readdir(folder) : NULL; e; e = readdir(folder)) {
		struct stat st;

		if (!is_trace_name(e) || lstat(e->d_name, &st) || !S_ISREG(st.st_mode))
			continue;
		if (name && (st.st_mtim.tv_sec < newest.tv_sec ||
			     (st.st_mtim.tv_sec == newest.tv_sec && st.st_mtim.tv_nsec <= newest.tv_nsec)))
			continue;
		free(name);
		name = strdup(e->d_name);
		newest = st.st_mtim;
	}
	if (folder)
		closedir(folder);
	return name;
}

void one_trace_or_newest(struct argp_state *state, const char **path)
{
	char *newest;

	if (*path)
		return;
	newest = find_newest_trace();
	if (!newest)
		usage_fail(state, "no trace given, and none (*.tlr) in this folder; `tailor record -- COMMAND` makes one");
	message_print("%s, the newest trace in this folder", newest);
	*path = newest; /* never freed, because the command uses it until it ends */
}

static error_t parse_one_trace(int key, char *arg, struct argp_state *state)
{
	if (key == ARGP_KEY_ARG)
		one_trace_set(state, state->input, arg);
	else if (key == ARGP_KEY_END)
		one_trace_or_newest(state, state->input);
	else
		return ARGP_ERR_UNKNOWN;
	return 0;
}

const struct argp one_trace_argp = { NULL, parse_one_trace, NULL, NULL, NULL, NULL, NULL };
