/* SPDX-License-Identifier: MIT */
/*
 * Prints the first sentences of a report, which say where the time went, how sure that is, what was missed, and what would help.
 * verdict_gather() takes the facts from a report's sums, and the sentences depend on these facts alone. Context: thread.
 */
#ifndef TAILOR_VERDICT_H
#define TAILOR_VERDICT_H

#include "analyzer/query/without_debug.h"
#include "analyzer/report/composition.h"
#include "analyzer/report/default_report.h"
#include "analyzer/leading/unnamed.h"
#include "jitreg/hosts/jit_hosts.h"

#define VERDICT_PARTS 3
#define VERDICT_TEXT 160

struct verdict_part {
	char name[VERDICT_TEXT];
	double share, low, high; /* share (0..1) of the samples in the run phase, or of all if there is none, and its 95 % interval */
};

struct verdict {
	bool unfiltered; /* no filter was given, and no sample of an idle processor was left out */
	bool of_components; /* the filter names components */
	uint64_t recorded; /* samples in the trace */
	uint64_t bad_blocks; /* blocks of samples that could not be decoded */
	double samples, in_run; /* samples: number of those that pass the filter; in_run: those of them in the run phase */
	double recording_s;	/* duration of the recording (s); 0: the trace has no end */
	bool has_run;		/* shares are of the run phase, which has samples; false if programs lead */
	const char *phase;	/* name of the mark that is the run phase */
	bool outside;		/* there is a run phase, but no sample is in it, and programs do not lead */
	bool of_programs;	/* programs lead: parts are programs, and come first */
	/* parts of the time, set by the caller if no level that a host declared leads; NULL otherwise */
	const struct composition *composition;
	const char *event;	/* name of the event that shares are of, or "" if it is time or cycles */
	struct verdict_part part[VERDICT_PARTS]; /* the largest operators, queries, programs or functions, the largest first */
	int nr_parts;
	/* The four shares below add up to 1. */
	double host, kernel, generated, unregistered;
	double run_share; /* share of all samples that is in the run phase */
	/* compile_ns, run_ns: sums of the host's marks (ns); nr_runs: number of marks of executions; 0: none, or not known because the
	 * report is filtered */
	double compile_ns, run_ns, nr_runs;
	struct unnamed without; /* samples without names */
	enum jit_way way; /* how the recording was made */
	double deep_python; /* share of samples in Python functions that are too deep in the stack for names */
	double v8_interpreted; /* share of samples in JavaScript functions that are interpreted and have no names */
	const struct warnings *warnings; /* the recorder's warnings, which the caller sets; may be NULL */
	double truncated; /* share of samples whose call stack is truncated, among those of function_total; 0 without that */
	struct without_debug_list nameless; /* images whose functions without a name have samples */
	bool has_components;
	double method[NR_METHODS], reason[NR_REASONS]; /* shares of samples by attribution method, and of unattributed ones by reason */
	uint64_t lost;
	enum loss_reason lost_by; /* the reason for which most samples were lost, if any were */
	double running; /* share of the time in which the event was counted; less than 1 if it was multiplexed */
	bool several_events; /* other events were recorded beside this one */
	/* share of the event's count that the weights of samples, and the rows for threads without a sample, stand for; 0: not known */
	double covered;
	bool timer; /* the event is cpu-timer, which takes samples by timers of threads, without perf's events */
	bool user_part_of_clock; /* only user code is sampled, but the count is all processor time */
	const char *why_not_covered;
	double unsampled; /* share of the event's count that belongs to threads without a sample */
	uint32_t stack_bytes;
	const char *fallback; /* the recorder's sentence about the event in whose place this one was recorded, or NULL */
	/* The members below are evidence of why there are no samples (missing.h). */
	double command_cpu_ns; /* processor time of the command (ns), by the kernel when it had ended; 0: not known */
	/* has_count: counters reported a count; user_only: the kernel is not sampled; has_registers: user registers are sampled */
	bool has_count, user_only, has_registers;
	double counters_ns, counted; /* counters_ns: time for which counters ran (ns); counted: what they counted */
	double period_ns, period; /* between two samples: processor time (ns), and number of events; 0: not known */
	const char *event_name;
	const char *no_samples_of; /* text of the recorder's notice without its beginning, or NULL */
	bool disk_full; /* the trace could not be written for this reason */
};

/* Take the facts from the sums. composition and warnings become NULL, and the caller sets them afterwards. */
void verdict_gather(const struct default_report *d, const struct report *r, const struct page *p, struct verdict *v);
/* Print where the time went, after the sentences without which that would be misread. */
void verdict_print(const struct verdict *v, struct page *p);
/* Print how sure the answer is, what was missed, and the remedies. */
void verdict_print_notes(const struct verdict *v, struct page *p);

#endif
