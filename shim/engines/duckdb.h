/* SPDX-License-Identifier: MIT */
/* What the files about DuckDB share.  Context: thread, outside the guard, except where something else stands. */
#ifndef TAILOR_SHIM_DUCKDB_H
#define TAILOR_SHIM_DUCKDB_H

#include "shim/engines/engines.h"

#include "jitreg/engines/duckdb_explain.h"
#include "jitreg/engines/duckdb_plan.h"
#include "jitreg/engines/hash.h"

#define DUCKDB_CONNECTIONS 64	   /* that execute a query at a time */
#define DUCKDB_SLOTS 64		   /* of a class's table of virtual functions that are looked at */
#define DUCKDB_FUNCTIONS 48	   /* of an operator */
#define DUCKDB_CLASSES_MAX 128	   /* of operators, whose own functions are remembered */
#define DUCKDB_CLASS_FUNCTIONS 24
#define DUCKDB_PIPELINE_FUNCTIONS_MAX 24
#define DUCKDB_EXECUTOR_WORDS 80u /* the search for states looks at so many words of a pipeline's executor */
#define DUCKDB_PLANS 1024	   /* whose names are remembered */
#define DUCKDB_SAID 4096	   /* numbers of components; what was forgotten is said again */
#define DUCKDB_WAITING_ID 1	   /* the component DUCKDB_WAITING */
#define DUCKDB_BETWEEN_ID 2	   /* the component DUCKDB_BETWEEN */
#define DUCKDB_PROFILING_ID 3	   /* the component DUCKDB_PROFILING; those of classes of work come behind it */
#define DUCKDB_TEXT_BYTES 61440	   /* of a query: what is longer is cut */

struct duckdb_operator {
	uint64_t address, table; /* of its class's virtual functions */
	uint32_t upper;		 /* index + 1; 0: the outermost one */
	uint32_t order;		 /* among those below it */
	char name[DUCKDB_NAME_BYTES];
};

/* A connection that executes a query.  Its fields are written by the thread that holds the connection's lock, before tasks of the query are
 * given to other threads, which read them. */
struct duckdb_connection {
	uint64_t context;  /* 0: free */
	uint64_t executor; /* 0: none yet */
	uint64_t query;	   /* its component */
	uint64_t plan;	   /* number of the plan; 0: none was said */
	uint64_t mark;
	uint32_t nr;
	struct duckdb_operator operator[DUCKDB_OPERATORS_MAX];
};

/* A class of operators: functions of its own that are not virtual. */
struct duckdb_class {
	uint64_t table; /* of its virtual functions; 0: free */
	uint32_t nr;
	uint64_t function[DUCKDB_CLASS_FUNCTIONS];
};

/* Room for a text or a plan that is read. */
struct duckdb_room {
	uint32_t is_taken;
	struct duckdb_explanation explained;
	char text[DUCKDB_TEXT_BYTES + 2], name[256];
};

/* A text that the library has, and keeps. */
struct duckdb_text {
	const char *text;
	size_t bytes;
};

/* A plan whose names were asked. */
struct duckdb_known {
	uint64_t plan, time_ns, check;
};

/* What only a program that has DuckDB's library needs, mapped when that is found. */
struct duckdb_queries {
	struct duckdb_connection connection[DUCKDB_CONNECTIONS];
	struct duckdb_room room[4];
	struct duckdb_class class[DUCKDB_CLASSES_MAX];
	uint32_t class_lock; /* a thread that finds another one there does without */
};

struct duckdb {
	struct object library; /* .headers NULL: none */
	struct duckdb_queries *queries; /* not NULL, once the library was found */
	uint64_t text_begin, text_end;
	uint64_t to_string, current_query, task_execute, pipeline_task_execute;
	enum duckdb_string_abi string_abi;
	bool has_print_format; /* to_string's third argument is a connection, and a fourth has the format */
	uint64_t *operator_table; /* the base class's virtual functions */
	uint32_t nr_slots, children_slot;
	unsigned char role[DUCKDB_SLOTS];
	struct jitreg_function executor_waits, context_waits;
	struct {
		uint64_t address;
		enum duckdb_role role; /* of the operator for which it works */
	} pipeline[DUCKDB_PIPELINE_FUNCTIONS_MAX];
	uint32_t nr_pipeline;
	uint64_t state_type[DUCKDB_NO_ROLE]; /* type information of the states that an executor keeps, by role */
	uint32_t state_word[DUCKDB_NO_ROLE]; /* where it keeps them, + 1; 0: not known yet */
	uint32_t recorder, telling; /* that was told what is below; a thread tells it */
	uint64_t nr_runs;
	uint64_t said[DUCKDB_SAID];
	struct duckdb_known known[DUCKDB_PLANS];
};
extern struct duckdb duckdb;

/* ---- duckdb_plan.c */
/* The functions of one of its operators that play a role (DUCKDB_NO_ROLE: all). */
uint32_t duckdb_functions_of_role(const struct duckdb_operator *o, enum duckdb_role role, struct jitreg_function *to);
/* Reads the plan whose outermost operator is there, and says it. */
void duckdb_plan_register(struct duckdb_connection *c, uint64_t outermost);
/* The std::string at that address.  false: its memory cannot be read. */
bool duckdb_string_read(uint64_t string, struct duckdb_text *to);
uint64_t duckdb_operator_id(const struct duckdb_connection *c, uint32_t operator);
uint32_t duckdb_find_operator(const struct duckdb_connection *c, uint64_t address); /* index + 1, or 0 */
struct duckdb_room *duckdb_room_take(void); /* NULL: all are taken */
void duckdb_room_leave(struct duckdb_room *r);
bool duckdb_is_registered(uint64_t id);
void duckdb_mark_registered(uint64_t id);

/* ---- duckdb_class.c */
/* Adds the functions of an operator's class that are not virtual to nr others.  Returns how many there are then. */
uint32_t duckdb_class_functions(uint64_t table, struct jitreg_function *to, uint32_t nr);

/* ---- duckdb_pipeline.c */
#define DUCKDB_PARTS_MAX 64u
struct duckdb_part {
	uint32_t operator; /* index */
	enum duckdb_role role;
};
/* The operators of a pipeline, its source first if the plan has it. */
struct duckdb_parts {
	uint64_t id; /* of the pipeline's component */
	uint32_t nr;
	struct duckdb_part part[DUCKDB_PARTS_MAX];
};
bool duckdb_pipeline_read(const struct duckdb_connection *c, uint64_t pipeline, struct duckdb_parts *to);
/* A thread is to execute a pipeline, with what is at executor. */
void duckdb_pipeline_register(struct duckdb_connection *c, uint64_t executor, const struct duckdb_parts *p);
/* A task; operator 0: of no operator. */
void duckdb_task_register(struct duckdb_connection *c, uint64_t task, uint64_t operator);
/* A task that executes a pipeline. */
void duckdb_pipeline_task_register(uint64_t task, uint64_t pipeline);

/* ---- duckdb_state.c */
/* The executor was made, and has states for its operators. */
void duckdb_states_register(struct duckdb_connection *c, uint64_t executor, const struct duckdb_parts *p);

/* ---- duckdb.c */
struct duckdb_connection *duckdb_find_executor_connection(uint64_t executor);

#endif
