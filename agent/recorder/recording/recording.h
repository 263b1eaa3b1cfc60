/* SPDX-License-Identifier: MIT */
/*
 * A recording is one trace that is being written, from its creation to its END record.  It gets samples, the kernel's records of tasks and
 * mappings, and registrations of agents, and it reads from outside what processes have (images, perf maps and jitdump files, lists of JITs,
 * databases). A recording is a sink (recording_sink()). The source of its samples (counters, a perf.data file, a test) may go on after the
 * recording's end, with another recording. Context: thread.
 */
#ifndef TAILOR_RECORDING_H
#define TAILOR_RECORDING_H

#include "agent/recorder/perf/event.h"
#include "agent/recorder/perf/name_source.h"
#include "agent/recorder/perf/samples.h"
#include "agent/recorder/perf/sink.h"
#include "jitreg/base/diag.h"
#include "jitreg/hosts/host_versions.h"
#include "jitreg/hosts/jit_hosts.h"
#include "jitreg/trace/put.h"
#include "jitreg/trace/writer.h"

#define RECORDING_COLUMNS_MAX 16

struct recording;

struct recording_options {
	const char *output;
	bool keep_old; /* an older trace of that name is kept as NAME.old */
	bool overwrite; /* a file of that name is replaced also if it is not a trace */
	bool uncompressed; /* the trace's chunks are not compressed, for readers without zstd */
	uint64_t registers;   /* registers that the user has requested, which are all kept; 0: recording_keep_registers() chooses */
	bool has_tag_words;   /* samples have tags that are in thread-local words */
	/* Called for each sentence that recording_notice() writes into the trace, and for each that recording_note_lack() writes there,
	 * unless `told` has that lack already, or is full. May be NULL. */
	void (*notice)(void *context, const char *sentence);
	struct host_lacks *told; /* lacks for which notice() was called, also in earlier epochs; NULL: they are not kept */
	/* Called by the sink for each sample (hot), for each process that is forked, for each program that is executed, and for each
	 * process whose first thread has exited (others may still run). Each may be NULL. */
	void (*seen)(void *context, const struct sample_seen *seen);
	void (*sampled)(void *context, uint32_t pid, uint64_t time_ns);
	void (*forked)(void *context, uint32_t pid);
	void (*executed)(void *context, const struct kernel_comm *c, uint64_t time_ns);
	void (*exited)(void *context, uint32_t pid, uint64_t time_ns);
	void *context;
	struct name_source_options sources; /* sources.past_end_ns is 0 for a live recording */
};

/* Creates a recording and its trace, which may replace an older one.  Returns 0, or -errno with a sentence. */
int recording_create(const struct recording_options *o, struct recording **out, struct diag *d);
/* How an event is sampled, as far as its attr does not have it. */
struct recording_event {
	const char *scope; /* "cpu" or "thread" */
	uint64_t period_spread;
	/* pairs that convert the times of its samples, which are of another clock; NULL: times are not converted. They must live as long as
	 * the recording. */
	const struct clock_pairs *pairs;
};
/* Adds the next event. Called after recording_write_header(). Writes its record, and prepares for its samples. Returns 0 or -errno (-E2BIG:
 * there are RECORDING_COLUMNS_MAX events already). */
int recording_add_event(struct recording *r, const struct event *e, const struct recording_event *how);
/* Adds context switches, each of which is a sample, as the last event (TRACE_EVENT_SWITCH), and, if woken, wake-ups after it
 * (TRACE_EVENT_WOKEN). Returns as recording_add_event() does. */
int recording_add_switches(struct recording *r, const char *scope, bool woken);
/* Counts a loss.  pid, tid: its process and thread, as far as they are known, or 0.  The sink's lost() does the same. */
void recording_count_loss(struct recording *r, enum loss_reason reason, uint32_t pid, uint32_t tid, uint64_t count);
/* Returns the sink that writes all it gets into this recording. */
struct sink recording_sink(struct recording *r);
/* Returns the writer of the trace, which the recording owns. */
struct trace_writer *recording_writer(struct recording *r);

/* ---- the recorder's own records (records.c, processes.c) */
struct recording_header {
	char **command; /* NULL-terminated; NULL: none */
	enum jit_way way;
	bool no_adapt;
	uint32_t epoch; /* number of the epoch: 1, 2, ...; 0: the recording is not cut */
	uint64_t cut_recording; /* identifier that all epochs of one recording share */
};
void recording_write_header(struct recording *r, const struct recording_header *h);
/* Write a sentence into the trace, in a chunk of its own. recording_notice() cuts it after 1,023 bytes, and passes it to options.notice()
 * as well. */
void recording_notice(struct recording *r, enum notice_kind kind, const char *format, ...) __attribute__((format(printf, 3, 4)));
void recording_write_notice(struct recording *r, enum notice_kind kind, const char *text, size_t bytes);
/* Notes that something of a host, first found in process pid, is missing in this recording.  Writes a record and a sentence, unless the
 * trace has that lack, or HOST_LACKS_MAX lacks, already. */
void recording_note_lack(struct recording *r, pid_t pid, const struct host_lack *l);
/* Add a process, and count it. recording_add_process() is for one that existed before the recording, recording_add_child() for one that is
 * about to execute this command, and recording_add_fork() for one that is a forked copy of its parent since time_ns.
 * recording_write_process() writes the records of a process without counting it.
 * known: name of the process, for the case that it has ended and /proc no longer has its name; may be "". */
void recording_add_process(struct recording *r, pid_t pid, const char *known);
void recording_add_child(struct recording *r, pid_t pid, char **command);
void recording_add_fork(struct recording *r, pid_t pid, pid_t parent, uint64_t time_ns);
void recording_write_process(struct recording *r, pid_t pid);
/* Reads the name of a process or thread, or sets comm to "" if it cannot be read, as when the process is gone. */
void recording_read_comm(pid_t pid, char comm[64]);
/* Notes that c->pid runs another program since time_ns, so that its earlier mappings are gone. */
void recording_note_exec(struct recording *r, const struct kernel_comm *c, uint64_t time_ns);
/* Write an exec that the kernel has not reported, the names of all threads but the first, and the present executable mappings (all mappings
 * if the first event's attr has mmap_data). since_ns: time of the mappings' records; JITREG_TIME_BEFORE if the program has run since before
 * the recording. */
void recording_write_exec(struct recording *r, pid_t pid);
void recording_write_threads(struct recording *r, pid_t pid, uint64_t time_ns);
void recording_write_maps(struct recording *r, pid_t pid, uint64_t time_ns, uint64_t since_ns);

/* ---- data that is read from outside of a running process without an agent */
/* Adds a process that may belong to a server of a database (agent/recorder/engines). */
void recording_add_engine_process(struct recording *r, pid_t pid);
/* Is pid a postmaster, the parent of all processes of a PostgreSQL server? */
bool recording_is_postmaster(const struct recording *r, pid_t pid);
/* Is the process, which was attached to, a JVM whose code can be read from its memory? Returns false also if the JVM's layout is unknown.
 * From the call on, an agent in it is not relied on for its code, as none has run in it from its start. */
bool recording_can_read_jvm(struct recording *r, pid_t pid);
/* Has the agent in this CPython answered? One that was loaded into a running CPython answers with a note on its functions, whether they
 * could be registered or not, or with a lack of the CPython's version. */
bool recording_python_has_answered(const struct recording *r, pid_t pid);
/* Reads the code that pid registers for debuggers (GDB JIT interface), and LuaJIT's traces, from now on. */
void recording_watch_jit_lists(struct recording *r, pid_t pid);

/* ---- agents (registrations.c) */
/* Writes that an agent has connected from thread tid, and has a log of so many bytes, and tells the sources of names. */
void recording_add_guest(struct recording *r, uint32_t pid, uint32_t tid, const char *version, uint64_t log_bytes);
/* Takes a record of an agent's log: values and nr are what schema_parse() has set. */
void recording_add_registration(struct recording *r, uint32_t pid, uint32_t tid, uint32_t id, uint64_t time_ns,
				const struct schema_value *values, int nr);
/* Writes values of a block's counters; flags: JITREG_VALUES_*. */
void recording_write_counter_values(struct recording *r, uint32_t pid, uint32_t flags, uint64_t block, const uint64_t *values, uint32_t nr);

/* ---- as long as it runs */
/* Called before logs are drained. Opens new perf maps, and notes how long they are now. recording_settle() reads those maps only up to
 * there, because all unloads from before those lines are known by then. */
void recording_begin_drain(struct recording *r);
/* Called after logs and before rings are drained, and before a recording that is cut gets its next epoch. Reads the lists of code that are
 * not hooked by an agent (GDB JIT interface), and LuaJIT's traces. */
void recording_poll_jit_lists(struct recording *r);
/* Called after rings are drained, and in an import after each round of the file. Reads new bytes of perf maps and jitdump files, and the
 * memory of database servers and JVMs. */
void recording_settle(struct recording *r);
/* Called now and then. Writes the samples, losses and records that were gathered to the file. In a live recording of at least two seconds,
 * also writes parts of images' files. */
void recording_flush(struct recording *r);
/* Returns the milliseconds until the next drain is due, for what is read from outside, at most `most`. */
int recording_wait_ms(const struct recording *r, int most);

/* This struct has the numbers of what was recorded, written and lost so far. begin_ns: time at which the recording was created, of
 * CLOCK_MONOTONIC. */
struct recording_state {
	uint64_t samples, processes, bytes, records, begin_ns;
	uint64_t lost[NR_LOSSES]; /* indexed by reason */
};
struct recording_state recording_state(const struct recording *r);

/* ---- its end */
struct rusage;
/* Writes the kernel's values of a process's use of resources, unless the trace has too many of them. when: "start" or "end". Most of them
 * can also be read of a command that has ended and was not waited for yet. */
void recording_write_resources(struct recording *r, uint32_t pid, const char *when, uint64_t time_ns);
/* Notes the resources that the command has used, for the END record.  Called only if the command has ended, and this recording has all of
 * it. */
void recording_note_command_usage(struct recording *r, const struct rusage *usage);
/* Sets the processor time that is added to this process's own in the END record: of other processes for this recording, or, if negative, of
 * this process for earlier recordings. */
void recording_note_recorder_usage(struct recording *r, int64_t cpu_ns);
/* Called after the last call of the sink.  Reads the rest from outside, writes it, the losses and the END record, and destroys the
 * recording in any case.  wait_status: that of the command as by wait(2); -1: unknown.  Returns 0, or -errno with a sentence; *out is set
 * in any case. */
int recording_end(struct recording *r, int wait_status, struct recording_state *out, struct diag *d);
/* Limits recording_end(). Once is_over(context) is true, it reads no further file of an image, and writes a notice on how many were left
 * out. */
void recording_limit_end(struct recording *r, bool (*is_over)(void *context), void *context);
/* Called after fork(2), if recording_flush() was called before it.  recording_inherit() is called in the process that calls
 * recording_end().  recording_leave() is called in the other, destroys the recording there, and writes nothing. */
void recording_inherit(struct recording *r);
void recording_leave(struct recording *r);
/* Destroys a recording into which nothing was recorded, and removes its trace. An older trace that was kept gets its name back. r may be
 * NULL. */
void recording_drop(struct recording *r);

#endif
