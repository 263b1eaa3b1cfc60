/* SPDX-License-Identifier: MIT */
/*
 * Reads the query that a backend of PostgreSQL executes, and the nodes of its plan, from its memory (in the process or from outside).
 *
 * Each value is checked before use, because the memory may change while it is read: tags, the plan of each node, functions, depth and
 * number.  Allocates no memory, and calls no functions of libc but string functions.  Context: any.
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
#define POSTGRES_TEXT_BYTES 61440 /* limit of a query's text, which is cut */

/* Results of reading.  0 is success. */
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

/* An executing query, the server's struct QueryDesc. */
struct postgres_query {
	uint64_t address;
	uint64_t statement, text, state; /* PlannedStmt, its source text, EState (0: not started) */
	uint64_t root;			 /* PlanState; 0: not started, or a utility command */
	uint64_t receive;		 /* function that takes the query's rows; 0: none */
	uint32_t destination;		 /* CommandDest, see postgres_class_of_destination() */
	uint32_t operation;		 /* CmdType: 1 SELECT, 2 UPDATE, 3 INSERT, 4 DELETE, 5 MERGE (5: utility before 15) */
	bool parallel;			 /* workers may execute parts of the query */
	uint32_t part_at, part_bytes;	 /* part of a text with several statements; part_bytes 0: to the end */
};

/* Read the query at address, which takes few reads.  Returns POSTGRES_NO_QUERY if there is none. */
enum postgres_end postgres_query_read(const struct postgres_reader *r, uint64_t address, struct postgres_query *q);
/* Read the query's part of its text, terminated by NUL, with "..." if it was cut.  Returns its length. */
size_t postgres_query_text(const struct postgres_reader *r, const struct postgres_query *q, char *to, size_t room);

/*
 * The component of a query.  Texts that differ in literals only have the same number, in all processes of one server.  salt: that of the
 * server.  The number of a query that may have parallel workers is computed from the whole text and the tables, which workers know too
 * (worker: this process is one), and otherwise from the query's part of the text.  Never 0.  text: set to the query's part, as by
 * postgres_query_text().  name: set to the same, normalised and shortened.  For workers, the leader's text and name are to be used.  work:
 * scratch memory.
 */
uint64_t postgres_query_component(const struct postgres_reader *r, const struct postgres_query *q, uint64_t salt, bool worker,
				  char text[POSTGRES_TEXT_BYTES], char work[POSTGRES_TEXT_BYTES], char name[POSTGRES_NAME_BYTES]);

/* A salt that makes component numbers of servers differ, from the postmaster's pid and its start time (PgStartTime, or 0). */
uint64_t postgres_salt(uint32_t postmaster_pid, uint64_t start_time);

/* The role of a node among the children of its owner. */
enum postgres_role { POSTGRES_OUTER, POSTGRES_INNER, POSTGRES_MEMBER, POSTGRES_INIT_PLAN, POSTGRES_SUBPLAN };
/* The label of the edge between node and owner. */
const char *postgres_role_label(enum postgres_role role);

/* A node on the path from the root to another node: its Plan, and the SubPlanState by which it is called, or 0. */
struct postgres_way {
	uint64_t plan, subplan;
};

struct postgres_node {
	uint64_t address; /* address of the PlanState */
	uint64_t owner;	  /* address of the calling node, visited before; 0: this is the root */
	uint64_t upper;	  /* owner, or for the root the address of the query */
	uint64_t plan;	  /* address of the Plan */
	enum postgres_node_type type;
	enum postgres_role role;
	int32_t plan_node_id;
	uint32_t order, depth;	    /* order: index among the owner's nodes, as in EXPLAIN; 0 for the root */
	double rows, startup_cost, total_cost; /* estimates of the planner; rows: per loop */
	int32_t width;
	char name[POSTGRES_NAME_BYTES];	    /* name in EXPLAIN, "Seq Scan on lineitem" */
	uint64_t subplan; /* the SubPlanState by which it is called, or 0 */
	const struct postgres_way *way; /* path from the root to this node at depth; valid while it is visited */
	uint64_t request; /* the AsyncRequest by which an Append requests rows asynchronously, or 0 */
	uint64_t functions[POSTGRES_FUNCTIONS_MAX]; /* functions that work on the node, first ExecProcNodeReal */
	uint32_t nr_functions;
};

/*
 * An asynchronous request for a node's rows (n->request) is an object of its own, below the node and with the node's component, because
 * frames of the functions that work on it hold the address of the request, and not that of the node.  Finds these functions and those of
 * the node.  Returns their number.
 */
#define POSTGRES_REQUEST_FUNCTIONS (POSTGRES_FUNCTIONS_MAX + 3)
uint32_t postgres_request_functions(const struct postgres_reader *r, const struct postgres_node *n,
				    uint64_t to[POSTGRES_REQUEST_FUNCTIONS]);

/* Does the server count the rows of this query's nodes (EXPLAIN ANALYZE, auto_explain.log_analyze)? */
bool postgres_query_is_counted(const struct postgres_reader *r, uint64_t query);
/* The numbers of rows that a node has returned so far, and of its loops.  Returns false if it is not counted, or has not begun. */
bool postgres_node_counts(const struct postgres_reader *r, const struct postgres_node *n, double *rows, double *loops);

/* The planner's estimate of rows, rounded as in EXPLAIN, or -1 if there is none. */
int64_t postgres_node_rows(const struct postgres_node *n);

/*
 * Call visit for each node, owners first.  A subplan that two nodes call is visited twice, at one address, and its first owner counts.
 * The walk ends when visit returns nonzero.  If the result is not POSTGRES_OK, not all of the plan was visited.
 */
enum postgres_end postgres_plan_walk(const struct postgres_reader *r, const struct postgres_query *q,
				     int (*visit)(void *context, const struct postgres_node *n), void *context);

/* The component of a node of this query.  Never 0. */
uint64_t postgres_node_id(uint64_t query_id, const struct postgres_node *n);

/* Add bytes to a hash of 64 bits, which begins with 0. */
uint64_t postgres_hash(uint64_t hash, const void *bytes, size_t nr);

#endif
