/* SPDX-License-Identifier: MIT */
/*
 * tailor watch records running processes, the whole machine or a command for months. The recording is cut into epochs, which children of
 * the recorder add to a store, at low priority unless they are late. The traces of the newest epochs are kept beside the store, since they
 * can be shown in views for which the store has too little. With --install, the command only prints a systemd unit.
 */
#include "agent/recorder/cmd_recording.h"
#include "jitreg/base/command.h"
#include "jitreg/base/message.h"
#include "jitreg/base/own_file.h"
#include "jitreg/base/regular_file.h"
#include "jitreg/confine/confine.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

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
	{ "store", KEY_STORE, "FILE", 0, "where epochs are added (" WATCH_STORE "); traces are in FILE.epochs meanwhile", 0 },
	{ "keep", KEY_KEEP, "N", 0, "traces of epochs to keep beside the store (6)", 0 },
	{ "cap", KEY_CAP, "MIB", 0, "most that the store may take (1024), without the traces in FILE.epochs, which --keep bounds", 0 },
	{ "install", KEY_INSTALL, NULL, 0, "print a systemd unit that does this, and end", 0 },
	{ 0 },
};

static const char *parse_whole_number(struct argp_state *state, const char *name, const char *text)
{
	if (!*text || text[strspn(text, "0123456789")] || strlen(text) > 6)
		usage_fail(state, "--%s must be a number, not '%s'", name, text);
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
		if (!a->pids.nr && !a->run.command && !session_wants_names(o) && !o->all && !session_wants_service(o))
			usage_fail(state, "nothing to watch: a PID, --name REGEX, --exec FILE, --unit NAME, --container ID, --all, or -- "
				   "COMMAND is needed");
		if (session_wants_names(o) && session_wants_service(o))
			usage_fail(state, "--name and --exec exclude --unit and --container");
		if (o->epoch_command || strcmp(o->output, SESSION_OUTPUT) != 0)
			usage_fail(state, "--output and --epoch-command are its own: --store FILE is what it writes");
		if (a->run.command && (session_wants_names(o) || o->all || session_wants_service(o)))
			usage_fail(state, "a command, or processes that run: not both");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* ------------------------------------------------------------------------------------------------------------- the store */

/* Returns the argument vector of `tailor db add`, to which session_fold_execute_command() appends the trace's path.  The command also adds
 * traces that a killed recorder has left in the folder. */
static char **words_of_add(const struct arguments *a, const char *store)
{
	static char *words[12]; /* static, because a process makes one recording, and options point to it until the end */
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
	message_print("%s: %s", what, strerror(error));
	return CMD_FAILED;
}

/*
 * Returns why the store or the folder of traces must not be used, and sets *refused to the one that is meant, or returns NULL.  Both have
 * to be this user's own.  Another user who owned the folder would choose what this process adds to the store, and one who owned the store
 * could read what was recorded.
 */
static const char *refuse_store(const char *store, const char *folder, const char **refused)
{
	const char *refusal = own_file_check(folder, S_IFDIR, geteuid());
	struct stat st;

	*refused = refusal ? folder : store;
	if (refusal || lstat(store, &st))
		return refusal;
	if (S_ISLNK(st.st_mode) && (st.st_uid == geteuid() || !st.st_uid) && stat(store, &st))
		return NULL; /* the store does not exist yet, and will be made where the link of this user or of root leads */
	st.st_nlink = 1; /* own_file_refusal() refuses further hard links, but a backup may be one of a store */
	return own_file_refusal(&st, S_IFREG, geteuid());
}

/* Is this a file that is not empty and not an SQLite database?  `tailor db add` would refuse it, but only at the end of the first epoch.  A
 * database that is not a store is still found only then. */
static bool is_other_file(const char *path)
{
	static const char begins[16] = "SQLite format 3";
	int fd = regular_file_open(path);
	char begin[sizeof(begins)];
	ssize_t nr = fd >= 0 ? pread(fd, begin, sizeof(begin), 0) : 0;

	if (fd >= 0)
		close(fd);
	return nr > 0 && (nr < (ssize_t)sizeof(begin) || memcmp(begin, begins, sizeof(begin)) != 0);
}

/* Makes the folder of traces beside the store, and sets the output, in it, and the epochs' command.  The output's name has the time and
 * this PID, so it differs from those of other recorders.  Returns 0, or an exit status after an error message. */
static int prepare_store(struct arguments *a)
{
	struct session_options *o = &a->run.session;
	char *store = NULL, *folder = NULL, *output = NULL, now[32];
	const char *refusal, *refused;
	time_t t = time(NULL);
	struct tm tm;

	store = a->store[0] == '/' ? strdup(a->store) : NULL;
	if (!store) {
		char *cwd = getcwd(NULL, 0);

		if (!cwd || asprintf(&store, "%s/%s", cwd, a->store) < 0)
			return fail(a->store, errno);
		free(cwd);
	}
	if (is_other_file(store)) {
		message_print("%s: this file exists and is not a store of tailor; give --store another name", a->store);
		return CMD_FAILED;
	}
	strftime(now, sizeof(now), "%Y%m%dT%H%M%S", gmtime_r(&t, &tm));
	if (asprintf(&folder, "%s.epochs", store) < 0 || asprintf(&output, "%s/%s-%d.tlr", folder, now, (int)getpid()) < 0)
		return fail(a->store, ENOMEM);
	if (mkdir(folder, 0700) && errno != EEXIST) {
		if (errno != ENOENT)
			return fail(folder, errno);
		*strrchr(store, '/') = 0;
		message_print("the folder %s does not exist", *store ? store : "/");
		return CMD_FAILED;
	}
	refusal = refuse_store(store, folder, &refused);
	if (refusal) {
		message_print("%s is not used, since %s; give another name (--store FILE), or remove it if it is not yours", refused,
			      refusal);
		return CMD_FAILED;
	}
	o->output = output;
	o->epoch_command = words_of_add(a, store);
	free(folder);
	return 0;
}

/* Prints a word in quotes, so that systemd reads it as it is (systemd.service(5), "Command lines").  Control characters are escaped, since
 * a newline ends the line of a unit even within quotes.  twice: characters that are doubled, because a single one would begin a specifier
 * or a variable. */
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

/* Is this the option --install, or an abbreviation of it that argp accepts? */
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
		"PID[,PID...]\n--name REGEX\n--exec FILE\n--unit NAME\n--container ID\n--all\n-- COMMAND [ARGUMENT...]",
		"Record for months: running processes, all of the machine, or a command.\v"
		"Every ten minutes (--epochs) what was recorded is added to a store, which `tailor db` reports and `tailor diff` "
		"compares.  Processes that start later are recorded, too: by --name, --exec, --unit and --container it goes on while there "
		"is none, so that a restart, a rolling update or a crash loop is in the record.  The kernel reports each process that "
		"starts, to root, and since Linux 6.6 to all users outside of containers; elsewhere it is looked for each second, which "
		"the first line says.  What a process ran before its counters were opened is a number in the report.\n\n"
		"Samples cost the programs 1 % of their time (--cost).  Ctrl-C or SIGTERM ends it; the next one adds what a "
		"killed one left.\n\n"
		"Example: tailor watch --all --store /var/lib/tailor/watch.tlrs",
		children,
		NULL,
		NULL
	};
	struct arguments a = { .run = { .session = SESSION_OPTIONS_DEFAULT, .usage_fd = -1 }, .store = WATCH_STORE, .keep = "6" };
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
