/* SPDX-License-Identifier: MIT */
/*
 * Reads the query that a backend of PostgreSQL executes, and the nodes of its plan, from the backend's memory. The agent in the process
 * and the recorder outside use it, each with its own read function (struct postgres_reader).
 *
 * The memory may change while it is read, so the tags of structs, the functions, the depth and the number of nodes are checked before use,
 * and a node's plan and state must fit the node and the query. Allocates no memory, and calls no functions of libc but string functions.
 * Context: any.
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
#define POSTGRES_TEXT_BYTES 61440 /* room for a query's text, which is cut if it is longer */

/* These are results of reading, and clauses about them.  0 is success. */
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

/* This describes an executing query, which is the server's struct QueryDesc. */
struct postgres_query {
	uint64_t address;
	uint64_t statement, text, state; /* addresses of the PlannedStmt, of its source text, and of the EState (0: not started) */
	uint64_t root;			 /* address of the root's PlanState; 0: not started, or a utility command */
	uint64_t receive;		 /* address of the function that takes the query's rows; 0: none, or unreadable */
	uint32_t destination;		 /* enum CommandDest, see postgres_class_of_destination() */
	/* enum CmdType: 1 SELECT, 2 UPDATE, 3 INSERT, 4 DELETE, 5 MERGE (before version 15: utility), 6 utility */
	uint32_t operation;
	bool parallel;			 /* workers may execute parts of the query */
	uint32_t part_at, part_bytes;	 /* place of the statement in a text with several; part_bytes 0: up to the end */
};

/* Read the struct QueryDesc at address, and what it points to directly.  Returns POSTGRES_OK, POSTGRES_NO_QUERY if there is none, or
 * POSTGRES_UNREADABLE. */
enum postgres_end postgres_query_read(const struct postgres_reader *r, uint64_t address, struct postgres_query *q);
/* Read the text of the query's statement, without white space around it and semicolons behind it, terminated by NUL, and with "..." at the
 * end if it was cut. Returns its length. room: at least 8. */
size_t postgres_query_text(const struct postgres_reader *r, const struct postgres_query *q, char *to, size_t room);

/*
 * Returns the number of a query's component, which is never 0.  Queries whose texts differ only in literals have the same number, in all
 * processes of one server.  salt: postgres_salt() of the server.  The number is a hash of the normalised text of the statement.  For a
 * query that may have parallel workers, in a text of several statements, it is one of the whole text and the tables instead, because
 * workers know only these.  worker: this
 * process is a worker.  Sets text as postgres_query_text() does, and name to the same, normalised and shortened.  In a worker these may be
 * those of other statements too, so callers use the leader's.  work: scratch memory.
 */
uint64_t postgres_query_component(const struct postgres_reader *r, const struct postgres_query *q, uint64_t salt, bool worker,
				  char text[POSTGRES_TEXT_BYTES], char work[POSTGRES_TEXT_BYTES], char name[POSTGRES_NAME_BYTES]);

/* Returns a number for postgres_query_component(), which makes numbers of components of different servers differ.  It is computed from the
 * postmaster's pid and its start time (PgStartTime, or 0 if unknown). */
uint64_t postgres_salt(uint32_t postmaster_pid, uint64_t start_time);

/* A node's owner, which is the node that calls it, refers to it in one of these roles: as its outer or inner side, one of several
 * members, an InitPlan or a SubPlan. */
enum postgres_role { POSTGRES_OUTER, POSTGRES_INNER, POSTGRES_MEMBER, POSTGRES_INIT_PLAN, POSTGRES_SUBPLAN };
/* Returns the label of the edge between node and owner, which is "" except for InitPlans and SubPlans. */
const char *postgres_role_label(enum postgres_role role);

/* A path from the root to a node has one of these for each node on it. It has the addresses of the node's Plan, and of the SubPlanState by
 * which it is called (0: none). */
struct postgres_way {
	uint64_t plan, subplan;
};

struct postgres_node {
	uint64_t address; /* address of the PlanState */
	uint64_t owner;	  /* address of the node that calls this one, which was visited before; 0: this is the root */
	uint64_t upper;	  /* owner, or, for the root, the address of the query */
	uint64_t plan;	  /* address of the Plan */
	enum postgres_node_type type;
	enum postgres_role role;
	int32_t plan_node_id;
	/* order: index among the owner's nodes, in the order of EXPLAIN; depth: number of nodes above; both are 0 for the root */
	uint32_t order, depth;
	double rows, startup_cost, total_cost; /* estimates of the planner; rows are those of each execution of the node */
	int32_t width;
	char name[POSTGRES_NAME_BYTES];	    /* name in EXPLAIN, "Seq Scan on lineitem" */
	uint64_t subplan; /* address of the SubPlanState by which the node is called, or 0 */
	const struct postgres_way *way; /* nodes on the path from the root (way[0]) to this node (way[depth]); valid during the visit */
	uint64_t request; /* address of the AsyncRequest by which an Append requests the node's rows, or 0 */
	uint64_t functions[POSTGRES_FUNCTIONS_MAX]; /* functions that work on the node, as of postgres_code_node_functions() */
	uint32_t nr_functions;
};

/*
 * An asynchronous request for a node's rows (n->request) is announced as an object (jitreg_object()) of its own, below the node's and with
 * the node's component, because frames of the functions that work on it have the address of the request, and not that of the node.  Writes
 * these functions and those of the node.  Returns their number.
 */
#define POSTGRES_REQUEST_FUNCTIONS (POSTGRES_FUNCTIONS_MAX + 3)
uint32_t postgres_request_functions(const struct postgres_reader *r, const struct postgres_node *n,
				    uint64_t to[POSTGRES_REQUEST_FUNCTIONS]);

/* Does the server count the rows of the nodes of the query at this address (EXPLAIN ANALYZE, auto_explain.log_analyze)? False also if this
 * cannot be read. */
bool postgres_query_is_counted(const struct postgres_reader *r, uint64_t query);
/* Set *rows to the number of rows that a node has returned so far, and *loops to that of its executions, including the present one.
 * Returns false if the server does not count them, the node has not begun, or they cannot be read. */
bool postgres_node_counts(const struct postgres_reader *r, const struct postgres_node *n, double *rows, double *loops);

/* Returns the planner's estimate of rows, rounded as in EXPLAIN, or -1 if the number is negative, too large or NaN. */
int64_t postgres_node_rows(const struct postgres_node *n);

/*
 * Call visit for each node of the plan, owners first. A subplan that two nodes call is visited twice, with the same address. The recorder
 * takes its first owner, and in the agent the second announcement replaces the first. If visit returns nonzero, the walk ends with
 * POSTGRES_OK. With another result, only a part of the plan was visited.
 */
enum postgres_end postgres_plan_walk(const struct postgres_reader *r, const struct postgres_query *q,
				     int (*visit)(void *context, const struct postgres_node *n), void *context);

/* Returns the number of a node's component, a hash of the query's number, plan_node_id and the node's name.  It is never 0. */
uint64_t postgres_node_id(uint64_t query_id, const struct postgres_node *n);

/* Returns the hash of 64 bits of bytes.  hash: 0, or the hash of what comes before. */
uint64_t postgres_hash(uint64_t hash, const void *bytes, size_t nr);

#endif
