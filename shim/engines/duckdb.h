/* SPDX-License-Identifier: MIT */
/* This header is the interface between the files about DuckDB. Context: thread, outside the guard, unless stated otherwise. */
#ifndef TAILOR_SHIM_DUCKDB_H
#define TAILOR_SHIM_DUCKDB_H

#include "shim/engines/engines.h"

#include "jitreg/engines/duckdb_explain.h"
#include "jitreg/engines/duckdb_plan.h"
#include "jitreg/engines/hash.h"

#define DUCKDB_CONNECTIONS 64	   /* connections that execute a query at the same time */
#define DUCKDB_SLOTS 64		   /* slots of a virtual function table that are searched */
#define DUCKDB_FUNCTIONS 48	   /* maximum number of functions of one operator */
#define DUCKDB_CLASSES_MAX 128	   /* operator classes whose non-virtual functions are remembered */
#define DUCKDB_CLASS_FUNCTIONS 24
#define DUCKDB_PIPELINE_FUNCTIONS_MAX 24
#define DUCKDB_EXECUTOR_WORDS 80u /* words of a pipeline's executor that are searched for states */
#define DUCKDB_PLANS 1024	   /* plans that are remembered, so that their names are not read at each run */
#define DUCKDB_SAID 4096	   /* numbers of registered components; a forgotten component is registered again */
#define DUCKDB_WAITING_ID 1	   /* the component DUCKDB_WAITING */
#define DUCKDB_BETWEEN_ID 2	   /* the component DUCKDB_BETWEEN */
#define DUCKDB_PROFILING_ID 3	   /* the component DUCKDB_PROFILING; the components of classes of work follow */
#define DUCKDB_TEXT_BYTES 61440	   /* a query's text is cut to less than this length */

struct duckdb_operator {
	uint64_t address, table; /* table: virtual functions of its class */
	uint32_t upper;		 /* index of the operator above + 1; 0: outermost */
	uint32_t order;		 /* position among the operators below the same one */
	char name[DUCKDB_NAME_BYTES];
};

/*
 * This is a connection that executes a query. The thread that holds the connection's lock writes the members, before tasks of the query are
 * passed to other threads, which read them.
 */
struct duckdb_connection {
	uint64_t context;  /* 0: free */
	uint64_t executor; /* 0: none yet */
	uint64_t query;	   /* component of the query */
	uint64_t plan;	   /* number of the plan; 0: none was registered */
	uint64_t mark;	   /* mark of the plan's run; 0: none */
	uint32_t nr;	   /* operators of the plan */
	struct duckdb_operator operator[DUCKDB_OPERATORS_MAX];
};

/* This is a class of operators, with those of its functions that are not virtual. */
struct duckdb_class {
	uint64_t table; /* virtual functions of the class; 0: free */
	uint32_t nr;
	uint64_t function[DUCKDB_CLASS_FUNCTIONS];
};

/* A room is a buffer for a text or a plan that is being read. */
struct duckdb_room {
	uint32_t is_taken;
	struct duckdb_explanation explained;
	char text[DUCKDB_TEXT_BYTES + 2], name[256];
};

/* This text lies in a std::string and is not copied. */
struct duckdb_text {
	const char *text;
	size_t bytes;
};

/* An entry has the number of a plan, and when its names were read (CLOCK_MONOTONIC). check shows for which shape of plan it is. */
struct duckdb_known {
	uint64_t plan, time_ns, check;
};

/* Only a program with DuckDB's library needs this memory. It is mapped when the library is found. */
struct duckdb_queries {
	struct duckdb_connection connection[DUCKDB_CONNECTIONS];
	struct duckdb_room room[4];
	struct duckdb_class class[DUCKDB_CLASSES_MAX];
	uint32_t class_lock; /* no thread waits for it; a thread that finds it taken does without the class's functions */
};

struct duckdb {
	struct object library; /* .headers is NULL if there is none */
	struct duckdb_queries *queries; /* mapped before the hooks are installed */
	uint64_t text_begin, text_end;
	uint64_t to_string, current_query, task_execute, pipeline_task_execute;
	enum duckdb_string_abi string_abi;
	bool has_print_format; /* the third argument of to_string is a connection, and a fourth has the format */
	uint64_t *operator_table; /* virtual functions of the base class */
	uint32_t nr_slots, children_slot;
	unsigned char role[DUCKDB_SLOTS];
	struct jitreg_function executor_waits, context_waits;
	struct {
		uint64_t address;
		enum duckdb_role role; /* role of the operator that the function works for */
	} pipeline[DUCKDB_PIPELINE_FUNCTIONS_MAX];
	uint32_t nr_pipeline;
	uint64_t state_type[DUCKDB_NO_ROLE]; /* type information of the states that an executor keeps, by role */
	uint32_t state_word[DUCKDB_NO_ROLE]; /* index of the executor's word for these states, + 1; 0: not known yet */
	uint32_t recorder, telling; /* recorder: the one that has the data below; telling: a thread is sending it */
	uint64_t nr_runs;
	uint64_t said[DUCKDB_SAID];
	struct duckdb_known known[DUCKDB_PLANS];
};
extern struct duckdb duckdb;

/* ---- duckdb_plan.c */
/*
 * Reads the virtual functions of an operator that play a role, without those of the base class. For DUCKDB_NO_ROLE these are the ones of
 * all roles, and duckdb_class_functions() adds others of the class. to has room for DUCKDB_FUNCTIONS. Returns their number.
 */
uint32_t duckdb_functions_of_role(const struct duckdb_operator *o, enum duckdb_role role, struct jitreg_function *to);
/* Reads the plan whose outermost operator is at that address, and registers it. If it cannot be read, c->plan is 0 and no operator is
 * registered. */
void duckdb_plan_register(struct duckdb_connection *c, uint64_t outermost);
/* Reads the std::string at that address. Returns false if the string cannot be read. The memory of its text is not checked. */
bool duckdb_string_read(uint64_t string, struct duckdb_text *to);
/* Returns the number of an operator's component. operator: index in c->operator. */
uint64_t duckdb_operator_id(const struct duckdb_connection *c, uint32_t operator);
uint32_t duckdb_find_operator(const struct duckdb_connection *c, uint64_t address); /* returns index + 1, or 0 */
struct duckdb_room *duckdb_room_take(void); /* returns NULL if all are taken */
void duckdb_room_leave(struct duckdb_room *r);
/* Is the component with this number known to be registered with the current recorder? duckdb_mark_registered() notes that it is. */
bool duckdb_is_registered(uint64_t id);
void duckdb_mark_registered(uint64_t id);

/* ---- duckdb_class.c */
/* Appends the functions of an operator's class that are not virtual to nr other functions, up to DUCKDB_FUNCTIONS in all. Appends none
 * while another thread looks some up, or if there are too many classes. Returns the new number. */
uint32_t duckdb_class_functions(uint64_t table, struct jitreg_function *to, uint32_t nr);

/* ---- duckdb_pipeline.c */
#define DUCKDB_PARTS_MAX 64u
struct duckdb_part {
	uint32_t operator; /* index */
	enum duckdb_role role;
};
/* These are the operators of a pipeline. Its source comes first, if the plan has it. */
struct duckdb_parts {
	uint64_t id; /* number of the pipeline's component */
	uint32_t nr;
	struct duckdb_part part[DUCKDB_PARTS_MAX];
};
/* Returns false if c has no plan, or if the pipeline cannot be read, its sink or a middle operator is not in the plan, or it has no
 * operator of the plan. */
bool duckdb_pipeline_read(const struct duckdb_connection *c, uint64_t pipeline, struct duckdb_parts *to);
/* Registers a pipeline that a thread is going to execute with this executor. */
void duckdb_pipeline_register(struct duckdb_connection *c, uint64_t executor, const struct duckdb_parts *p);
/* Registers a task, if c has a plan. operator is 0 if the task belongs to no operator. */
void duckdb_task_register(struct duckdb_connection *c, uint64_t task, uint64_t operator);
/* Registers a task that executes a pipeline, if its connection is found and has a plan. */
void duckdb_pipeline_task_register(uint64_t task, uint64_t pipeline);

/* ---- duckdb_state.c */
/* Registers the states that a new executor has for its operators. */
void duckdb_states_register(struct duckdb_connection *c, uint64_t executor, const struct duckdb_parts *p);

/* ---- duckdb.c: returns the connection whose query this executor executes, or NULL. */
struct duckdb_connection *duckdb_find_executor_connection(uint64_t executor);

#endif
