/* SPDX-License-Identifier: MIT */
#include "analyzer/source/source_path.h"

#include <stdio.h>
#include <string.h>

#define ENDS_MAX 16u /* maximum number of ends of a path that are looked for in each folder */

static const char *paths[SOURCE_PATHS_MAX];
static unsigned nr_paths;

bool source_path_add(const char *argument)
{
	if (nr_paths == SOURCE_PATHS_MAX || !*argument || *argument == '=' || argument[strlen(argument) - 1] == '=')
		return false;
	paths[nr_paths++] = argument;
	return true;
}

static void join(char at[PATH_MAX], const char *folder, size_t bytes, const char *rest)
{
	while (bytes > 1 && folder[bytes - 1] == '/')
		bytes--;
	while (*rest == '/')
		rest++;
	if (snprintf(at, PATH_MAX, "%.*s/%s", (int)bytes, folder, rest) >= PATH_MAX)
		*at = 0;
}

/* Replaces the beginning FROM of a path by TO, if the path begins with this folder. argument: FROM=TO. to: its '='. */
static void map_path(const char *argument, const char *to, const char *file, char at[PATH_MAX])
{
	size_t from = (size_t)(to - argument);

	while (from > 1 && argument[from - 1] == '/')
		from--;
	if (strncmp(file, argument, from) == 0 && (file[from] == '/' || argument[from - 1] == '/'))
		join(at, to + 1, strlen(to + 1), file + from);
}

/* Returns the path without leading "/", "./" and "../", and without its first n folders, or NULL if it has fewer folders. */
static const char *end_of_path(const char *file, unsigned n)
{
	for (;;) {
		size_t bytes = strspn(file, "/");

		bytes = bytes ? bytes : strncmp(file, "../", 3) == 0 ? 3 : strncmp(file, "./", 2) == 0 ? 2 : 0;
		if (!bytes && !n)
			return *file ? file : NULL;
		if (!bytes) {
			file = strchr(file, '/');
			n--;
		} else {
			file += bytes;
		}
		if (!file)
			return NULL;
	}
}

bool source_path_get(const char *file, const char *working_folder, unsigned n, char at[PATH_MAX])
{
	const char *argument = n < nr_paths * ENDS_MAX ? paths[n / ENDS_MAX] : NULL;
	const char *to = argument ? strchr(argument, '=') : NULL, *end;

	*at = 0;
	if (argument && to) {
		if (n % ENDS_MAX == 0)
			map_path(argument, to, file, at);
		return true;
	}
	if (argument) {
		end = end_of_path(file, n % ENDS_MAX);
		if (end)
			join(at, argument, strlen(argument), end);
		return true;
	}
	if (n > nr_paths * ENDS_MAX)
		return false;
	if (*file == '/')
		snprintf(at, PATH_MAX, "%s", file);
	else if (working_folder && *working_folder == '/')
		join(at, working_folder, strlen(working_folder), file);
	if (strlen(at) == PATH_MAX - 1)
		*at = 0;
	return true;
}
