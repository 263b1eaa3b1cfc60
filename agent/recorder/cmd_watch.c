/* SPDX-License-Identifier: MIT */
/*
 * tailor watch: record for as long as the machine runs.  The recording is cut into epochs, each of which a child of the recorder adds to a
 * store at idle priority; the newest traces stay beside it, so that what happened a moment ago can be looked at in every view.
 */
#include "agent/recorder/cmd_recording.h"
#include "jitreg/base/command.h"
#include "jitreg/confine/confine.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define STORE "watch.tlrs"
#define EPOCH_NS 600000000000ull
#define COST 0.01

struct arguments {
	struct run_request run;
	struct pid_list pids;
	const char *store, *keep, *cap;
	bool install;
};

enum { KEY_STORE = 0x300, KEY_KEEP, KEY_CAP, KEY_INSTALL };
static const struct argp_option options[] = {
	{ "store", KEY_STORE, "FILE", 0, "where epochs are added (" STORE "); traces are in FILE.epochs meanwhile", 0 },
	{ "keep", KEY_KEEP, "N", 0, "traces of epochs to keep beside the store (6)", 0 },
	{ "cap", KEY_CAP, "MIB", 0, "most that the store may take (1024)", 0 },
	{ "install", KEY_INSTALL, NULL, 0, "print a systemd unit that does this, and end", 0 },
	{ 0 },
};

static const char *parse_whole_number(struct argp_state *state, const char *name, const char *text)
{
	if (!*text || text[strspn(text, "0123456789")] || strlen(text) > 6)
		argp_error(state, "--%s must be a number, not '%s'", name, text);
	return text;
}

static void take_operands(struct argp_state *state, struct arguments *a)
{
	if (state->next > 1 && strcmp(state->argv[state->next - 1], "--") == 0) {
		a->run.command = state->argv + state->next;
		return;
	}
	for (int i = state->next; i < state->argc; i++)
		options_parse_pids(state, &a->pids, state->argv[i]);
}

static error_t parse_watch_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;
	const struct session_options *o = &a->run.session;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = state->child_inputs[1] = &a->run.session;
		break;
	case KEY_STORE:
		a->store = arg;
		break;
	case KEY_KEEP:
		a->keep = parse_whole_number(state, "keep", arg);
		break;
	case KEY_CAP:
		a->cap = parse_whole_number(state, "cap", arg);
		break;
	case KEY_INSTALL:
		a->install = true;
		break;
	case ARGP_KEY_ARGS:
		take_operands(state, a);
		break;
	case ARGP_KEY_END:
		if (!a->pids.nr && !a->run.command && !o->name && !o->all && !session_wants_service(o))
			argp_error(state, "nothing to watch: a PID, --name REGEX, --unit NAME, --container ID, --all, or -- COMMAND is "
				   "needed");
		if (o->epoch_command || strcmp(o->output, SESSION_OUTPUT) != 0)
			argp_error(state, "--output and --epoch-command are its own: --store FILE is what it writes");
		if (a->run.command && (o->name || o->all || session_wants_service(o)))
			argp_error(state, "a command, or processes that run: not both");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* --------------------------------------------------------------------------------------------------- what is added to it */

/* `tailor db add`, the file behind it: it adds what a killed recorder has left in the folder, too. */
static char **words_of_add(const struct arguments *a, const char *store)
{
	static char *words[12]; /* of the one recording of a process */
	int nr = 0;

	words[nr++] = (char *)"/proc/self/exe";
	words[nr++] = (char *)"db";
	words[nr++] = (char *)"add";
	words[nr++] = (char *)"--keep";
	words[nr++] = (char *)(uintptr_t)a->keep;
	if (a->cap) {
		words[nr++] = (char *)"--cap";
		words[nr++] = (char *)(uintptr_t)a->cap;
	}
	if (confine_is_off())
		words[nr++] = (char *)CONFINE_OPTION;
	words[nr++] = (char *)(uintptr_t)store;
	words[nr] = NULL;
	return words;
}

static int fail(const char *what, int error)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_name, what, strerror(error));
	return CMD_FAILED;
}

/* The folder of traces, and a name in it that no other recorder's are like.  0 or an exit status. */
static int prepare_store(struct arguments *a)
{
	struct session_options *o = &a->run.session;
	char *store = NULL, *folder = NULL, *output = NULL, now[32];
	time_t t = time(NULL);
	struct tm tm;

	store = a->store[0] == '/' ? strdup(a->store) : NULL;
	if (!store) {
		char *cwd = getcwd(NULL, 0);

		if (!cwd || asprintf(&store, "%s/%s", cwd, a->store) < 0)
			return fail(a->store, errno);
		free(cwd);
	}
	strftime(now, sizeof(now), "%Y%m%dT%H%M%S", gmtime_r(&t, &tm));
	if (asprintf(&folder, "%s.epochs", store) < 0 || asprintf(&output, "%s/%s-%d.tlr", folder, now, (int)getpid()) < 0)
		return fail(a->store, ENOMEM);
	if (mkdir(folder, 0700) && errno != EEXIST) {
		if (errno != ENOENT)
			return fail(folder, errno);
		*strrchr(store, '/') = 0;
		fprintf(stderr, "%s: the folder %s does not exist\n", program_invocation_name, *store ? store : "/");
		return CMD_FAILED;
	}
	o->output = output;
	o->epoch_command = words_of_add(a, store);
	free(folder);
	return 0;
}

/* As systemd reads it (systemd.service(5), "Command lines"): a line of the file ends with a newline whatever stands around it.  twice: what
 * else stands for a value. */
static void print_word(const char *word, const char *twice)
{
	putchar('"');
	for (; *word; word++) {
		if (*word == '"' || *word == '\\')
			putchar('\\');
		else if (strchr(twice, *word))
			putchar(*word);
		if ((unsigned char)*word < ' ' || *word == 0x7f)
			printf("\\x%02x", (unsigned)*word);
		else
			putchar(*word);
	}
	putchar('"');
}

/* Also when it is abbreviated. */
static bool asks_for_unit(const char *word)
{
	return strlen(word) >= strlen("--ins") && strncmp(word, "--install", strlen(word)) == 0;
}

static int print_unit(int argc, char **argv)
{
	char self[PATH_MAX] = "";
	bool is_command = false;

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return fail("/proc/self/exe", errno);
	printf("[Unit]\nDescription=tailor watch\nAfter=local-fs.target\n\n[Service]\nType=exec\nStateDirectory=tailor\n"
	       "WorkingDirectory=/var/lib/tailor\nExecStart=");
	print_word(self, "%");
	printf(" watch");
	for (int i = 1; i < argc; i++) {
		is_command = is_command || strcmp(argv[i], "--") == 0;
		if (!is_command && asks_for_unit(argv[i]))
			continue;
		putchar(' ');
		print_word(argv[i], "%$");
	}
	printf("\nRestart=always\nRestartSec=10\nMemoryHigh=256M\nLimitNOFILE=65536\nLimitMEMLOCK=infinity\n"
	       "\n[Install]\nWantedBy=multi-user.target\n");
	return fflush(stdout) ? fail("standard output", errno) : CMD_DONE;
}

static int run_watch_command(int argc, char **argv)
{
	static const struct argp_child children[] = { { &sampling_argp, 0, NULL, 0 }, { &attach_argp, 0, NULL, 0 },
						       { &confine_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		options,
		parse_watch_option,
		"PID[,PID...]\n--name REGEX\n--unit NAME\n--container ID\n--all\n-- COMMAND [ARGUMENT...]",
		"Record for months: running processes, all of the machine, or a command.\v"
		"Every ten minutes (--epochs) what was recorded is added to a store, which `tailor db` reports and `tailor diff` "
		"compares.  Samples cost the programs 1 % of their time (--cost).  Ctrl-C or SIGTERM ends it; the next one adds what a "
		"killed one left.\n\n"
		"Example: tailor watch --all --store /var/lib/tailor/watch.tlrs",
		children,
		NULL,
		NULL
	};
	struct arguments a = { .run = { .session = SESSION_OPTIONS_DEFAULT, .usage_fd = -1 }, .store = STORE, .keep = "6" };
	struct session_options *o = &a.run.session;
	int ret;

	o->output = SESSION_OUTPUT;
	o->epoch_ns = EPOCH_NS;
	o->counting.cost = COST;
	o->follow = true;
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &a);
	if (a.install)
		return print_unit(argc, argv);
	ret = prepare_store(&a);
	if (ret)
		return ret;
	return a.run.command ? cmd_run_recorded(&a.run) : cmd_attach_recorded(o, &a.pids, 0, argv);
}

const struct cmd cmd_watch = { "watch", "record for months, into a store", run_watch_command };
