/* SPDX-License-Identifier: MIT */
/*
 * A source of names reads from outside of the recorded processes what their code is called, or what it executes.  It reads files that they
 * map, files and lists that JITs leave, the memory of virtual machines and database servers, or the kernel's symbols.  A recording has one
 * source of each kind, in the order of one table (agent/recorder/recording/sources.c).  It passes on what the kernel, agents and /proc
 * report of processes, and calls each source at every drain and at the end.  A sink (sink.h) is where the recording gets these reports.
 *
 * Another source is a constant struct name_source in the .c file of its part, its declaration in the part's .h file, and a row of that
 * table. If only one source needs to be told something (a list that its agent has found, say), its part has a function for that, which the
 * recording calls with recording_source().
 *
 * Context: thread. One operation is called at a time. None may wait for a process, and those without a bound below may take a few ms at
 * most, as rings fill meanwhile. Pointers are valid during the call. Times are in ns, on the clock of the recording, which is
 * CLOCK_MONOTONIC, or in an import that of the file. Process numbers are those that the recorder sees.
 */
#ifndef TAILOR_NAME_SOURCE_H
#define TAILOR_NAME_SOURCE_H

#include "agent/recorder/perf/kernel_record.h"
#include "agent/recorder/perf/samples.h"
#include "jitreg/trace/trace.h"
#include "jitreg/trace/writer.h"

#include <stdbool.h>
#include <stdint.h>

struct host_lack;
struct kernel_names_origin;

/* This struct has the options of a recording that are for its sources. */
struct name_source_options {
	uint32_t stack_bytes; /* maximum number of stack bytes that are copied with a sample; 0: samples have no stacks */
	uint64_t image_code_bytes; /* maximum number of bytes of images' machine code to keep; 0: none */
	bool debuginfod; /* debug files are fetched from servers, also where the environment names none */
	bool finds_jit_lists; /* lists of JITs are read in each process with memory for code, without watch() */
	/* Time at which the recording that is imported ended, on its clock, and in seconds since 1970. Perf maps that were written later
	 * are not of its processes. past_end_ns is 0 for a live recording. past_begin_ns: time of records of what existed before. */
	uint64_t past_begin_ns, past_end_ns;
	int64_t past_end_s;
	const char *past_other_clock; /* reason why the recording's clock is not CLOCK_MONOTONIC; NULL: it is */
	bool past_foreign; /* the recording is of another architecture, so this machine's programs were not sampled */
	bool past_same_kernel; /* the running kernel is the one that was recorded */
	const struct kernel_names_origin *past_names; /* NULL: names are the running kernel's */
};

/* This struct is the recording that a source belongs to, as far as the source knows it. It is valid until destroy() returns. */
struct name_source_recording {
	const struct name_source_options *options;
	struct trace_writer *writer; /* not written to by create() and destroy() */
	void *recording; /* first argument of the functions below, which all operations but create() and destroy() may call */
	void (*notice)(void *recording, enum notice_kind kind, const char *format, ...) __attribute__((format(printf, 3, 4)));
	/* Notes that something of a host, first found in process pid, is missing in the recording. */
	void (*lack)(void *recording, uint32_t pid, const struct host_lack *l);
	void (*lost)(void *recording, enum loss_reason reason, uint64_t count);
	/* Says that the source has written a LOAD without the bytes of the code.  They are read for samples in it. */
	void (*code_written)(void *recording, uint32_t pid, uint64_t address, uint64_t bytes, uint64_t time_ns);
};

/*
 * This struct has the operations of a source. All but create() and destroy() may be NULL. Rings of processors are drained one after the
 * other, so reports of different processors come out of the order of their times, up to a drain late. For example, a sample comes before
 * the mapping that it hits, or an exit before the last samples of its process.
 */
struct name_source {
	bool is_live_only; /* it reads running processes, so it is not created for an import */
	/* Sets *source, to be freed by destroy(). Returns 0 or -ENOMEM. */
	int (*create)(const struct name_source_recording *r, void **source);
	void (*destroy)(void *source);

	/* Process pid was forked from ppid, another process. This is not called for threads. */
	void (*note_fork)(void *source, uint32_t ppid, uint32_t pid, uint64_t time_ns);
	/* Process c->pid has run another program since time_ns, so its earlier mappings are gone. */
	void (*note_exec)(void *source, const struct kernel_comm *c, uint64_t time_ns);
	/* All threads of pid have ended (in an import: its first thread has), and the number may be used again. */
	void (*note_exit)(void *source, uint32_t pid, uint64_t time_ns);
	/* m->pid has an executable mapping since time_ns. It was reported by the kernel or read from /proc (m->existed). The source of
	 * images also gets those that agents register (m->by_guest). This is hot in hosts that map often. */
	void (*note_mapping)(void *source, const struct mapping *m, uint64_t time_ns);
	/* Called for each sample, including context switches and wake-ups (hot). It may not make a system call, but for the first sample of
	 * a file or process. */
	void (*note_sample)(void *source, const struct sample_seen *seen);
	/* The agent in pid has connected. This may be called before note_fork() or note_exec() of that very program. */
	void (*note_agent)(void *source, uint32_t pid);
	/* The agent in pid has registered code, whose record is written to the trace after this call. */
	void (*note_code)(void *source, uint32_t pid, uint64_t address, uint64_t bytes);
	/* From now on the source reads pid, a running process that was attached to. */
	void (*watch)(void *source, uint32_t pid);

	/* The steps of a drain, in this order. begin_drain() is called before logs of agents are read, poll() between logs and rings, and
	 * settle() after rings. poll() is also called before an epoch ends. In an import, only settle() is called. poll() and settle() may
	 * take some ms together. */
	void (*begin_drain)(void *source);
	void (*poll)(void *source, uint64_t now_ns);
	/* last: the recording ends, and up to a second may be taken to read what is left. */
	void (*settle)(void *source, uint64_t now_ns, bool last);
	/* Returns the ms within which the next drain should begin, or 0 if none is needed for this source. */
	int (*wait_ms)(const void *source, uint64_t now_ns);

	/* Called after settle() of all sources, for the last time.  Writes what ends with the recording, and notices on what is missing. */
	void (*end)(void *source, uint64_t now_ns);
	/* Writes large parts of files. last: called after end() of all sources, when all other records are in the file, and may take as
	 * long as options say. Otherwise called now and then in a live recording, and may take as long as a few MiB do. */
	void (*write_files)(void *source, uint64_t now_ns, bool last);
};

#endif
