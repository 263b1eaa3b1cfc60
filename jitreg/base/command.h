/* SPDX-License-Identifier: MIT */
/*
 * The commands of `tailor`.  To add one, write cmd_<name>.c with a struct cmd and argp options, beside the code that it calls, and add the
 * name to COMMANDS.  `tailor help` and `tailor help NAME` come from this list.
 *
 * The exit status is 0 if the command is done, 1 if it failed, 2 if it was misused, and 3 if `diff --fail-above` found a difference or
 * `check` found something.  `run` exits with the status of the command that it ran.  Results go to standard output, and messages to
 * standard error as `tailor NAME: sentence`.
 */
#ifndef TAILOR_COMMAND_H
#define TAILOR_COMMAND_H

struct cmd {
	const char *name;
	const char *summary; /* one line for `tailor help` */
	/* runs the command; argv[0] is "tailor NAME"; returns the exit status */
	int (*run)(int argc, char **argv);
};

enum { CMD_DONE = 0, CMD_FAILED = 1, CMD_MISUSED = 2, CMD_DIFFERENT = 3 };

/* listed: `tailor help` shows the command.  hidden: it does not, because tailor itself runs the command, or another one calls it. */
#define COMMANDS(X) \
	X(run, listed) \
	X(attach, listed) \
	X(record, listed) \
	X(watch, listed) \
	X(top, listed) \
	X(start, listed) \
	X(stop, listed) \
	X(status, listed) \
	X(doctor, listed) \
	X(report, listed) \
	X(diff, listed) \
	X(stat, listed) \
	X(whatif, listed) \
	X(db, listed) \
	X(html, listed) \
	X(serve, listed) \
	X(flamegraph, listed) \
	X(plan, listed) \
	X(export, listed) \
	X(import, listed) \
	X(scrub, listed) \
	X(overhead, listed) \
	X(check, listed) \
	X(dump, listed) \
	X(unwind, listed) \
	X(recorder, hidden) \
	X(keep_source, hidden)

#define COMMAND_EXTERN_(name, shown) extern const struct cmd cmd_##name;
COMMANDS(COMMAND_EXTERN_)
#undef COMMAND_EXTERN_

#endif
