/* SPDX-License-Identifier: MIT */
/*
 * The overhead of sampling a program: its run time without recording (the baseline) and under several sampling configurations.
 *
 * A round runs every configuration at every rate once, in random order, and the baseline once for each rate; a configuration is compared
 * with the baseline of its round and rate, so that slow changes of the machine cancel out.  Context: thread.
 */
#ifndef TAILOR_OVERHEAD_H
#define TAILOR_OVERHEAD_H

#include "analyzer/overhead/statistics.h"
#include "jitreg/base/diag.h"

#include <stdbool.h>
#include <stdint.h>

#define OVERHEAD_RATES_MAX 8
#define OVERHEAD_NOTICES_MAX 8

#define CAPTURE_NO_OPTIONS "(none)" /* as help says it */
/* What is measured: table, JSON, picture and help are made from it.
 * DORMANT: the agent, and no counters; there is no trace.
 * AGENT: the agent and counters, but hardly a sample: the fixed cost, to which the samples of the others add theirs.
 * RUN, ATTACH: what users run who give no options (at the rate of 4,000); attach loads no agent.
 * Name, key in JSON, options of `tailor run`, whether attribution is by call stack alone. */
#define CAPTURES(X) \
	X(BARE, "baseline", "bare", CAPTURE_NO_OPTIONS, false) \
	X(DORMANT, "dormant agent", "dormant", "--dormant", false) \
	X(AGENT, "agent only", "agent", "--registers none --stack 0 --rate 1", false) \
	X(IP, "IP and time only", "ip", "--registers none --stack 0", false) \
	X(TAG, "tag register", "tag", "--registers r12,r13,r14,r15 --stack 0", false) \
	X(STACK_2K, "tag + 2 KiB stack", "stack-2k", "--stack 2048", false) \
	X(FRAMES, "frame pointers", "frame-pointers", "--registers ip --stack 0 --frame-pointers", true) \
	X(STACK_8K, "8 KiB stack", "stack-8k", "--stack 8192", true) \
	X(RUN, "run's defaults", "run", CAPTURE_NO_OPTIONS, false) \
	X(ATTACH, "attach's defaults", "attach", "--no-preload", false)

#define CAPTURE_INDEX_(NAME, name, key, options, stack_only) CAPTURE_##NAME,
enum capture { CAPTURES(CAPTURE_INDEX_) NR_CAPTURES };
#undef CAPTURE_INDEX_

struct capture_kind {
	const char *name, *key, *options;
	bool stack_only;
};
extern const struct capture_kind capture_kinds[NR_CAPTURES];
/* "" where there are none. */
const char *capture_options(enum capture c);

/* One run.  NAN: unknown. */
struct overhead_run {
	double wall_s;	    /* of the program, from its exec to its end */
	double cpu_s;	    /* user and system time, of it and of the children it waited for */
	double recorder_s;  /* CPU time of the recorder meanwhile */
	double outside_s;   /* CPU time of the recorder before and after: start, symbols of the sampled code */
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
	bool show_output; /* of the program, standard output and error, on stderr */
	struct overhead_run *run; /* overhead_run_of() */
	/* from the traces */
	char event_name[128], unit[16];
	double period[OVERHEAD_RATES_MAX]; /* in units; 0: the kernel varies it */
	bool has_run;	     /* there are marks of run phases */
	bool has_components; /* else nothing can be attributed */
	char notice[OVERHEAD_NOTICES_MAX][512];
	uint32_t notice_of[OVERHEAD_NOTICES_MAX], read; /* bit C: a trace of that capture has it; ... was read */
	unsigned nr_notices;
};

/*
 * The figures of a configuration, in table, picture and JSON: name (JSON's key), the first configuration that has it, the configuration
 * that it is compared with, and its value for a run r against that one's run base, of the same round and rate.  Shares are of the baseline;
 * costs per sample are beyond AGENT's, which itself has too few samples for them.
 */
#define FIGURES(X) \
	X(added_wall, DORMANT, BARE, ratio(r->wall_s, base->wall_s) - 1) \
	X(added_cpu, DORMANT, BARE, ratio(r->cpu_s, base->cpu_s) - 1) \
	X(recorder_cpu, DORMANT, BARE, ratio(r->recorder_s, base->cpu_s)) \
	X(outside_s, DORMANT, BARE, r->outside_s) \
	X(ns_per_sample, IP, AGENT, ratio((r->cpu_s - base->cpu_s) * 1e9, r->samples)) \
	X(recorder_ns_per_sample, IP, AGENT, ratio((r->recorder_s - base->recorder_s) * 1e9, r->samples)) \
	X(bytes_per_sample, IP, BARE, ratio(r->sample_bytes, r->samples)) \
	X(samples, DORMANT, BARE, r->samples) \
	X(lost, DORMANT, BARE, r->lost) \
	X(attributed, IP, BARE, r->attributed)

#define FIGURE_(name, first, other, value) struct spread name;
struct overhead_row {
	FIGURES(FIGURE_)
};
#undef FIGURE_

/* The run of a configuration at a rate in a round; BARE, too, has one for each rate. */
struct overhead_run *overhead_run_of(const struct overhead *o, unsigned round, unsigned rate, enum capture c);
/* Run time (else CPU time) in seconds, over all runs of the baseline. */
struct spread overhead_bare_spread(const struct overhead *o, bool wall);
struct overhead_row overhead_make_row(const struct overhead *o, unsigned rate, enum capture c);

/* ---- measure.c */

/* Called before each run: runs done, runs in all, the next one. */
typedef void (*overhead_progress)(void *context, unsigned done, unsigned total, unsigned rate, enum capture c);

/*
 * Run everything.  directory: for traces and messages, which are removed again.  *stop: set by a signal handler, ends it soon.
 * 0 and o's figures, or -errno with a sentence: the program fails by itself (-ECHILD), or was stopped (-EINTR).
 */
int overhead_measure(struct overhead *o, const char *directory, volatile int *stop, overhead_progress progress, void *context,
		     struct diag *d);

/* ---- figures.c: the figures of a trace.  0, or -errno with a sentence. */
int overhead_read(struct overhead *o, unsigned rate, enum capture c, const char *path, struct overhead_run *r, struct diag *d);

#endif
