/* SPDX-License-Identifier: MIT */
#include "analyzer/fleet/rights.h"

#include "analyzer/source/source_file.h"
#include "jitreg/confine/steward.h"

#include "analyzer/fleet/asked.h"
#include "analyzer/fleet/fleet.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char made[PATH_MAX];

static void remove_made_folder(void)
{
	rmdir(made);
}

/* Make a folder, which becomes $TMPDIR and is removed at exit if it is empty, for the trace that window_trace_make() makes of a store's
 * window. If it cannot be made, $TMPDIR stays. */
static void make_temporary_folder(void)
{
	const char *where = getenv("TMPDIR");

	if (*made)
		return;
	where = where && *where ? where : "/tmp";
	if ((size_t)snprintf(made, sizeof(made), "%s/tailor-XXXXXX", where) >= sizeof(made) || !mkdtemp(made)) {
		*made = 0;
		return;
	}
	confine_allow_removal(made);
	confine_allow_folder(made);
	setenv("TMPDIR", made, 1);
	atexit(remove_made_folder);
}

static void allow_store(const char *text)
{
	const size_t bytes = strcspn(text, "@");
	char name[PATH_MAX];

	if (access(text, F_OK) == 0 || bytes >= sizeof(name)) {
		confine_allow_write(text);
	} else {
		snprintf(name, sizeof(name), "%.*s", (int)bytes, text);
		confine_allow_write(name);
	}
	make_temporary_folder();
}

static void allow_source(const char *text)
{
	if (*text == '/' && !text[1])
		return;
	confine_allow_read(text);
	if (!fleet_is_named(text) && asked_is_store(text))
		allow_store(text);
}

/* Allow the files that a word names, also as the value of an option (--option=VALUE), in FROM=TO, and in lists with commas. A word that is
 * only / is left out. */
static void allow_word(char *word)
{
	char *copy, *at, *piece;

	if (*word == '-' && (word = strchr(word, '=')) == NULL)
		return;
	allow_source(word + (*word == '='));
	if (!strpbrk(word, "=,"))
		return;
	copy = at = strdup(word);
	while (at && (piece = strsep(&at, "=,")))
		if (*piece)
			allow_source(piece);
	free(copy);
}

void rights_keep(enum confine_policy policy, int argc, char **argv, size_t nr_outputs, const char *const output[])
{
	if (confine_is_off())
		return;
	confine_allow_usual();
	for (int i = 1; i < argc; i++) {
		if (policy == CONFINE_READER && strstr(argv[i], "://")) {
			policy = CONFINE_CLIENT;
			confine_allow_network_files();
		}
		allow_word(argv[i]);
	}
	for (size_t i = 0; i < nr_outputs; i++)
		if (output[i])
			confine_allow_write(output[i]);
	steward_start_opener(source_file_has_language);
	confine_begin(policy);
}

void rights_keep_llvm(enum confine_policy policy, int argc, char **argv, size_t nr_outputs, const char *const output[])
{
	confine_allow_program("llvm-mc");
	confine_allow_program("llvm-mca");
	rights_keep(policy, argc, argv, nr_outputs, output);
}
