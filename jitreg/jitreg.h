/* SPDX-License-Identifier: MIT */
/*
 * jitreg 1.2 lets a program that generates code describe this code to a profiler, which may or may not be in the process.
 *
 * A host (a database, a language runtime, any JIT) copies or installs this one header. It is C99 to C23 and C++11 to C++23, and needs no
 * library.
 *
 *	#include "jitreg.h"
 *	enum { OPERATOR = 1, IR = 2 };
 *
 *	jitreg_level(OPERATOR, "operator", 0, JITREG_LEVEL_PLAN);               levels, upper ones first
 *	jitreg_level(IR, "ir", OPERATOR, 0);
 *	jitreg_component(OPERATOR, 7, "hash join", "o_orderkey = l_orderkey", 0);
 *	jitreg_link_to(jitreg_at(IR, 42), jitreg_at(OPERATOR, 7), 1);           lower component and its origin
 *	jitreg_code_load(address, bytes, index, "pipeline_2", code);            generated code
 *	jitreg_code_map(address, entries, nr_entries);                          the components of its parts
 *	JITREG_WITH_TAG_WORD(tag, TAG | 42) { hash_table_insert(); }            the caller of code that several components share
 *
 * Unless documented otherwise, every function returns 0, which means that the record is in the trace unless writing that fails, or
 *	-ENOSYS   there is no agent in this process, it does not record (any more), or it is older than the function
 *	-EINVAL   the record is malformed, such as a count without elements
 *	-ENOBUFS  the record was dropped, and the agent counts it
 * Context of all functions: any thread, never a signal handler. All preserve errno, and none allocates memory by malloc(), but for
 * dlsym(). Once the agent has started, none waits for longer than 1 ms, except jitreg_counter_block(), jitreg_counter_block_end(), calls
 * that run the host's replay function, and calls in a process that has to ask the recorder for a log of its own, which is a forked child,
 * or a process whose recorder did not answer when the agent started. Without an agent, announcing something costs a load, a branch and
 * reading the clock (no system call), and does not access what the arguments point to. About once a second, such a call also searches for
 * an agent by dlsym(), which takes the lock of the dynamic linker and may allocate memory.
 *
 * Validity: a name, a link and every other record is valid from its time stamp (the moment of the call) on, until it is ended or replaced.
 * Only levels, edges, source texts and the first name of a component are also used for earlier samples. Later records do not change the
 * attribution of earlier samples. So announce levels and components before links to them, and all of these before the code runs.
 *
 * Stability: the records with their ids and fields, the functions and macros without a trailing underscore, and their meanings are frozen
 * as long as the major version is 1. A version 1.x adds records, fields at the end of records, and functions. It changes no meaning and
 * removes nothing. Host and agent of different versions 1.x work together: each skips records and fields that it does not know.
 *
 * The sections of this file are in order of decreasing use: code; components; tags; objects; marks; numbers and queries; execution counts;
 * facts, lines and memory; recorders that come late; records of other formats, and older forms. The records and the implementation
 * follow. README.md beside this file specifies each record.
 */
#ifndef JITREG_H
#define JITREG_H

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>

#define JITREG_VERSION_MAJOR 1u
#define JITREG_VERSION_MINOR 2u
#define JITREG_VERSION (JITREG_VERSION_MAJOR << 16 | JITREG_VERSION_MINOR)

#ifdef __cplusplus
extern "C" {
#endif

/* Returns 1 if an agent with a recorder was found in this process, and otherwise 0, so that hosts can skip work. While none was found,
 * searches for one about once a second, as all functions do. The answer stays 1 after the recording has ended. */
static inline int jitreg_enabled(void);

/* ---------------------------------------------------------------------------------------------------------------- code */

/* Announce generated code at [address, address + bytes). code: its bytes, which are copied into the trace, or NULL if they cannot be read
 * yet. Without them the profiler may have no instructions to show. index: any number. It is stored in the trace like jitdump's
 * code_index, and means nothing if it is no address of other code with the same name. */
static inline int jitreg_code_load(uint64_t address, uint64_t bytes, uint64_t index, const char *name, const void *code);
/* Announce that the code object that begins at address from is at address to from now on. Its name, lines and components move with it. */
static inline int jitreg_code_move(uint64_t from, uint64_t to, uint64_t bytes, uint64_t index);
/* Announce that the code in the range is gone.  Samples from before still belong to it.  bytes 0: the whole code object at address. */
static inline int jitreg_code_unload(uint64_t address, uint64_t bytes);

/* Map code to components, for hosts that generate machine code themselves and know which component each part comes from.  The code at
 * address belongs to the component of entries[i] from entries[i].offset up to the offset of the next entry, or to the end of the code.
 * Offsets ascend. */
struct jitreg_code_map_entry {
	uint64_t offset; /* bytes from the code's address */
	uint64_t level;
	uint64_t component; /* 0: none */
};
static inline int jitreg_code_map(uint64_t address, const struct jitreg_code_map_entry *entries, uint32_t nr_entries);

/* ---------------------------------------------------------------------------------------------------------- components */

/* Announce an abstraction level.  level: any number but 0.  upper: the level above it, or 0. */
static inline int jitreg_level(uint32_t level, const char *name, uint32_t upper, uint32_t flags);
#define JITREG_LEVEL_PLAN 1u /* the components of the level and the edges between them are the plan that reports show first */
#define JITREG_LEVEL_WAITS 2u /* components of the level are resources that threads wait for */

/* Announce a component. component: any number but 0, unique in its level and process while it is valid. A component that is announced again
 * with another name, or with another detail that is not empty, is another component from then on. */
static inline int jitreg_component(uint32_t level, uint64_t component, const char *name, const char *detail, uint32_t flags);
#define JITREG_COMPONENT_SHARED 1u  /* several components use its code, so a tag or the call stack decides which one a sample belongs to */
#define JITREG_COMPONENT_RUNTIME 2u /* the component is code of the engine, which is not generated; no effect on attribution */
#define JITREG_COMPONENT_COMMON 4u  /* for servers of many processes: the number is this component in all processes of the recording */

/* This names a component by its level and number. Functions take it instead of integers, so that the two are not mixed up. */
struct jitreg_ref {
	uint32_t level;
	uint64_t component;
};
static inline struct jitreg_ref jitreg_at(uint32_t level, uint64_t component);

/* Announce that lower was generated from upper (a link of the Tagging Dictionary), so that samples of lower are also samples of upper.
 * weight: the share of lower's samples that upper receives, relative to the weights of lower's other links to the same level.  1 if there
 * is no other link.  0 counts as 1. */
static inline int jitreg_link_to(struct jitreg_ref lower, struct jitreg_ref upper, uint32_t weight);
/* End a link.  upper.component 0: end all links of lower to that level. */
static inline int jitreg_unlink_from(struct jitreg_ref lower, struct jitreg_ref upper);
/* Announce dataflow between two components of a level.  from: the producer.  to: the consumer.  order: place among the consumer's
 * inputs. */
static inline int jitreg_edge(uint32_t level, uint64_t from, uint64_t to, uint32_t order, const char *label);

/*
 * The Abstraction Tracker (Beischl et al., Profiling Dataflow Systems on Multiple Abstraction Levels, EuroSys 2021, section 4.2.4) is a
 * stack of the components that are being lowered.  Each lowering step has a tracker in memory of the host, which sets both levels and
 * zeroes the rest before use.  Components that are pushed onto JITREG_TRACKER_DEPTH others are not stored, so the top stays the last one
 * stored, until as many have been popped.
 */
#define JITREG_TRACKER_DEPTH 64
struct jitreg_tracker {
	uint32_t lower_level;
	uint32_t upper_level;
	uint32_t depth;
	uint32_t reserved;
	uint64_t stack[JITREG_TRACKER_DEPTH];
};
static inline void jitreg_tracker_push(struct jitreg_tracker *t, uint64_t upper);
static inline void jitreg_tracker_pop(struct jitreg_tracker *t);
/* Returns the component that is being lowered, or 0 if there is none. */
static inline uint64_t jitreg_tracker_top(const struct jitreg_tracker *t);
/* Link a newly created component of the lower level to the component that is being lowered.  If there is none, nothing happens, and 0 is
 * returned. */
static inline int jitreg_tracker_link(const struct jitreg_tracker *t, uint64_t lower);

/* ---------------------------------------------------------------------------------------------------------------- tags */

/*
 * Samples in code that several components share cannot be attributed by address.  A tag names the calling component: the caller sets a
 * number in a thread-local word or in a register around the call.  Check bits tell tags from other values: v is a tag if
 * (v & check_mask) == check_value.  Each field of a tag names a component.  Declare the tag before the first code that sets it runs.  A
 * later declaration of the process, also of another word or register, replaces it.
 */
struct jitreg_tag_field {
	uint64_t level;
	uint64_t shift; /* number of the field's lowest bit */
	uint64_t bits; /* number of bits */
};

/*
 * Declare a tag in a thread-local word, which must be static TLS:
 *	static __thread uint64_t tag JITREG_STATIC_TLS;
 * Returns -EINVAL if the word is not within 1 MiB below the thread pointer, where static TLS is. The distance of other words from the
 * thread pointer differs from thread to thread. Only for x86-64. Only samplers that run in the thread can read the word (`tailor run
 * --sampler signal`, or timer), while all samplers read registers.
 */
#define JITREG_STATIC_TLS __attribute__((tls_model("initial-exec")))
static inline int jitreg_tag_in_word(const uint64_t *word, uint64_t check_mask, uint64_t check_value,
				     const struct jitreg_tag_field *fields, uint32_t nr_fields);
/* JITREG_WITH_TAG_WORD(word, tag) { statements } sets the tag for the statements, and then restores the old one, so such blocks nest.
 * Leaving the block by goto, break, return or an exception skips this (C++: jitreg.hpp restores the tag even then).  Context: any. */
#define JITREG_WITH_TAG_WORD(word, v) \
	JITREG_FOR_WORD_(JITREG_JOIN_(jitreg_old_, __LINE__), JITREG_JOIN_(jitreg_once_, __LINE__), word, v)
/* Switch tasks (fibers, coroutines): sets the word of this thread to the tag of the task that it continues.  Returns the old tag, which
 * belongs to the task that it leaves.  The host keeps that tag with the task, and passes it here when the task continues on any thread. */
static inline uint64_t jitreg_task_switch(uint64_t *word, uint64_t tag);

/*
 * Declare a tag in a register, which generated code, and a runtime that is compiled for it, leave unchanged.  where: the DWARF number of
 * the register (x86-64: rbx 3, r12 to r15 12 to 15).  The last two parameters are the preserving ranges: code that changes the register
 * only to set a tag.  In samples of other code the register may hold anything, so it is not read.
 */
struct jitreg_range {
	uint64_t start;
	uint64_t end; /* address behind the last byte */
};
static inline int jitreg_tag_in_register(uint32_t where, uint64_t check_mask, uint64_t check_value, const struct jitreg_tag_field *fields,
					 uint32_t nr_fields, const struct jitreg_range *keepers, uint32_t nr_keepers);
/*
 * A tag in register r13 is set by JITREG_WITH_TAG_R13(tag) { statements }, jitreg_tag_get_r13(), jitreg_tag_set_r13(v) and
 * jitreg_task_switch_r13(tag).  RBX, R12, R14 and R15 have the same.  The compiler must not use the register anywhere in the file, which
 * gcc ensures with -ffixed-r13 (clang has no such option).  The header cannot detect the option, so the build must define JITREG_FIXED_R13
 * with it: -ffixed-r13 -DJITREG_FIXED_R13.  Without this definition the macro does not compile.
 */

/* ------------------------------------------------------------------------------------------------------------- objects */

/*
 * Engines that interpret a plan call the same functions for all of its nodes, so the node that runs is known only from the object that a
 * function works on (PostgreSQL's PlanState, an operator's `this`). The profiler finds the object of a sample on its call stack, from the
 * outermost frame inwards. At a frame of a function that objects have, it mostly goes from the object found so far to the nearest object
 * below it that has this function. If there are several such objects, it takes the one whose address is in a callee-saved register of that
 * frame, or else in a word of the frame. The sample belongs to the components of the last object found.
 *
 * address: the address of the object, a number that no other live object of the process has. upper: the object that calls it, which was
 * announced before, or 0. At a frame of a function of an object without upper, the search begins anew, so that a query that a function of
 * another query executes has its own samples. functions: start addresses of the object's functions, including a function that another one
 * jumps to at its end. Another object announced at the same address replaces it, and ends all objects below it.
 */
struct jitreg_function {
	uint64_t address;
};
struct jitreg_object_component {
	uint64_t level;
	uint64_t component;
};
static inline int jitreg_object(uint64_t address, uint64_t upper, uint32_t flags, const struct jitreg_function *functions,
				uint32_t nr_functions, const struct jitreg_object_component *components, uint32_t nr_components);
/* The object is a class of work, such as compiling, and not a node of a plan. A sample with a frame of its functions anywhere on the stack
 * belongs to its components, unless a frame further in belongs to an object without upper, or executes a step (jitreg_step_word()). On
 * levels on which the class has no component, the sample belongs to the components of the object found further out. Of several classes, the
 * one further out decides. */
#define JITREG_OBJECT_CLASS 1u
/* For objects without upper: only one such object exists at a time, so each frame of its functions belongs to it, and its address need not
 * be in the frame.  Without this flag, a frame whose callee-saved registers are all known and do not have the address of such an object is
 * taken for one of an object that was not announced. */
#define JITREG_OBJECT_ALONE 2u
/* For classes: while the object exists, all samples of the process belong to its components, on levels on which nothing else decides (such
 * as the client that the process works for). */
#define JITREG_OBJECT_EVERYWHERE 4u
/* For classes: the object is a function that a plan's node calls, such as a stored function, and functions that it calls are objects of
 * their own. A frame of its functions belongs to the object whose address is in a callee-saved register or in a word of the frame, and to
 * no class if there is none. Reports show it below the node, or the function, that called it. */
#define JITREG_OBJECT_CALLED 8u
/* Announce the end of an object and of all objects below it. */
static inline int jitreg_object_end(uint64_t address);
/*
 * Announce a program of an interpreter: the object executes nr steps, such as instructions of bytecode.  Step n, from 0 on, is at address
 * first + n * stride, and is the component with number component + n of the level.  The interpreter has the address of the step that runs
 * in a word of its stack frame, which jitreg_step_word() names.  The word takes precedence over registers.  An object may have several such
 * programs, which end with the object.
 */
static inline int jitreg_object_steps(uint64_t address, uint64_t first, uint32_t stride, uint32_t nr, uint32_t level, uint64_t component);
/* Announce where an interpreter has the address of the step that runs: frames of the function that begins at this address have it in the
 * word offset bytes above their stack pointer. */
static inline int jitreg_step_word(uint64_t function, uint32_t offset);

/* --------------------------------------------------------------------------------------------------------------- marks */

/*
 * A mark is a phase, or one execution of a component (a query, a compilation, a morsel, a task), from its beginning to its end.
 * jitreg_mark_begin() returns its handle, with which any thread can end it, and other marks name it as their parent. The handle is 0 if
 * there is no agent, if the agent does not know handles, or if it does not take the record (see the errors above). All functions accept a
 * handle of 0. As a parent it means none, and the other functions do nothing and return -ENOSYS.
 *
 * covers: the threads whose samples belong to the mark. of: the component that is executed, or jitreg_at(0, 0) for none. instance: a
 * number by which users tell executions apart, such as that of a query. Samples of a mark are also samples of its parent and of the
 * parents above, so a query has the samples of its morsels, whichever threads they run on. Reports show the plan for marks with the name
 * "run".
 */
#define JITREG_COVERS_THREAD 1u	 /* this thread, until the mark ends */
#define JITREG_COVERS_TASK 2u	 /* this thread until jitreg_mark_leave(), and any thread from jitreg_mark_enter() on */
#define JITREG_COVERS_PROCESS 3u /* all threads */
static inline uint64_t jitreg_mark_begin(uint32_t covers, const char *name, struct jitreg_ref of, uint64_t instance, uint64_t parent,
					 const char *text);
/* End a mark.  units: the amount of work that was done (rows, bytes), or 0 if unknown. */
static inline int jitreg_mark_end(uint64_t mark, uint64_t units);
/* Move a mark that covers a task between threads: jitreg_mark_leave() ends it on this thread, and it continues on the thread that calls
 * jitreg_mark_enter(). */
static inline int jitreg_mark_leave(uint64_t mark);
static inline int jitreg_mark_enter(uint64_t mark);

/* ------------------------------------------------------------------------------------------------- numbers and queries */

/* Reserve nr consecutive numbers for components or counter blocks, and return the first one. With an agent they are unique in this process.
 * Without one they are unique only in the calling program or library, but the first 2^20 of them do not occur among those of an agent that
 * comes later. The first billion numbers fit into a tag's field of 32 bits. */
static inline uint64_t jitreg_new_ids(uint64_t nr);
/* Announce that the components with numbers [first, first + nr) of all levels belong to a scope of this name, such as a query.  text: the
 * scope's text, such as SQL. */
static inline int jitreg_scope(uint64_t first, uint64_t nr, const char *name, const char *text);
/* End the scope, and the components with these numbers of all levels, except those with JITREG_COMPONENT_COMMON. The numbers may be used
 * again for other components, with any names. */
static inline int jitreg_scope_end(uint64_t first, uint64_t nr);

/* ---------------------------------------------------------------------------------------------------- execution counts */

/*
 * For exact execution counts, generated code adds 1 to a counter in memory. jitreg_counter_block() provides nr_copies times nr_entries
 * counters of 64 bits, all 0, in memory shared with the recorder, so a process that is killed loses no count. Counter i of copy c is
 * counters[c * JITREG_COUNTER_STRIDE(nr_entries) + i]. Copies are added up, so each thread can have a copy of its own and needs no
 * atomics. *block is set to the number of the block for jitreg_counter_block_end(), or to 0 if the counters are not recorded.
 *
 * Returns the counters. Without an agent, or if it does not record the block, these are a buffer of the calling program or library that all
 * such blocks share and nothing reads, so that generated code need not check for an agent. Returns NULL if that buffer, of
 * JITREG_COUNTERS_WITHOUT_AGENT counters, would be used and is too small for all copies. If the agent needs more memory, the call waits
 * for the recorder, mostly some milliseconds, about 0.5 s at most if the recorder does not run, and some seconds at most if it is busy. In
 * a forked child, the parent's blocks become memory of the child's own, which is not recorded.
 */
struct jitreg_counter_entry {
	uint64_t kind;	/* JITREG_COUNTS_* */
	uint64_t level; /* level and component: the component that is executed, or whose flow it is (jitreg_flow()) */
	uint64_t component;
	uint64_t at; /* see JITREG_COUNTS_* */
};
#define JITREG_COUNTS_ENTRY 1u	/* executions of the component itself; at 0 */
#define JITREG_COUNTS_BLOCK 2u	/* executions of block number `at` of the component's flow */
#define JITREG_COUNTS_EDGE 3u	/* executions of arc number `at` of the component's flow */
#define JITREG_COUNTS_CALL 4u	/* executions of call number `at` of the component's flow */
#define JITREG_COUNTS_OFFSET 5u /* executions of the instruction at address component + at; level 0 */
#define JITREG_COUNTER_STRIDE(nr_entries) ((JITREG_CAST_(size_t, nr_entries) + 7u) / 8u * 8u)
#define JITREG_COUNTERS_WITHOUT_AGENT 4096u
#define JITREG_COUNTERS_MAX (1u << 20) /* limit of a block's counters, all copies together */
static inline uint64_t *jitreg_counter_block(const struct jitreg_counter_entry *entries, uint32_t nr_entries, uint32_t nr_copies,
					     uint64_t *block);
/* End a block. Its last values are recorded, and its memory is reused, so no code may count into it any more. block 0: nothing happens.
 * If the values cannot be recorded, the block does not end, and an error is returned. It is -EINVAL if there is no such block. */
static inline int jitreg_counter_block_end(uint64_t block);
/* These functions are for hosts that keep counts in memory of their own. jitreg_counter_entries() announces a block once, and
 * jitreg_counter_values() records the current values of all its counters, in the order of the entries. block: a number from
 * jitreg_new_ids(), unique in this process. */
static inline int jitreg_counter_entries(uint64_t block, const struct jitreg_counter_entry *entries, uint32_t nr_entries);
struct jitreg_count {
	uint64_t count;
};
static inline int jitreg_counter_values(uint64_t block, const struct jitreg_count *values, uint32_t nr_values);

/*
 * The flow of a function, which is the component (level, component), consists of its basic blocks, the arcs between them, and the possible
 * callees of its calls.  Only some of the arcs need counters: as many executions leave a block as enter it, so the other counts can be
 * computed.  jitreg_place.h chooses the arcs to count.  Numbers of blocks, arcs and calls are indices into these arrays.  If a flow of the
 * component was announced before, the new one replaces it.
 */
struct jitreg_flow_block {
	uint64_t level; /* the block executes components [first, first + nr) of this level; nr 0: unknown */
	uint64_t first;
	uint64_t nr;
};
struct jitreg_flow_arc {
	uint64_t from; /* numbers of blocks; JITREG_FLOW_OUTSIDE: entry of the function (from), or its exits (to) */
	uint64_t to;
	uint64_t estimate; /* estimated frequency relative to other arcs; 0: unknown */
};
#define JITREG_FLOW_OUTSIDE 0xffffffffffffffffu
struct jitreg_flow_call {
	uint64_t block; /* number of the block, each of whose executions makes this call once */
	uint64_t site;	/* number of the call site in its block; elements with the same site are its possible callees */
	uint64_t level; /* level and component of the callee; component 0: unknown callee */
	uint64_t component;
};
struct jitreg_flow_execution { /* the component (operator, source line) is executed once in each execution of the block */
	uint64_t level;
	uint64_t component;
	uint64_t block;
};
struct jitreg_flow_parts {
	const struct jitreg_flow_block *blocks;
	const struct jitreg_flow_arc *arcs;
	const struct jitreg_flow_call *calls;
	const struct jitreg_flow_execution *executions;
	uint32_t nr_blocks;
	uint32_t nr_arcs;
	uint32_t nr_calls;
	uint32_t nr_executions;
};
static inline int jitreg_flow(uint32_t level, uint64_t component, uint32_t flags, const struct jitreg_flow_parts *parts);
#define JITREG_FLOW_ESCAPES 1u /* the function may also have callers that no flow names */

/* ---------------------------------------------------------------------------------------------- facts, lines, memory */

/* Announce a number about a component, such as "rows" or "estimated rows".  A later value with the same name replaces it. */
static inline int jitreg_counter(uint32_t level, uint64_t component, const char *name, int64_t value);

/* Announce a text that line tables refer to by name (the file name in the debug information).  If level is not 0, the lines of the text are
 * components of that level: line 1 is component first_line, line 2 the next number, and so on. */
static inline int jitreg_source_text(const char *name, const char *text, size_t bytes, uint32_t level, uint64_t first_line, uint32_t flags);
#define JITREG_SOURCE_QUERY 1u /* the text is the user's query, which reports show with the plan, or with the scope of the same name */

/* Name the memory at [address, address + bytes) from now on, in place of earlier names.  The memory belongs to a component (0: to none).
 * When it is freed, call jitreg_memory(address, 0, "", 0, 0). */
static inline int jitreg_memory(const void *address, uint64_t bytes, const char *name, uint32_t level, uint64_t component);

/* Send a request to the recorder. START and STOP: start or stop counting and sampling. CUT: end the present trace file and begin the next
 * one, if the recorder writes one after another (`--epochs`). NOTE: not a request, but a sentence (name) that reports show to users of the
 * trace. */
static inline int jitreg_control(uint32_t action, const char *name);
#define JITREG_CONTROL_START 1u
#define JITREG_CONTROL_STOP 2u
#define JITREG_CONTROL_CUT 3u
#define JITREG_CONTROL_NOTE 4u

/* -------------------------------------------------------------------------------------------- recorders that come late */

/*
 * A recorder can come after code was generated (`tailor attach --inject`, `tailor start`). A host that supports this sets a function that
 * announces all code, components and so on that are in use, and calls it by way of jitreg_replay() at a suitable place, where it holds no
 * locks that the function takes:
 *	if (jitreg_replay_wanted())
 *		jitreg_replay();
 * With an agent, jitreg_replay_wanted() costs a few loads. jitreg_replay() returns 1 if it ran the function, which one thread does once
 * for each recorder.
 */
typedef void (*jitreg_replay_function)(void *host);
static inline void jitreg_set_replay(jitreg_replay_function replay, void *host);
static inline int jitreg_replay_wanted(void);
static inline int jitreg_replay(void);
/* Set a function that the header itself calls, when a recorder has come, inside the next call that announces something.  It runs on the
 * calling thread, which may hold any locks, so it must not take locks. */
static inline void jitreg_set_replay_anywhere(jitreg_replay_function replay, void *host);

/* ------------------------------------------------------------------------------ records of other formats; older forms */

/* Announce the line table of the code at address, in jitdump's encoding (LINES below), before the code itself. */
static inline int jitreg_debug_info(uint64_t address, uint64_t nr_entries, const void *entries, size_t bytes);
/* Announce inlined functions of the code at address (INLINES below), before the code itself. */
static inline int jitreg_inlines(uint64_t address, uint64_t nr_entries, const void *entries, size_t bytes);
/* Announce the unwind information (eh_frame_hdr and eh_frame) of the code that this thread announces next, in the format of jitdump. */
static inline int jitreg_unwinding_info(const void *data, uint64_t bytes, uint64_t header_bytes, uint64_t mapped_bytes);
/* Announce unwind information: the relocated bytes of an .eh_frame section, which are valid at this address, though frames may be a
 * copy. */
static inline int jitreg_eh_frame(uint64_t address, const void *frames, uint32_t bytes);

/* Announce a loaded program or library.  load_bias: the difference between addresses in memory and in the ELF file.  bytes: the whole file
 * if it exists in memory only or was deleted, and otherwise NULL with nr_bytes 0. */
struct jitreg_segment {
	uint64_t address; /* address at which the mapping begins */
	uint64_t bytes;
	uint64_t file_offset;
	uint64_t prot; /* PROT_READ | PROT_WRITE | PROT_EXEC */
};
static inline int jitreg_image(uint64_t load_bias, uint32_t flags, const char *path, const struct jitreg_segment *segments,
			       uint32_t nr_segments, const void *build_id, uint32_t build_id_bytes, const void *bytes, uint32_t nr_bytes);
#define JITREG_IMAGE_MEMORY_ELF 1u /* bytes is an ELF file that exists in memory only; its sections have their final addresses */
#define JITREG_IMAGE_DELETED 2u	   /* the file has been deleted */
#define JITREG_IMAGE_MAIN 4u	   /* the program itself */
#define JITREG_IMAGE_VDSO 8u
/* Announce that a program or library is not loaded any more. Samples from before still belong to it. */
static inline int jitreg_image_unload(uint64_t load_bias, const char *path);
/* Announce an executable mapping of which only the code that mapped it is known.  mapper, mapper_offset: the path of the program or
 * library, and the offset of the call in it. */
static inline int jitreg_region(uint64_t address, uint64_t bytes, uint32_t prot, const char *mapper, uint64_t mapper_offset);

/* The older forms below do the same as the functions above, which are to be preferred. */
static inline int jitreg_link(uint32_t lower_level, uint64_t lower, uint32_t upper_level, uint64_t upper, uint32_t weight);
static inline int jitreg_unlink(uint32_t lower_level, uint64_t lower, uint32_t upper_level, uint64_t upper);
/* Announce a text, as jitreg_source_text() does.  first_component: one less than the component of line 1. */
static inline int jitreg_source(const char *name, const char *text, uint32_t level, uint64_t first_component, uint32_t flags);
/* Declare a tag.  where: a DWARF register, or JITREG_TAG_MEMORY with the word's offset from the thread pointer in address. */
static inline int jitreg_tag(uint32_t where, uint64_t address, uint64_t check_mask, uint64_t check_value,
			     const struct jitreg_tag_field *fields, uint32_t nr_fields, const struct jitreg_range *keepers,
			     uint32_t nr_keepers);
#define JITREG_TAG_MEMORY 0xffffffffu
/* Begin or end a mark without a handle.  The end must have the same name, component and instance.  component 0: the mark covers all
 * threads, otherwise this one. */
static inline int jitreg_mark(uint32_t action, const char *name, uint32_t level, uint64_t component, uint64_t instance,
			      uint64_t parent_instance, uint64_t units, const char *text);

/* libtailor.so exports the functions and the variable below, which are the interface of the agent. jitreg_emit() takes one record in 1
 * to 16 parts, of which the first holds the whole prefix. The agent sets total_size, and sets the time stamp if it is 0. */
typedef int (*jitreg_emit_function)(const struct iovec *parts, int nr_parts);
int jitreg_emit(const struct iovec *parts, int nr_parts);
/* Changes when another recorder comes, so that hosts announce again what is in use.  0: the agent has no recorder. */
extern uint32_t jitreg_recorders;
/* jitreg_connect() exchanges the versions of host and agent, and fills in the members that the structures of both have.  bytes: the size of
 * the structure in the caller's version.  Returns 0, or -EINVAL if that has no room for the version. */
struct jitreg_agent {
	uint32_t bytes;
	uint32_t version; /* in: version of the host's header; out: version of the agent */
	uint64_t (*new_ids)(uint64_t nr);
};
int jitreg_connect(struct jitreg_agent *agent);
/* jitreg_counters() allocates memory for nr_copies times JITREG_COUNTER_STRIDE(nr_entries) counters, all 0, if block is 0. Otherwise it
 * records the values of this block, and releases its memory. Returns 0, -ENOBUFS if no memory is left or the values were dropped (the
 * block then does not end), -EINVAL if the numbers are 0 or too large, there is no such block or bytes is too small, or -ENOSYS if the
 * agent does not record, or other threads held its lock for 0.4 s. */
struct jitreg_counter_memory {
	uint32_t bytes; /* size of this structure in the caller's version */
	uint32_t nr_copies;
	uint32_t nr_entries;
	uint32_t reserved;
	uint64_t block; /* out: number of the block */
	uint64_t place; /* out: member place of the record COUNTER_BLOCK */
	uint64_t *counters; /* out */
};
int jitreg_counters(struct jitreg_counter_memory *memory);

/* ========================================================================================================= the records */

/* A record has this time stamp if its code was generated or mapped at an unknown time before the agent or the recorder came. */
#define JITREG_TIME_BEFORE 1u

/*
 * There is one list of fields per record.  The kinds are:
 *   U32 U64 S64   fixed part, in the order of the list, without padding
 *   NR            fixed part: a u32 count (bytes of a STR or BIN, elements of an ARR); the n-th NR belongs to the n-th
 *                 of STR, BIN, ARR
 *   STR BIN       variable part: text (UTF-8, without NUL) and bytes
 *   ARR           variable part: elements of struct jitreg_<second argument>
 *   ZSTR REST     jitdump's kinds: NUL-terminated text; all bytes up to the end of the record
 *   LINES         jitdump's kind: nr_entry times {u64 address, u32 line, u32 discriminator, NUL-terminated file name}
 *
 * A record consists of jitdump's prefix (id, size of the whole record, time stamp), a fixed part, variable parts in the order of their
 * counts, and the trailing fields that versions add, JITREG_TRAILING_<NAME>, of kinds U32 and U64, which are 0 if a record ends before
 * them.  Ids 0 to 4 are those of perf's jitdump, byte for byte (linux tools/perf/Documentation/jitdump-specification.txt).  All others
 * start at 64.  All numbers are in the byte order of the machine.
 */
#define JITREG_FIELDS_LOAD(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U32(pid) U32(tid) U64(vma) U64(code_addr) U64(code_size) U64(code_index) ZSTR(name) REST(code)
#define JITREG_FIELDS_MOVE(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U32(pid) U32(tid) U64(vma) U64(old_code_addr) U64(new_code_addr) U64(code_size) U64(code_index)
#define JITREG_FIELDS_DEBUG_INFO(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U64(code_addr) U64(nr_entry) LINES(entries)
#define JITREG_FIELDS_CLOSE(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES)
#define JITREG_FIELDS_UNWINDING_INFO(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U64(unwinding_size) U64(eh_frame_hdr_size) U64(mapped_size) REST(unwinding_data)
/* IMAGE is a loaded program or library (jitreg_image()). An ELF file with JITREG_IMAGE_MEMORY_ELF has final addresses of sections, but
 * debug sections that are not relocated, as are those that LLVM passes to the GDB JIT interface. It needs no segments. */
#define JITREG_FIELDS_IMAGE(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U64(load_bias) U32(flags) NR(nr_segments) NR(build_id_bytes) NR(path_bytes) NR(bytes_bytes) U32(reserved) \
	ARR(segments, segment) BIN(build_id) STR(path) BIN(bytes)
#define JITREG_FIELDS_IMAGE_UNLOAD(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U64(load_bias) U32(flags) NR(path_bytes) STR(path)
/* REGION is an executable mapping, with the code that made it (jitreg_region()). */
#define JITREG_FIELDS_REGION(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U64(address) U64(bytes) U32(prot) NR(mapper_bytes) U64(mapper_offset) STR(mapper)
/* The range is free from now on; see jitreg_code_unload().  bytes 0: the whole code object at address. */
#define JITREG_FIELDS_CODE_UNLOAD(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U64(address) U64(bytes)
/* EH_FRAME is unwind information as a JIT registers it with __register_frame(). It has the bytes of an .eh_frame section, whose relative
 * addresses are valid at the address from which they were copied. */
#define JITREG_FIELDS_EH_FRAME(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U64(address) U32(flags) NR(frames_bytes) BIN(frames)
/* LEVEL is an abstraction level. upper: the levels that its components are linked to. */
#define JITREG_FIELDS_LEVEL(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U32(level) U32(flags) NR(name_bytes) NR(nr_upper) STR(name) ARR(upper, level_ref)
#define JITREG_FIELDS_COMPONENT(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U32(level) U32(flags) U64(component) NR(name_bytes) NR(detail_bytes) STR(name) STR(detail)
/* LINK is a link of the Tagging Dictionary (jitreg_link_to()). Weights divide a sample of the lower component among several upper ones. */
#define JITREG_FIELDS_LINK(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U32(lower_level) U32(upper_level) U64(lower) U64(upper) U32(weight) U32(reserved)
#define JITREG_FIELDS_UNLINK(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U32(lower_level) U32(upper_level) U64(lower) U64(upper)
/* CODE_MAP has the components that the parts of a code object belong to (jitreg_code_map()). */
#define JITREG_FIELDS_CODE_MAP(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U64(code_addr) NR(nr_entries) U32(reserved) ARR(entries, code_map_entry)
/* EDGE is dataflow between two components of a level, as in a plan. from: the producer. to: the consumer. */
#define JITREG_FIELDS_EDGE(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U32(level) NR(label_bytes) U64(from) U64(to) U32(order) U32(reserved) STR(label)
/* TAG has the place and the format of a tag. where: a DWARF register number, or JITREG_TAG_MEMORY (address: offset of the word from the
 * thread pointer). A value v is a tag if (v & check_mask) == check_value. fields: the bits that name a component of each level. The
 * preserving ranges are code that changes the register only to set a tag. */
#define JITREG_FIELDS_TAG(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U32(where) U32(flags) U64(address) U64(check_mask) U64(check_value) NR(nr_fields) NR(nr_keepers) \
	ARR(fields, tag_field) ARR(keepers, range)
#define JITREG_FIELDS_COUNTER(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U32(level) NR(name_bytes) U64(component) S64(value) STR(name)
/* MARK begins or ends a phase, or one execution of a component, or moves it between threads (jitreg_mark_begin()). Trailing fields: mark
 * is its handle (0: none, and its end has the same name, component and instance), parent the handle of the mark that contains it. */
#define JITREG_FIELDS_MARK(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U32(action) U32(level) U64(component) U64(instance) U64(parent_instance) U64(units) \
	NR(name_bytes) NR(text_bytes) STR(name) STR(text)
#define JITREG_FIELDS_CONTROL(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U32(action) NR(name_bytes) STR(name)
/* SOURCE is a text that line tables refer to by name (the file name in the debug information). If level is not 0, line n (from 1) is
 * component first_component + n of that level. */
#define JITREG_FIELDS_SOURCE(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U32(level) U32(flags) U64(first_component) NR(name_bytes) NR(text_bytes) STR(name) BIN(text)

/* MEMORY names memory from now on (a column, a hash table, a heap's nursery), which belongs to a component, or to none (component 0).
 * bytes 0: the memory that began at address has been freed. */
#define JITREG_FIELDS_MEMORY(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U64(address) U64(bytes) U32(level) NR(name_bytes) U64(component) STR(name)

/* INLINES has inlined functions, in jitdump's encoding (LINES). The entries with the same address are the functions that the code
 * belongs to from that address on: discriminator 0 is the code object's own function, 1 is inlined into it, and so on. line: the line of
 * the call in the function around it. The text is the function's name, a newline, and its file. */
#define JITREG_FIELDS_INLINES(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U64(code_addr) U64(nr_entry) LINES(entries)

/* SCOPE has two actions. Action 1: the components with numbers [first_id, first_id + nr_ids) of all levels belong to the scope of this
 * name. Action 2: the scope and these components end (jitreg_scope_end()). */
#define JITREG_FIELDS_SCOPE(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U32(action) U32(flags) U64(first_id) U64(nr_ids) NR(name_bytes) NR(text_bytes) STR(name) STR(text)
/* OBJECT is an object and the functions that work on it (jitreg_object()). */
#define JITREG_FIELDS_OBJECT(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U64(address) U64(upper) U32(flags) NR(nr_functions) NR(nr_components) U32(reserved) \
	ARR(functions, function) ARR(components, object_component)
/* OBJECT_STEPS has the steps that an object executes (jitreg_object_steps()). */
#define JITREG_FIELDS_OBJECT_STEPS(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U64(address) U64(first) U64(component) U32(level) U32(stride) U32(nr_steps) U32(reserved)
#define JITREG_FIELDS_STEP_WORD(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) U64(function) U32(offset) U32(reserved)
#define JITREG_FIELDS_OBJECT_END(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) U64(address) U32(flags) U32(reserved)
/* COUNTER_BLOCK has the counters of a block. place: their place in the memory that the agent shares with the recorder (number of the
 * area << 32 | bytes). nr_copies 0: they are not in that memory, and COUNTER_VALUES records have their values. */
#define JITREG_FIELDS_COUNTER_BLOCK(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U64(block) U64(place) U32(flags) U32(nr_copies) NR(nr_entries) U32(reserved) ARR(entries, counter_entry)
/* COUNTER_VALUES has values of a block's counters: one for each entry, or those of all copies in the order of memory. The latest record
 * is valid. */
#define JITREG_FIELDS_COUNTER_VALUES(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U64(block) U32(flags) NR(nr_values) ARR(values, count)
/* FLOW is the flow of a function (jitreg_flow()). */
#define JITREG_FIELDS_FLOW(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) \
	U32(level) U32(flags) U64(component) NR(nr_blocks) NR(nr_arcs) NR(nr_calls) NR(nr_executions) \
	ARR(blocks, flow_block) ARR(arcs, flow_arc) ARR(calls, flow_call) ARR(executions, flow_execution)
/* HELLO has the version of jitreg.h in a program or library that sends records from now on. */
#define JITREG_FIELDS_HELLO(U32, U64, S64, NR, STR, BIN, ARR, ZSTR, REST, LINES) U32(version) U32(flags)

#define JITREG_TRAILING_LOAD(U32, U64)
#define JITREG_TRAILING_MOVE(U32, U64)
#define JITREG_TRAILING_DEBUG_INFO(U32, U64)
#define JITREG_TRAILING_CLOSE(U32, U64)
#define JITREG_TRAILING_UNWINDING_INFO(U32, U64)
#define JITREG_TRAILING_IMAGE(U32, U64)
#define JITREG_TRAILING_IMAGE_UNLOAD(U32, U64)
#define JITREG_TRAILING_REGION(U32, U64)
#define JITREG_TRAILING_CODE_UNLOAD(U32, U64)
#define JITREG_TRAILING_LEVEL(U32, U64)
#define JITREG_TRAILING_COMPONENT(U32, U64)
#define JITREG_TRAILING_LINK(U32, U64)
#define JITREG_TRAILING_UNLINK(U32, U64)
#define JITREG_TRAILING_CODE_MAP(U32, U64)
#define JITREG_TRAILING_EDGE(U32, U64)
#define JITREG_TRAILING_TAG(U32, U64)
#define JITREG_TRAILING_COUNTER(U32, U64)
#define JITREG_TRAILING_MARK(U32, U64) U64(mark) U64(parent) U32(covers) U32(reserved)
#define JITREG_TRAILING_CONTROL(U32, U64)
#define JITREG_TRAILING_SOURCE(U32, U64)
#define JITREG_TRAILING_EH_FRAME(U32, U64)
#define JITREG_TRAILING_MEMORY(U32, U64)
#define JITREG_TRAILING_INLINES(U32, U64)
#define JITREG_TRAILING_SCOPE(U32, U64)
#define JITREG_TRAILING_HELLO(U32, U64)
#define JITREG_TRAILING_OBJECT(U32, U64)
#define JITREG_TRAILING_OBJECT_END(U32, U64)
#define JITREG_TRAILING_OBJECT_STEPS(U32, U64)
#define JITREG_TRAILING_STEP_WORD(U32, U64)
#define JITREG_TRAILING_COUNTER_BLOCK(U32, U64)
#define JITREG_TRAILING_COUNTER_VALUES(U32, U64)
#define JITREG_TRAILING_FLOW(U32, U64)

/* Columns: NAME, struct suffix, id.  Ids are never reused. */
#define JITREG_RECORDS(X) \
	X(LOAD, load, 0) \
	X(MOVE, move, 1) \
	X(DEBUG_INFO, debug_info, 2) \
	X(CLOSE, close, 3) \
	X(UNWINDING_INFO, unwinding_info, 4) \
	X(IMAGE, image, 64) \
	X(IMAGE_UNLOAD, image_unload, 65) \
	X(REGION, region, 66) \
	X(CODE_UNLOAD, code_unload, 67) \
	X(LEVEL, level, 68) \
	X(COMPONENT, component, 69) \
	X(LINK, link, 70) \
	X(UNLINK, unlink, 71) \
	X(CODE_MAP, code_map, 72) \
	X(EDGE, edge, 73) \
	X(TAG, tag, 74) \
	X(COUNTER, counter, 75) \
	X(MARK, mark, 76) \
	X(CONTROL, control, 77) \
	X(SOURCE, source, 78) \
	X(EH_FRAME, eh_frame, 79) \
	X(MEMORY, memory, 80) \
	X(INLINES, inlines, 81) \
	X(SCOPE, scope, 82) \
	X(HELLO, hello, 83) \
	X(OBJECT, object, 84) \
	X(OBJECT_END, object_end, 85) \
	X(COUNTER_BLOCK, counter_block, 86) \
	X(COUNTER_VALUES, counter_values, 87) \
	X(FLOW, flow, 88) \
	X(OBJECT_STEPS, object_steps, 89) \
	X(STEP_WORD, step_word, 90)

/* This struct is an element of the list upper of LEVEL.  The elements of other lists are above, beside the functions that take them. */
struct jitreg_level_ref {
	uint64_t level;
};

struct jitreg_prefix {
	uint32_t id;
	uint32_t total_size; /* bytes of the record, prefix included */
	uint64_t timestamp;  /* CLOCK_MONOTONIC, ns; 0: the agent stamps it */
};

#define JITREG_ID_(NAME, name, id) JITREG_##NAME = id,
enum jitreg_id { JITREG_RECORDS(JITREG_ID_) JITREG_ID_MAX_ = 127 };
#undef JITREG_ID_

/* struct jitreg_<name>_record has the prefix and the fixed part of a record.  struct jitreg_mark_trailing has the trailing fields of
 * MARK. */
#define JITREG_M32_(f) uint32_t f;
#define JITREG_M64_(f) uint64_t f;
#define JITREG_MS64_(f) int64_t f;
#define JITREG_M0_(f)
#define JITREG_M00_(f, t)
#define JITREG_STRUCT_(NAME, name, id_) \
	struct jitreg_##name##_record { \
		struct jitreg_prefix prefix; \
		JITREG_FIELDS_##NAME(JITREG_M32_, JITREG_M64_, JITREG_MS64_, JITREG_M32_, JITREG_M0_, JITREG_M0_, JITREG_M00_, \
				     JITREG_M0_, JITREG_M0_, JITREG_M0_) \
	};
JITREG_RECORDS(JITREG_STRUCT_)
#undef JITREG_STRUCT_
struct jitreg_mark_trailing {
	JITREG_TRAILING_MARK(JITREG_M32_, JITREG_M64_)
};
#undef JITREG_M32_
#undef JITREG_M64_
#undef JITREG_MS64_
#undef JITREG_M0_
#undef JITREG_M00_

/* MARK and SCOPE actions */
#define JITREG_MARK_BEGIN 1u
#define JITREG_MARK_END 2u
#define JITREG_MARK_LEAVE 3u
#define JITREG_MARK_ENTER 4u
#define JITREG_SCOPE_BEGIN 1u
#define JITREG_SCOPE_END 2u

/* COUNTER_VALUES flags */
#define JITREG_VALUES_LAST 1u /* the block has ended */
#define JITREG_VALUES_BASE 2u /* values from before the recording began, which are subtracted from later ones */

/* =========================================================================================================== implementation */

#ifdef __cplusplus
#define JITREG_CAST_(type, v) static_cast<type>(v)
#define JITREG_ADDRESS_(p) reinterpret_cast<uintptr_t>(p)
#define JITREG_POINTER_(type, v) reinterpret_cast<type>(v)
#else
#define JITREG_CAST_(type, v) ((type)(v))
#define JITREG_ADDRESS_(p) ((uintptr_t)(p))
#define JITREG_POINTER_(type, v) ((type)(v))
#endif

/* All translation units of this program or library share this state. Each program and library of a process has a state of its own. */
struct jitreg_state_1_ {
	jitreg_emit_function emit;
	const uint32_t *recorders; /* jitreg_recorders of the agent */
	uint32_t heard_by;	   /* number of the last recorder for which the replay function ran or was not needed */
	uint32_t greeted;	   /* number of the last recorder for which jitreg_greet_() ran */
	uint32_t anywhere;	   /* the replay function may run in any call */
	uint32_t reserved;
	struct jitreg_agent agent; /* version 0: the agent has no jitreg_connect() */
	jitreg_replay_function replay;
	void *replay_host;
	int64_t looked_s; /* time() of the last search that found no agent; 0: never */
	uint64_t nr_marks, nr_ids;
};
__attribute__((weak, visibility("hidden"))) struct jitreg_state_1_ jitreg_state_1_;

static inline int jitreg_emit_by_(jitreg_emit_function emit, uint32_t id, void *record, size_t fixed_bytes, const struct iovec *rest,
				  int nr_rest)
{
	struct iovec parts[6];
	int i;

	memcpy(record, &id, sizeof(id));
	parts[0].iov_base = record;
	parts[0].iov_len = fixed_bytes;
	for (i = 0; i < nr_rest && i < 5; i++)
		parts[i + 1] = rest[i];
	return emit(parts, i + 1);
}

#define JITREG_RARE_ __attribute__((noinline, cold, unused))
#ifdef JITREG_AGENT
/* Only the agent defines JITREG_AGENT.  It calls its own jitreg_emit(), for which all other programs and libraries search. */
static inline jitreg_emit_function jitreg_agent_(void)
{
	return jitreg_emit;
}

static inline uint32_t jitreg_agent_version_(void)
{
	return JITREG_VERSION;
}

static inline int jitreg_replay_wanted(void)
{
	return 0;
}

static inline int jitreg_replay(void)
{
	return 0;
}
#else
static inline uint32_t jitreg_agent_version_(void)
{
	return jitreg_state_1_.agent.version;
}

static inline int jitreg_replay_to_(uint32_t recorder)
{
	if (__atomic_exchange_n(&jitreg_state_1_.heard_by, recorder, __ATOMIC_ACQ_REL) == recorder || !jitreg_state_1_.replay)
		return 0;
	jitreg_state_1_.replay(jitreg_state_1_.replay_host);
	return 1;
}

/* Send HELLO if the agent has jitreg_connect(), and run the replay function if it may run anywhere. Only the first call for each recorder
 * does so. */
JITREG_RARE_ static void jitreg_greet_(uint32_t recorder)
{
	struct jitreg_hello_record r;

	if (__atomic_exchange_n(&jitreg_state_1_.greeted, recorder, __ATOMIC_ACQ_REL) == recorder)
		return;
	if (jitreg_state_1_.agent.version) {
		memset(&r, 0, sizeof(r));
		r.version = JITREG_VERSION;
		jitreg_emit_by_(jitreg_state_1_.emit, JITREG_HELLO, &r, sizeof(r), JITREG_CAST_(const struct iovec *, NULL), 0);
	}
	if (__atomic_load_n(&jitreg_state_1_.anywhere, __ATOMIC_ACQUIRE))
		jitreg_replay_to_(recorder);
}

/*
 * Find the agent. jitreg_agent_() calls this about once a second while there is none. (A weak reference to jitreg_emit would stay NULL in
 * non-PIE executables and for agents that are loaded later.) An agent without a recorder counts as none.
 */
JITREG_RARE_ static jitreg_emit_function jitreg_look_(int64_t now_s)
{
	int64_t looked_s = __atomic_load_n(&jitreg_state_1_.looked_s, __ATOMIC_RELAXED);
	struct jitreg_agent agent;
	int (*connect)(struct jitreg_agent *);
	int saved = errno;
	void *symbol, *recorders, *hello;
	jitreg_emit_function emit;
	uint32_t recorder;

	symbol = dlsym(NULL, "jitreg_emit");
	recorders = symbol ? dlsym(NULL, "jitreg_recorders") : NULL;
	recorder = recorders ? __atomic_load_n(JITREG_CAST_(const uint32_t *, recorders), __ATOMIC_ACQUIRE) : 0;
	if (!recorder) {
		/* looked_s is set after the search.  If it were set before, a thread that calls during the search would not search, and its
		 * record would be lost although there is an agent. */
		__atomic_store_n(&jitreg_state_1_.looked_s, now_s, __ATOMIC_RELAXED);
		if (!recorders)
			(void)dlerror();
		errno = saved;
		return NULL;
	}
	hello = dlsym(NULL, "jitreg_connect");
	if (hello) {
		memset(&agent, 0, sizeof(agent));
		agent.bytes = sizeof(agent);
		agent.version = JITREG_VERSION;
		memcpy(&connect, &hello, sizeof(connect));
		if (connect(&agent) == 0) {
			jitreg_state_1_.agent.new_ids = agent.new_ids;
			jitreg_state_1_.agent.version = agent.version;
		}
	} else {
		(void)dlerror();
	}
	memcpy(&emit, &symbol, sizeof(emit));
	/* If no search failed before, no record was lost, so no replay is needed for this recorder. */
	if (!looked_s && __atomic_load_n(&jitreg_state_1_.heard_by, __ATOMIC_RELAXED) == 0)
		__atomic_store_n(&jitreg_state_1_.heard_by, recorder, __ATOMIC_RELAXED);
	__atomic_store_n(&jitreg_state_1_.recorders, JITREG_CAST_(const uint32_t *, recorders), __ATOMIC_RELEASE);
	__atomic_store_n(&jitreg_state_1_.emit, emit, __ATOMIC_RELEASE);
	jitreg_greet_(recorder);
	errno = saved;
	return emit;
}

static inline jitreg_emit_function jitreg_agent_(void)
{
	jitreg_emit_function emit = __atomic_load_n(&jitreg_state_1_.emit, __ATOMIC_ACQUIRE);
	uint32_t recorder;

	if (!emit) {
		int64_t now_s = JITREG_CAST_(int64_t, time(NULL));

		return __atomic_load_n(&jitreg_state_1_.looked_s, __ATOMIC_RELAXED) == now_s ? NULL : jitreg_look_(now_s);
	}
	recorder = __atomic_load_n(jitreg_state_1_.recorders, __ATOMIC_ACQUIRE);
	if (recorder != __atomic_load_n(&jitreg_state_1_.greeted, __ATOMIC_RELAXED))
		jitreg_greet_(recorder);
	return emit;
}

static inline int jitreg_replay_wanted(void)
{
	return jitreg_agent_() && __atomic_load_n(jitreg_state_1_.recorders, __ATOMIC_ACQUIRE) !=
					  __atomic_load_n(&jitreg_state_1_.heard_by, __ATOMIC_RELAXED);
}

static inline int jitreg_replay(void)
{
	return jitreg_agent_() ? jitreg_replay_to_(__atomic_load_n(jitreg_state_1_.recorders, __ATOMIC_ACQUIRE)) : 0;
}
#endif

static inline int jitreg_enabled(void)
{
	return jitreg_agent_() != NULL;
}

static inline void jitreg_set_replay(jitreg_replay_function replay, void *host)
{
	jitreg_state_1_.replay_host = host;
	jitreg_state_1_.replay = replay;
}

static inline void jitreg_set_replay_anywhere(jitreg_replay_function replay, void *host)
{
	jitreg_set_replay(replay, host);
	__atomic_store_n(&jitreg_state_1_.anywhere, 1u, __ATOMIC_RELEASE);
}

static inline int jitreg_emit_(uint32_t id, void *record, size_t fixed_bytes, const struct iovec *rest, int nr_rest)
{
	jitreg_emit_function emit = jitreg_agent_();

	return emit ? jitreg_emit_by_(emit, id, record, fixed_bytes, rest, nr_rest) : -ENOSYS;
}

/* Make a part of a record. The agent refuses a record with a part that has bytes but a NULL base, since its caller gave a count, but no
 * elements. */
static inline struct iovec jitreg_part_(const void *base, size_t bytes)
{
	struct iovec part;

	part.iov_base = JITREG_POINTER_(void *, JITREG_ADDRESS_(base));
	part.iov_len = bytes;
	return part;
}

/* Returns -EINVAL for a record with invalid arguments.  The agent is sent a malformed record with this id, which it counts, so that `tailor
 * check` lists it. */
JITREG_RARE_ static int jitreg_refuse_(jitreg_emit_function emit, uint32_t id)
{
	struct iovec nothing = jitreg_part_(NULL, 1);
	struct jitreg_prefix r;

	memset(&r, 0, sizeof(r));
	if (emit)
		(void)jitreg_emit_by_(emit, id, &r, sizeof(r), &nothing, 1);
	return -EINVAL;
}

static inline uint32_t jitreg_text_bytes_(const char *text)
{
	size_t bytes = text ? strlen(text) : 0;

	return bytes < UINT32_MAX ? JITREG_CAST_(uint32_t, bytes) : UINT32_MAX;
}

/* JITREG_BEGIN_() defines the variables r (a record, zeroed) and emit_, or returns -ENOSYS from the function if there is no agent. */
#define JITREG_BEGIN_(name, r) \
	struct jitreg_##name##_record r; \
	jitreg_emit_function emit_ = jitreg_agent_(); \
	if (!emit_) \
		return -ENOSYS; \
	memset(&r, 0, sizeof(r))
#define JITREG_SEND_(ID, r, parts) \
	jitreg_emit_by_(emit_, ID, &r, sizeof(r), parts, JITREG_CAST_(int, sizeof(parts) / sizeof(parts[0])))
#define JITREG_SEND_FIXED_(ID, r) jitreg_emit_by_(emit_, ID, &r, sizeof(r), JITREG_CAST_(const struct iovec *, NULL), 0)

static inline int jitreg_code_load(uint64_t address, uint64_t bytes, uint64_t index, const char *name, const void *code)
{
	struct iovec parts[2];
	JITREG_BEGIN_(load, r);

	r.vma = r.code_addr = address;
	r.code_size = bytes;
	r.code_index = index;
	parts[0] = jitreg_part_(name ? name : "", jitreg_text_bytes_(name) + 1u);
	parts[1] = jitreg_part_(code, code ? JITREG_CAST_(size_t, bytes) : 0);
	return JITREG_SEND_(JITREG_LOAD, r, parts);
}

static inline int jitreg_code_move(uint64_t from, uint64_t to, uint64_t bytes, uint64_t index)
{
	JITREG_BEGIN_(move, r);

	r.vma = r.new_code_addr = to;
	r.old_code_addr = from;
	r.code_size = bytes;
	r.code_index = index;
	return JITREG_SEND_FIXED_(JITREG_MOVE, r);
}

static inline int jitreg_code_unload(uint64_t address, uint64_t bytes)
{
	JITREG_BEGIN_(code_unload, r);

	r.address = address;
	r.bytes = bytes;
	return JITREG_SEND_FIXED_(JITREG_CODE_UNLOAD, r);
}

static inline int jitreg_debug_info(uint64_t address, uint64_t nr_entries, const void *entries, size_t bytes)
{
	struct iovec parts[1];
	JITREG_BEGIN_(debug_info, r);

	r.code_addr = address;
	r.nr_entry = nr_entries;
	parts[0] = jitreg_part_(entries, bytes);
	return JITREG_SEND_(JITREG_DEBUG_INFO, r, parts);
}

static inline int jitreg_inlines(uint64_t address, uint64_t nr_entries, const void *entries, size_t bytes)
{
	struct iovec parts[1];
	JITREG_BEGIN_(inlines, r);

	r.code_addr = address;
	r.nr_entry = nr_entries;
	parts[0] = jitreg_part_(entries, bytes);
	return JITREG_SEND_(JITREG_INLINES, r, parts);
}

static inline int jitreg_unwinding_info(const void *data, uint64_t bytes, uint64_t header_bytes, uint64_t mapped_bytes)
{
	struct iovec parts[1];
	JITREG_BEGIN_(unwinding_info, r);

	r.unwinding_size = bytes;
	r.eh_frame_hdr_size = header_bytes;
	r.mapped_size = mapped_bytes;
	parts[0] = jitreg_part_(data, JITREG_CAST_(size_t, bytes));
	return JITREG_SEND_(JITREG_UNWINDING_INFO, r, parts);
}

static inline int jitreg_eh_frame(uint64_t address, const void *frames, uint32_t bytes)
{
	struct iovec parts[1];
	JITREG_BEGIN_(eh_frame, r);

	r.address = address;
	r.frames_bytes = bytes;
	parts[0] = jitreg_part_(frames, bytes);
	return JITREG_SEND_(JITREG_EH_FRAME, r, parts);
}

static inline int jitreg_code_map(uint64_t address, const struct jitreg_code_map_entry *entries, uint32_t nr_entries)
{
	struct iovec parts[1];
	JITREG_BEGIN_(code_map, r);

	r.code_addr = address;
	r.nr_entries = nr_entries;
	parts[0] = jitreg_part_(entries, nr_entries * sizeof(*entries));
	return JITREG_SEND_(JITREG_CODE_MAP, r, parts);
}

static inline int jitreg_level(uint32_t level, const char *name, uint32_t upper, uint32_t flags)
{
	struct jitreg_level_ref above;
	struct iovec parts[2];
	JITREG_BEGIN_(level, r);

	above.level = upper;
	r.level = level;
	r.flags = flags;
	r.name_bytes = jitreg_text_bytes_(name);
	r.nr_upper = upper ? 1 : 0;
	parts[0] = jitreg_part_(name, r.name_bytes);
	parts[1] = jitreg_part_(&above, r.nr_upper * sizeof(above));
	return JITREG_SEND_(JITREG_LEVEL, r, parts);
}

static inline int jitreg_component(uint32_t level, uint64_t component, const char *name, const char *detail, uint32_t flags)
{
	struct iovec parts[2];
	JITREG_BEGIN_(component, r);

	r.level = level;
	r.flags = flags;
	r.component = component;
	r.name_bytes = jitreg_text_bytes_(name);
	r.detail_bytes = jitreg_text_bytes_(detail);
	parts[0] = jitreg_part_(name, r.name_bytes);
	parts[1] = jitreg_part_(detail, r.detail_bytes);
	return JITREG_SEND_(JITREG_COMPONENT, r, parts);
}

static inline int jitreg_link(uint32_t lower_level, uint64_t lower, uint32_t upper_level, uint64_t upper, uint32_t weight)
{
	JITREG_BEGIN_(link, r);

	r.lower_level = lower_level;
	r.upper_level = upper_level;
	r.lower = lower;
	r.upper = upper;
	r.weight = weight;
	return JITREG_SEND_FIXED_(JITREG_LINK, r);
}

static inline int jitreg_unlink(uint32_t lower_level, uint64_t lower, uint32_t upper_level, uint64_t upper)
{
	JITREG_BEGIN_(unlink, r);

	r.lower_level = lower_level;
	r.upper_level = upper_level;
	r.lower = lower;
	r.upper = upper;
	return JITREG_SEND_FIXED_(JITREG_UNLINK, r);
}

static inline int jitreg_edge(uint32_t level, uint64_t from, uint64_t to, uint32_t order, const char *label)
{
	struct iovec parts[1];
	JITREG_BEGIN_(edge, r);

	r.level = level;
	r.from = from;
	r.to = to;
	r.order = order;
	r.label_bytes = jitreg_text_bytes_(label);
	parts[0] = jitreg_part_(label, r.label_bytes);
	return JITREG_SEND_(JITREG_EDGE, r, parts);
}

static inline void jitreg_tracker_push(struct jitreg_tracker *t, uint64_t upper)
{
	if (t->depth < JITREG_TRACKER_DEPTH)
		t->stack[t->depth] = upper;
	t->depth++;
}

static inline void jitreg_tracker_pop(struct jitreg_tracker *t)
{
	if (t->depth > 0)
		t->depth--;
}

static inline uint64_t jitreg_tracker_top(const struct jitreg_tracker *t)
{
	uint32_t depth = t->depth < JITREG_TRACKER_DEPTH ? t->depth : JITREG_TRACKER_DEPTH;

	return depth ? t->stack[depth - 1] : 0;
}

static inline int jitreg_tracker_link(const struct jitreg_tracker *t, uint64_t lower)
{
	uint64_t upper = jitreg_tracker_top(t);

	return upper ? jitreg_link(t->lower_level, lower, t->upper_level, upper, 1) : 0;
}

static inline int jitreg_tag(uint32_t where, uint64_t address, uint64_t check_mask, uint64_t check_value,
			     const struct jitreg_tag_field *fields, uint32_t nr_fields, const struct jitreg_range *keepers,
			     uint32_t nr_keepers)
{
	struct iovec parts[2];
	JITREG_BEGIN_(tag, r);

	r.where = where;
	r.address = address;
	r.check_mask = check_mask;
	r.check_value = check_value;
	r.nr_fields = nr_fields;
	r.nr_keepers = nr_keepers;
	parts[0] = jitreg_part_(fields, nr_fields * sizeof(*fields));
	parts[1] = jitreg_part_(keepers, nr_keepers * sizeof(*keepers));
	return JITREG_SEND_(JITREG_TAG, r, parts);
}

static inline struct jitreg_ref jitreg_at(uint32_t level, uint64_t component)
{
	struct jitreg_ref r;

	r.level = level;
	r.component = component;
	return r;
}

static inline int jitreg_link_to(struct jitreg_ref lower, struct jitreg_ref upper, uint32_t weight)
{
	return jitreg_link(lower.level, lower.component, upper.level, upper.component, weight);
}

static inline int jitreg_unlink_from(struct jitreg_ref lower, struct jitreg_ref upper)
{
	return jitreg_unlink(lower.level, lower.component, upper.level, upper.component);
}

static inline int jitreg_tag_in_register(uint32_t where, uint64_t check_mask, uint64_t check_value, const struct jitreg_tag_field *fields,
					 uint32_t nr_fields, const struct jitreg_range *keepers, uint32_t nr_keepers)
{
	return jitreg_tag(where, 0, check_mask, check_value, fields, nr_fields, keepers, nr_keepers);
}

#if defined(__x86_64__) && defined(__GNUC__)
/* Static TLS ends at the thread pointer (variant II of the ELF ABI).  TLS that dlopen() allocates is at another offset in each thread. */
#define JITREG_STATIC_TLS_MAX_ (1 << 20)
static inline int jitreg_tag_in_word(const uint64_t *word, uint64_t check_mask, uint64_t check_value,
				     const struct jitreg_tag_field *fields, uint32_t nr_fields)
{
	uintptr_t thread;
	int64_t offset;

	__asm__("movq %%fs:0, %0" : "=r"(thread));
	offset = JITREG_CAST_(int64_t, JITREG_ADDRESS_(word) - thread);
	if (offset >= 0 || offset < -JITREG_STATIC_TLS_MAX_)
		return jitreg_refuse_(jitreg_agent_(), JITREG_TAG);
	return jitreg_tag(JITREG_TAG_MEMORY, JITREG_CAST_(uint64_t, offset), check_mask, check_value, fields, nr_fields,
			  JITREG_CAST_(const struct jitreg_range *, NULL), 0);
}
#endif

/* The variables of the loops have the number of the line in their names, so that blocks on different lines nest without shadowing. */
#define JITREG_JOIN2_(a, b) a##b
#define JITREG_JOIN_(a, b) JITREG_JOIN2_(a, b)
#define JITREG_WORD_SET_(word, v) __atomic_store_n(&(word), v, __ATOMIC_RELAXED)
#define JITREG_FOR_WORD_(old, once, word, v) \
	for (uint64_t old = (word), once = 1; once ? (JITREG_WORD_SET_(word, v), 1) : 0; JITREG_WORD_SET_(word, old), once = 0)

static inline uint64_t jitreg_task_switch(uint64_t *word, uint64_t tag)
{
	uint64_t old = *word;

	JITREG_WORD_SET_(*word, tag);
	return old;
}

#define JITREG_FOR_(old, once, get, set, v) for (uint64_t old = (get), once = 1; once ? (set(v), 1) : 0; set(old), once = 0)
#define JITREG_WITH_(get, set, v) \
	JITREG_FOR_(JITREG_JOIN_(jitreg_old_, __LINE__), JITREG_JOIN_(jitreg_once_, __LINE__), get, set, v)
#define JITREG_TAG_REGISTER_(reg) \
	static inline uint64_t jitreg_tag_get_##reg(void) \
	{ \
		uint64_t v; \
		__asm__ volatile("movq %%" #reg ", %0" : "=r"(v)); \
		return v; \
	} \
	static inline void jitreg_tag_set_##reg(uint64_t v) \
	{ \
		__asm__ volatile("movq %0, %%" #reg : : "r"(v) : "memory"); \
	} \
	static inline uint64_t jitreg_task_switch_##reg(uint64_t v) \
	{ \
		uint64_t old = jitreg_tag_get_##reg(); \
		jitreg_tag_set_##reg(v); \
		return old; \
	}
#define JITREG_PRAGMA_(text) _Pragma(#text)
#define JITREG_REFUSE_(why) JITREG_PRAGMA_(GCC error why) for (;;)
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define JITREG_CAN_FIX_ 1
#else
#define JITREG_CAN_FIX_ 0
#endif
#if defined(JITREG_FIXED_RBX) && JITREG_CAN_FIX_
JITREG_TAG_REGISTER_(rbx)
#define JITREG_WITH_TAG_RBX(v) JITREG_WITH_(jitreg_tag_get_rbx(), jitreg_tag_set_rbx, v)
#else
#define JITREG_WITH_TAG_RBX(v) JITREG_REFUSE_("compile this file by gcc, with -ffixed-rbx -DJITREG_FIXED_RBX")
#endif
#if defined(JITREG_FIXED_R12) && JITREG_CAN_FIX_
JITREG_TAG_REGISTER_(r12)
#define JITREG_WITH_TAG_R12(v) JITREG_WITH_(jitreg_tag_get_r12(), jitreg_tag_set_r12, v)
#else
#define JITREG_WITH_TAG_R12(v) JITREG_REFUSE_("compile this file by gcc, with -ffixed-r12 -DJITREG_FIXED_R12")
#endif
#if defined(JITREG_FIXED_R13) && JITREG_CAN_FIX_
JITREG_TAG_REGISTER_(r13)
#define JITREG_WITH_TAG_R13(v) JITREG_WITH_(jitreg_tag_get_r13(), jitreg_tag_set_r13, v)
#else
#define JITREG_WITH_TAG_R13(v) JITREG_REFUSE_("compile this file by gcc, with -ffixed-r13 -DJITREG_FIXED_R13")
#endif
#if defined(JITREG_FIXED_R14) && JITREG_CAN_FIX_
JITREG_TAG_REGISTER_(r14)
#define JITREG_WITH_TAG_R14(v) JITREG_WITH_(jitreg_tag_get_r14(), jitreg_tag_set_r14, v)
#else
#define JITREG_WITH_TAG_R14(v) JITREG_REFUSE_("compile this file by gcc, with -ffixed-r14 -DJITREG_FIXED_R14")
#endif
#if defined(JITREG_FIXED_R15) && JITREG_CAN_FIX_
JITREG_TAG_REGISTER_(r15)
#define JITREG_WITH_TAG_R15(v) JITREG_WITH_(jitreg_tag_get_r15(), jitreg_tag_set_r15, v)
#else
#define JITREG_WITH_TAG_R15(v) JITREG_REFUSE_("compile this file by gcc, with -ffixed-r15 -DJITREG_FIXED_R15")
#endif

static inline int jitreg_counter(uint32_t level, uint64_t component, const char *name, int64_t value)
{
	struct iovec parts[1];
	JITREG_BEGIN_(counter, r);

	r.level = level;
	r.component = component;
	r.value = value;
	r.name_bytes = jitreg_text_bytes_(name);
	parts[0] = jitreg_part_(name, r.name_bytes);
	return JITREG_SEND_(JITREG_COUNTER, r, parts);
}

static inline int jitreg_mark(uint32_t action, const char *name, uint32_t level, uint64_t component, uint64_t instance,
			      uint64_t parent_instance, uint64_t units, const char *text)
{
	struct iovec parts[2];
	JITREG_BEGIN_(mark, r);

	if (action != JITREG_MARK_BEGIN && action != JITREG_MARK_END)
		return jitreg_refuse_(emit_, JITREG_MARK);
	r.action = action;
	r.level = level;
	r.component = component;
	r.instance = instance;
	r.parent_instance = parent_instance;
	r.units = units;
	r.name_bytes = jitreg_text_bytes_(name);
	r.text_bytes = jitreg_text_bytes_(text);
	parts[0] = jitreg_part_(name, r.name_bytes);
	parts[1] = jitreg_part_(text, r.text_bytes);
	return JITREG_SEND_(JITREG_MARK, r, parts);
}

/* Send a mark with a handle.  An agent without jitreg_connect() does not know handles, and would not find the end of such a mark, so it
 * gets none. */
static inline int jitreg_mark_by_handle_(struct jitreg_mark_record *r, struct jitreg_mark_trailing *trailing, const char *name,
					 const char *text)
{
	jitreg_emit_function emit_ = jitreg_agent_();
	struct iovec parts[3];

	if (!emit_ || !jitreg_agent_version_())
		return -ENOSYS;
	r->name_bytes = jitreg_text_bytes_(name);
	r->text_bytes = jitreg_text_bytes_(text);
	parts[0] = jitreg_part_(name, r->name_bytes);
	parts[1] = jitreg_part_(text, r->text_bytes);
	parts[2] = jitreg_part_(trailing, sizeof(*trailing));
	return jitreg_emit_by_(emit_, JITREG_MARK, r, sizeof(*r), parts, 3);
}

static inline uint64_t jitreg_mark_begin(uint32_t covers, const char *name, struct jitreg_ref of, uint64_t instance, uint64_t parent,
					 const char *text)
{
	struct jitreg_mark_record r;
	struct jitreg_mark_trailing trailing;

	if (!jitreg_enabled())
		return 0;
	memset(&r, 0, sizeof(r));
	memset(&trailing, 0, sizeof(trailing));
	r.action = JITREG_MARK_BEGIN;
	r.level = of.level;
	r.component = of.component;
	r.instance = instance;
	/* Handles are unique in the process, because they are made of the address of the state of this program or library, and a number. */
	trailing.mark = (JITREG_CAST_(uint64_t, JITREG_ADDRESS_(&jitreg_state_1_)) << 16) +
			__atomic_add_fetch(&jitreg_state_1_.nr_marks, 1, __ATOMIC_RELAXED);
	trailing.parent = parent;
	trailing.covers = covers;
	return jitreg_mark_by_handle_(&r, &trailing, name, text) == 0 ? trailing.mark : 0;
}

static inline int jitreg_mark_act_(uint32_t action, uint64_t mark, uint64_t units)
{
	struct jitreg_mark_record r;
	struct jitreg_mark_trailing trailing;

	if (!mark || !jitreg_enabled())
		return -ENOSYS;
	memset(&r, 0, sizeof(r));
	memset(&trailing, 0, sizeof(trailing));
	r.action = action;
	r.units = units;
	trailing.mark = mark;
	return jitreg_mark_by_handle_(&r, &trailing, NULL, NULL);
}

static inline int jitreg_mark_end(uint64_t mark, uint64_t units)
{
	return jitreg_mark_act_(JITREG_MARK_END, mark, units);
}

static inline int jitreg_mark_leave(uint64_t mark)
{
	return jitreg_mark_act_(JITREG_MARK_LEAVE, mark, 0);
}

static inline int jitreg_mark_enter(uint64_t mark)
{
	return jitreg_mark_act_(JITREG_MARK_ENTER, mark, 0);
}

/* The agent has one sequence of numbers for the whole process, from this number on.  Without an agent each program and library has its own
 * sequence below it, in one of 1024 ranges of 2^20 numbers, so two of them rarely share a range. */
#define JITREG_IDS_OF_AGENT_ (1u << 30)
static inline uint64_t jitreg_new_ids(uint64_t nr)
{
	const uint64_t first = JITREG_CAST_(uint64_t, JITREG_ADDRESS_(&jitreg_state_1_)) >> 12 & 1023;

	if (jitreg_agent_() && jitreg_state_1_.agent.new_ids)
		return jitreg_state_1_.agent.new_ids(nr);
	return 1 + (first << 20) + __atomic_fetch_add(&jitreg_state_1_.nr_ids, nr, __ATOMIC_RELAXED);
}

static inline int jitreg_scope_act_(uint32_t action, uint64_t first, uint64_t nr, const char *name, const char *text)
{
	struct iovec parts[2];
	JITREG_BEGIN_(scope, r);

	if (!jitreg_agent_version_())
		return -ENOSYS;
	r.action = action;
	r.first_id = first;
	r.nr_ids = nr;
	r.name_bytes = jitreg_text_bytes_(name);
	r.text_bytes = jitreg_text_bytes_(text);
	parts[0] = jitreg_part_(name, r.name_bytes);
	parts[1] = jitreg_part_(text, r.text_bytes);
	return JITREG_SEND_(JITREG_SCOPE, r, parts);
}

static inline int jitreg_scope(uint64_t first, uint64_t nr, const char *name, const char *text)
{
	return jitreg_scope_act_(JITREG_SCOPE_BEGIN, first, nr, name, text);
}

static inline int jitreg_scope_end(uint64_t first, uint64_t nr)
{
	return jitreg_scope_act_(JITREG_SCOPE_END, first, nr, NULL, NULL);
}

static inline int jitreg_object(uint64_t address, uint64_t upper, uint32_t flags, const struct jitreg_function *functions,
				uint32_t nr_functions, const struct jitreg_object_component *components, uint32_t nr_components)
{
	struct iovec parts[2];
	JITREG_BEGIN_(object, r);

	r.address = address;
	r.upper = upper;
	r.flags = flags;
	r.nr_functions = nr_functions;
	r.nr_components = nr_components;
	parts[0] = jitreg_part_(functions, nr_functions * sizeof(*functions));
	parts[1] = jitreg_part_(components, nr_components * sizeof(*components));
	return JITREG_SEND_(JITREG_OBJECT, r, parts);
}

static inline int jitreg_object_end(uint64_t address)
{
	JITREG_BEGIN_(object_end, r);

	r.address = address;
	return JITREG_SEND_FIXED_(JITREG_OBJECT_END, r);
}

static inline int jitreg_object_steps(uint64_t address, uint64_t first, uint32_t stride, uint32_t nr, uint32_t level, uint64_t component)
{
	JITREG_BEGIN_(object_steps, r);

	r.address = address;
	r.first = first;
	r.component = component;
	r.level = level;
	r.stride = stride;
	r.nr_steps = nr;
	return JITREG_SEND_FIXED_(JITREG_OBJECT_STEPS, r);
}

static inline int jitreg_step_word(uint64_t function, uint32_t offset)
{
	JITREG_BEGIN_(step_word, r);

	r.function = function;
	r.offset = offset;
	return JITREG_SEND_FIXED_(JITREG_STEP_WORD, r);
}

/* Call the agent's jitreg_counters(), or return -ENOSYS if it does not have this function, which came with 1.2. The symbol is looked up at
 * each call, which takes less time than generating the code that a block is for. */
static inline int jitreg_counter_memory_by_(struct jitreg_counter_memory *m)
{
#ifdef JITREG_AGENT
	return jitreg_counters(m);
#else
	int (*call)(struct jitreg_counter_memory *);
	int saved = errno;
	void *symbol = dlsym(NULL, "jitreg_counters");

	if (!symbol)
		(void)dlerror();
	errno = saved;
	if (!symbol)
		return -ENOSYS;
	memcpy(&call, &symbol, sizeof(call));
	return call(m);
#endif
}

static inline int jitreg_counter_announce_(jitreg_emit_function emit_, const struct jitreg_counter_memory *m,
					   const struct jitreg_counter_entry *entries)
{
	struct jitreg_counter_block_record r;
	struct iovec parts[1];

	memset(&r, 0, sizeof(r));
	r.block = m->block;
	r.place = m->place;
	r.nr_copies = m->nr_copies;
	r.nr_entries = m->nr_entries;
	parts[0] = jitreg_part_(entries, m->nr_entries * sizeof(*entries));
	return JITREG_SEND_(JITREG_COUNTER_BLOCK, r, parts);
}

#ifndef JITREG_AGENT
__attribute__((weak, visibility("hidden"))) uint64_t jitreg_no_counters_[JITREG_COUNTERS_WITHOUT_AGENT];
#endif

static inline uint64_t *jitreg_counter_block(const struct jitreg_counter_entry *entries, uint32_t nr_entries, uint32_t nr_copies,
					     uint64_t *block)
{
	const uint64_t nr = JITREG_COUNTER_STRIDE(nr_entries) * JITREG_CAST_(uint64_t, nr_copies);
	jitreg_emit_function emit_ = jitreg_agent_();
	struct jitreg_counter_memory m;

	*block = 0;
	memset(&m, 0, sizeof(m));
	m.bytes = sizeof(m);
	m.nr_copies = nr_copies;
	m.nr_entries = nr_entries;
	if (emit_ && nr && nr <= JITREG_COUNTERS_MAX && jitreg_counter_memory_by_(&m) == 0) {
		if (jitreg_counter_announce_(emit_, &m, entries) == 0) {
			*block = m.block;
			return m.counters;
		}
		jitreg_counter_memory_by_(&m);
	}
#ifdef JITREG_AGENT
	return NULL;
#else
	return nr <= JITREG_COUNTERS_WITHOUT_AGENT ? jitreg_no_counters_ : NULL;
#endif
}

/* The agent finds the counters by the number of the block, and records their values before it releases the memory. */
static inline int jitreg_counter_block_end(uint64_t block)
{
	struct jitreg_counter_memory m;

	if (!block || !jitreg_agent_())
		return block ? -ENOSYS : 0;
	memset(&m, 0, sizeof(m));
	m.bytes = sizeof(m);
	m.block = block;
	return jitreg_counter_memory_by_(&m);
}

static inline int jitreg_counter_entries(uint64_t block, const struct jitreg_counter_entry *entries, uint32_t nr_entries)
{
	jitreg_emit_function emit_ = jitreg_agent_();
	struct jitreg_counter_memory m;

	memset(&m, 0, sizeof(m));
	m.block = block;
	m.nr_entries = nr_entries;
	return emit_ ? jitreg_counter_announce_(emit_, &m, entries) : -ENOSYS;
}

static inline int jitreg_counter_values(uint64_t block, const struct jitreg_count *values, uint32_t nr_values)
{
	struct iovec parts[1];
	JITREG_BEGIN_(counter_values, r);

	r.block = block;
	r.nr_values = nr_values;
	parts[0] = jitreg_part_(values, nr_values * sizeof(*values));
	return JITREG_SEND_(JITREG_COUNTER_VALUES, r, parts);
}

static inline int jitreg_flow(uint32_t level, uint64_t component, uint32_t flags, const struct jitreg_flow_parts *p)
{
	struct iovec parts[4];
	JITREG_BEGIN_(flow, r);

	r.level = level;
	r.flags = flags;
	r.component = component;
	r.nr_blocks = p->nr_blocks;
	r.nr_arcs = p->nr_arcs;
	r.nr_calls = p->nr_calls;
	r.nr_executions = p->nr_executions;
	parts[0] = jitreg_part_(p->blocks, p->nr_blocks * sizeof(*p->blocks));
	parts[1] = jitreg_part_(p->arcs, p->nr_arcs * sizeof(*p->arcs));
	parts[2] = jitreg_part_(p->calls, p->nr_calls * sizeof(*p->calls));
	parts[3] = jitreg_part_(p->executions, p->nr_executions * sizeof(*p->executions));
	return JITREG_SEND_(JITREG_FLOW, r, parts);
}

static inline int jitreg_control(uint32_t action, const char *name)
{
	struct iovec parts[1];
	JITREG_BEGIN_(control, r);

	if (action < JITREG_CONTROL_START || action > JITREG_CONTROL_NOTE)
		return jitreg_refuse_(emit_, JITREG_CONTROL);
	r.action = action;
	r.name_bytes = jitreg_text_bytes_(name);
	parts[0] = jitreg_part_(name, r.name_bytes);
	return JITREG_SEND_(JITREG_CONTROL, r, parts);
}

static inline int jitreg_source_text(const char *name, const char *text, size_t bytes, uint32_t level, uint64_t first_line, uint32_t flags)
{
	struct iovec parts[2];
	JITREG_BEGIN_(source, r);

	if (bytes > UINT32_MAX)
		return jitreg_refuse_(emit_, JITREG_SOURCE);
	r.level = level;
	r.flags = flags;
	r.first_component = first_line - 1;
	r.name_bytes = jitreg_text_bytes_(name);
	r.text_bytes = JITREG_CAST_(uint32_t, bytes);
	parts[0] = jitreg_part_(name, r.name_bytes);
	parts[1] = jitreg_part_(text, bytes);
	return JITREG_SEND_(JITREG_SOURCE, r, parts);
}

static inline int jitreg_source(const char *name, const char *text, uint32_t level, uint64_t first_component, uint32_t flags)
{
	return jitreg_enabled() ? jitreg_source_text(name, text, text ? strlen(text) : 0, level, first_component + 1, flags) : -ENOSYS;
}

static inline int jitreg_memory(const void *address, uint64_t bytes, const char *name, uint32_t level, uint64_t component)
{
	struct iovec parts[1];
	JITREG_BEGIN_(memory, r);

	r.address = JITREG_ADDRESS_(address);
	r.bytes = bytes;
	r.level = level;
	r.component = component;
	r.name_bytes = jitreg_text_bytes_(name);
	parts[0] = jitreg_part_(name, r.name_bytes);
	return JITREG_SEND_(JITREG_MEMORY, r, parts);
}

static inline int jitreg_image(uint64_t load_bias, uint32_t flags, const char *path, const struct jitreg_segment *segments,
			       uint32_t nr_segments, const void *build_id, uint32_t build_id_bytes, const void *bytes,
			       uint32_t nr_bytes)
{
	struct iovec parts[4];
	JITREG_BEGIN_(image, r);

	r.load_bias = load_bias;
	r.flags = flags;
	r.nr_segments = nr_segments;
	r.build_id_bytes = build_id_bytes;
	r.path_bytes = jitreg_text_bytes_(path);
	r.bytes_bytes = nr_bytes;
	parts[0] = jitreg_part_(segments, nr_segments * sizeof(*segments));
	parts[1] = jitreg_part_(build_id, build_id_bytes);
	parts[2] = jitreg_part_(path, r.path_bytes);
	parts[3] = jitreg_part_(bytes, nr_bytes);
	return JITREG_SEND_(JITREG_IMAGE, r, parts);
}

static inline int jitreg_image_unload(uint64_t load_bias, const char *path)
{
	struct iovec parts[1];
	JITREG_BEGIN_(image_unload, r);

	r.load_bias = load_bias;
	r.path_bytes = jitreg_text_bytes_(path);
	parts[0] = jitreg_part_(path, r.path_bytes);
	return JITREG_SEND_(JITREG_IMAGE_UNLOAD, r, parts);
}

static inline int jitreg_region(uint64_t address, uint64_t bytes, uint32_t prot, const char *mapper, uint64_t mapper_offset)
{
	struct iovec parts[1];
	JITREG_BEGIN_(region, r);

	r.address = address;
	r.bytes = bytes;
	r.prot = prot;
	r.mapper_offset = mapper_offset;
	r.mapper_bytes = jitreg_text_bytes_(mapper);
	parts[0] = jitreg_part_(mapper, r.mapper_bytes);
	return JITREG_SEND_(JITREG_REGION, r, parts);
}

#ifdef __cplusplus
}
#endif

#endif
