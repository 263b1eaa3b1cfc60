/* SPDX-License-Identifier: MIT */
/* tailor record is `tailor run` or `tailor attach` with the option letters of `perf record`, as far as these have the same meaning. */
#include "agent/recorder/process/program.h"
#include "jitreg/base/command.h"
#include "jitreg/base/message.h"
#include "jitreg/output/output_option.h"

#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS_MAX 32 /* maximum number of words that options become */

struct arguments {
	char *word[WORDS_MAX]; /* words of the other command, never freed */
	int nr;
	char *pids;
	bool all;
	char **command;
	int command_words;
};

enum { KEY_CALL_GRAPH = 0x100, KEY_OVERWRITE };
static const struct argp_option options[] = {
	{ "event", 'e', "LIST", 0, "events to sample (tailor help run)", 0 },
	{ "freq", 'F', "N", 0, "samples per second and CPU, or max (100000)", 0 },
	{ "count", 'c', "N", 0, "one sample every N events", 0 },
	{ NULL, 'g', NULL, 0, "with call stacks, which tailor has without this option", 0 },
	{ "call-graph", KEY_CALL_GRAPH, "fp|dwarf[,BYTES]", 0, "call stacks by frame pointers, or by unwind information with so many stack "
	  "bytes (dwarf,65528)", 0 },
	{ "output", 'o', "FILE", 0, "trace to write (tailor.tlr)", 0 },
	OUTPUT_OVERWRITE_OPTION(KEY_OVERWRITE),
	{ "pid", 'p', "PID[,PID...]", 0, "record running processes, until the command ends if one is given", 0 },
	{ "quiet", 'q', NULL, 0, "print errors only", 0 },
	{ "all-cpus", 'a', NULL, 0, "record all processes of the machine, until the command ends if one is given", 0 },
	{ 0 },
};

static void add_word(struct argp_state *state, const char *word)
{
	struct arguments *a = state->input;

	if (a->nr == WORDS_MAX)
		usage_fail(state, "too many options");
	a->word[a->nr++] = strdup(word);
}

static void add_option(struct argp_state *state, const char *option, const char *value)
{
	add_word(state, option);
	add_word(state, value);
}

static void add_call_graph(struct argp_state *state, const char *mode)
{
	if (strcmp(mode, "fp") == 0) {
		add_word(state, "--frame-pointers");
		add_option(state, "--stack", "0");
	} else if (strncmp(mode, "dwarf,", 6) == 0) {
		add_option(state, "--stack", mode + 6);
	} else if (strcmp(mode, "dwarf") != 0) {
		usage_fail(state, "--call-graph must be fp or dwarf[,BYTES], not '%s'", mode);
	}
}

static error_t parse_record_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case 'e':
		add_option(state, "--event", arg);
		break;
	case 'F':
		add_option(state, "--rate", strcmp(arg, "max") == 0 ? "100000" : arg);
		break;
	case 'c':
		add_option(state, "--period", arg);
		break;
	case 'g':
		break;
	case KEY_CALL_GRAPH:
		add_call_graph(state, arg);
		break;
	case 'o':
		add_option(state, "--output", arg);
		break;
	case KEY_OVERWRITE:
		add_word(state, "--overwrite");
		break;
	case 'p':
		a->pids = arg;
		break;
	case 'q':
		add_word(state, "--quiet");
		break;
	case 'a':
		a->all = true;
		break;
	case ARGP_KEY_ARGS:
		a->command = state->argv + state->next;
		a->command_words = state->argc - state->next;
		break;
	case ARGP_KEY_END:
		if (!a->command && !a->pids && !a->all)
			usage_fail(state, "no command, no -p PID and no -a given");
		if (a->pids && a->all)
			usage_fail(state, "-p and -a exclude each other");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* Starts a process that executes the command in a child, and that sends SIGTERM to this one, which ends the recording, when the command has
 * ended or could not be started.  The signal may come before the recording handles it, so it is blocked here.  Returns 0 or -errno. */
static int start_timing_command(char **command)
{
	pid_t recorder = getpid(), keeper, child;
	sigset_t term, before;

	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, &before);
	keeper = fork();
	if (keeper)
		return keeper < 0 ? -errno : 0;
	child = fork();
	if (child == 0) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		execvp(command[0], command);
		message_print("%s: %s", command[0], strerror(errno));
		_exit(errno == ENOENT ? 127 : 126);
	}
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	if (getppid() == recorder)
		kill(recorder, SIGTERM);
	_exit(0);
}

/* Runs `tailor run` or `attach` with the options that were collected, and with the command or processes to record. */
static int run_other_command(const struct cmd *cmd, const struct arguments *a, char *name)
{
	char **words = calloc((size_t)(a->nr + a->command_words) + 4, sizeof(*words));
	int nr = 0;

	if (!words)
		return CMD_FAILED;
	words[nr++] = name;
	for (int i = 0; i < a->nr; i++)
		words[nr++] = a->word[i];
	words[nr++] = a->all ? (char *)"--all" : (char *)"--";
	if (a->pids)
		words[nr++] = a->pids;
	for (int i = 0; !a->pids && !a->all && i < a->command_words; i++)
		words[nr++] = a->command[i];
	return cmd->run(nr, words);
}

static int run_record_command(int argc, char **argv)
{
	static const struct argp argp = {
		options,
		parse_record_option,
		"-- COMMAND [ARGUMENT...]\n-p PID[,PID...] [-- COMMAND [ARGUMENT...]]\n-a [-- COMMAND [ARGUMENT...]]",
		"Record a command, or running processes, by the options of `perf record`.  It is `tailor run`, or with -p `tailor attach`, "
		"which have more options.\v"
		"Exit status: as of `tailor run` and `tailor attach`.\n\n"
		"Example: tailor record -F 999 -g -p 4711 -- sleep 10",
		NULL,
		NULL,
		NULL
	};
	static struct program program;
	struct arguments a = { 0 };
	int ret;

	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &a);
	if (!a.pids && !a.all)
		return run_other_command(&cmd_run, &a, argv[0]);
	if (a.command)
		program_inspect(a.command[0], &program);
	if (program.error) {
		message_print("%s: %s", a.command[0], program.error == ENOENT ? "command not found" : strerror(program.error));
		return program.error == ENOENT ? 127 : 126;
	}
	ret = a.command ? start_timing_command(a.command) : 0;
	if (ret) {
		message_print("cannot start a process: %s", strerror(-ret));
		return CMD_FAILED;
	}
	return run_other_command(&cmd_attach, &a, argv[0]);
}

const struct cmd cmd_record = { "record", "run or attach, by the options of perf record", run_record_command };
