/* SPDX-License-Identifier: MIT */
/*
 * The commands of `tailor`.  To add one, write cmd_<name>.c with a struct cmd and argp options, beside the code that it calls, and add the
 * name to COMMANDS.  `tailor help` and `tailor help NAME` come from this list.
 *
 * The exit status is 0 done, 1 failed, 2 misused, 3 different (`diff --fail-above`) or something found (`check`).  `run` exits with the
 * status of the command that it ran.  Human text goes to stdout, messages to stderr as `tailor NAME: sentence`.
 */
#ifndef TAILOR_COMMAND_H
#define TAILOR_COMMAND_H

struct cmd {
	const char *name;
	const char *summary; /* one line */
	/* argv[0] is "tailor NAME"; returns the exit status */
	int (*run)(int argc, char **argv);
};

enum { CMD_DONE = 0, CMD_FAILED = 1, CMD_MISUSED = 2, CMD_DIFFERENT = 3 };

/* listed: shown in `tailor help`.  hidden: only tailor itself runs the command. */
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
