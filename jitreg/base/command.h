/* SPDX-License-Identifier: MIT */
/*
 * This file lists the commands of `tailor`. To add one, write cmd_<name>.c with a struct cmd and argp options, beside the code that it
 * calls, and add the name to COMMANDS. `tailor help` and `tailor help NAME` come from this list.
 *
 * The exit status is 0 if the command is done, 1 if it failed, 2 if it was misused, and 3 if `diff --fail-above` or `db changes` found a
 * difference, or `check` or `db check` found something. `run`, `record` and `watch` exit with the status of the command that they ran, with
 * 128 + the signal that killed it, or with 127 or 126 if it is not found or cannot be executed. Results go to standard output, and messages
 * to standard error as `tailor NAME: sentence`.
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

/* Shells complete the operands of a command by these kinds (analyzer/completion). TRACE_LIST means traces, and lists of them with commas
 * between. */
#define COMMAND_OPERANDS(X) X(NOTHING) X(FILE) X(TRACE) X(TRACE_LIST) X(PID) X(COMMAND) X(PID_OR_COMMAND)

#define COMMAND_OPERAND_(NAME) CMD_TAKES_##NAME,
enum cmd_operands { COMMAND_OPERANDS(COMMAND_OPERAND_) NR_CMD_OPERANDS };
#undef COMMAND_OPERAND_

/* Columns: name, whether help shows it, its operands.  listed: `tailor help` shows the command.  hidden: it does not, because tailor itself
 * runs the command, or another one calls it. */
#define COMMANDS(X) \
	X(run, listed, COMMAND) \
	X(attach, listed, PID) \
	X(record, listed, PID_OR_COMMAND) \
	X(watch, listed, PID_OR_COMMAND) \
	X(top, listed, PID_OR_COMMAND) \
	X(start, listed, PID) \
	X(stop, listed, PID) \
	X(status, listed, PID) \
	X(doctor, listed, PID_OR_COMMAND) \
	X(report, listed, TRACE) \
	X(diff, listed, TRACE_LIST) \
	X(stat, listed, TRACE) \
	X(whatif, listed, TRACE) \
	X(db, listed, FILE) \
	X(html, listed, TRACE) \
	X(serve, listed, TRACE) \
	X(flamegraph, listed, TRACE) \
	X(plan, listed, TRACE) \
	X(export, listed, TRACE) \
	X(import, listed, FILE) \
	X(scrub, listed, TRACE) \
	X(overhead, listed, COMMAND) \
	X(check, listed, COMMAND) \
	X(dump, listed, TRACE) \
	X(unwind, listed, TRACE) \
	X(recorder, hidden, NOTHING) \
	X(keep_source, hidden, TRACE)

#define COMMAND_EXTERN_(name, ...) extern const struct cmd cmd_##name;
COMMANDS(COMMAND_EXTERN_)
#undef COMMAND_EXTERN_

#endif
