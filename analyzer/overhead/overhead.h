/* SPDX-License-Identifier: MIT */
/*
 * Measures the overhead of sampling a program. Its run time is measured without recording (the baseline), and with several configurations
 * of sampling.
 *
 * A round runs every configuration, and the baseline, once for each rate, in random order. A configuration is compared with the baseline of
 * its round and rate, so that slow changes of the machine's speed cancel out. Context: thread.
 */
#ifndef TAILOR_OVERHEAD_H
#define TAILOR_OVERHEAD_H

#include "analyzer/overhead/statistics.h"
#include "jitreg/base/diag.h"

#include <stdbool.h>
#include <stdint.h>

#define OVERHEAD_RATES_MAX 8
#define OVERHEAD_NOTICES_MAX 8

#define CAPTURE_NO_OPTIONS "(none)" /* the options of a configuration that has none, as shown in the help */
/*
 * These are the configurations that are measured. The table, the JSON, the picture and the help are made from this list. DORMANT loads the
 * agent without counters, and writes no trace. AGENT has the agent and counters, but hardly a sample, because its rate is 1. Its cost is
 * the fixed one, to which samples add theirs in the other configurations. RUN and ATTACH have the defaults of the commands, except for the
 * rate. ATTACH loads no agent. Columns: constant, name, key in JSON, options of `tailor run`, whether attribution is by call stack alone.
 */
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
/* Returns the options of `tailor run` for a configuration, "" if it has none. */
const char *capture_options(enum capture c);

/* These are the measurements of one run.  NAN: unknown. */
struct overhead_run {
	double wall_s;	    /* run time of the program, from its exec to its end */
	double cpu_s;	    /* user and system time of the program and of the children it waited for */
	double recorder_s;  /* CPU time of the recorder during the run */
	double outside_s;   /* CPU time of the recorder before and after the run, for its start and the symbols of the sampled code */
	double samples, lost;
	double sample_bytes; /* size of the trace's chunks of samples with their heads; most of the rest is symbols and unwind tables */
	double trace_bytes;
	double attributed;  /* share of the samples that has a component; only samples of the run phase count if the program marks one */
};

struct overhead {
	char **command;
	const char *event; /* event to sample; NULL: auto */
	unsigned nr_rounds, nr_rates;
	uint64_t rate[OVERHEAD_RATES_MAX]; /* samples per second and processor */
	bool show_output; /* show the program's standard output and standard error on standard error */
	struct overhead_run *run; /* indexed by overhead_run_of() */
	/* overhead_read() sets the members below from the traces. */
	char event_name[128], unit[16];
	double period[OVERHEAD_RATES_MAX]; /* sampling period at each rate, in unit; 0: the kernel varies it */
	bool has_run;	     /* samples were in marks named "run", in some trace */
	bool has_components; /* the program announced components; otherwise nothing can be attributed */
	char notice[OVERHEAD_NOTICES_MAX][512];
	/* notice_of: bit C is set if a trace of capture C has the notice; read: bit C is set if a trace of capture C was read */
	uint32_t notice_of[OVERHEAD_NOTICES_MAX], read;
	unsigned nr_notices;
};

/*
 * These are the figures of a configuration, which the table, the picture and the JSON show.  Columns: name (key in JSON); the first
 * configuration in the list that has the figure; the configuration to compare with; the value for a run r, where base is the run of that
 * configuration in the same round and at the same rate. Added times are shares of the baseline's. CPU times per sample are those beyond
 * AGENT's, which has too few samples for a time of its own.
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

/* Returns the run of a configuration at a rate (an index of o->rate) in a round.  BARE, too, has one for each rate. */
struct overhead_run *overhead_run_of(const struct overhead *o, unsigned round, unsigned rate, enum capture c);
/* Returns the spread of the run time (wall) or the CPU time, in seconds, over all runs of the baseline. */
struct spread overhead_bare_spread(const struct overhead *o, bool wall);
/*
 * Returns the figures of a configuration at a rate (an index of o->rate), each with its spread over the rounds. Figures that the
 * configuration does not have have no values (spread.nr is 0).
 */
struct overhead_row overhead_make_row(const struct overhead *o, unsigned rate, enum capture c);

/* ---- measure.c */

/*
 * overhead_measure() calls this before each run, except those to warm up. done: number of runs done. total: number of all runs. rate, c:
 * the next run.
 */
typedef void (*overhead_progress)(void *context, unsigned done, unsigned total, unsigned rate, enum capture c);

/*
 * Run all rounds, after two runs to warm up. directory: where traces and messages are written and removed again. *stop: a signal handler
 * sets it to end the measurement. progress may be NULL. Returns 0, with the runs in o->run, which the caller has allocated, or -errno with
 * a sentence: -ECHILD if the program or its recording failed, -EINVAL if the options of the recording are wrong, -EINTR if the measurement
 * was stopped.
 */
int overhead_measure(struct overhead *o, const char *directory, volatile int *stop, overhead_progress progress, void *context,
		     struct diag *d);

/* ---- figures.c */

/* Reads the figures of a trace into *r, and what the trace says of its recording into *o. Returns 0, or -errno with a sentence. */
int overhead_read(struct overhead *o, unsigned rate, enum capture c, const char *path, struct overhead_run *r, struct diag *d);

#endif
