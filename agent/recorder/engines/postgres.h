/* SPDX-License-Identifier: MIT */
/* The files about PostgreSQL share these declarations.  Context: thread. */
#ifndef TAILOR_ENGINES_POSTGRES_H
#define TAILOR_ENGINES_POSTGRES_H

#include "agent/recorder/engines/engines.h"
#include "agent/recorder/engines/generated_code.h"
#include "agent/recorder/engines/page_cache.h"
#include "jitreg/base/grow.h"
#include "jitreg/base/hash_map.h"
#include "jitreg/engines/postgres_catalog.h"
#include "jitreg/engines/postgres_classes.h"
#include "jitreg/engines/postgres_plan.h"
#include "jitreg/engines/postgres_stored.h"

#define POSTGRES_CLASS_FUNCTIONS 12 /* maximum number of functions of one class that are kept */
#define POSTGRES_PLANS 16	    /* maximum number of plans of one backend that are kept */
#define POSTGRES_WORDS_BELOW 24	    /* stack words below the return address into standard_ExecutorRun */
#define POSTGRES_WORDS_NEAR 40	    /* number of words from the first on in which the query's address is searched */
#define POSTGRES_WORDS_PORTAL 100   /* index of the word up to which the query's portal is searched, from the return address on */
#define POSTGRES_WORDS 256	    /* words that are kept of a frame of standard_ExecutorRun */
#define POSTGRES_SIGHTINGS 512	    /* maximum number of such frames that are kept between two looks */
#define POSTGRES_STORED_BELOW 8	    /* stack words below the return address into a handler of stored functions */
#define POSTGRES_STORED_WORDS 64    /* words that are kept of a frame of such a handler */
#define POSTGRES_STORED_FRAMES 256  /* maximum number of these frames that are kept between two looks */

/* This is an executed program that is a server. Processes that were forked from it, without another exec, share it. */
struct postgres_server {
	uint64_t base;
	const struct postgres_layout *layout; /* NULL: its version or standard_ExecutorRun is unknown, so only waits are read */
	struct postgres_code code;
	struct postgres_catalog catalog;
	/* standard_ExecutorRun, and standard_ExecutorFinish, in which triggers run, each with all of its unwind range */
	struct postgres_range run, finish;
	/* addresses of the server's variables; my_wait: 0 before version 14 */
	uint64_t active_portal, my_entry, my_pid, postmaster_pid, my_wait;
	uint64_t salt;
	uint32_t class_nr[POSTGRES_NR_CLASSES];
	uint64_t class_function[POSTGRES_NR_CLASSES][POSTGRES_CLASS_FUNCTIONS];
	/* index of the word of a handler's postgres_stored_frame that is the stored function's address; 0: not learnt yet */
	int stored_word[POSTGRES_NR_STORED_HANDLERS];
};

struct postgres_plan_node {
	uint64_t address, upper, id, consumer; /* upper: address of the node above it; id: its component; consumer: not used */
	uint32_t first_function, nr_functions;
};

/* This is an executed query whose plan was read. */
struct postgres_plan {
	struct postgres_query query;
	uint64_t id;
	ARRAY(struct postgres_plan_node) nodes;
	ARRAY(uint64_t) functions;
	bool top;	  /* the backend's own statement, not a query inside of another one */
	bool utility;	  /* a utility statement, which has no nodes */
	bool unsure;	  /* read by the portal alone: no stack has shown it, and it may be a cursor in a function */
	bool live;	  /* the plan's objects are in the trace and have not ended */
	bool changed, same_root; /* changed: memory had other values at checked_ns; same_root: the root was the same nevertheless */
	unsigned evidence;	 /* evidence for it on a stack: bits of postgres_backend.c */
	uint64_t portal;	 /* portal of the cursor that runs it; 0: not needed */
	/* when the backend's statement and state began (µs since 2000) that were present when the plan was read; state_us is UINT64_MAX if
	 * the plan was of an earlier state */
	uint64_t start_us, state_us;
	uint64_t begin_ns, seen_ns, checked_ns;
	uint64_t mark;
	char name[POSTGRES_NAME_BYTES];
};

struct postgres_backend {
	pid_t pid, own_pid, leader; /* own_pid, leader: numbers in the server's PID namespace; leader: 0 except in parallel workers */
	struct postgres_server *server;
	uint64_t born_ns;
	uint64_t entry;		    /* address of its PgBackendStatus; 0: not known yet */
	uint64_t start_us, state_us; /* when the statement and state began (µs since 2000) that were read last */
	uint64_t polled_ns, changed_ns; /* polled_ns: not used; changed_ns: when start_us and state_us were first read, or set back by
					 * read_leader_statement() */
	uint64_t looked_ns, top_end_ns; /* top_end_ns: end of the statement's query before the present one */
	/* announced: its session is in the trace; titled: name is from its title; has_samples: since the last look; sampled: ever */
	/* lost: its plans are not read any more; had_top: the present statement's query was read */
	/* had_portal: it is known whether the present statement is a utility statement */
	bool announced, titled, is_parent, has_samples, sampled, lost, had_top, had_portal;
	uint32_t nr_marks;
	char name[256], application[64];
	uint32_t class_said[POSTGRES_NR_CLASSES]; /* number of functions of each class that are in the trace */
	uint32_t llvm_nr;
	uint64_t llvm_function[8];
	bool llvm_mapped; /* llvmjit.so may have been mapped since its functions were looked for */
	struct generated_code code;
	struct postgres_wait {
		uint64_t begin_ns, read_ns; /* begin_ns is 0 without a wait; read_ns is 0 until info is read */
		uint32_t info;		    /* the server's wait_event_info */
	} wait;
	uint64_t came_ns; /* time at which it last came to a processor */
	bool has_agent; /* the agent reports all but waits and stored functions */
	struct postgres_stored {
		/* all: from the first handler to the end of the last; both are 0 while the library is not mapped */
		struct postgres_range handler[POSTGRES_NR_STORED_HANDLERS], all;
		bool maybe_mapped;     /* it may have been mapped since the handlers were looked for */
		struct hash_map known; /* (address, 0) -> 1 for stored functions that are in the trace */
	} stored;
	struct postgres_plan plan[POSTGRES_PLANS];
	uint32_t nr_plans;
};

/* A sighting is a frame of standard_ExecutorRun or standard_ExecutorFinish on a sampled stack. */
struct postgres_sighting {
	struct postgres_backend *backend;
	uint64_t time_ns;
	uint64_t at; /* stack address of word[POSTGRES_WORDS_BELOW], the return address */
	bool top;    /* the outermost such frame of a stack that was copied as a whole */
	bool cut;    /* the outermost such frame of a stack of which the outer part was not copied */
	uint64_t word[POSTGRES_WORDS];
};

/* This is a frame of a handler of stored functions on a sampled stack. */
struct postgres_stored_frame {
	struct postgres_backend *backend;
	uint64_t time_ns;
	int handler;
	uint64_t word[POSTGRES_STORED_WORDS]; /* word[POSTGRES_STORED_BELOW] is the return address */
};

/* These buffers for reading are allocated when a process may be a server. */
struct postgres_memory {
	struct page_cache pages;
	struct postgres_code llvm; /* code of the llvmjit.so whose functions are being found */
	struct postgres_sighting sighting[POSTGRES_SIGHTINGS];
	uint32_t sorted[POSTGRES_SIGHTINGS];
	struct postgres_stored_frame stored[POSTGRES_STORED_FRAMES];
	char text[POSTGRES_TEXT_BYTES], work[POSTGRES_TEXT_BYTES], query_name[POSTGRES_NAME_BYTES];
};

struct engines {
	struct trace_writer *writer;
	const struct name_source_recording *recording;
	ARRAY(struct postgres_server *) servers;
	ARRAY(struct postgres_backend *) backends;
	struct hash_map by_pid; /* (pid, 0) -> index + 1 of a backend; (pid, AGENT) -> since when it has an agent */
	struct hash_map said;	/* components that all processes share and that are in the trace already */
	struct postgres_memory *memory;
	uint32_t nr_sightings, nr_stored;
	uint32_t stack_bytes;	 /* a copy with fewer bytes is the whole stack */
	uint64_t begin_ns;	 /* time when the recording began */
	uint64_t short_ns;	 /* when a query, or code generated for it, was last found to exist for a short time */
	uint64_t look_ns;	 /* mean time that a look at all backends takes */
	uint64_t code_bytes;	 /* bytes of generated code in the trace */
	int64_t to_monotonic_ns; /* offset that is added to a time since 1970 */
	bool has_switches; /* context switches are recorded, so waits are of use */
	bool noticed_memory, noticed_plan, noticed_size;
};

/* ---- postgres_server.c */
/* Finds the server that this process runs.  The result belongs to e.  Returns NULL if it runs none, or if memory runs out.  A server of an
 * unknown version, or without unwind information for standard_ExecutorRun, has no layout. */
struct postgres_server *postgres_server_find(struct engines *e, pid_t pid);
/* Returns a reader of the backend's memory by e->memory->pages, which the caller has set to its process by page_cache_reset(). */
struct postgres_reader postgres_server_reader(struct engines *e, const struct postgres_backend *b);
/* Sets b->llvm_function to the functions of llvmjit.so that compile. b->llvm_nr is 0 if this process does not have it mapped. */
void postgres_server_find_llvm(struct engines *e, struct postgres_backend *b);
/* Adds a function to a class, unless the function is 0 or known, or the class is full. */
void postgres_server_add_class(struct postgres_server *s, enum postgres_class class, uint64_t function);

/* ---- postgres_records.c */
/* Writes the component of the backend's session with its present name, and before that, once, the levels and the session's object. */
void postgres_write_session(struct engines *e, struct postgres_backend *b, uint64_t time_ns);
/* Writes the classes of functions whose number of functions has changed since they were written for this backend. */
void postgres_write_classes(struct engines *e, struct postgres_backend *b, uint64_t time_ns);
/* Writes a wait that is over.  info: the server's wait_event_info. */
void postgres_write_wait(struct engines *e, const struct postgres_backend *b, uint32_t info, uint64_t begin_ns, uint64_t end_ns);
/* Writes the component of a query, once per recording.  Its text is the one that is in e->memory->text since the plan was read. */
void postgres_write_query(struct engines *e, const struct postgres_backend *b, const struct postgres_plan *p);
/* Writes the component of a node, its estimated rows, its link to the query, and its edge to the component `consumer` (0: no edge), once
 * per recording. */
void postgres_write_node(struct engines *e, const struct postgres_backend *b, const struct postgres_plan *p, const struct postgres_node *n,
			 uint64_t id, uint64_t consumer, const char *detail);
/* Is the component of this node in the trace already, and its edge to `consumer` (0: none)? */
bool postgres_node_is_said(const struct engines *e, uint64_t id, uint64_t consumer);
/* Writes the mark of an execution of the backend's own statement, from its begin on, if it has none.  Does nothing while the plan is
 * unsure. */
void postgres_write_mark(struct engines *e, struct postgres_backend *b, struct postgres_plan *p);
/* Write that the objects of a plan live from this time on, and that they have ended. */
void postgres_write_plan(struct engines *e, struct postgres_backend *b, struct postgres_plan *p, uint64_t time_ns);
void postgres_write_plan_end(struct engines *e, struct postgres_backend *b, struct postgres_plan *p, uint64_t time_ns);

/* Writes the component of a stored function, once per recording, and the object of its struct, on which the function that begins at
 * handler works. */
void postgres_write_stored(struct engines *e, const struct postgres_backend *b, const char *name, uint64_t address, uint64_t handler,
			   uint64_t time_ns);

/* ---- postgres_stored.c */
/* Takes over what is known of the library in the process that this one was forked from. */
void postgres_stored_inherit(struct postgres_backend *b, const struct postgres_backend *parent);
/* Takes a word of a sampled stack that is in b->stored.all, and so may be a return address into a handler.  word: its index. */
void postgres_stored_note_word(struct engines *e, struct postgres_backend *b, const struct sample_seen *seen, uint32_t word,
			       uint64_t return_address, uint32_t nr_words);
/* Reads the stored functions of the frames that were seen since the previous call, and writes those that are new. */
void postgres_stored_read(struct engines *e);
/* Forgets the frames and functions of a backend that ends. */
void postgres_stored_forget(struct engines *e, struct postgres_backend *b);

/* ---- postgres_title.c */
/* Sets b->name, b->leader and b->titled from the title that the server gives the process.  A process that has no title, which may be
 * because it was just forked, is named "postmaster", and b->titled stays false. */
void postgres_title_read(struct postgres_backend *b);

/* ---- postgres_backend.c */
/* Reads what this backend executes now, and plans that its sampled stacks show. Does nothing if its plans cannot be read, or if it has no
 * samples and was read a moment ago. sighting: indexes of its sampled frames in e->memory, in order of time; nr may be 0. */
void postgres_backend_read_plans(struct engines *e, struct postgres_backend *b, const uint32_t *sighting, uint32_t nr, uint64_t now_ns);
/* Ends and frees all plans of a backend. */
void postgres_backend_end_plans(struct engines *e, struct postgres_backend *b, uint64_t time_ns);

/* ---- postgres_plans.c */
/* Reads the plan of an executed query, and writes its components, but not that its objects live.  Returns NULL if it is no plan, if it
 * changed while it was read, or if memory runs out. If b has POSTGRES_PLANS plans, the one seen least recently is forgotten, as
 * postgres_plan_forget() does it. */
struct postgres_plan *postgres_plan_read(struct engines *e, struct postgres_backend *b, const struct postgres_query *q, bool top,
					 uint64_t begin_ns);
/* Keeps a utility statement as a plan without nodes, and writes its component.  Otherwise as postgres_plan_read(). */
struct postgres_plan *postgres_plan_keep_utility(struct engines *e, struct postgres_backend *b, const struct postgres_query *q,
						 uint64_t begin_ns);
/* Writes that the objects of a plan live from this time on, and ends other plans with objects at the same addresses. */
void postgres_plan_set_live(struct engines *e, struct postgres_backend *b, struct postgres_plan *p, uint64_t time_ns);
/* Ends a plan and frees it.  The last plan of b takes its place, so pointers to that one are invalid. */
void postgres_plan_forget(struct engines *e, struct postgres_backend *b, struct postgres_plan *p, uint64_t time_ns);

/* ---- engines.c */
/* Returns the server's process with this PID, valid until it exits or runs another program, or NULL. e may be NULL. */
struct postgres_backend *engines_find_backend(const struct engines *e, pid_t pid);
/* Returns the server's process with this PID in the server's PID namespace, or NULL. */
struct postgres_backend *engines_find_own_pid(const struct engines *e, const struct postgres_server *s, pid_t own_pid);
/* Notes how long a query, or the code generated for it, existed.  If that is short, looks come sooner for a while, because other queries
 * may end between two looks, too. */
void engines_note_query_duration(struct engines *e, uint64_t begin_ns, uint64_t end_ns);
/* Has a query that existed for a short time been noted within the last second? */
bool engines_has_short_queries(const struct engines *e, uint64_t now_ns);
void engines_notice(struct engines *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
