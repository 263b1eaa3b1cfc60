/* SPDX-License-Identifier: MIT */
/* A small data-centric compiling query engine on stock LLVM: what its files share.  See README.md. */
#ifndef ENGINE_H
#define ENGINE_H

#include "runtime.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- data.c: TPC-H-shaped columns, all of 8-byte integers: keys, cents, per cent, days since 1970, characters */
enum table_id { CUSTOMER, ORDERS, LINEITEM, PART, PARTSUPP, SUPPLIER, NR_TABLES };
#define COLUMNS(X) \
	X(CUSTOMER, c_custkey) X(CUSTOMER, c_mktsegment) \
	X(ORDERS, o_orderkey) X(ORDERS, o_custkey) X(ORDERS, o_orderdate) X(ORDERS, o_shippriority) \
	X(LINEITEM, l_orderkey) X(LINEITEM, l_quantity) X(LINEITEM, l_extendedprice) X(LINEITEM, l_discount) \
	X(LINEITEM, l_tax) X(LINEITEM, l_returnflag) X(LINEITEM, l_linestatus) X(LINEITEM, l_shipdate) \
	X(PART, p_partkey) X(PART, p_brand) X(PART, p_type) X(PART, p_size) \
	X(PARTSUPP, ps_partkey) X(PARTSUPP, ps_suppkey) X(SUPPLIER, s_suppkey) X(SUPPLIER, s_comment) \
	X(LINEITEM, l_partkey) X(ORDERS, o_totalprice)
#define COLUMN_ENUM_(table, name) name,
enum column_id {
	COLUMNS(COLUMN_ENUM_)
	/* computed: aggregates, work, what a groupjoin found, a node and its rank */
	x_sum0, x_sum1, x_sum2, x_sum3, x_sum4, x_count, x_average, x_work, x_entry, x_node, x_rank,
	NR_COLUMNS,
	NR_STORED = x_sum0,
};
#undef COLUMN_ENUM_

struct data {
	uint64_t rows[NR_TABLES];
	/* c_mktsegment: pointers to 10 characters; s_comment: to text; p_brand: 45 is 'Brand#45'; p_type: its place among the types */
	int64_t *column[NR_STORED];
};

int data_generate(struct data *d, double scale);
/* The place of the first type with these two syllables, five of which lie side by side; -1: there is none. */
int64_t data_type(const char *first, const char *second);
int64_t data_day(int year, int month, int day); /* since 1970-01-01 */
extern const char *const column_names[];
extern const char *const table_names[];
extern const enum table_id column_tables[];

/* ---- plan.c: expressions and operators */
enum expression_kind { E_COLUMN, E_CONSTANT, E_TEXT, E_ADD, E_SUB, E_MUL, E_LT, E_LE, E_GE, E_GT, E_EQ, E_NE, E_AND, E_OR,
		       E_SAME_TEXT, E_LIKE };

struct expression {
	enum expression_kind kind;
	int64_t value; /* column or constant */
	const char *text;
	struct expression *a, *b;
};

enum operator_kind { OP_SCAN, OP_SELECT, OP_JOIN, OP_GROUPJOIN, OP_GROUP, OP_AGGREGATE, OP_WORK, OP_TOP, OP_RANKS,
		     OP_ITERATE, OP_OUTPUT };

#define KEYS_MAX RUNTIME_KEYS_MAX
#define VALUES_MAX RUNTIME_VALUES_MAX

struct operator {
	uint32_t id;
	enum operator_kind kind;
	char name[64], detail[256];
	struct operator *input; /* join: the build side */
	struct operator *probe;
	struct operator *parent;
	enum table_id table;		/* scan */
	struct expression *predicate;	/* select */
	enum column_id key, probe_key;	/* join, groupjoin */
	bool anti;			/* join: what has no partner passes */
	enum column_id keys[KEYS_MAX];	/* group */
	int nr_keys;
	struct {
		struct expression *of; /* NULL: count */
		enum column_id as;
	} sums[VALUES_MAX]; /* group, groupjoin, aggregate */
	int nr_sums;
	bool average;			    /* group: x_average is x_sum0 / x_count, in whole cents */
	enum column_id columns[VALUES_MAX]; /* output, top: what is kept; top: columns[0] is ordered by, descending */
	int nr_columns;
	uint64_t units; /* work; top: how many; ranks, iterate: nodes */
	uint64_t slower; /* work, not inlined: per cent that --slow adds */
	bool inlined;	/* work: by generated code, not by the runtime */
	double estimated_rows;
	uint64_t rows; /* that it produced in the last run */
	void *state;   /* join, group, top: the runtime's table */
};

/* What an iteration reads and what it writes: a rank for each node 1, 2, 3, ... */
struct ranks {
	int64_t *now, *next;
	uint64_t nr;
};
#define RANK_UNIT 1000000 /* ranks are millionths */
#define RANK_BASE (RANK_UNIT * 15 / 100)
#define RANK_OF(sum) (RANK_BASE + (sum) * 85 / 400) /* each node has four edges */
#define ITERATIONS_MAX 20

#define OPERATORS_MAX 16
#define WORK_ROUNDS 16 /* of an inlined unit */
struct plan {
	const char *name, *sql;
	struct operator *root;
	struct operator *operators[OPERATORS_MAX]; /* by id - 1 */
	uint32_t nr_operators;
	bool needs[NR_COLUMNS];
};

/* NULL: no such query. */
struct plan *plan_make(const char *query, const struct data *d);
/* Have an operator that works do so many per cent more, for nothing: "work 8=20"; false: there is none, or no such number. */
bool plan_slow(struct plan *p, const char *what);
void plan_print(const struct plan *p);

/* ---- codegen.c: a task is one operator's part in one pipeline */
struct task {
	uint32_t id, operator, pipeline;
	uint64_t tag;
	char name[80];
};

/*
 * What may be done to the code between generating and running it (--optimize), each on its own: optimize.c keeps the Tagging
 * Dictionary by A. Beischl et al., EuroSys 2021, section 4.2.7.
 */
#define OPTIMIZATIONS(X) \
	X(INLINE, "inline", "generated code probes hash tables itself") \
	X(FOLD, "fold", "constant folding") \
	X(CSE, "cse", "common subexpressions are computed once") \
	X(ELIMINATE, "eliminate", "code that nobody needs is removed") \
	X(FUSE, "fuse", "two updates of neighbouring words become one instruction of two words") \
	X(VECTOR, "vector", "loops without calls over four rows at a time") \
	X(UNROLL, "unroll", "other loops four rows a round, their loads first") \
	X(LLVM, "llvm", "LLVM's own passes (-O2)")
#define OPTIMIZATION_ENUM_(name, word, help) OPTIMIZATION_##name,
enum optimization { OPTIMIZATIONS(OPTIMIZATION_ENUM_) NR_OPTIMIZATIONS };
#undef OPTIMIZATION_ENUM_
#define OPTIMIZATION_BIT_(name, word, help) OPTIMIZE_##name = 1 << OPTIMIZATION_##name,
enum { OPTIMIZATIONS(OPTIMIZATION_BIT_) };
#undef OPTIMIZATION_BIT_

/* How calls of the runtime say whom they serve: compare.h */
enum compare_mode { COMPARE_REGISTER, COMPARE_MEMORY, COMPARE_NONE };

/* Which executions of the generated code are counted: count.h */
enum count_mode { COUNT_NONE, COUNT_MINIMAL, COUNT_ALL };

struct options {
	enum compare_mode compare;
	enum count_mode count;
	bool outline; /* each task in a function of its own */
	bool pack;    /* operator and pipeline in one register */
	bool explain;
	unsigned optimize; /* OPTIMIZE_* */
	const char *cpu;   /* model that code is for; NULL: this machine's */
	int nr_threads;
};

/* One step of the execution: a generated function over morsels of [0, rows). */
typedef void (*pipeline_function)(struct worker *w, int64_t from, int64_t to);
struct pipeline {
	uint32_t id;
	char name[64];
	uint64_t rows;		      /* known before; unused with rows_of or merges */
	struct operator *rows_of;     /* rows are those of this one's merged table */
	struct operator *merges;      /* this one's tables: rows = threads, one row a morsel */
	pipeline_function function;
};

#define TASKS_MAX 64
#define PIPELINES_MAX 16
struct optimizer;
struct program {
	struct task tasks[TASKS_MAX];
	uint32_t nr_tasks;
	struct pipeline pipelines[PIPELINES_MAX];
	uint32_t nr_pipelines;
	struct operator *iterate;	/* NULL: no iterations; else these pipelines are repeated until no rank changes */
	uint32_t first_of_iteration, end_of_iteration;
	char *ir;	 /* as generated; behind it what the optimizer made */
	char *optimized; /* NULL: nothing but LLVM changed it */
	const struct optimizer *optimizer; /* what it knows of the lines */
	uint64_t *counters; /* of each worker, one behind another; NULL: nothing is counted */
	uint32_t nr_counters, *entered; /* entered: which of them says how often something was added to each */
};

int codegen(struct plan *plan, const struct data *d, const struct options *o, struct program *out);
/* Levels, operators, and where the tag lives. */
void codegen_announce_plan(const struct plan *p, const struct options *options); /* replay */
/* The abstraction levels, from above. */
enum { OPERATOR = 1, PIPELINE, TASK, IR };

/* ---- replay.c: all three live as long as the program. */
void replay_when_asked(const struct plan *plan, const struct program *program, const struct options *options);

/* ---- execute.c */
/* Runs all pipelines; the result is in the workers' rows.  Returns ms. */
double execute(struct plan *plan, struct program *program, const struct options *o);
struct result {
	uint64_t nr_rows;
	uint64_t checksum; /* does not depend on the order of rows */
};
struct result execute_result(void);
void execute_print(const struct plan *plan, int rows);
void execute_stop(void);

/* ---- naive.c: the same queries, written down by hand, one row at a time */
struct result naive(const char *query, const struct data *d);
uint64_t row_hash(const int64_t *row, int nr);

#endif
