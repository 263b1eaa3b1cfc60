/* SPDX-License-Identifier: MIT */
/*
 * The first sentences of a report: where the time went, how sure that is, what was missed, and the remedy where there is one. Facts are
 * gathered from a report's sums. The sentences depend on the facts alone. Context: thread.
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
	double share, low, high; /* share of what is summed up, and its 95 % interval */
};

struct verdict {
	bool unfiltered; /* no filter was given */
	bool of_components; /* the filter names components */
	uint64_t recorded; /* samples in the trace */
	uint64_t bad_blocks; /* blocks of samples that could not be decoded */
	double samples, in_run; /* samples that pass the filter, and of those in the run phase */
	double recording_s;	/* duration of the recording (s) */
	bool has_run;		/* shares are of the run phase */
	const char *phase;	/* name of the mark that is the run phase */
	bool outside;		/* there is a run phase, but no sample is in it */
	const struct composition *composition; /* the parts of the time if there is no plan, or NULL */
	const char *event;	/* the event that shares are of if it is not time, or "" */
	struct verdict_part part[VERDICT_PARTS]; /* operators, or functions if there is no plan; the largest first */
	int nr_parts;
	/* Shares of what is summed up, which add up to 1. */
	double host, kernel, generated, unregistered;
	double run_share; /* share of all samples that is in the run phase */
	double compile_ns, run_ns, nr_runs; /* from the host's marks (ns, number of runs); 0: none */
	double unnamed; /* share of code that a JIT generated and did not name */
	double maker_share; /* share of code without names by the JIT that generated most of it */
	const char *maker; /* the path of that JIT's object; "": unknown */
	char in_force[64]; /* the option of that JIT that was found in force; "": none */
	struct jit_recording recording; /* facts of the recording that decide which option names its code */
	const struct interpreter *interpreter; /* the interpreter that runs functions without names, or NULL */
	double interpreted; /* share of samples in the interpreter */
	double deep_python; /* share of Python functions too deep in the stack for names */
	const struct warnings *warnings; /* the recorder's warnings; may be NULL */
	bool is_lacking; /* something is missing of that JIT, and the sentence about its version has the remedy */
	double truncated; /* share of samples whose call stack is truncated, among those of a table of totals */
	struct without_debug_list nameless; /* images with functions without a name */
	bool has_components;
	double method[NR_METHODS], reason[NR_REASONS]; /* shares of what is summed up */
	uint64_t lost;
	enum loss_reason lost_by; /* the largest loss of samples */
	double running; /* part of the time in which the event was counted; less than 1 if it was multiplexed */
	bool several_events; /* other events were recorded beside this one */
	double covered; /* part of the count that the weights of samples and the rows without a sample are; 0: not known */
	bool timer; /* the event is a timer of threads, which takes samples without events of the kernel */
	bool user_part_of_clock; /* samples are of user code, but the count is of the processor time */
	const char *why_not_covered;
	double unsampled; /* part of the count that belongs to threads without a sample */
	uint32_t stack_bytes;
	const char *fallback; /* the recorder's sentence about the event that it could not use, or NULL */
	/* Evidence of what is missing (missing.h). */
	double command_cpu_ns; /* from the kernel when the command had ended; 0: not known */
	bool has_count, user_only, has_registers; /* counters reported a count; options of the recording */
	double counters_ns, counted; /* time for which counters ran (ns), and what they counted */
	double period_ns, period; /* processor time (ns) and events between samples; 0: not known */
	const char *event_name;
	const char *no_samples_of, *names_not_read, *write_error; /* texts of the recorder's notices, or NULL */
};

void verdict_gather(const struct default_report *d, const struct report *r, const struct page *p, struct verdict *v);
/* Print the answer, and the sentences without which it would be misread. */
void verdict_print(const struct verdict *v, struct page *p);
/* Print how sure the answer is, what was missed, and the remedies. */
void verdict_print_notes(const struct verdict *v, struct page *p);

#endif
