/* SPDX-License-Identifier: MIT */
/*
 * One trace that is being written, from its creation to its END: samples, the kernel's records of tasks and mappings, registrations of
 * agents, and data that is read from outside (images, perf maps and jitdumps, lists of JITs, databases).  A recording is a sink: its source
 * (counters, a perf.data file, a test) may go on after its end, with another recording.  Context: thread.
 */
#ifndef TAILOR_RECORDING_H
#define TAILOR_RECORDING_H

#include "agent/recorder/perf/event.h"
#include "agent/recorder/perf/samples.h"
#include "agent/recorder/perf/sink.h"
#include "jitreg/base/diag.h"
#include "jitreg/hosts/host_versions.h"
#include "jitreg/hosts/jit_hosts.h"
#include "jitreg/trace/put.h"
#include "jitreg/trace/writer.h"

#define RECORDING_COLUMNS_MAX 16

struct kernel_names_origin;
struct recording;

struct recording_options {
	const char *output;
	bool keep_old; /* an older trace of that name is kept as NAME.old */
	bool overwrite; /* replace also a file that is no trace */
	bool uncompressed; /* chunks as they are, for readers without zstd */
	uint64_t image_code_bytes; /* most code of images to keep; 0: none */
	bool debuginfod; /* debug files are fetched from servers, also where the environment names none */
	uint32_t stack_bytes; /* most stack bytes that are copied with a sample */
	uint64_t registers;   /* registers to keep of each sample; 0: those that hold tags, as far as hosts have declared them */
	bool finds_jit_lists; /* lists of JITs are read in each process that has memory for code, not only where it is asked for */
	bool has_tag_words;   /* samples have tags of thread-local words */
	/* Called for each notice, which the trace has as well.  May be NULL. */
	void (*notice)(void *context, const char *sentence);
	struct host_lacks *told; /* lacks for which notice() was called in earlier epochs, and is not called again; NULL: none */
	/* Called for each sample (hot), for each process that is forked, for each program that is executed, and for each process that has
	 * exited.  Each may be NULL. */
	void (*seen)(void *context, const struct sample_seen *seen);
	void (*forked)(void *context, uint32_t pid);
	void (*executed)(void *context, const struct kernel_comm *c, uint64_t time_ns);
	void (*exited)(void *context, uint32_t pid);
	void *context;
	/* Import: end of its recording (CLOCK_MONOTONIC; seconds since 1970).  Files that are read from outside are those that were left by
	 * then.  0: a live recording. */
	uint64_t past_end_ns;
	int64_t past_end_s;
	const char *past_other_clock; /* reason why times are not CLOCK_MONOTONIC's; NULL: they are */
	bool past_same_kernel; /* the running kernel is the one that was recorded */
	const struct kernel_names_origin *past_names; /* NULL: names are the running kernel's */
};

/* Creates the trace last, because that replaces an older one.  0, or -errno with a sentence. */
int recording_create(const struct recording_options *o, struct recording **out, struct diag *d);
/* Facts of how an event is sampled, beside its attr. */
struct recording_event {
	const char *scope; /* "cpu" or "thread" */
	uint64_t period_spread;
	const struct clock_pairs *pairs; /* times are of another clock, which these convert; they live as long as the recording; NULL:
					  * CLOCK_MONOTONIC */
};
/* Adds the next event, behind the header: its record, and a column for its samples.  0 or -errno. */
int recording_add_event(struct recording *r, const struct event *e, const struct recording_event *how);
/* Adds context switches, each one, as the last event (TRACE_EVENT_SWITCH); woken: wake-ups behind it (TRACE_EVENT_WOKEN).  0 or -errno. */
int recording_add_switches(struct recording *r, const char *scope, bool woken);
/* Counts a loss.  pid, tid: its process and thread, as far as they are known, or 0.  The sink's lost() does the same. */
void recording_count_loss(struct recording *r, enum loss_reason reason, uint32_t pid, uint32_t tid, uint64_t count);
/* Sink for all that is counted.  Its context is r. */
struct sink recording_sink(struct recording *r);
struct trace_writer *recording_writer(struct recording *r);

/* ---- the recorder's own records (records.c, processes.c) */
struct recording_header {
	char **command; /* NULL-terminated; NULL: none */
	enum jit_way way;
	bool no_adapt;
	uint32_t epoch; /* number of the epoch: 1, 2, ...; 0: the recording is not cut */
	uint64_t cut_recording; /* identifier that its epochs share */
};
void recording_write_header(struct recording *r, const struct recording_header *h);
/* Write a sentence into the trace.  recording_notice() passes it to options.notice() as well. */
void recording_notice(struct recording *r, enum notice_kind kind, const char *format, ...) __attribute__((format(printf, 3, 4)));
void recording_write_notice(struct recording *r, enum notice_kind kind, const char *text, size_t bytes);
/* Notes that something of a host in process pid is missing: its facts and a sentence, once a trace. */
void recording_note_lack(struct recording *r, pid_t pid, const struct host_lack *l);
/* Add a process that existed before the recording, one that is about to execute this command, and one that is a copy of its parent since
 * time_ns.  recording_write_process() writes only the record, for a process that the kernel reports as well. */
void recording_add_process(struct recording *r, pid_t pid);
void recording_add_child(struct recording *r, pid_t pid, char **command);
void recording_add_fork(struct recording *r, pid_t pid, pid_t parent, uint64_t time_ns);
void recording_write_process(struct recording *r, pid_t pid);
/* Reads the name of a process or thread; "": it is gone. */
void recording_read_comm(pid_t pid, char comm[64]);
/* Notes that pid runs another program since time_ns, so that its earlier mappings are gone. */
void recording_note_exec(struct recording *r, uint32_t pid, uint64_t time_ns);
/* Write an exec without a record of the kernel, the names of threads, and the present executable mappings (since_ns: JITREG_TIME_BEFORE, if
 * the program has run since before the recording). */
void recording_write_exec(struct recording *r, pid_t pid);
void recording_write_threads(struct recording *r, pid_t pid, uint64_t time_ns);
void recording_write_maps(struct recording *r, pid_t pid, uint64_t time_ns, uint64_t since_ns);

/* ---- what is read from outside of a process that runs, and has no agent */
/* Adds a process that may be a server of a database. */
void recording_add_engine_process(struct recording *r, pid_t pid);
/* Is pid the parent of a server's processes, so that all of them are meant? */
bool recording_is_postmaster(const struct recording *r, pid_t pid);
/* Is the process a JVM whose code is read from its memory, since no agent has run in it from its start? */
bool recording_can_read_jvm(struct recording *r, pid_t pid);
/* Number of agents that noted the result of asking a running CPython. */
uint32_t recording_python_answers(const struct recording *r);
/* Reads code that is registered for debuggers in pid. */
void recording_watch_jit_lists(struct recording *r, pid_t pid);

/* ---- agents (registrations.c) */
/* Adds an agent that has connected, and has a log of so many bytes. */
void recording_add_guest(struct recording *r, uint32_t pid, uint32_t tid, const char *version, uint64_t log_bytes);
/* Adds a record of an agent's log, as schema_parse() yielded it. */
void recording_add_registration(struct recording *r, uint32_t pid, uint32_t tid, uint32_t id, uint64_t time_ns,
				const struct schema_value *values, int nr);
/* Writes values of a block's counters; flags: JITREG_VALUES_*. */
void recording_write_counter_values(struct recording *r, uint32_t pid, uint32_t flags, uint64_t block, const uint64_t *values, uint32_t nr);

/* ---- as long as it runs: before logs are drained, before rings are drained, after, and now and then */
void recording_begin_drain(struct recording *r);
void recording_poll_jit_lists(struct recording *r);
void recording_settle(struct recording *r);
/* Writes the gathered records to the file. */
void recording_flush(struct recording *r);
/* Milliseconds until the next look is due, at most `most`. */
int recording_wait_ms(const struct recording *r, int most);

struct recording_state {
	uint64_t samples, processes, bytes, records, begin_ns;
	uint64_t lost[NR_LOSSES]; /* indexed by reason */
};
struct recording_state recording_state(const struct recording *r);

/* ---- its end */
struct rusage;
/* Writes the kernel's values of a process's use of resources; when: "start" or "end".  A command that has ended and is not waited for yet
 * still has most of them. */
void recording_write_resources(struct recording *r, uint32_t pid, const char *when, uint64_t time_ns);
/* Notes the resources that the command has used.  It has ended, and the recording is of all of it. */
void recording_note_command_usage(struct recording *r, const struct rusage *usage);
/* Sets the processor time that was used for the recording beside this process's own, or, below 0, that this process used for another
 * one. */
void recording_note_recorder_usage(struct recording *r, int64_t cpu_ns);
/* Called after the last call of the sink.  Writes what is read from outside, losses and END, and destroys the recording, whatever is
 * returned.  wait_status: wait(2)'s of the command, -1: not known.  0, or -errno with a sentence; *out in any case. */
int recording_end(struct recording *r, int wait_status, struct recording_state *out, struct diag *d);
/* recording_end() reads no further file for names once is_over(context) is true, and says in the trace how many it left out. */
void recording_limit_end(struct recording *r, bool (*is_over)(void *context), void *context);
/* Called after fork(2) of a flushed recording: recording_inherit() in the process that calls recording_end(), and recording_leave() in the
 * other, where it destroys the recording and writes nothing. */
void recording_inherit(struct recording *r);
void recording_leave(struct recording *r);
/* Destroys a recording of which nothing was recorded, and removes the trace.  NULL is fine. */
void recording_drop(struct recording *r);

#endif
