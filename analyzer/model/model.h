/* SPDX-License-Identifier: MIT */
/*
 * All of a trace but its samples: processes, images, generated code, dictionary, tags, marks.  Built by one
 * pass over all records; then questions of the form "what was at this address of this process at this time".
 *
 * A process is one program in one address space: exec makes a new one with the same pid, fork one whose questions go on to
 * its parent, as of the time of the fork, wherever it knows nothing itself.
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
#include "jitreg/base/hash_map.h"
#include "jitreg/trace/reader.h"

#include <stdbool.h>

/* An ELF file of which the trace has parts. */
struct image_file {
	char *key, *path;
	char *reason; /* why parts are missing, or "" */
	struct file_identity identity;
	uint64_t bytes; /* of the file; 0: not known */
	struct elf_object *elf; /* NULL: not in the trace, or broken */
	bool shares_elf; /* elf is that of another file, which has the same build id (shared_code.h) */
	struct elf_object *debug; /* what a record behind that of a file without parts has, until those of its copy are known */
	char *debug_path;
	struct function_codes *code; /* of sampled functions; NULL: not in the trace */
	bool generated;		/* a library that a JIT wrote */
	bool of_machine;	/* elf is machine_file.h's */
	uint32_t number;
};

enum code_kind { CODE_IMAGE, CODE_ELF, CODE_LOAD, CODE_REGION };

struct code_line {
	uint64_t address;
	uint32_t line;
	char *file;
};

/* What a range of addresses holds: a mapped image, an ELF that a JIT made, one function that a JIT registered, or an executable
 * region without a file, or with one that is memory only (its name holds the code that mapped it). */
struct code {
	enum code_kind kind;
	uint32_t number;  /* over the whole trace; also its unwind key */
	uint32_t process; /* that registered it */
	uint64_t from_ns; /* since when; 0: always */
	uint64_t address; /* CODE_LOAD: of its first byte */
	uint64_t bytes;
	/* CODE_IMAGE */
	char *path;
	char *build_id; /* hex, or "" */
	struct file_identity identity;
	bool bias_known;
	uint64_t bias, map_start, map_offset;
	bool generated; /* a library that a JIT wrote: its bytes came along */
	bool writable; /* and executable: no loader maps a file so */
	bool host_levels; /* its host declared none for it: host_levels.h */
	struct image_file *file;
	/* CODE_ELF */
	struct elf_object *elf;
	/* CODE_LOAD, CODE_REGION */
	char *name;
	/* CODE_REGION; CODE_LOAD, of at most CODE_SMALL_BYTES */
	const struct region_bytes *region; /* what the recorder read there as a whole, or NULL */
	/* CODE_REGION */
	uint32_t shared; /* 1 + index of what all say of this memory (shared_code.h); 0: no file, or not looked at */
	char *mapper; /* path of the image that mapped it, or NULL */
	uint64_t mapper_offset;
	/* CODE_LOAD */
	struct code_line *lines; /* sorted */
	size_t nr_lines;
	struct code_inline *inlines;
	size_t nr_inlines;
	struct code_entry *entries; /* CODE_MAP, sorted by offset */
	size_t nr_entries;
	bool is_truffles; /* name is that of a function of a Truffle language */
	bool has_bytes; /* the trace has its code, in the LOAD or CODE_BYTES at bytes_at */
	struct trace_place bytes_at;
	uint64_t bytes_read_ns; /* when they were read from memory; 0: they came with the code */
	const struct code *elf_duplicate_of; /* model_elf_duplicate_of()'s answer */
	bool elf_duplicate_asked;
};

struct code_entry {
	uint64_t offset;
	uint32_t component; /* index, or COMPONENT_NONE */
};

/* Code that the recorder read from a process's memory (CODE_BYTES): that of a LOAD which came without, a page of a region, or a
 * whole one. */
struct code_copy {
	uint32_t pid;
	uint64_t address, loaded_ns, bytes, read_ns; /* loaded_ns: TRACE_NOT_LOADED for a page */
	struct trace_place place;
	struct process *process;
	struct region_bytes *region; /* of memory without a registration */
};

/* Bytes of a region. */
struct region_bytes {
	uint32_t number;
	uint64_t nr;
	unsigned char bytes[];
};

/* .eh_frame bytes as a JIT registered them. */
struct frames {
	uint64_t address;
	unsigned char *bytes;
	size_t nr;
	uint32_t number;
};

/* Memory by the name that the host gave it, else by its mapping in the kernel. */
enum memory_kind { MEMORY_NAMED, MEMORY_HEAP, MEMORY_STACK, MEMORY_ANONYMOUS, MEMORY_FILE };
struct memory {
	enum memory_kind kind;
	uint32_t number;    /* its index */
	uint32_t process;   /* index */
	uint32_t component; /* index of the one that it belongs to, or COMPONENT_NONE */
	uint64_t address, bytes, from_ns;
	char *name;
};

struct source {
	char *name;
	char *text;
	size_t text_bytes;
	uint32_t process;
	uint64_t from_ns;
	uint32_t level; /* index; LEVELS_MAX: its lines are no components */
	uint64_t first_component;
	uint32_t flags; /* JITREG_SOURCE_* */
	uint32_t nr_components; /* of the dictionary when it came */
	size_t *line_start; /* nr_lines + 1 */
	size_t nr_lines;
};

/* Components with the numbers [first, first + nr), of all levels, from then on: a query's. */
struct scope {
	uint32_t process; /* index */
	uint64_t first, nr, from_ns;
	char *name, *text;
};

struct tag {
	uint32_t where, number; /* number: in the trace's order */
	uint64_t check_mask, check_value, from_ns;
	uint32_t nr_fields, nr_preserving_ranges;
	struct {
		uint32_t level, shift, bits; /* level: index */
	} *field;
	struct jitreg_range *preserving_range;
};

struct mark {
	uint64_t begin_ns, end_ns; /* end: UINT64_MAX while it has not ended */
	uint32_t process, tid;
	uint32_t component; /* index, or COMPONENT_NONE */
	uint64_t instance, parent_instance, units;
	char *name, *text;
	uint64_t handle; /* 0: its end is found by name, component and instance */
	uint32_t covers; /* JITREG_COVERS_*; 0: the host did not say */
	uint32_t parent; /* 1 + index; 0: none */
	uint32_t pieces; /* 1 + index of its last one; 0: it has none */
};

/* A stretch of time in which a thread was in a mark: of marks that cover threads or tasks, and of older ones of a component with a
 * parent. */
struct mark_piece {
	uint32_t process, tid;
	uint64_t from_ns, to_ns;
	uint32_t mark;	/* index */
	uint32_t outer; /* 1 + index of the one that it began in; 0: none */
	uint32_t before; /* 1 + index of the one of its mark before it */
};

struct process {
	uint32_t number; /* index in model.numbered */
	uint32_t pid;
	uint64_t from_ns, to_ns; /* of this program in this pid */
	struct process *parent;	 /* whose memory it has a copy of */
	uint64_t forked_ns;
	struct process *executed_by; /* the program in whose place it was executed; NULL: not known, or it was none */
	uint32_t parent_pid; /* of the process that forked it, also after an exec; 0: not known */
	char *comm, *executable;
	char *command_line; /* the beginning of it, or NULL */
	char *service; /* that it works for; "": none; NULL: as before its exec, or as the process that forked it */
	char *host_options; /* of those that name its code, found in force: each once, behind a blank; NULL: none was */
	uint64_t executable_ns; /* when it was mapped; 0: a PROCESS record named it */
	struct code_map code, frames;
	struct code_map memory, mapped; /* struct memory: those that the host named, and the kernel's */
	const struct shared_code *shared; /* the model's; NULL: there is none */
	struct {
		uint64_t address, bytes; /* of its machine code; 0: there is none */
		int64_t place, function;
	} interpreter; /* an INTERPRETER record */
	struct code_map guest_regions, regions; /* asked where code has no answer: those of the guest, and of the kernel */
	bool regions_were_read; /* as wholes, when they were mapped: others were gone too soon */
	struct tag *tags;
	uint32_t nr_tags;
	uint32_t nr_uses; /* records so far of work done: code, marks */
	uint64_t loaded_ns; /* the latest LOAD */
	uint32_t nr_tasks; /* that were made here, threads and its own: of those the recording saw begin */
	uint32_t header_version; /* of jitreg.h, the latest that said so: major << 16 | minor; 0: none did, or one before 1.0 */
	bool has_guest, exec_seen;
	bool has_dictionary, has_line_components; /* it, or one that it was forked from, declared components; as lines of a SOURCE */
	bool has_objects;
	bool has_unwinding; /* its code comes with unwind information, so code without has none */
};

/* By one of its names: a thread that renames itself is several, of which the first stands for them all. */
struct thread {
	uint32_t tid;
	uint32_t process; /* index */
	uint32_t first;	  /* index: by its first name, which holds from its beginning */
	uint32_t renamed, nr_renamed; /* of the first: its rows of model.renamed */
	char *comm;
};

/* From then on a thread has that name. */
struct renamed {
	uint32_t thread; /* index, by its first name */
	uint32_t named;	 /* index, by this name */
	uint32_t nr;	 /* the record's number: of two at one time the later one */
	bool is_whole; /* THREAD_NAME's, not the kernel's */
	uint64_t from_ns;
	char *comm; /* until threads_settle() */
};

#define MODEL_MEMORY_STACKS 1u

#define MODEL_EVENTS_MAX 16
/* Where it stands beside TRACE_EVENT_SWITCH, a sample's weight is the time until its thread came back, and samples of threads
 * that were preempted are the other event's. */
#define MODEL_EVENT_LEAVING "context-switches"
#define MODEL_NO_EVENT UINT32_MAX

struct event_count { /* what counters of one processor, or those of all threads, said */
	uint64_t value, enabled_ns, running_ns, on_cpu_ns, samples, lost, weight;
	uint64_t ended_value, ended_samples, ended_weight; /* of these, what is known of threads that ended (counts.h) */
	uint64_t ended_unsampled; /* the part of ended_value of those without samples */
	double tail, unsampled; /* not known: what may be of threads that ended behind their last samples, or of those without any */
	double tail_part, unsampled_part; /* of these, what is taken to be: 0 to 1 (counts.c) */
	double scale; /* 0: unknown */
};

struct model_event {
	char *name, *unit, *scope; /* "" for an event that the trace leaves out */
	uint64_t period, rate, registers, period_spread;
	uint32_t stack_bytes, precise, exclude_kernel;
	bool is_clock;	/* it counts the time that it runs: task-clock, cpu-clock */
	bool is_switch; /* TRACE_EVENT_SWITCH, TRACE_EVENT_WOKEN: their own samples are no code; they become "preempted" and "run queue" */
	/* the counters' values at their ends, of all processors or threads together; 0: none in the trace */
	uint64_t counted, count_samples, count_lost; /* in the event's unit, as if it had counted all the time; samples had, and lost */
	uint64_t idle_ns; /* of a clock of processors: beside counted, while these were idle and were not sampled */
	uint64_t on_cpu_ns, running_ns; /* while its threads ran, and while it counted: less where counters were multiplexed */
	double sampled; /* the part of counted that samples' own weights are; 0: not known */
	double unsampled; /* the part of counted that is of threads without a sample */
	double mean_period; /* what a sample weighs; 0: not known */
	double multiplexed; /* at least 1: what is counted for each that a counter counted */
	bool differs_by_thread; /* scale: counts.h */
	/* by how much a sample's weight is scaled: over 1 where counters were multiplexed, samples were lost or interrupts came late */
	double scale;
	struct event_count *count, of_threads; /* by processor; of counters that go with their threads */
	uint32_t nr_counts;
};

struct notice {
	enum notice_kind kind;
	char *sentence;
};

/* HOST_LACK: what is missing of a host; texts as in trace.h. */
struct host_lacking {
	char *host, *version, *missing, *reason, *lacks, *helps, *jit_hosts;
};

#define MODEL_RECORD_IDS 128u /* those of jitreg are smaller */

struct model {
	uint64_t nr_records[MODEL_RECORD_IDS]; /* of jitreg, by id */
	struct process **process; /* by pid, then time */
	struct process **numbered; /* in the order in which they were heard of: what indexes name */
	uint32_t nr_processes, processes_capacity, numbered_capacity;
	uint64_t read_ns; /* of the record read last: for those that say "before" */
	struct trace_place place; /* where that record stands in the trace */
	struct trace_reader *reader; /* while records are read: who pays for them */
	struct waiting **waiting; /* while records are read: records of code before its LOAD */
	uint32_t nr_waiting, waiting_capacity;
	struct hash_map waiting_at; /* (process, address) -> 1 + index */
	struct shared_code *shared; /* executable memory of files, by place */
	uint32_t nr_shared, shared_capacity, nr_shared_copies;
	struct hash_map shared_at; /* (inode, device) -> 1 + index of the first */
	struct thread *thread;
	struct hash_map thread_of; /* (process, tid) -> 1 + index */
	uint32_t nr_threads, threads_capacity;
	struct renamed *renamed; /* by thread and time */
	uint32_t nr_renamed, renamed_capacity;
	struct image_file **file;
	uint32_t nr_files;
	uint64_t inflated_bytes; /* that compressed sections of all these would take */
	struct function_codes **image_code;
	uint32_t nr_image_code;
	struct code **code;
	uint32_t nr_code, code_capacity;
	struct code_copy *copy; /* in the trace's order */
	uint32_t nr_copies, copies_capacity;
	struct source *source;
	uint32_t nr_sources;
	struct source_key {
		uint64_t name; /* the file name's hash, without its directories */
		uint64_t from_ns;
		uint32_t process, source; /* indexes */
	} *source_key; /* nr_sources, in this order of fields but by process first; NULL until all are read */
	struct scope *scope;
	uint32_t nr_scopes, scopes_capacity; /* by process, number and time */
	struct frames **frames;
	uint32_t nr_frames;
	struct memory **memory; /* [0]: NULL, none; [MODEL_MEMORY_STACKS]: all stacks of threads */
	uint32_t nr_memory, memory_capacity;
	struct mark *mark; /* by begin */
	uint32_t nr_marks, marks_capacity;
	struct mark_piece *piece; /* by process, thread and begin */
	uint32_t nr_pieces, pieces_capacity;
	struct hash_map mark_handles; /* (process, handle) -> 1 + index, while records are read */
	struct open_marks *open_marks; /* without a handle, while records are read */
	struct thread_counts thread_counts;
	struct model_event event[MODEL_EVENTS_MAX];
	uint32_t nr_events;
	/* Of threads and their processors; MODEL_NO_EVENT where the trace has not both of the first two.  run_queue: woken, not running. */
	uint32_t leaving, preempted, run_queue;
	struct notice *notice;
	uint32_t nr_notices;
	struct host_lacking *lacking;
	uint32_t nr_lacking;
	uint64_t lost[NR_LOSSES + 1]; /* by enum loss_reason; the last: for reasons of later versions */
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
	uint64_t cut_recording; /* what its epochs share */
	uint64_t real_ns, begin_ns, end_ns;
	uint32_t nr_cpus, exit_status;
	uint64_t recorder_cpu_ns, written_samples, command_cpu_ns; /* command_cpu_ns 0: not known */
	bool has_end;
	uint64_t bad_records; /* that made no sense */
	struct fault fault[NR_FAULTS];
	/* CODE_UNLOADs of ranges that do not begin where code does: owner is the process */
	struct code_fact *odd_unload;
	uint32_t nr_odd_unloads, odd_unloads_capacity;
};

/* What a thread works on: the component of the mark that it is in, and the number of the context of PLAN_CODEs that this is, or is linked
 * to.  COMPONENT_NONE: nothing whose plan is known. */
uint32_t model_find_task(struct model *m, const struct process *p, uint32_t tid, uint64_t time_ns, uint64_t *context);

/* Reads all of t but its samples, and has it keep chunks with code bytes (trace_keep_bodies()), for these stay there; what was damaged can
 * be asked of t until it is rewound.  0 or -ENOMEM with a sentence. */
int model_create(struct trace_reader *t, struct model **out, struct diag *d);
void model_destroy(struct model *m);

/* The process that had pid at a time; made when the trace never named it.  NULL only without memory. */
struct process *model_get_process(struct model *m, uint32_t pid, uint64_t time_ns);
/* The same; NULL: the trace never named it. */
struct process *model_find_process(const struct model *m, uint32_t pid, uint64_t time_ns);
/* What the service is called that it works for, or, where that was not read, the program that it was before its exec, or the process that
 * it was forked from; "": none. */
const char *process_service(const struct process *p);
/* Is it among p's host_options?  bytes: of option. */
bool process_has_option(const struct process *p, const char *option, size_t bytes);
/* The file of this path without the symbols of its own functions in the trace, or without lines; NULL: there is none. */
const struct image_file *model_find_lacking(const struct model *m, const char *path, bool lines);
/* Is it a file of this machine, by its build id? */
bool model_is_here(const struct image_file *f);
/* What was lost of a class: samples that were not recorded, as far as they were counted, or registrations. */
uint64_t model_count_lost(const struct model *m, enum loss_class of);
/* When the next process with its number begins; UINT64_MAX: none does. */
uint64_t model_process_until(const struct model *m, const struct process *p);
/* A thread by its first name. */
uint32_t model_get_thread(struct model *m, const struct process *p, uint32_t tid);
/* By its name at a time; *holds is narrowed to when it has that. */
uint32_t model_find_thread(struct model *m, const struct process *p, uint32_t tid, uint64_t time_ns, struct time_range *holds);
/* The same of a process's index; MODEL_NO_THREAD: there is none. */
#define MODEL_NO_THREAD UINT32_MAX
uint32_t model_find_thread_of(const struct model *m, uint32_t process, uint32_t tid, uint64_t time_ns);

/* Executable memory there that is no image, in p or what it was forked from: a struct code. */
struct code_answer model_ask_region(const struct process *p, uint64_t address, uint64_t time_ns);
/* What is at an address, in p or what it was forked from, and for how long that was so; the fact's owner is a struct code.
 * fact NULL: unregistered. */
struct code_answer model_ask_code(const struct process *p, uint64_t address, uint64_t time_ns);
/* Likewise, and in unregistered code the anonymous executable region. */
struct code_answer model_ask_any_code(const struct process *p, uint64_t address, uint64_t time_ns);
struct code *model_find_code(const struct process *p, uint64_t address, uint64_t time_ns);
/* The ELF object that registered the same function before a LOAD did (LLVM does both), because it knows more; or NULL. */
const struct code *model_elf_duplicate_of(const struct model *m, struct code *load);
/* .eh_frame bytes that describe an address; the fact's owner is a struct frames. */
struct code_answer model_ask_frames(const struct process *p, uint64_t address, uint64_t time_ns);
/* While it stays the same, so do all answers that there were for this process. */
uint64_t model_code_generation(const struct process *p, uint64_t time_ns);
/* The memory that an address was in, by the host's name if it has one, else the kernel's mapping: as an index, 0 when neither is known. */
uint32_t model_find_memory(const struct process *p, uint64_t address, uint64_t time_ns);
/* Did others have its counter for a part of the time that is worth a sentence? */
static inline bool model_event_is_multiplexed(const struct model_event *e)
{
	return e->running_ns < e->on_cpu_ns - e->on_cpu_ns / 50;
}
/* Why samples stand for less than was counted where none was lost. */
const char *model_why_not_covered(const struct model *m);
/* By how much a sample's weight is to be multiplied. */
double model_event_scale(const struct model *m, uint32_t event, uint32_t cpu);
/* A scaled count (0 or more) without its fraction; the most that there is for what a count cannot be. */
uint64_t model_clamp_to_u64(double scaled);
/* The tag in force, or NULL; and for how long that is the answer: [from, until). */
const struct tag *model_find_tag(const struct process *p, uint64_t time_ns);
const struct tag *model_ask_tag(const struct process *p, uint64_t time_ns, uint64_t *from_ns, uint64_t *until_ns);
/* The innermost piece that a thread is in at a time, or NULL; *until_ns is narrowed to when that may change. */
const struct mark_piece *
model_find_mark_piece(const struct model *m, const struct process *p, uint32_t tid, uint64_t time_ns, uint64_t *until_ns);
/* Whom a component's id named at a time in a process, one that it was forked from, or all; *holds is narrowed to when that is so. */
uint32_t model_find_component(const struct model *m, const struct process *p, uint32_t level, uint64_t id, uint64_t time_ns,
			      struct time_range *holds);
/* The source that a line table's file name meant at a time, or means later where it meant none; or NULL. */
const struct source *model_find_source(const struct model *m, const struct process *p, const char *file, uint64_t time_ns);
/* What a component belongs to, or NULL. */
const struct scope *model_find_scope(const struct model *m, uint32_t component);
/* What the user wrote that a component is of: its scope's text, else the text of a query (JITREG_SOURCE_QUERY) by its scope's name;
 * without a scope the latest text of a query before it, else the first.  NULL: there is none. */
const char *model_find_query(const struct model *m, uint32_t component, const char **name);
/* Text of line n (from 1), without its end of line; "" when there is none. */
const char *source_line(const struct source *s, uint32_t line, size_t *bytes);
/* The component that was line n of s at a time. */
uint32_t model_line_component(struct model *m, const struct source *s, uint32_t line, uint64_t time_ns);
/* An image's own address for one of the process; false when its file is not known. */
bool code_file_address(const struct code *c, uint64_t address, uint64_t *out);

#endif
