/* SPDX-License-Identifier: MIT */
/* tailor check runs a host, or reads a trace of one, and lists those of its jitreg records that cannot be right. */
#include "analyzer/check/check.h"
#include "analyzer/fleet/rights.h"
#include "analyzer/output/page_arguments.h"
#include "analyzer/reading/reading_command.h"
#include "jitreg/base/command.h"
#include "jitreg/base/message.h"
#include "jitreg/output/output_file.h"
#include "jitreg/output/output_option.h"
#include "jitreg/trace/writer.h"

#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS_MAX 48 /* maximum number of words of options that are passed to `tailor run` */

struct arguments {
	struct page_arguments page;
	char *path;   /* existing trace to check; NULL: command is run */
	const char *output; /* -o: the file that keeps the trace of command */
	char *word[WORDS_MAX]; /* options for `tailor run` */
	size_t nr_words;
	char **command;
};

/* The options from KEY_PASSED on, --event and --rate are those of `tailor run`, which checks them. Their long names are passed to it, also
 * for short ones. */
enum { KEY_PASSED = 0x100 };
static const struct argp_option options[] = {
	{ "output", 'o', "FILE", 0, "keep the trace of COMMAND there (it is removed)", 0 },
	{ "event", 'e', "LIST", 0, "events to sample, as `tailor run` takes them (auto)", 0 },
	{ "rate", 'r', "N", 0, "samples per second and CPU, as `tailor run` takes it", 0 },
	{ "period", KEY_PASSED, "N", 0, "one sample every N events, instead of a rate", 0 },
	{ "sampler", KEY_PASSED + 1, "auto|signal|timer", 0,
	  "how samples are taken; signal and timer can read tags in thread-local words (auto)", 0 },
	{ "scope", KEY_PASSED + 2, "cpu|thread", 0, "one inherited counter per CPU, or one counter per thread (cpu)", 0 },
	{ "stack", KEY_PASSED + 3, "BYTES", 0, "stack bytes to copy with each sample (65528)", 0 },
	{ "registers", KEY_PASSED + 4, "LIST", 0, "user registers to record with each sample (bx,bp,sp,ip,r12,r13,r14,r15)", 0 },
	{ "follow", KEY_PASSED + 5, NULL, 0, "record until all processes that the command started have exited", 0 },
	{ "no-adapt", KEY_PASSED + 6, NULL, 0, "disable host adapters", 0 },
	{ 0 },
};

static void pass_option_to_run(struct arguments *a, struct argp_state *state, int key, char *arg)
{
	const struct argp_option *o = options;
	static char spelled[WORDS_MAX][32];

	while (o->key != key)
		o++;
	if (a->nr_words + 2 > WORDS_MAX)
		usage_fail(state, "too many options");
	snprintf(spelled[a->nr_words], sizeof(spelled[0]), "--%s", o->name);
	a->word[a->nr_words] = spelled[a->nr_words];
	a->nr_words++;
	if (arg)
		a->word[a->nr_words++] = arg;
}

static error_t parse_check_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->page;
		break;
	case 'o':
		a->output = arg;
		break;
	case 'e':
	case 'r':
	case KEY_PASSED ... KEY_PASSED + 6:
		pass_option_to_run(a, state, key, arg);
		break;
	case ARGP_KEY_ARGS:
		if (state->quoted && state->next >= state->quoted)
			a->command = state->argv + state->next;
		else if (state->argc - state->next == 1)
			a->path = state->argv[state->next];
		else
			usage_fail(state, "a command stands behind --, and a trace alone");
		break;
	case ARGP_KEY_NO_ARGS:
		usage_fail(state, "there is no command to run, and no trace to check");
		break;
	case ARGP_KEY_END:
		if (a->path && (a->output || a->nr_words))
			usage_fail(state, "%s is for a command, not for a trace", a->nr_words ? a->word[0] : "--output");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* ------------------------------------------------------------------------------------------------------------ the host */

static volatile pid_t recorder;

/*
 * Passes a signal to the recorder (`tailor run`), which passes it to the command, and ends when the command has ended. The records up to
 * then are checked. Context: signal.
 */
static void pass_signal_to_recorder(int signal_number)
{
	if (recorder > 0)
		kill(recorder, signal_number);
}

static void catch_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct sigaction before, a = { .sa_handler = pass_signal_to_recorder, .sa_flags = SA_RESTART };

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
			sigaction(signals[i], &a, NULL);
	signal(SIGCHLD, SIG_DFL);
}

static char *as_argument(const char *text)
{
	return (char *)(uintptr_t)text;
}

/* Runs `tailor run`, which writes the trace. *status becomes the wait status of `tailor run`. Returns 0 or -errno. */
static int record_command_trace(const struct arguments *a, const char *trace, int *status)
{
	size_t nr = 0, nr_command = 0;
	char **argv;
	pid_t pid;

	while (a->command[nr_command])
		nr_command++;
	argv = calloc(nr_command + WORDS_MAX + 8, sizeof(*argv));
	if (!argv)
		return -ENOMEM;
	argv[nr++] = as_argument("tailor");
	argv[nr++] = as_argument("run");
	argv[nr++] = as_argument("-q");
	argv[nr++] = as_argument("-o");
	argv[nr++] = as_argument(trace);
	memcpy(argv + nr, a->word, a->nr_words * sizeof(*argv));
	nr += a->nr_words;
	argv[nr++] = as_argument("--");
	memcpy(argv + nr, a->command, nr_command * sizeof(*argv));
	pid = fork();
	if (pid == 0) {
		if (a->page.form != PAGE_TEXT) /* JSON and CSV are not mixed with the host's output */
			dup2(STDERR_FILENO, STDOUT_FILENO);
		execv("/proc/self/exe", argv);
		_exit(126);
	}
	free(argv);
	if (pid < 0)
		return -errno;
	recorder = pid;
	catch_signals();
	while (waitpid(pid, status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	recorder = 0;
	return 0;
}

/* --------------------------------------------------------------------------------------------------------- the findings */

static void ask_check_view(void *context, struct report *r)
{
	struct view_instance *v = context;

	v->view = &view_check;
	v->view->prepare(r, v);
}

static int check_trace(const struct arguments *a, const char *path)
{
	char *words[] = { as_argument("check"), as_argument(path), NULL };

	struct reading_arguments all = { .filter.mark = "all" };
	struct reading session = { 0 };
	struct view_instance v = { 0 };
	struct page page;
	int status;

	rights_keep(CONFINE_READER, 2, words, RIGHTS_OUTPUTS(a->page.csv_folder, a->path ? NULL : path));
	status = reading_command_open(&session, path, &all, ask_check_view, &v);
	if (status)
		return status;
	if (page_start(&page, &a->page))
		return reading_command_close(&session, CMD_FAILED);
	page.top = a->page.top;
	page_fact(&page, "view", v.view->name);
	v.view->show(&session.report, &v, &page);
	status = session.report.error ? CMD_FAILED : check_view_nr_kinds(&v) ? CMD_DIFFERENT : CMD_DONE;
	status = page_finish(&page, status);
	return reading_command_close(&session, status);
}

static int record_and_check(const struct arguments *a)
{
	const char *temporary = getenv("TMPDIR");
	char folder[256], path[300];
	const char *trace = a->output ? a->output : path;
	struct diag d = { "" };
	int wait_status = 0, status, ret;

	snprintf(folder, sizeof(folder), "%s/tailor-check.XXXXXX", temporary && *temporary ? temporary : "/tmp");
	if (!a->output && !mkdtemp(folder)) {
		message_print("%s: no temporary folder: %s", folder, strerror(errno));
		return CMD_FAILED;
	}
	snprintf(path, sizeof(path), "%s/host.tlr", folder);
	if (a->output && output_file_check(a->output, &trace_output_form, &d)) {
		message_print("%s", d.text);
		return CMD_FAILED;
	}
	if (a->output)
		output_file_remove(a->output); /* an old trace must not be taken for the new one */
	ret = record_command_trace(a, trace, &wait_status);
	if (ret) {
		message_print("no process could be started: %s", strerror(-ret));
		status = CMD_FAILED;
	} else if (access(trace, R_OK)) { /* `tailor run` has printed the reason */
		status = WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == CMD_MISUSED ? CMD_MISUSED : CMD_FAILED;
	} else {
		if (!a->output)
			confine_allow_removal(folder);
		status = check_trace(a, trace);
		if (WIFSIGNALED(wait_status) || WEXITSTATUS(wait_status)) {
			message_print("%s exited with status %d; its records up to then were checked", a->command[0],
					  WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status));
			status = status == CMD_DONE ? CMD_FAILED : status;
		}
	}
	if (!a->output) {
		unlink(path);
		rmdir(folder);
	}
	return status;
}

static int run_check(int argc, char **argv)
{
	static const struct argp_child children[] = { { &page_argp, 0, NULL, 0 }, { &output_argp, 0, NULL, 0 },
						      { &confine_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		options,
		parse_check_option,
		"-- COMMAND [ARGUMENT...]\nTRACE",
		"Run a command and list the jitreg records of it that cannot be right: links to unknown components, code maps that do not "
		"fit their code, missing tags, marks that never end, ... each with a count, an example and a remedy.\v"
		"Only certain findings are listed. They follow the command's output on stdout; with --json or --csv the command's stdout "
		"goes to stderr. `tailor report --view check` shows the same for a trace.\n\n"
		"Exit status: 0 no findings; 3 findings; 1 an error, or the command failed; 2 usage error.\n\n"
		"Example: tailor check -- build/engine --query q3",
		children,
		NULL,
		NULL
	};
	struct arguments a = { .page.top = 10 };

	setlocale(LC_CTYPE, "");
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &a);
	return a.path ? check_trace(&a, a.path) : record_and_check(&a);
}

const struct cmd cmd_check = { "check", "list what a host says through jitreg that cannot be right", run_check };
