/* SPDX-License-Identifier: MIT */
/*
 * What a backend of PostgreSQL executes: its query, and the nodes of its plan, read from its memory (its own, or from outside).
 *
 * Each value is checked before it is used, because the memory may be changed while it is read: tags, the plan of each node, functions,
 * depth and number.  Nothing is allocated; nothing of libc but string functions is called.  Context: any.
 */
#ifndef JITREG_POSTGRES_PLAN_H
#define JITREG_POSTGRES_PLAN_H

#include "jitreg/engines/postgres_code.h"
#include "jitreg/engines/postgres_layout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define POSTGRES_DEPTH_MAX 256
#define POSTGRES_NODES_MAX 4096
#define POSTGRES_NAME_BYTES 256
#define POSTGRES_DETAIL_BYTES 640
#define POSTGRES_TEXT_BYTES 61440 /* of a query: what is longer is cut */

/* What reading ended with: 0 is success. */
#define POSTGRES_ENDS(X) \
	X(OK, "read") \
	X(UNREADABLE, "its memory cannot be read") \
	X(NO_QUERY, "no query is there") \
	X(NO_NODE, "a node has an unknown tag, or a plan that is not its own") \
	X(NO_FUNCTION, "a node's function is not in the server's code") \
	X(NO_LIST, "a list of nodes is damaged") \
	X(TOO_DEEP, "its plan has more than 256 levels") \
	X(TOO_MANY, "its plan has more than 4096 nodes")
#define POSTGRES_END_INDEX_(NAME, text) POSTGRES_##NAME,
enum postgres_end { POSTGRES_ENDS(POSTGRES_END_INDEX_) POSTGRES_NR_ENDS };
#undef POSTGRES_END_INDEX_
const char *postgres_end_text(enum postgres_end end);

/* A query that is executed: the server's struct QueryDesc. */
struct postgres_query {
	uint64_t address;
	uint64_t statement, text, state; /* PlannedStmt, its source text, EState (0: not started) */
	uint64_t root;			 /* PlanState; 0: not started, or a utility command */
	uint64_t receive;		 /* the function that takes its rows; 0: there is none */
	uint32_t destination;		 /* CommandDest: see postgres_class_of_destination() */
	uint32_t operation;		 /* CmdType: 1 SELECT, 2 UPDATE, 3 INSERT, 4 DELETE, 5 MERGE (5: utility before 15) */
	bool parallel;			 /* parts of it may be executed by workers */
	uint32_t part_at, part_bytes;	 /* of a text with several statements: where its own begins; part_bytes 0: to the end */
};

/* Is it a query?  Cheap: three reads. */
enum postgres_end postgres_query_read(const struct postgres_reader *r, uint64_t address, struct postgres_query *q);
/* Its own part of its text; ended by 0, with "..." where it was cut.  Returns its bytes. */
size_t postgres_query_text(const struct postgres_reader *r, const struct postgres_query *q, char *to, size_t room);

/*
 * A query's component: a number that texts have in common which differ in literals only, in all processes of one server (salt: of the
 * server).  Of a query that may have parallel workers it is of the whole text and the tables, because that is what a worker knows
 * (worker: this is one); else of the query's own part.  Never 0.  text: its own part, as postgres_query_text() has it, and name: the same,
 * normalised and shortened; of a worker both are its leader's to say.  work: what it holds is over.
 */
uint64_t postgres_query_component(const struct postgres_reader *r, const struct postgres_query *q, uint64_t salt, bool worker,
				  char text[POSTGRES_TEXT_BYTES], char work[POSTGRES_TEXT_BYTES], char name[POSTGRES_NAME_BYTES]);

/* What keeps the numbers of one server's components from another's: by its postmaster, and when that was started (PgStartTime, or 0). */
uint64_t postgres_salt(uint32_t postmaster_pid, uint64_t start_time);

/* How a node is called by the one above it. */
enum postgres_role { POSTGRES_OUTER, POSTGRES_INNER, POSTGRES_MEMBER, POSTGRES_INIT_PLAN, POSTGRES_SUBPLAN };
/* The label of the edge between them. */
const char *postgres_role_label(enum postgres_role role);

/* A node on the way from the root to another: its Plan, and the SubPlanState by which it is called, or 0. */
struct postgres_way {
	uint64_t plan, subplan;
};

struct postgres_node {
	uint64_t address; /* PlanState */
	uint64_t owner;	  /* of the node that calls it, visited before; 0: it is the root */
	uint64_t upper;	  /* the same, or of the root the query's address */
	uint64_t plan;	  /* Plan */
	enum postgres_node_type type;
	enum postgres_role role;
	int32_t plan_node_id;
	uint32_t order, depth;	    /* among the nodes of its owner, as EXPLAIN lists them; of the root 0 */
	double rows, startup_cost, total_cost; /* as the planner estimates; rows: for each time that it is begun */
	int32_t width;
	char name[POSTGRES_NAME_BYTES];	    /* as EXPLAIN prints it: "Seq Scan on lineitem" */
	uint64_t subplan; /* the SubPlanState by which it is called, or 0 */
	const struct postgres_way *way; /* from the root on, up to itself at depth; only while it is visited */
	uint64_t request; /* the AsyncRequest by which an Append asks it, without waiting for it; 0: it does not */
	uint64_t functions[POSTGRES_FUNCTIONS_MAX]; /* that work on it; the first one is ExecProcNodeReal */
	uint32_t nr_functions;
};

/*
 * A request for a node's rows that may have to be waited for (n->request) is an object of its own, below the node and with its component:
 * frames of the functions that work on it hold its address, and not the node's.  Its functions: those, and the node's.  Returns how many.
 */
#define POSTGRES_REQUEST_FUNCTIONS (POSTGRES_FUNCTIONS_MAX + 3)
uint32_t postgres_request_functions(const struct postgres_reader *r, const struct postgres_node *n,
				    uint64_t to[POSTGRES_REQUEST_FUNCTIONS]);

/* Does the server count the rows of this query's nodes (EXPLAIN ANALYZE, auto_explain.log_analyze)? */
bool postgres_query_is_counted(const struct postgres_reader *r, uint64_t query);
/* Rows that a node has yielded in all of its loops so far, and how many these are.  false: it is not counted, or has not begun. */
bool postgres_node_counts(const struct postgres_reader *r, const struct postgres_node *n, double *rows, double *loops);

/* What the planner estimates, as EXPLAIN rounds it; -1: no number of rows. */
int64_t postgres_node_rows(const struct postgres_node *n);

/*
 * Calls visit for each node, its owner before it.  A subplan that two nodes call is visited twice, at one address; the first owner counts.
 * The walk ends when visit returns nonzero.  What was visited before an end that is not POSTGRES_OK is not the whole plan.
 */
enum postgres_end postgres_plan_walk(const struct postgres_reader *r, const struct postgres_query *q,
				     int (*visit)(void *context, const struct postgres_node *n), void *context);

/* A node's component, of this query's.  Never 0. */
uint64_t postgres_node_id(uint64_t query_id, const struct postgres_node *n);

/* 64 bits of all that was added; begin with 0 or with what came before. */
uint64_t postgres_hash(uint64_t hash, const void *bytes, size_t nr);

#endif
