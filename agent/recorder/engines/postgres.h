/* SPDX-License-Identifier: MIT */
/* What the files about PostgreSQL share.  Context: thread. */
#ifndef TAILOR_ENGINES_POSTGRES_H
#define TAILOR_ENGINES_POSTGRES_H

#include "agent/recorder/engines/engines.h"
#include "agent/recorder/engines/generated_code.h"
#include "agent/recorder/engines/page_cache.h"
#include "jitreg/base/hash_map.h"
#include "jitreg/engines/postgres_catalog.h"
#include "jitreg/engines/postgres_classes.h"
#include "jitreg/engines/postgres_plan.h"

#define POSTGRES_CLASS_FUNCTIONS 12 /* of one class */
#define POSTGRES_PLANS 16	    /* of one backend that are kept */
#define POSTGRES_WORDS_BELOW 24	    /* of a stack, below the return address into standard_ExecutorRun */
#define POSTGRES_WORDS_NEAR 40	    /* in which the query's address is looked for, from the first one on */
#define POSTGRES_WORDS_PORTAL 100   /* up to which the query's portal is looked for, from the return address on */
#define POSTGRES_WORDS 256	    /* kept of each such frame */
#define POSTGRES_SIGHTINGS 512	    /* between two looks */

/* A program that is a server, and the processes that were forked from it without another exec. */
struct postgres_server {
	uint64_t base;
	const struct postgres_layout *layout; /* NULL: unknown version; nothing is read */
	struct postgres_code code;
	struct postgres_catalog catalog;
	struct postgres_range run; /* standard_ExecutorRun, with all of its unwind range */
	uint64_t active_portal, my_entry, my_pid, postmaster_pid, my_wait; /* variables; my_wait: 0 before 14 */
	uint64_t salt;
	uint32_t class_nr[POSTGRES_NR_CLASSES];
	uint64_t class_function[POSTGRES_NR_CLASSES][POSTGRES_CLASS_FUNCTIONS];
};

struct postgres_plan_node {
	uint64_t address, upper, id, consumer; /* consumer: the component of the node that it belongs to; 0: of the root */
	uint32_t first_function, nr_functions;
};

/* An executed query whose plan was read. */
struct postgres_plan {
	struct postgres_query query;
	uint64_t id;
	struct postgres_plan_node *node;
	uint64_t *function;
	uint32_t nr, nr_functions;
	bool top;	  /* it is the backend's own statement, not one inside of another */
	bool live;	  /* its objects are said */
	bool changed, same_root; /* when it was checked, other values were there; but for the root */
	unsigned evidence;	 /* by which it was found on a stack */
	uint64_t portal;	 /* of a cursor; 0: not needed */
	uint64_t start_us, state_us;	/* the backend's statement and state, when it was read */
	uint64_t begin_ns, seen_ns, checked_ns;
	uint64_t mark;
	char name[POSTGRES_NAME_BYTES];
};

struct postgres_backend {
	pid_t pid, own_pid, leader; /* own_pid, leader: in the server's namespace; leader 0: no parallel worker */
	struct postgres_server *server;
	uint64_t born_ns;
	uint64_t entry;		    /* its PgBackendStatus; 0: not yet */
	uint64_t start_us, state_us; /* its statement and state, as read last */
	uint64_t polled_ns, changed_ns; /* changed: when start_us and state_us were first read */
	uint64_t looked_ns, top_end_ns; /* top_end: of the statement's query before the present one */
	bool announced, titled, is_parent, has_samples, sampled, lost, had_top; /* had_top: a query of the present statement was read */
	uint32_t nr_marks;
	char name[256], application[64];
	uint32_t class_said[POSTGRES_NR_CLASSES]; /* functions of each class that are said */
	uint32_t llvm_nr;
	uint64_t llvm_function[8];
	bool llvm_mapped;
	struct generated_code code;
	struct postgres_wait {
		uint64_t begin_ns, read_ns; /* 0: it does not wait; it was not read */
		uint32_t info;		    /* what the server says of it */
	} wait;
	uint64_t came_ns; /* to a processor, the last time */
	bool has_agent; /* which says all else */
	struct postgres_plan plan[POSTGRES_PLANS];
	uint32_t nr_plans;
};

/* A frame of standard_ExecutorRun on a sampled stack. */
struct postgres_sighting {
	struct postgres_backend *backend;
	uint64_t time_ns;
	uint64_t at; /* address of word[0] */
	bool top;    /* the outermost one of a whole stack */
	bool cut;    /* the outermost one of a stack that goes on */
	uint64_t word[POSTGRES_WORDS];
};

/* What reading takes; there once a server may be there. */
struct postgres_memory {
	struct page_cache pages;
	struct postgres_code llvm; /* the llvmjit.so that is looked at */
	struct postgres_sighting sighting[POSTGRES_SIGHTINGS];
	uint32_t sorted[POSTGRES_SIGHTINGS];
	char text[POSTGRES_TEXT_BYTES], work[POSTGRES_TEXT_BYTES], query_name[POSTGRES_NAME_BYTES];
};

struct engines {
	struct trace_writer *writer;
	struct engines_says says;
	struct postgres_server **server;
	struct postgres_backend **backend;
	uint32_t nr_servers, servers_capacity, nr_backends, backends_capacity;
	struct hash_map by_pid; /* index + 1 of a backend; since when it has an agent */
	struct hash_map said;	/* components that all processes have in common */
	struct postgres_memory *memory;
	uint32_t nr_sightings;
	uint32_t stack_bytes;	 /* a copy of fewer is the whole stack */
	uint64_t begin_ns;	 /* of the recording */
	uint64_t short_ns;	 /* when a query was last found to be short */
	uint64_t look_ns;	 /* that a look takes */
	uint64_t code_bytes;	 /* of generated code that were written */
	int64_t to_monotonic_ns; /* what is added to a time since 1970 */
	bool has_switches; /* contexts' are recorded, so that waits are of use */
	bool noticed_memory, noticed_plan, noticed_size;
};

/* ---- postgres_server.c */
/* The server that this process runs, found anew.  NULL: none.  A version that is not known has a server without a layout. */
struct postgres_server *postgres_server_find(struct engines *e, pid_t pid);
struct postgres_reader postgres_server_reader(struct engines *e, const struct postgres_backend *b);
/* LLVM's functions of this process, if llvmjit.so is mapped. */
void postgres_server_find_llvm(struct engines *e, struct postgres_backend *b);
/* A function that is found to be of a class. */
void postgres_server_add_class(struct postgres_server *s, enum postgres_class class, uint64_t function);

/* ---- postgres_records.c */
void postgres_write_session(struct engines *e, struct postgres_backend *b, uint64_t time_ns);
void postgres_write_classes(struct engines *e, struct postgres_backend *b, uint64_t time_ns);
/* A wait that is over. */
void postgres_write_wait(struct engines *e, const struct postgres_backend *b, uint32_t info, uint64_t begin_ns, uint64_t end_ns);
/* The components of a query: once. */
void postgres_write_query(struct engines *e, const struct postgres_backend *b, const struct postgres_plan *p);
void postgres_write_node(struct engines *e, const struct postgres_backend *b, const struct postgres_plan *p, const struct postgres_node *n,
			 uint64_t id, uint64_t consumer, const char *detail);
bool postgres_node_is_said(const struct engines *e, uint64_t id);
/* The objects of a plan, from then on / no longer. */
void postgres_write_plan(struct engines *e, struct postgres_backend *b, struct postgres_plan *p, uint64_t time_ns);
void postgres_write_plan_end(struct engines *e, struct postgres_backend *b, struct postgres_plan *p, uint64_t time_ns);

/* ---- postgres_title.c */
/* b->name and b->leader, by the title that the server gives the process. */
void postgres_title_read(struct postgres_backend *b);

/* ---- postgres_backend.c */
/* sighting: of this backend, in order of time.  They may be none. */
void postgres_backend_read_plans(struct engines *e, struct postgres_backend *b, const uint32_t *sighting, uint32_t nr, uint64_t now_ns);
/* Its plans are over, and freed. */
void postgres_backend_end_plans(struct engines *e, struct postgres_backend *b, uint64_t time_ns);

/* ---- postgres_plans.c */
/* The plan of an executed query, read now; NULL: it is none, or has changed meanwhile.  Its components are said, its objects are not. */
struct postgres_plan *postgres_plan_read(struct engines *e, struct postgres_backend *b, const struct postgres_query *q, bool top,
					 uint64_t begin_ns);
/* Its objects live from then on; those of others at the same addresses do not. */
void postgres_plan_set_live(struct engines *e, struct postgres_backend *b, struct postgres_plan *p, uint64_t time_ns);
/* It is over, and forgotten. */
void postgres_plan_forget(struct engines *e, struct postgres_backend *b, struct postgres_plan *p, uint64_t time_ns);

/* ---- engines.c */
struct postgres_backend *engines_find_backend(const struct engines *e, pid_t pid);
struct postgres_backend *engines_find_own_pid(const struct engines *e, const struct postgres_server *s, pid_t own_pid);
/* A query, or what it needs, was there for so long: it may be that others are over before they are looked at. */
void engines_note_query_duration(struct engines *e, uint64_t begin_ns, uint64_t end_ns);
bool engines_has_short_queries(const struct engines *e, uint64_t now_ns);
void engines_notice(struct engines *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
