/* SPDX-License-Identifier: MIT */
/*
 * The model is everything in a trace except its samples: processes, images, generated code, dictionary, tags, marks.  It is built by
 * a pass over all records, after one over lifetimes.  Then it answers questions of the form "what was at this address of this process at
 * this time".
 *
 * A process is one program in one address space.  An exec makes a new one with the same PID.  A fork makes one whose parent is asked, as of
 * the time of the fork, about everything that the child itself knows nothing of.
 * Context: thread.
 */
#ifndef TAILOR_MODEL_H
#define TAILOR_MODEL_H

#include "analyzer/flow/records.h"
#include "analyzer/model/code_inlines.h"
#include "analyzer/model/code_map.h"
#include "analyzer/model/counts.h"
#include "analyzer/model/dictionary.h"
#include "analyzer/model/faults.h"
#include "analyzer/model/host_levels.h"
#include "analyzer/model/kernel_functions.h"
#include "analyzer/objects/objects.h"
#include "analyzer/objects/plan_code.h"
#include "analyzer/symbols/elf_object.h"
#include "analyzer/symbols/function_code.h"
#include "analyzer/symbols/kept_lines.h"
#include "jitreg/base/diag.h"
#include "jitreg/base/file_identity.h"
#include "jitreg/base/grow.h"
#include "jitreg/base/hash_map.h"
#include "jitreg/trace/reader.h"

#include <stdbool.h>

/* An ELF file of which the trace has parts. */
struct image_file {
	char *key, *path;
	char *reason; /* why parts are missing, or "" */
	struct file_identity identity;
	uint64_t bytes; /* size of the file; 0: unknown */
	struct elf_object *elf; /* NULL: not in the trace, or malformed */
	bool shares_elf; /* elf belongs to another file with the same build id (shared_code.h) */
	struct elf_object *debug; /* debug file of a file without parts, until the parts of a copy are known */
	char *debug_path;
	struct function_codes *code; /* code of sampled functions; NULL: not in the trace */
	bool generated;		/* a library that a JIT wrote */
	bool of_machine;	/* elf belongs to machine_file.h */
	uint32_t number;
};

enum code_kind { CODE_IMAGE, CODE_ELF, CODE_LOAD, CODE_REGION };

struct code_line {
	uint64_t address;
	uint32_t line;
	char *file;
};

/* The code in a range of addresses: a mapped image, an ELF object that a JIT made, a function that a JIT registered, or an executable
 * region without a file, or with a file that is memory only (its name says which code mapped it). */
struct code {
	enum code_kind kind;
	uint32_t number;  /* number in the whole trace; also the unwind key */
	uint32_t process; /* index of the process that registered it */
	uint64_t from_ns; /* valid from then on; 0: always */
	uint64_t address; /* address of the first byte; CODE_ELF: not set */
	uint64_t bytes;
	/* CODE_IMAGE */
	char *path;
	char *build_id; /* hex, or "" */
	struct file_identity identity;
	bool bias_known;
	uint64_t bias, map_start, map_offset;
	bool generated; /* a library that a JIT wrote, and that came with its bytes */
	bool writable; /* mapped writable and executable, which no loader does */
	bool host_levels; /* the analyzer makes levels for it, because its host declared none (host_levels.h) */
	struct image_file *file;
	/* CODE_ELF */
	struct elf_object *elf;
	/* CODE_LOAD, CODE_REGION */
	char *name;
	/* CODE_REGION; CODE_LOAD, of at most CODE_SMALL_BYTES */
	const struct region_bytes *region; /* the whole range as the recorder read it, or NULL */
	/* CODE_REGION */
	uint32_t shared; /* 1 + index in model.shared (shared_code.h); 0: no file, or not looked at */
	char *mapper; /* path of the image whose code mapped it, or NULL */
	uint64_t mapper_offset;
	/* CODE_LOAD */
	struct code_line *lines; /* sorted */
	size_t nr_lines;
	struct code_inline *inlines;
	size_t nr_inlines;
	struct code_entry *entries; /* CODE_MAP, sorted by offset */
	size_t nr_entries;
	bool is_truffles; /* name is that of a function of a Truffle language */
	bool has_bytes; /* the trace has the bytes, in the LOAD or CODE_BYTES at bytes_at */
	struct trace_place bytes_at;
	uint64_t bytes_read_ns; /* when the bytes were read from memory; 0: they came with the code */
	const struct code *elf_duplicate_of; /* model_elf_duplicate_of()'s answer */
	bool elf_duplicate_asked;
};

struct code_entry {
	uint64_t offset;
	uint32_t component; /* index, or COMPONENT_NONE */
};

/* Code that the recorder read from a process's memory (CODE_BYTES): that of a LOAD without bytes, a page of a region, or a whole
 * region. */
struct code_copy {
	uint32_t pid;
	uint64_t address, loaded_ns, bytes, read_ns; /* loaded_ns: TRACE_NOT_LOADED for a page */
	struct trace_place place;
	struct process *process;
	struct region_bytes *region; /* bytes of memory without a registration, and of small objects */
};

/* Bytes of a region. */
struct region_bytes {
	uint32_t number;
	uint64_t nr;
	unsigned char bytes[];
};

/* Bytes of .eh_frame as a JIT registered them. */
struct frames {
	uint64_t address;
	unsigned char *bytes;
	size_t nr;
	uint32_t number;
};

/* An area of memory, by the name that the host gave it, else by the kernel's mapping. */
enum memory_kind { MEMORY_NAMED, MEMORY_HEAP, MEMORY_STACK, MEMORY_ANONYMOUS, MEMORY_FILE };
struct memory {
	enum memory_kind kind;
	uint32_t number;    /* index in model.memory */
	uint32_t process;   /* index */
	uint32_t component; /* index of the component that it belongs to, or COMPONENT_NONE */
	uint64_t address, bytes, from_ns;
	char *name;
};

struct source {
	char *name;
	char *text;
	size_t text_bytes;
	uint32_t process;
	uint64_t from_ns;
	uint32_t level; /* index; LEVELS_MAX: the lines are no components */
	uint64_t first_component;
	uint32_t flags; /* JITREG_SOURCE_* */
	uint32_t nr_components; /* number of components in the dictionary when it came */
	size_t *line_start; /* offsets in text, nr_lines + 1 of them */
	size_t nr_lines;
};

/* The components of a query: those with the numbers [first, first + nr) of all levels, from from_ns on. */
struct scope {
	uint32_t process; /* index */
	uint64_t first, nr, from_ns;
	char *name, *text;
};

struct tag {
	uint32_t where, number; /* number: the order in the trace */
	uint64_t check_mask, check_value, from_ns;
	uint32_t nr_fields, nr_preserving_ranges;
	struct {
		uint32_t level, shift, bits; /* level: index */
	} *field;
	struct jitreg_range *preserving_range;
};

struct mark {
	uint64_t begin_ns, end_ns; /* end_ns: UINT64_MAX while the mark has not ended */
	uint32_t process, tid;
	uint32_t component; /* index, or COMPONENT_NONE */
	uint64_t instance, parent_instance, units;
	char *name, *text;
	uint64_t handle; /* 0: the end is found by name, component and instance */
	uint32_t covers; /* JITREG_COVERS_*; 0: the host did not say */
	uint32_t parent; /* 1 + index; 0: none */
	uint32_t pieces; /* 1 + index of the last piece; 0: none */
};

/* A stretch of time in which a thread was in a mark.  Marks have pieces if they cover threads or tasks.  So have marks by older hosts of a
 * component with a parent. */
struct mark_piece {
	uint32_t process, tid;
	uint64_t from_ns, to_ns;
	uint32_t mark;	/* index */
	uint32_t outer; /* 1 + index of the piece that it began in; 0: none */
	uint32_t before; /* 1 + index of the previous piece of its mark; 0: none */
};

struct process {
	uint32_t number; /* index in model.numbered */
	uint32_t pid;
	uint64_t from_ns, to_ns; /* time range of this program with this PID.  to_ns is never set: UINT64_MAX */
	struct process *parent;	 /* process whose memory it has a copy of */
	uint64_t forked_ns;
	struct process *executed_by; /* the program in whose place it was executed; NULL: none, or unknown */
	uint32_t parent_pid; /* PID of the process that forked it, also after an exec; 0: unknown */
	char *comm, *executable;
	char *command_line; /* the beginning of the command line, or NULL */
	char *service; /* service that it works for; "": none; NULL: that of parent or executed_by */
	char *host_options; /* options that name its code and are in force: each once, after a blank; NULL: none */
	uint64_t executable_ns; /* when the executable was mapped; 0: a PROCESS record named it */
	struct code_map code, frames;
	struct code_map memory, mapped; /* struct memory: areas that the host named, and the kernel's mappings */
	const struct shared_code *shared; /* model.shared; NULL: there is none */
	struct {
		uint64_t address, bytes; /* range of the interpreter's machine code; bytes 0: there is none */
		int64_t place, function;
	} interpreter; /* an INTERPRETER record */
	struct code_map guest_regions, regions; /* asked if code has no answer: regions by the guest, and by the kernel */
	bool regions_were_read; /* whole regions were read when they were mapped.  Those that were not read ended too soon */
	ARRAY(struct tag) tags;
	uint32_t nr_uses; /* records of work done so far: code, marks */
	uint64_t loaded_ns; /* time of the latest LOAD */
	uint32_t nr_tasks; /* threads, the first included, whose beginning was recorded */
	uint32_t header_version; /* latest version of jitreg.h by HELLO: major << 16 | minor; 0: none, or one before 1.0 */
	bool has_guest, exec_seen;
	bool has_dictionary, has_line_components; /* components were declared here or in a parent; as lines of a SOURCE */
	bool has_objects;
	bool has_unwinding; /* code comes with unwind information, so code without has none */
};

/* A thread with one of its names.  A thread that renames itself is several, of which the first stands for them all. */
struct thread {
	uint32_t tid;
	uint32_t process; /* index */
	uint32_t first;	  /* index of the thread with its first name, which holds from its beginning */
	uint32_t renamed, nr_renamed; /* for the first: its rows of model.renamed */
	char *comm;
};

/* A name that a thread has from a time on. */
struct renamed {
	uint32_t thread; /* index of the thread with its first name */
	uint32_t named;	 /* index of the thread with this name */
	uint32_t nr;	 /* number of the record: of two at the same time the later one counts */
	bool is_whole; /* a THREAD_NAME, not the kernel's abbreviation */
	uint64_t from_ns;
	char *comm; /* valid until threads_settle() */
};

#define MODEL_MEMORY_STACKS 1u

#define MODEL_EVENTS_MAX 16
/* The event of threads that leave their processor.  If TRACE_EVENT_SWITCH was recorded with it, a sample's weight is the time until its
 * thread came back, and samples of threads that were preempted belong to the other event. */
#define MODEL_EVENT_LEAVING "context-switches"
#define MODEL_NO_EVENT UINT32_MAX

struct event_count { /* values of the counters of one processor, or of those of all threads */
	uint64_t value, enabled_ns, running_ns, on_cpu_ns, samples, lost, weight;
	uint64_t ended_value, ended_samples, ended_weight; /* the parts of these that belong to threads that ended (counts.h) */
	uint64_t ended_unsampled; /* the part of ended_value of threads without samples */
	double tail, unsampled; /* estimates for ended threads: after their last samples; of threads without samples */
	double tail_part, unsampled_part; /* the parts of these that are assumed to be true: 0 to 1 (counts.c) */
	double scale; /* 0: unknown */
};

struct model_event {
	char *name, *unit, *scope; /* "" for an event that the trace leaves out */
	uint64_t period, rate, registers, period_spread;
	uint32_t stack_bytes, precise, exclude_kernel;
	bool is_clock;	/* counts the time that it runs: task-clock, cpu-clock */
	bool is_switch; /* TRACE_EVENT_SWITCH, TRACE_EVENT_WOKEN: their own samples are no code; they become "preempted" and "run queue" */
	/* Final values of the counters, summed over processors or threads.  0: not in the trace. */
	uint64_t counted, count_samples, count_lost; /* the events as if counted all the time, in the unit; samples taken, and lost */
	uint64_t idle_ns; /* clocks of processors: time not in counted, while processors were idle and not sampled */
	uint64_t on_cpu_ns, running_ns; /* time that its threads ran, and that it counted: less if counters were multiplexed */
	double sampled; /* the part of counted that samples' own weights add up to; 0: unknown */
	double unsampled; /* the part of counted that is of threads without a sample */
	double mean_period; /* mean weight of a sample; 0: unknown */
	double multiplexed; /* at least 1: events for each one that a counter counted */
	bool differs_by_thread; /* threads have scales of their own (counts.h) */
	/* Factor of a sample's weight.  It is over 1 if counters were multiplexed, samples were lost or interrupts came late. */
	double scale;
	struct event_count *count, of_threads; /* counts by processor; counts of counters that go with their threads */
	uint32_t nr_counts;
};

struct notice {
	enum notice_kind kind;
	char *sentence;
};

/* A HOST_LACK record: what a host does not provide.  The texts are those in trace.h. */
struct host_lacking {
	char *host, *version, *missing, *reason, *lacks, *helps, *jit_hosts;
};

#define MODEL_RECORD_IDS 128u /* all ids of jitreg are smaller */

struct threads {
	ARRAY_OF(struct thread);
	ARRAY(struct renamed) renamed; /* sorted by thread and time */
	struct hash_map by_tid; /* (process, tid) -> 1 + index */
};

struct files {
	ARRAY_OF(struct image_file *);
	ARRAY(struct function_codes *) functions;
	uint64_t inflated_bytes; /* bytes that compressed sections of all files would take */
};

struct codes {
	ARRAY_OF(struct code *);
	ARRAY(struct code_copy) copies; /* in the trace's order */
	ARRAY(struct waiting *) waiting; /* while records are read: records of code before its LOAD */
	struct hash_map waiting_at; /* (process, address) -> 1 + index */
	ARRAY(struct code_fact) odd_unloads; /* CODE_UNLOAD of ranges that do not begin where code does.  The owner is the process */
};

struct shared_codes { /* executable memory of files, by place */
	ARRAY_OF(struct shared_code);
	uint32_t nr_copies;
	struct hash_map by_file; /* (inode, device) -> 1 + index of the first */
};

struct sources {
	ARRAY_OF(struct source);
	struct source_key {
		uint64_t name; /* the file name's hash, without its directories */
		uint64_t from_ns;
		uint32_t process, source; /* indexes */
	} *key; /* nr of them, sorted by process, name, time and index; NULL until all are read */
};

struct marks {
	ARRAY_OF(struct mark); /* sorted by begin */
	ARRAY(struct mark_piece) pieces; /* sorted by process, thread and begin */
	struct hash_map handles; /* (process, handle) -> 1 + index, while records are read */
	struct open_marks *open; /* marks without a handle, while records are read */
};

struct model {
	uint64_t nr_records[MODEL_RECORD_IDS]; /* records of jitreg by id */
	uint64_t read_ns; /* time of the last record read: that of records with JITREG_TIME_BEFORE */
	struct trace_place place; /* place of that record in the trace */
	struct trace_reader *reader; /* while records are read: the reader whose budget they spend */
	ARRAY(struct process *) processes; /* sorted by PID, then time */
	ARRAY(struct process *) numbered; /* in the order in which they were found.  Indexes of processes refer to it */
	struct threads threads;
	struct files files;
	struct codes codes;
	struct shared_codes shared_codes;
	struct sources sources;
	ARRAY(struct scope) scopes; /* sorted by process, number and time */
	ARRAY(struct frames *) eh_frames;
	ARRAY(struct memory *) areas; /* [0]: NULL, none; [MODEL_MEMORY_STACKS]: all stacks of threads */
	struct marks marks;
	struct thread_counts thread_counts;
	struct model_event event[MODEL_EVENTS_MAX];
	uint32_t nr_events;
	/* The events of threads that left their processor, were preempted, or were woken and not running yet (run_queue).  MODEL_NO_EVENT
	 * if the trace does not have both of the first two. */
	uint32_t leaving, preempted, run_queue;
	ARRAY(struct notice) notices;
	ARRAY(struct host_lacking) lacks;
	uint64_t lost[NR_LOSSES + 1]; /* losses by enum loss_reason; the last one is for reasons of later versions */
	struct kernel_functions kernel_functions;
	struct kept_lines kept_lines;
	struct dictionary dictionary;
	struct plan_codes plan_codes;
	struct objects objects;
	struct flow_records flows;
	uint32_t host_level[NR_HOST_LEVELS]; /* indexes; LEVELS_MAX: there is none */
	bool has_host_levels;
	/* HEADER and END */
	char *tool, *host_name, *kernel, *working_folder, *command, *way;
	bool no_adapt;
	uint32_t epoch; /* 1, 2, ... of a recording that was cut; 0: it was not */
	uint64_t cut_recording; /* number that all epochs of a recording share */
	uint64_t real_ns, begin_ns, end_ns;
	uint32_t nr_cpus, exit_status;
	uint64_t recorder_cpu_ns, written_samples, command_cpu_ns; /* command_cpu_ns 0: not known */
	bool has_end;
	uint64_t bad_records; /* records that could not be read */
	struct fault fault[NR_FAULTS];
};

/* Finds the task that a thread works on: the component of the mark that it is in.  *context: the number of the context of PLAN_CODE
 * records that this is or is linked to.  COMPONENT_NONE: no task with a known plan. */
uint32_t model_find_task(struct model *m, const struct process *p, uint32_t tid, uint64_t time_ns, uint64_t *context);

/* Reads all of t but its samples.  Has t keep chunks with code bytes (trace_keep_bodies()), which stay in the trace.  Until t is rewound
 * it can be asked what was damaged.  Returns 0, or -ENOMEM or -E2BIG with a sentence. */
int model_create(struct trace_reader *t, struct model **out, struct diag *d);
void model_destroy(struct model *m);

/* Returns the process that had pid at a time, and adds one if the trace never named it.  NULL: out of memory. */
struct process *model_get_process(struct model *m, uint32_t pid, uint64_t time_ns);
/* Does the same, but adds none.  NULL: the trace never named it. */
struct process *model_find_process(const struct model *m, uint32_t pid, uint64_t time_ns);
/* Returns the service that the process works for.  If it has none, that of the process that forked it counts, or of the program before its
 * exec.  "": none. */
const char *process_service(const struct process *p);
/* Checks whether an option is among p's host_options.  bytes: of option. */
bool process_has_option(const struct process *p, const char *option, size_t bytes);
/* Finds a file of this path that has no symbols of its own functions in the trace, or no lines.  NULL: there is none. */
const struct image_file *model_find_lacking(const struct model *m, const char *path, bool lines);
/* Checks whether the file is on this machine, by its build id. */
bool model_is_here(const struct image_file *f);
/* Returns what was lost of a class: samples that were not recorded, as far as they were counted, or registrations. */
uint64_t model_count_lost(const struct model *m, enum loss_class of);
/* Returns when the next process with the same PID begins.  UINT64_MAX: none does. */
uint64_t model_process_until(const struct model *m, const struct process *p);
/* Returns the index of a thread with its first name, and adds it if it is new. */
uint32_t model_get_thread(struct model *m, const struct process *p, uint32_t tid);
/* Returns the index of a thread with its name at a time.  *holds is narrowed to when it has that name. */
uint32_t model_find_thread(struct model *m, const struct process *p, uint32_t tid, uint64_t time_ns, struct time_range *holds);
/* Does the same by a process's index, but adds none.  MODEL_NO_THREAD: there is none. */
#define MODEL_NO_THREAD UINT32_MAX
uint32_t model_find_thread_of(const struct model *m, uint32_t process, uint32_t tid, uint64_t time_ns);

/* Finds the executable region at an address, in p or a process that it was forked from.  The fact's owner is a struct code. */
struct code_answer model_ask_region(const struct process *p, uint64_t address, uint64_t time_ns);
/* Finds the code at an address, in p or a process that it was forked from, and for how long that holds.  The fact's owner is a struct
 * code.  fact NULL: unregistered code. */
struct code_answer model_ask_code(const struct process *p, uint64_t address, uint64_t time_ns);
/* Does the same, and finds the anonymous executable region of unregistered code. */
struct code_answer model_ask_any_code(const struct process *p, uint64_t address, uint64_t time_ns);
struct code *model_find_code(const struct process *p, uint64_t address, uint64_t time_ns);
/* Returns the ELF object that registered the same function before a LOAD did (LLVM does both), because it knows more.  NULL: there is
 * none. */
const struct code *model_elf_duplicate_of(const struct model *m, struct code *load);
/* Finds the .eh_frame bytes that describe an address.  The fact's owner is a struct frames. */
struct code_answer model_ask_frames(const struct process *p, uint64_t address, uint64_t time_ns);
/* Returns a number.  While it stays the same, so do all answers about code and frames of this process. */
uint64_t model_code_generation(const struct process *p, uint64_t time_ns);
/* Returns the index of the memory that an address was in, by the host's name if it has one, else by the kernel's mapping.  0: neither is
 * known. */
uint32_t model_find_memory(const struct process *p, uint64_t address, uint64_t time_ns);
/* Checks whether other events had the event's counter for a part of the time that is worth a sentence. */
static inline bool model_event_is_multiplexed(const struct model_event *e)
{
	return e->running_ns < e->on_cpu_ns - e->on_cpu_ns / 50;
}
/* Says why samples stand for less than was counted although none was lost. */
const char *model_why_not_covered(const struct model *m);
/* Returns the factor for the weights of an event's samples on a processor. */
double model_event_scale(const struct model *m, uint32_t event, uint32_t cpu);
/* Returns a scaled count (0 or more) without its fraction, or UINT64_MAX if it is larger than that. */
uint64_t model_clamp_to_u64(double scaled);
/* Find the tag in force, or NULL, and when the answer holds: [from, until). */
const struct tag *model_find_tag(const struct process *p, uint64_t time_ns);
const struct tag *model_ask_tag(const struct process *p, uint64_t time_ns, uint64_t *from_ns, uint64_t *until_ns);
/* Finds the innermost piece of a mark that a thread is in at a time, or NULL.  *until_ns is narrowed to when that may change. */
const struct mark_piece *
model_find_mark_piece(const struct model *m, const struct process *p, uint32_t tid, uint64_t time_ns, uint64_t *until_ns);
/* Finds the component that an id named at a time in a process, in one that it was forked from, or in all.  *holds is narrowed to when that
 * is so. */
uint32_t model_find_component(const struct model *m, const struct process *p, uint32_t level, uint64_t id, uint64_t time_ns,
			      struct time_range *holds);
/* Finds the source that a line table's file name meant at a time, or else the first that it meant later.  NULL: none. */
const struct source *model_find_source(const struct model *m, const struct process *p, const char *file, uint64_t time_ns);
/* Finds the scope that a component belongs to, or NULL. */
const struct scope *model_find_scope(const struct model *m, uint32_t component);
/* Finds the user's text that a component is of: its scope's text, else the text of the query (JITREG_SOURCE_QUERY) with its scope's name.
 * Without a scope it is the latest text of a query before the component, else the first.  NULL: there is none. */
const char *model_find_query(const struct model *m, uint32_t component, const char **name);
/* Returns the text of a line (from 1), without its end of line.  "": there is none. */
const char *source_line(const struct source *s, uint32_t line, size_t *bytes);
/* Returns the component that was a line of s at a time, and adds one if it is new. */
uint32_t model_line_component(struct model *m, const struct source *s, uint32_t line, uint64_t time_ns);
/* Converts a process's address to the image's own.  false: the image's file is not known. */
bool code_file_address(const struct code *c, uint64_t address, uint64_t *out);

#endif
