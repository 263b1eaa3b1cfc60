/* SPDX-License-Identifier: MIT */
/* Parses the options of commands that read a trace, which select samples and say how they are attributed. Context: thread. */
#ifndef TAILOR_READING_ARGUMENTS_H
#define TAILOR_READING_ARGUMENTS_H

#include "analyzer/fleet/asked.h"
#include "analyzer/query/filter.h"
#include "analyzer/unwind/unwind.h"

#include <argp.h>

/* These are the results of parsing the options of reading_argp. The command itself sets asked and live. */
struct reading_arguments {
	struct filter_arguments filter;
	const char *level;
	const struct asked_options *asked; /* options of `tailor db` for stores; NULL: the filter above is used for stores, too */
	bool stack_only, no_demangle;
	bool live; /* the trace may still be growing, and its recorder is not waited for */
	enum unwind_way unwinder;
	unsigned threads; /* threads that decode samples. 0: one for each processor, at most 8 */
};

/*
 * The parser of these options is a child of a command's argp. Its input is the struct reading_arguments (set child_inputs[0] in
 * ARGP_KEY_INIT).
 */
extern const struct argp reading_argp;

/* Parses the argument of --unwinder, memo or libunwind. Any other is a usage error, which ends the process. */
enum unwind_way reading_parse_unwinder(struct argp_state *state, const char *arg);

#endif
