/* SPDX-License-Identifier: MIT */
/*
 * The first sentences of a report: where the time went, how sure that is, and what was missed, each with what to do about it where
 * something can be done.  Facts are gathered from a report's sums; the sentences depend on the facts alone.  Context: thread.
 */
#ifndef TAILOR_VERDICT_H
#define TAILOR_VERDICT_H

#include "analyzer/query/without_debug.h"
#include "analyzer/report/composition.h"
#include "analyzer/report/default_report.h"
#include "analyzer/report/interpreted.h"
#include "jitreg/hosts/jit_hosts.h"

#define VERDICT_PARTS 3
#define VERDICT_TEXT 160

struct verdict_part {
	char name[VERDICT_TEXT];
	double share, low, high; /* of what is summed up; its 95 % interval */
};

struct verdict {
	bool unfiltered; /* nothing was asked for */
	bool of_components; /* those of some components were asked for */
	uint64_t recorded; /* samples in the trace, */
	uint64_t bad_blocks; /* of samples that could not be decoded */
	double samples, in_run; /* samples that pass the filter, and of those in the run phase */
	double recording_s;	/* how long the recording was */
	bool has_run;		/* shares are of the run phase, */
	const char *phase;	/* or that of another mark's name */
	bool outside;		/* there is one, without samples */
	const struct composition *composition; /* what the time went into, where there is no plan; else NULL */
	const char *event;	/* what shares are of, where that is not time; else "" */
	struct verdict_part part[VERDICT_PARTS]; /* operators, or functions where there is no plan: the largest first */
	int nr_parts;
	/* shares of what is summed up, that add up to 1 */
	double host, kernel, generated, unregistered;
	double run_share; /* of all, in the run phase */
	double compile_ns, run_ns, nr_runs; /* by the host's marks; 0: none */
	double unnamed; /* share of code that a JIT generated and did not name, */
	double maker_share; /* share of code without names by the JIT that generated most of it */
	const char *maker; /* the path of that JIT's object; "": unknown */
	char in_force[64]; /* its option that was found in force, "": none */
	struct jit_recording recording; /* facts of the recording that decide which option names its code */
	const struct interpreter *interpreter; /* that runs functions without names, or NULL; */
	double interpreted; /* share of samples in it */
	double deep_python; /* share of Python functions too deep in the stack for names */
	const struct warnings *warnings; /* the recorder's; may be NULL */
	bool is_lacking; /* of that JIT something is missing, so that the sentence about its version has what helps */
	double truncated; /* share of samples whose call stack is truncated, of what a table of totals shows */
	struct without_debug_list nameless; /* images with functions without a name */
	bool has_components;
	double method[NR_METHODS], reason[NR_REASONS]; /* shares of what is summed up */
	uint64_t lost;
	enum loss_reason lost_by; /* the largest loss of samples */
	double running; /* part of the time in which the event was counted: less than 1 where it was multiplexed */
	bool several_events; /* beside it others were recorded */
	double covered; /* part of the count that samples' weights are, and rows without a sample; 0: not known */
	bool timer; /* of threads, which takes samples without events of the kernel's */
	bool user_part_of_clock; /* samples are of user code, the count is of the processor time */
	const char *why_not_covered;
	double unsampled; /* part of the count that is threads' without a sample */
	uint32_t stack_bytes;
	const char *fallback; /* the recorder's sentence about the event that it could not use, or NULL */
	/* evidence of what is missing (missing.h) */
	double command_cpu_ns; /* by the kernel when the command had ended; 0: not known */
	bool has_count, user_only, has_registers; /* counters said what they counted; what was asked for */
	double counters_ns, counted; /* time for which counters ran, and what they counted */
	double period_ns, period; /* between samples, of processor time; and events; 0: not known */
	const char *event_name;
	const char *no_samples_of, *names_not_read, *write_error; /* of the recorder's notices, or NULL */
};

void verdict_gather(const struct default_report *d, const struct report *r, const struct page *p, struct verdict *v);
/* The answer, and what it must not be read without. */
void verdict_print(const struct verdict *v, struct page *p);
/* How sure that is, what was missed, and what to do about it. */
void verdict_print_notes(const struct verdict *v, struct page *p);

#endif
