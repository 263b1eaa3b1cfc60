/* SPDX-License-Identifier: MIT */
/* This header has declarations that the files of a recording share.  Context: thread. */
#ifndef TAILOR_RECORDING_INTERNAL_H
#define TAILOR_RECORDING_INTERNAL_H

#include "agent/recorder/perf/name_source.h"
#include "agent/recorder/recording/recording.h"
#include "jitreg/base/clock.h"
#include "jitreg/base/hash_map.h"

#define THREAD_LOSSES_MAX 64
#define SOURCES_MAX 16

/* This struct has the numbers of losses by reason, and the part of these that was written to the trace (losses.c). */
struct losses {
	uint64_t total[NR_LOSSES], written[NR_LOSSES];
	struct thread_loss {
		enum loss_reason reason;
		uint32_t pid, tid;
		uint64_t count;
	} thread[THREAD_LOSSES_MAX]; /* losses since the last recording_write_losses() whose process or thread is known */
	int nr_threads;
};

/* This struct is a source that the recording has created, with the operations and the state of that source. */
struct created_source {
	const struct name_source *is;
	void *state;
};

struct recording {
	struct recording_options options;
	char *output;
	struct trace_writer *writer;
	uint32_t nr_columns;
	uint32_t switches; /* index of the event of context switches; nr_columns: there is none */
	struct perf_event_attr attr[RECORDING_COLUMNS_MAX]; /* attr of each event */
	struct samples *samples[RECORDING_COLUMNS_MAX]; /* samples of each event that were not written yet */
	struct created_source source[SOURCES_MAX]; /* in the order of the table in sources.c, without those that have nothing to do */
	uint32_t nr_sources;
	struct name_source_recording for_sources;
	struct losses losses;
	struct hash_map headless; /* PID of a process whose first thread has ended before others -> LIVES or ENDED (facts.c) */
	uint64_t tag_registers;	/* registers that hosts have declared for tags, as perf's mask; 0: none was declared yet */
	uint64_t command_cpu_ns; /* processor time of the command; 0: unknown */
	int64_t recorder_cpu_ns; /* added to this process's own processor time in the END record; may be negative */
	size_t command_line_bytes, service_bytes; /* bytes of command lines and services in the trace, which are limited */
	uint32_t nr_resource_records;
	bool tag_words_noticed, groups_noticed;
	bool has_outside, knows_outside; /* process 0 is all processes of other PID namespaces; it was written to the trace */
	struct hash_map python_answers; /* (PID, 0) -> 1 for recording_python_has_answered() */
	struct host_lacks lacks; /* lacks that this trace has */
	uint64_t nr_samples, nr_processes, begin_ns;
};

/* Returns the time for the recorder's own records: now, or, in an import, the end of its recording. */
static inline uint64_t recording_now_ns(const struct recording *r)
{
	return r->options.sources.past_end_ns ? r->options.sources.past_end_ns : clock_now_ns();
}

/* ---- sources.c */
/* Creates the sources, which get r->for_sources. Returns 0, or -ENOMEM, and then recording_destroy_sources() destroys those
 * that were created. */
int recording_create_sources(struct recording *r);
void recording_destroy_sources(struct recording *r);
/* Returns the source of a kind, for functions that only this kind has, or NULL if the recording has none. */
void *recording_source(const struct recording *r, const struct name_source *is);

/* Calls an operation of all sources that have it, in the order of the table.  The arguments are evaluated for each of them. */
#define TELL_SOURCES(r, operation, ...) \
	do { \
		for (const struct created_source *of_ = (r)->source; of_ < (r)->source + (r)->nr_sources; of_++) \
			if (of_->is->operation) \
				of_->is->operation(of_->state, ##__VA_ARGS__); \
	} while (0)

/* ---- facts.c */
/* Writes the samples that were collected. If that fails, they are counted as LOSS_WRITE. */
void recording_flush_samples(struct recording *r);

/* ---- records.c */
void recording_write_event(struct recording *r, uint32_t number, const struct event *e, const struct recording_event *how);
/* Writes a mapping, and passes an executable one to the sources, with time_ns. since_ns: time of its record. That is JITREG_TIME_BEFORE
 * for a mapping from before the recording, so that it hides no code that was loaded there since. */
void recording_write_mapping(struct recording *r, const struct mapping *m, uint64_t time_ns, uint64_t since_ns);
/* Gives a file in memory (memfd_create(2)), which the kernel calls "/memfd:NAME (deleted)", the path /memfd/NAME, by which it is an image.
 * Returns false if the path is of another file. */
bool recording_name_file_in_memory(const char *path, size_t bytes, char *name, size_t room);
/* Writes the name of a thread.  Passes an exec to all sources, and any other new name to the source of JVMs.  After an exec outside of an
 * import, waits until /proc shows the new program, and writes its command line, resources and service, too.  If the service cannot be read,
 * that is a loss. */
void recording_write_comm(struct recording *r, const struct kernel_comm *c, uint64_t time_ns);
void recording_write_end(struct recording *r, int wait_status);

/* ---- processes.c */
/* Writes process 0, which the processes of other PID namespaces are to a recorder in one, and a notice. */
void recording_write_outside(struct recording *r);

/* ---- command_line.c */
/* Writes the command line of the program that runs in pid, if it still runs and the trace has room for command lines. */
void recording_write_command_line(struct recording *r, uint32_t pid, uint64_t time_ns);

/* Writes the service of pid, if the trace has room for services. Returns false if the process has ended, or its control groups cannot be
 * read. */
bool recording_write_service(struct recording *r, uint32_t pid, uint64_t time_ns);

/* ---- losses.c */
/* Writes the losses that are not in the trace yet. If the trace cannot be written, the next call writes them again. */
void recording_write_losses(struct recording *r);

/* ---- registrations.c */
/* Limits the registers that are written of samples without stacks to the instruction pointer and those for tags. The latter are all that
 * can hold a tag until a host has declared a register, and then the declared ones. Does nothing if the user has requested registers. */
void recording_keep_registers(struct recording *r);

#endif
