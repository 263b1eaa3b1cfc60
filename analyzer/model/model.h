/* SPDX-License-Identifier: MIT */
/*
 * The model is everything in a trace except its samples: processes, images, generated code, dictionary, tags, marks.  model_create()
 * builds it by a pass over all records, after one over the lifetimes of processes.  Then it answers questions of the form "what was at
 * this address of this process at this time".
 *
 * A process is one program in one address space.  An exec makes a new one with the same PID.  A fork makes one whose parent is asked, as
 * of the time of the fork, for code and memory that the child's own records do not describe.
 *
 * Context: thread.
 */
#ifndef TAILOR_MODEL_H
#define TAILOR_MODEL_H

#include "analyzer/flow/records.h"
#include "analyzer/model/code_inlines.h"
#include "analyzer/model/code_map.h"
#include "analyzer/model/counts.h"
#include "analyzer/model/callers.h"
#include "analyzer/model/dictionary.h"
#include "analyzer/model/faults.h"
#include "analyzer/model/host_levels.h"
#include "analyzer/model/kernel_functions.h"
#include "analyzer/objects/objects.h"
#include "analyzer/objects/plan_code.h"
#include "analyzer/symbols/debug_shelf.h"
#include "analyzer/symbols/elf_object.h"
#include "analyzer/symbols/function_code.h"
#include "analyzer/symbols/kept_lines.h"
#include "jitreg/base/diag.h"
#include "jitreg/base/file_identity.h"
#include "jitreg/base/grow.h"
#include "jitreg/base/hash_map.h"
#include "jitreg/base/weight_unit.h"
#include "jitreg/hosts/jit_hosts.h"
#include "jitreg/trace/reader.h"

#include <stdbool.h>
#include <string.h>

/* This is a file of which the trace has an IMAGE_FILE record, or which a JIT wrote and registered with its bytes (IMAGE), or which was
 * found on this machine. */
struct image_file {
	char *key, *path;
	char *reason; /* why parts are missing, or "" */
	struct file_identity identity;
	uint64_t bytes; /* size of the file; 0: unknown */
	struct elf_object *elf; /* NULL: its parts are unknown, or make no ELF file */
	bool shares_elf; /* elf belongs to another file with the same build id (shared_files_settle()), and is not freed with this one */
	struct elf_object *debug; /* debug file, if this file has no parts, until it gets those of a copy (shared_files_settle()) */
	char *debug_path;
	struct function_codes *code; /* code of sampled functions (IMAGE_CODE records); NULL: not in the trace */
	bool generated;		/* a library that a JIT wrote */
	bool of_machine;	/* elf was found on this machine by machine_file_find(), and is not freed with this file */
	uint32_t number;
	struct trace_place place; /* place of the record with its parts */
};

enum code_kind { CODE_IMAGE, CODE_ELF, CODE_LOAD, CODE_REGION };

/* A row of a line table.  Tables are equal in all processes that run one program, so code objects share them (struct code_line_tables). */
struct code_line {
	uint64_t offset; /* from the code's first byte; of a row before that, it is the difference in 64 bits */
	uint32_t line;
	const char *file;
};

/* The code in a range of addresses is a mapped image, an ELF object that a JIT made, a function that a JIT registered, or an executable
 * region. A region is anonymous memory, or a mapping of a file that code is generated into (mapping_is_generated_into()). Its name says
 * which function mapped it, if that is known. */
/*
 * Processes that run one program have the same code at different addresses. What is known of an address of an image follows from its place
 * in the file: an address in [start, end) is that of the file less bias. In images with the same number that holds alike, so it is found
 * once for all of them (shared_images_settle()).
 */
struct image_text {
	uint32_t number; /* 0: the image is not known to be like another one, or a place in it depends on the process */
	uint64_t start, end, bias;
};

struct code {
	enum code_kind kind;
	uint32_t number;  /* index in model.codes, of which the unwinder's cache keys are made (walk.c) */
	uint32_t process; /* index of the process that registered it */
	uint32_t shared; /* CODE_REGION: 1 + index in model.shared_codes (shared_code.h); 0: no known file, or not looked at yet */
	uint64_t from_ns; /* valid from then on; 0: always */
	uint64_t address; /* address of the first byte; CODE_ELF: not set */
	uint64_t bytes;
	/* CODE_IMAGE */
	char *path;
	char *build_id; /* hex, or "" */
	struct file_identity identity;
	uint64_t bias, map_start, map_offset;
	struct image_file *file;
	struct image_text text;
	/* CODE_ELF */
	struct elf_object *elf;
	/* CODE_LOAD, CODE_REGION */
	char *name;
	/* CODE_REGION; CODE_LOAD, of at most CODE_SMALL_BYTES */
	/* the whole range as the recorder read it, which belongs to a struct code_copy; NULL: it did not */
	const struct region_bytes *region;
	/* CODE_REGION */
	char *mapper; /* path of the image whose code mapped it, or of the mapped file (read_images.c); NULL or "": unknown */
	uint64_t mapper_offset;
	/* CODE_LOAD */
	uint64_t program; /* address of the bytecodes that an interpreter runs when this code has called it (walk.h); 0: none */
	const struct code_line *lines; /* sorted; owned by codes.line_tables */
	size_t nr_lines, nr_inlines, nr_entries;
	struct code_inline *inlines;
	struct code_entry *entries; /* CODE_MAP, sorted by offset */
	struct trace_place bytes_at;
	uint64_t bytes_read_ns; /* when the bytes were read from memory; 0: they came with the code */
	const struct code *elf_duplicate_of; /* the answer of model_elf_duplicate_of(), if that was asked (elf_duplicate_asked) */
	/* flags stand together, since a trace may have a million objects */
	bool bias_known;
	bool generated; /* CODE_IMAGE: a library that a JIT wrote, and that it registered with its bytes */
	bool writable; /* CODE_IMAGE: the mapping was writable and executable when it was made, as no loader maps code */
	bool host_levels; /* the analyzer makes levels for it, because its host declared none (host_levels.h) */
	bool is_truffles; /* CODE_LOAD: name is that of a function of a Truffle language */
	bool has_bytes; /* CODE_LOAD: the trace has the bytes, in the LOAD or CODE_BYTES at bytes_at */
	bool elf_duplicate_asked;
};

struct code_entry {
	uint64_t offset;
	uint32_t component; /* index, or COMPONENT_NONE */
};

/* The recorder read this code from a process's memory (CODE_BYTES). It is that of a LOAD without bytes, a page of a region, or a whole
 * region. */
struct code_copy {
	uint32_t pid;
	uint64_t address, loaded_ns, bytes, read_ns; /* loaded_ns: TRACE_NOT_LOADED for a page or a region */
	struct trace_place place;
	struct process *process;
	/* the bytes, if the record is of a region or of at most CODE_SMALL_BYTES; NULL: only the trace has them, at place */
	struct region_bytes *region;
};

/* These are bytes of a region or of a small function (struct code_copy). */
struct region_bytes {
	uint32_t number;
	uint64_t nr;
	unsigned char bytes[];
};

/* These are bytes of .eh_frame as a JIT registered them (EH_FRAME, UNWINDING_INFO). */
struct frames {
	uint64_t address;
	unsigned char *bytes;
	size_t nr;
	uint32_t number;
};

/* An area of memory is one that the host named (MEMORY_NAMED), or a mapping that the kernel reported (the others). */
enum memory_kind { MEMORY_NAMED, MEMORY_HEAP, MEMORY_STACK, MEMORY_ANONYMOUS, MEMORY_FILE };
struct memory {
	enum memory_kind kind;
	uint32_t number;    /* index in model.areas */
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

/* A scope, such as a query, has the components with the numbers [first, first + nr) of all levels, from from_ns on. */
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

/* A piece is a stretch of time in which a thread was in a mark. Marks with JITREG_COVERS_THREAD or JITREG_COVERS_TASK have such pieces. So
 * have marks by older hosts, which do not say what they cover, if they have a component and a parent. */
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
	uint64_t from_ns, to_ns; /* time at which this program begins; to_ns is always UINT64_MAX (model_process_until() knows the end) */
	/* process that forked it, whose memory it has a copy of; NULL: it began by an exec, or before the recording, or that is unknown */
	struct process *parent;
	uint64_t forked_ns;
	uint64_t named_ns; /* time of the PROCESS record that named it, which is near its start if a recorder took it up then; 0: none */
	struct process *executed_by; /* the program that called exec to become this one; NULL: none, or unknown */
	uint32_t parent_pid; /* PID of the process that forked it, also after an exec; 0: unknown */
	char *comm, *executable; /* executable: without the kernel's mark behind the path of a file that is gone */
	bool executable_is_gone; /* the executable was removed or replaced before the recording, so another one may have the path */
	char *command_line; /* the beginning of the command line, or NULL */
	char *service; /* service that it works for; "": none; NULL: that of parent or executed_by */
	char *host_options; /* options of HOST_OPTION records, which make the host name its code: each once, after a blank; NULL: none */
	/* when the executable was mapped (process_note_mapping()); 0: a PROCESS record named it, or it is unknown */
	uint64_t executable_ns;
	struct code_map code, frames;
	struct code_map memory, mapped; /* their owners are struct memory: areas that the host named; the kernel's mappings */
	const struct shared_code *shared; /* the array of model.shared_codes, by which struct code.shared is looked up; NULL: it is empty */
	struct {
		uint64_t address, bytes; /* range of the interpreter's machine code; bytes 0: there is none */
		int64_t place, function;
	} interpreter; /* contents of the INTERPRETER record, which trace.h explains */
	struct {
		uint64_t from, to; /* code with struct code.program is in [from, to); to 0: there is none */
	} runs_programs;
	/* executable regions that the agent registered, and the kernel's; both are asked only where code has no answer */
	struct code_map guest_regions, regions;
	/* the recorder read a region of more than a page as a whole, which shows that it read all regions but those unmapped too soon */
	bool regions_were_read;
	ARRAY(struct tag) tags;
	uint32_t nr_uses; /* LOAD and MARK records so far; if there are new ones, a component's id may be reused (read_dictionary.c) */
	uint64_t loaded_ns; /* time of the latest LOAD */
	uint32_t nr_tasks; /* FORK records: threads whose beginning was recorded, and the first thread if that of the process was */
	uint32_t header_version; /* latest version of jitreg.h by HELLO: major << 16 | minor; 0: none, or one before 1.0 */
	bool has_guest, exec_seen;
	/* has_dictionary: it, or a process that it was forked from, declared components or lines that are components, or it declared
	 * objects itself; has_line_components: it or such a process has a SOURCE whose lines are components */
	bool has_dictionary, has_line_components;
	bool has_objects;
	bool has_everywhere; /* it has an object with JITREG_OBJECT_EVERYWHERE, at some time */
	bool has_unwinding; /* it has UNWINDING_INFO records, so a LOAD without one has no unwind information */
};

/* This is a thread with one of its names. A thread that renames itself has an entry for each name, and the entry of its first name stands
 * for the thread where threads are counted. */
struct thread {
	uint32_t tid;
	uint32_t process; /* index */
	uint32_t first;	  /* index of the entry with the thread's first name, which it is shown by from its beginning */
	uint32_t renamed, nr_renamed; /* in the entry of the first name: its rows of model.threads.renamed */
	char *comm;
};

/* A thread has this name from a time on. */
struct renamed {
	uint32_t thread; /* index of the entry with the thread's first name */
	uint32_t named;	 /* index of the entry with this name */
	uint32_t nr;	 /* number of the record: of two at the same time the later one counts */
	bool is_whole; /* a THREAD_NAME, not the kernel's abbreviation */
	uint64_t from_ns;
	char *comm; /* NULL from threads_settle() on */
};

#define MODEL_MEMORY_STACKS 1u

#define MODEL_EVENTS_MAX 16
/* This is the event of threads that leave their processor.  If TRACE_EVENT_SWITCH was recorded with it, a sample's weight becomes the time
 * until its thread was woken, or came back if that is unknown, and a sample of a thread that was preempted is counted for the event
 * "preempted" instead. */
#define MODEL_EVENT_LEAVING "context-switches"
#define MODEL_NO_EVENT UINT32_MAX

struct event_count { /* values of the counters of one processor, or of those of all threads */
	uint64_t value, enabled_ns, running_ns, on_cpu_ns, samples, lost, weight;
	/* the parts of these that belong to threads that ended, have known counts and are not left out (counts.h) */
	uint64_t ended_value, ended_samples, ended_weight;
	uint64_t ended_unsampled; /* the part of ended_value of threads without samples */
	/* estimates for ended threads whose counts are unknown: after their last samples; of those without samples */
	double tail, unsampled;
	/* how much of these estimates is used: 0 to 1, less than 1 if the processor counted less (settle_claims()) */
	double tail_part, unsampled_part;
	double scale; /* 0: unknown */
};

struct model_event {
	char *name, *unit, *scope; /* "" for a number that no EVENT record has */
	enum weight_unit weighs;   /* unit, parsed */
	uint64_t period, rate, registers, period_spread;
	uint32_t stack_bytes, precise, exclude_kernel;
	bool is_clock;	/* counts the time that it runs: task-clock, cpu-clock */
	/* TRACE_EVENT_SWITCH or TRACE_EVENT_WOKEN, whose samples name no code.  Reports show them as "preempted" and "run queue" */
	bool is_switch;
	/* Final values of the counters, summed over processors or threads.  0: not in the trace. */
	/* values, scaled up to the time in which other events had the counters; samples taken; samples lost */
	uint64_t counted, count_samples, count_lost;
	uint64_t idle_ns; /* clocks of processors: time that is not in counted, because processors were idle and were not sampled */
	/* time that its threads ran, and time that it counted, which is less if counters were multiplexed */
	uint64_t on_cpu_ns, running_ns;
	double sampled; /* the sum of the samples' recorded weights as a part of counted; 0: unknown */
	double unsampled; /* the part of counted that threads without a sample have (thread_count_unsampled()) */
	double mean_period; /* the period if that is fixed, else the mean weight of a sample; 0: unknown */
	/* at least 1: counted, divided by what the counters counted; 1 if sampled is unknown, or for a clock that samples only user code */
	double multiplexed;
	bool differs_by_thread; /* threads have scales of their own (counts.h) */
	/* Factor of a sample's weight.  It is over 1 if counters were multiplexed, samples were lost or interrupts came late.  It is under
	 * 1 if samples weigh more than was counted, because the kernel made their period longer. */
	double scale;
	/* counters of processors, by processor; sum of the counters that count one thread each, wherever it runs */
	struct event_count *count, of_threads;
	uint32_t nr_counts;
};

struct notice {
	enum notice_kind kind;
	char *sentence;
};

/* A HOST_LACK record says what a host does not provide. The texts are those in trace.h. */
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
	struct debug_shelf shelf; /* debug sections of files, which are read from the trace when they are asked for */
	struct trace_reader *again; /* the reader for that, which is open as long as samples are attributed */
	uint64_t inflated_bytes; /* size of the compressed sections of all ELF files and objects, once decompressed */
};

struct code_line_table {
	struct code_line *row;
	size_t nr;
};

/* Line tables of generated code, and the names of files in them, each once. */
struct code_line_tables {
	struct hash_map by_content, by_file; /* (hash, number of collisions) -> 1 + index */
	ARRAY(struct code_line_table) tables;
	ARRAY(char *) files;
};

struct codes {
	ARRAY_OF(struct code *);
	struct code_line_tables line_tables;
	ARRAY(struct code_copy) copies; /* in the trace's order */
	ARRAY(struct waiting *) waiting; /* while records are read: the contents of records that come before the LOAD that they belong to */
	struct hash_map waiting_at; /* (process, address) -> 1 + index */
	/* CODE_UNLOAD records of ranges that do not begin where code does.  Here the owner is the process */
	ARRAY(struct code_fact) odd_unloads;
};

struct shared_codes { /* code in memory that processes share, by file and address */
	ARRAY_OF(struct shared_code);
	uint32_t nr_copies;
	struct hash_map by_file; /* (inode, device) -> 1 + index of the first */
};

struct sources {
	ARRAY_OF(struct source);
	struct source_key {
		uint64_t name; /* hash of the file name without its directories */
		uint64_t from_ns;
		uint32_t process, source; /* indexes */
	} *key; /* nr of them, sorted by process, name, time and index; NULL until all are read */
};

struct marks {
	ARRAY_OF(struct mark); /* sorted by the time at which they begin */
	ARRAY(struct mark_piece) pieces; /* sorted by process, thread and the time at which they begin */
	struct hash_map handles; /* (process, handle) -> 1 + index, while records are read */
	struct open_marks *open; /* marks without a handle, while records are read */
};

struct model {
	uint64_t nr_records[MODEL_RECORD_IDS]; /* number of the host's records, by record id */
	bool has_outside; /* process 0 is all processes outside of the recorder's PID namespace (TRACE_OUTSIDE) */
	uint64_t read_ns; /* time of the last record read, by which the process of a record with JITREG_TIME_BEFORE is found */
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
	/* [0]: NULL, stands for unknown memory; [MODEL_MEMORY_STACKS]: stands for the stacks of all threads */
	ARRAY(struct memory *) areas;
	struct marks marks;
	struct thread_counts thread_counts;
	struct model_event event[MODEL_EVENTS_MAX];
	uint32_t nr_events;
	/* The events of threads that left their processor, were preempted, or were woken and not running yet (run_queue).  All are
	 * MODEL_NO_EVENT if the trace does not have both of the first two, and run_queue if it does not have the third. */
	uint32_t leaving, preempted, run_queue;
	ARRAY(struct notice) notices;
	ARRAY(struct host_lacking) lacks;
	uint64_t lost[NR_LOSSES + 1]; /* losses by enum loss_reason; the last one is for reasons of later versions */
	struct kernel_functions kernel_functions;
	struct kept_lines kept_lines;
	struct dictionary dictionary;
	struct callers callers; /* functions and queries that plans call; attribution fills it */
	struct plan_codes plan_codes;
	struct objects objects;
	struct flow_records flows;
	/* indexes of the levels that host_levels_settle() made; LEVELS_MAX: it did not make this one */
	uint32_t host_level[NR_HOST_LEVELS];
	bool has_host_levels;
	/* HEADER and END */
	enum jit_way way;
	char *tool, *host_name, *machine, *kernel, *working_folder, *command;
	bool no_adapt;
	uint32_t epoch; /* number of this trace, from 1, in a recording that was cut into several; 0: it was not */
	uint64_t cut_recording; /* number that all traces of a recording that was cut have in common */
	uint64_t real_ns, begin_ns, end_ns;
	uint32_t nr_cpus, exit_status;
	uint64_t recorder_cpu_ns, written_samples, command_cpu_ns; /* command_cpu_ns 0: not known */
	bool has_end;
	uint64_t bad_records; /* records that could not be used: an ELF object that cannot be opened, or a level beyond LEVELS_MAX */
	struct fault fault[NR_FAULTS];
};

/* Finds the task that a thread works on, by which PLAN_CODE records are chosen.  It is the component of the innermost mark with a
 * component that the thread is in.  *context: the id of the component of the records' context level that this is or is linked to, else 0.
 * Returns COMPONENT_NONE if there is no such mark, or *context is 0, which it always is without PLAN_CODE records. */
uint32_t model_find_task(struct model *m, const struct process *p, uint32_t tid, uint64_t time_ns, uint64_t *context);

/* Reads all of t but its samples.  The reader keeps the chunks with the bytes of code (trace_keep_bodies()), because the model only has
 * their places.  Until t is rewound, it can be asked what was damaged.  Returns 0, or with a sentence in d -ENOMEM, or -E2BIG if the
 * trace's budget is spent. */
int model_create(struct trace_reader *t, struct model **out, struct diag *d);
void model_destroy(struct model *m);

/* Returns the program that ran as pid at a time, or else the first one that did later, because clocks of processors differ. If the trace
 * has none with this PID, adds one. Returns NULL if memory ran out. */
struct process *model_get_process(struct model *m, uint32_t pid, uint64_t time_ns);
/* Does the same, but adds none. Returns NULL if the trace has none with this PID. */
struct process *model_find_process(const struct model *m, uint32_t pid, uint64_t time_ns);
/* Returns the service that the process works for. If the trace does not have it, returns that of the process that forked it, or of the
 * program before its exec, and so on, at most ANCESTORS_MAX times. Returns "" if there is none. */
const char *process_service(const struct process *p);
/* Returns the path of the process's executable, or its name if the path is not known. Processes with the same text are of one program. */
const char *process_program(const struct process *p);
/* Checks whether an option is among p's host_options.  bytes: length of option, which need not end with 0. */
bool process_has_option(const struct process *p, const char *option, size_t bytes);
/* Finds a file at this absolute path of which the trace lacks the symbols (with lines, the line table), so that reports can say what
 * would help. Libraries that a JIT wrote, and files that are no ELF files, do not count. Returns NULL if there is none. */
const struct image_file *model_find_lacking(const struct model *m, const char *path, bool lines);
/* Checks whether the file is on this machine, at its path and with its build id.  Returns false for a file without one. */
bool model_is_here(const struct image_file *f);
/* Returns the sum of the recorded losses of a class, such as samples that were not recorded, as far as they were counted. */
uint64_t model_count_lost(const struct model *m, enum loss_class of);
/* Has the recording no command, as one of a whole machine or of a process that ran already? */
bool model_has_no_command(const struct model *m);
/* Returns when the next program with the same PID begins, by a new process or an exec, or UINT64_MAX if none does. */
uint64_t model_process_until(const struct model *m, const struct process *p);
/* Returns the index of a thread's entry with its first name, and adds it if it is new. If memory runs out, returns 0, which is the index
 * of a different thread. */
uint32_t model_get_thread(struct model *m, const struct process *p, uint32_t tid);
/* Returns the index of a thread's entry with the name that it had at a time, and adds the thread if it is new.  *holds is narrowed to when
 * it has that name. */
uint32_t model_find_thread(struct model *m, const struct process *p, uint32_t tid, uint64_t time_ns, struct time_range *holds);
/* Does the same by a process's index, but adds none and does not say how long that holds.  Returns MODEL_NO_THREAD if there is none. */
#define MODEL_NO_THREAD UINT32_MAX
uint32_t model_find_thread_of(const struct model *m, uint32_t process, uint32_t tid, uint64_t time_ns);

/* Finds the executable region at an address by the kernel's mappings, in p or a process that it was forked from.  The fact's owner is a
 * struct code, or NULL where code was unloaded. */
struct code_answer model_ask_region(const struct process *p, uint64_t address, uint64_t time_ns);
/* Finds the code at an address, in p or a process that it was forked from, and for how long that holds.  The fact's owner is a struct
 * code.  If the fact is NULL, or its owner is because the code was unloaded, the address has unregistered code. */
struct code_answer model_ask_code(const struct process *p, uint64_t address, uint64_t time_ns);
/* Does the same, and for unregistered code finds what another process registered in memory that p shares with it, else the executable
 * region, by the agent or else by the kernel. */
struct code_answer model_ask_any_code(const struct process *p, uint64_t address, uint64_t time_ns);
/* Returns only the code that model_ask_any_code() finds, or NULL if there is none. */
struct code *model_find_code(const struct process *p, uint64_t address, uint64_t time_ns);
/* Returns the ELF object that has a function with the LOAD's name at its address, and was registered before it (LLVM registers both).
 * Its debug information has the functions that are inlined there. Returns NULL if there is none. */
const struct code *model_elf_duplicate_of(const struct model *m, struct code *load);
/* Finds the .eh_frame bytes that a JIT registered for an address, in p or a process that it was forked from.  The fact's owner is a
 * struct frames, or NULL where code without unwind information came later. */
struct code_answer model_ask_frames(const struct process *p, uint64_t address, uint64_t time_ns);
/* Returns a number that grows when code or .eh_frame bytes come where others had been, in p or, until the fork, in a process that it was
 * forked from.  A cache of answers about such addresses must be emptied then. */
uint64_t model_code_generation(const struct process *p, uint64_t time_ns);
/* Returns the index in model.areas of the memory that an address was in: the host's area if it named one there, else the kernel's
 * mapping. Returns 0 if neither is known. */
uint32_t model_find_memory(const struct process *p, uint64_t address, uint64_t time_ns);
/* Is the trace of another architecture than this program's, whose machine code it cannot read? */
static inline bool model_is_foreign(const struct model *m)
{
	return m->machine && *m->machine && strcmp(m->machine, "x86_64") != 0;
}
/* Checks whether the event was counted for less than 98 % of the time that its threads ran, because other events used its counters in the
 * rest.  Reports mention nothing less. */
static inline bool model_event_is_multiplexed(const struct model_event *e)
{
	return e->running_ns < e->on_cpu_ns - e->on_cpu_ns / 50;
}
/* Returns a noun phrase that explains to users why samples stand for less than was counted although none was lost. */
const char *model_why_not_covered(const struct model *m);
/* Returns the factor for the weights of an event's samples on a processor. Threads that ended may have another (thread_count_scale()).
 * For a cpu without a count of its own, such as UINT32_MAX, the factor is that of the whole event. */
double model_event_scale(const struct model *m, uint32_t event, uint32_t cpu);
/* Returns a scaled count (0 or more) without its fraction, or UINT64_MAX if it is larger than that. */
uint64_t model_clamp_to_u64(double scaled);
/* Find the tag in force: the last one that p had declared, else that of the process that it was forked from. Returns NULL if there is
 * none. The answer holds in [*from_ns, *until_ns). */
const struct tag *model_find_tag(const struct process *p, uint64_t time_ns);
const struct tag *model_ask_tag(const struct process *p, uint64_t time_ns, uint64_t *from_ns, uint64_t *until_ns);
/* Finds the innermost piece of a mark that a thread is in at a time. Returns NULL if there is none. *until_ns is lowered to when that
 * may change. */
const struct mark_piece *
model_find_mark_piece(const struct model *m, const struct process *p, uint32_t tid, uint64_t time_ns, uint64_t *until_ns);
/* Finds the component that an id named at a time, in p, or else in a process that it was forked from. Common components are found in
 * every process. *holds is narrowed to when that is so. Returns COMPONENT_NONE if there is none. */
uint32_t model_find_component(const struct model *m, const struct process *p, uint32_t level, uint64_t id, uint64_t time_ns,
			      struct time_range *holds);
/* Finds the source that a line table's file name meant at a time, or else the first that it meant later, in p or a process that it was
 * forked from. Directories in the name are ignored. Returns NULL if there is none. */
const struct source *model_find_source(const struct model *m, const struct process *p, const char *file, uint64_t time_ns);
/* Finds the latest scope whose ids contain that of the component and that began before the component was over. Returns NULL if there is
 * none. */
const struct scope *model_find_scope(const struct model *m, uint32_t component);
/* Finds the user's text that a component is of. If its scope has a text, it is that. If its scope has a name, it is the text of the
 * query (JITREG_SOURCE_QUERY) with that name. Else it is the last text of a query that came before the component, else the first of all.
 * *name: the name of the scope or text, or "". Returns NULL if there is none. */
const char *model_find_query(const struct model *m, uint32_t component, const char **name);
/* Returns the text of a line (from 1), and its length without the end of line in *bytes.  Returns "" if there is none. */
const char *source_line(const struct source *s, uint32_t line, size_t *bytes);
/* Returns the component that was a line of s at a time, else the latest one, and adds one if there is none or it is over. Returns
 * COMPONENT_NONE if lines of s are no components, if line is 0, or if memory ran out. */
uint32_t model_line_component(struct model *m, const struct source *s, uint32_t line, uint64_t time_ns);
/* Converts an address in the process to that in the code's ELF file. Returns false if the code is not of an ELF file (CODE_IMAGE,
 * CODE_ELF), or the file is unknown, or no segment of it is mapped there. */
bool code_file_address(const struct code *c, uint64_t address, uint64_t *out);
/* Does an address lie in the part of an image that others have alike (struct image_text)? */
static inline bool code_is_alike_at(const struct code *c, uint64_t address)
{
	return c->text.number && address - c->text.start < c->text.end - c->text.start;
}

#endif
