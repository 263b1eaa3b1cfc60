/* SPDX-License-Identifier: MIT */
/*
 * What it costs to sample a program: its own run time, bare and under several ways of sampling, run in turn and often.
 *
 * A round runs every way at every rate once, in an order of its own, and the bare program once for each rate; a way is compared
 * with the bare run of its round and rate, so that what changes slowly on the machine cancels out.  Context: thread.
 */
#ifndef TAILOR_OVERHEAD_H
#define TAILOR_OVERHEAD_H

#include "analyzer/overhead/statistics.h"
#include "jitreg/base/diag.h"

#include <stdbool.h>
#include <stdint.h>

#define OVERHEAD_RATES_MAX 8
#define OVERHEAD_NOTICES_MAX 8

/* DORMANT: the agent, and no counters: nothing is recorded until somebody asks for it, and there is no trace.
 * AGENT: the agent and counters, and hardly a sample: what the others' samples come on top of.
 * Name, key for programs, options of `tailor run`, whether attribution may only use the call stack. */
#define CAPTURES(X) \
	X(BARE, "bare", "bare", "", false) \
	X(DORMANT, "dormant agent", "dormant", "--dormant", false) \
	X(AGENT, "agent alone", "agent", "--registers none --stack 0 --rate 1", false) \
	X(IP, "IP and time", "ip", "--registers none --stack 0", false) \
	X(TAG, "tag register", "tag", "--registers r12,r13,r14,r15 --stack 0", false) \
	X(STACK_2K, "tag, 2 KiB stack", "stack-2k", "--stack 2048", false) \
	X(FRAMES, "frame pointers", "frame-pointers", "--registers ip --stack 0 --frame-pointers", true) \
	X(STACK_8K, "8 KiB stack", "stack-8k", "--stack 8192", true)

#define CAPTURE_INDEX_(NAME, name, key, options, stack_only) CAPTURE_##NAME,
enum capture { CAPTURES(CAPTURE_INDEX_) NR_CAPTURES };
#undef CAPTURE_INDEX_

struct capture_kind {
	const char *name, *key, *options;
	bool stack_only;
};
extern const struct capture_kind capture_kinds[NR_CAPTURES];

/* One run.  NAN: not known. */
struct overhead_run {
	double wall_s;	    /* of the program, from its exec to its end */
	double cpu_s;	    /* user and system time of it and of what it waited for */
	double recorder_s;  /* ... of the recorder meanwhile */
	double outside_s;   /* ... of the recorder before and after: start, symbols of what was sampled */
	double samples, lost;
	double sample_bytes; /* in the trace; the rest is symbols and unwind tables */
	double trace_bytes;
	double attributed;  /* share of the samples (of the run phase, where the program marks one) */
};

struct overhead {
	char **command;
	const char *event; /* NULL: auto */
	unsigned nr_rounds, nr_rates;
	uint64_t rate[OVERHEAD_RATES_MAX]; /* samples per second and processor */
	bool keep_output; /* the program's own: on stderr, both */
	struct overhead_run *run; /* overhead_run_of() */
	/* what the traces say */
	char event_name[128], unit[16];
	double period[OVERHEAD_RATES_MAX]; /* in units; 0: the kernel varies it */
	bool has_run;	     /* there are marks of run phases */
	bool has_components; /* else nothing can be attributed */
	char notice[OVERHEAD_NOTICES_MAX][512];
	unsigned nr_notices;
};

/* The rows of table, picture and JSON. */
struct overhead_row {
	enum capture capture;
	unsigned rate; /* index */
	/* shares of the bare run's */
	struct spread added_wall, added_cpu, recorder_cpu;
	struct spread outside_s;
	struct spread ns_per_sample, recorder_ns_per_sample; /* beyond AGENT's; of AGENT, with its few samples, nothing */
	struct spread bytes_per_sample, samples, lost, attributed;
};

/* Which capture was run at what rate in which round; of BARE there is one for each rate, too. */
struct overhead_run *overhead_run_of(const struct overhead *o, unsigned round, unsigned rate, enum capture c);
/* Of wall (else processor) seconds of all bare runs. */
struct spread overhead_bare(const struct overhead *o, bool wall);
struct overhead_row overhead_row(const struct overhead *o, unsigned rate, enum capture c);

/* ---- measure.c */

/* Called before each run: number done and in all, what comes. */
typedef void (*overhead_progress)(void *context, unsigned done, unsigned total, unsigned rate, enum capture c);

/*
 * Run everything.  directory: for traces and messages, emptied as we go.  *stop: set by a signal handler, ends it soon.
 * 0 and o's figures, or -errno with a sentence: the program fails by itself (-ECHILD), or was stopped (-EINTR).
 */
int overhead_measure(struct overhead *o, const char *directory, volatile int *stop, overhead_progress progress, void *context,
		     struct diag *d);

/* ---- figures.c: what a trace says.  0, or -errno with a sentence. */
int overhead_read(struct overhead *o, unsigned rate, enum capture c, const char *path, struct overhead_run *r, struct diag *d);

#endif
