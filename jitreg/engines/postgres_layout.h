/* SPDX-License-Identifier: MIT */
/*
 * Where things stand in the memory of a PostgreSQL server: offsets of members and tags of nodes, a table for each major version.  They are
 * what the server's own headers say; postgres_layout.sh writes postgres_layout.c from them.  Struct Instrumentation is not among them.
 * Context: any.
 */
#ifndef JITREG_POSTGRES_LAYOUT_H
#define JITREG_POSTGRES_LAYOUT_H

#include <stdint.h>

/*      field of struct postgres_layout, the server's struct, its member */
#define POSTGRES_OFFSETS(X) \
	X(portal_query, PortalData, queryDesc) \
	X(query_operation, QueryDesc, operation) \
	X(query_statement, QueryDesc, plannedstmt) \
	X(query_text, QueryDesc, sourceText) \
	X(query_state, QueryDesc, estate) \
	X(query_root, QueryDesc, planstate) \
	X(query_destination, QueryDesc, dest) \
	X(destination_function, DestReceiver, receiveSlot) \
	X(destination_kind, DestReceiver, mydest) \
	X(statement_tree, PlannedStmt, planTree) \
	X(statement_range_table, PlannedStmt, rtable) \
	X(statement_parallel, PlannedStmt, parallelModeNeeded) \
	X(statement_utility, PlannedStmt, utilityStmt) \
	X(statement_location, PlannedStmt, stmt_location) \
	X(statement_bytes, PlannedStmt, stmt_len) \
	X(state_relations, EState, es_relations) \
	X(state_nr_relations, EState, es_range_table_size) \
	X(node_plan, PlanState, plan) \
	X(node_state, PlanState, state) \
	X(node_function, PlanState, ExecProcNodeReal) \
	X(node_left, PlanState, lefttree) \
	X(node_right, PlanState, righttree) \
	X(node_init_plans, PlanState, initPlan) \
	X(node_subplans, PlanState, subPlan) \
	X(plan_startup_cost, Plan, startup_cost) \
	X(plan_total_cost, Plan, total_cost) \
	X(plan_rows, Plan, plan_rows) \
	X(plan_width, Plan, plan_width) \
	X(plan_parallel_aware, Plan, parallel_aware) \
	X(plan_id, Plan, plan_node_id) \
	X(join_type, Join, jointype) \
	X(agg_strategy, Agg, aggstrategy) \
	X(agg_split, Agg, aggsplit) \
	X(setop_command, SetOp, cmd) \
	X(setop_strategy, SetOp, strategy) \
	X(modify_operation, ModifyTable, operation) \
	X(foreign_operation, ForeignScan, operation) \
	X(custom_methods, CustomScan, methods) \
	X(custom_name, CustomScanMethods, CustomName) \
	X(index_direction, IndexScan, indexorderdir) \
	X(index_only_direction, IndexOnlyScan, indexorderdir) \
	X(scan_relation_index, Scan, scanrelid) \
	X(modify_relation_index, ModifyTable, nominalRelation) \
	X(scan_relation, ScanState, ss_currentRelation) \
	X(index_scan_index, IndexScanState, iss_RelationDesc) \
	X(index_only_scan_index, IndexOnlyScanState, ioss_RelationDesc) \
	X(bitmap_index_scan_index, BitmapIndexScanState, biss_RelationDesc) \
	X(relation_class, RelationData, rd_rel) \
	X(relation_name, FormData_pg_class, relname) \
	X(append_members, AppendState, appendplans) \
	X(append_nr, AppendState, as_nplans) \
	X(merge_append_members, MergeAppendState, mergeplans) \
	X(merge_append_nr, MergeAppendState, ms_nplans) \
	X(bitmap_and_members, BitmapAndState, bitmapplans) \
	X(bitmap_and_nr, BitmapAndState, nplans) \
	X(bitmap_or_members, BitmapOrState, bitmapplans) \
	X(bitmap_or_nr, BitmapOrState, nplans) \
	X(subquery_plan, SubqueryScanState, subplan) \
	X(custom_children, CustomScanState, custom_ps) \
	X(subplan_node, SubPlanState, planstate) \
	X(subplan_expression, SubPlanState, subplan) \
	X(subplan_name, SubPlan, plan_name) \
	X(list_nr, List, length) \
	X(list_elements, List, elements) \
	X(range_kind, RangeTblEntry, rtekind) \
	X(range_relation, RangeTblEntry, relid) \
	X(range_names, RangeTblEntry, eref) \
	X(range_cte, RangeTblEntry, ctename) \
	X(alias_name, Alias, aliasname) \
	X(backend_change_count, PgBackendStatus, st_changecount) \
	X(backend_pid, PgBackendStatus, st_procpid) \
	X(backend_type, PgBackendStatus, st_backendType) \
	X(backend_query_start_us, PgBackendStatus, st_activity_start_timestamp) \
	X(backend_state_start_us, PgBackendStatus, st_state_start_timestamp) \
	X(backend_application, PgBackendStatus, st_appname) \
	X(backend_state, PgBackendStatus, st_state) \
	X(backend_text, PgBackendStatus, st_activity_raw)

/* Nodes of plans: name, the server's name of it, EXPLAIN's name of it. */
#define POSTGRES_NODES(X) \
	X(RESULT, Result, "Result") \
	X(PROJECT_SET, ProjectSet, "ProjectSet") \
	X(MODIFY_TABLE, ModifyTable, "ModifyTable") \
	X(APPEND, Append, "Append") \
	X(MERGE_APPEND, MergeAppend, "Merge Append") \
	X(RECURSIVE_UNION, RecursiveUnion, "Recursive Union") \
	X(BITMAP_AND, BitmapAnd, "BitmapAnd") \
	X(BITMAP_OR, BitmapOr, "BitmapOr") \
	X(SEQ_SCAN, SeqScan, "Seq Scan") \
	X(SAMPLE_SCAN, SampleScan, "Sample Scan") \
	X(INDEX_SCAN, IndexScan, "Index Scan") \
	X(INDEX_ONLY_SCAN, IndexOnlyScan, "Index Only Scan") \
	X(BITMAP_INDEX_SCAN, BitmapIndexScan, "Bitmap Index Scan") \
	X(BITMAP_HEAP_SCAN, BitmapHeapScan, "Bitmap Heap Scan") \
	X(TID_SCAN, TidScan, "Tid Scan") \
	X(TID_RANGE_SCAN, TidRangeScan, "Tid Range Scan") \
	X(SUBQUERY_SCAN, SubqueryScan, "Subquery Scan") \
	X(FUNCTION_SCAN, FunctionScan, "Function Scan") \
	X(TABLE_FUNCTION_SCAN, TableFuncScan, "Table Function Scan") \
	X(VALUES_SCAN, ValuesScan, "Values Scan") \
	X(CTE_SCAN, CteScan, "CTE Scan") \
	X(NAMED_TUPLESTORE_SCAN, NamedTuplestoreScan, "Named Tuplestore Scan") \
	X(WORK_TABLE_SCAN, WorkTableScan, "WorkTable Scan") \
	X(FOREIGN_SCAN, ForeignScan, "Foreign Scan") \
	X(CUSTOM_SCAN, CustomScan, "Custom Scan") \
	X(NESTED_LOOP, NestLoop, "Nested Loop") \
	X(MERGE_JOIN, MergeJoin, "Merge Join") \
	X(HASH_JOIN, HashJoin, "Hash Join") \
	X(MATERIALIZE, Material, "Materialize") \
	X(MEMOIZE, Memoize, "Memoize") \
	X(SORT, Sort, "Sort") \
	X(INCREMENTAL_SORT, IncrementalSort, "Incremental Sort") \
	X(GROUP, Group, "Group") \
	X(AGGREGATE, Agg, "Aggregate") \
	X(WINDOW_AGG, WindowAgg, "WindowAgg") \
	X(UNIQUE, Unique, "Unique") \
	X(GATHER, Gather, "Gather") \
	X(GATHER_MERGE, GatherMerge, "Gather Merge") \
	X(HASH, Hash, "Hash") \
	X(SET_OP, SetOp, "SetOp") \
	X(LOCK_ROWS, LockRows, "LockRows") \
	X(LIMIT, Limit, "Limit")

#define POSTGRES_NODE_INDEX_(NAME, server, text) POSTGRES_##NAME,
enum postgres_node_type { POSTGRES_NODES(POSTGRES_NODE_INDEX_) POSTGRES_NR_NODES };
#undef POSTGRES_NODE_INDEX_

/* Other nodes that are met on the way. */
#define POSTGRES_TAGS(X) \
	X(list, List) \
	X(statement, PlannedStmt) \
	X(subplan_state, SubPlanState) \
	X(subplan, SubPlan) \
	X(state, EState) \
	X(range, RangeTblEntry) \
	X(alias, Alias)

/* What a server's program prints for --version, in front of the number; it is among its constants. */
#define POSTGRES_VERSION_TEXT "postgres (PostgreSQL) "
/* What is said of a version without a table: its number, postgres_layout_versions(). */
#define POSTGRES_UNKNOWN_VERSION "plan nodes of PostgreSQL %u unavailable: tailor has the layouts of versions %s"

/* A member that a version does not have. */
#define POSTGRES_ABSENT UINT16_MAX

struct postgres_layout {
	uint16_t major; /* of the version: 15 */
#define POSTGRES_FIELD_(field, type, member) uint16_t field;
	POSTGRES_OFFSETS(POSTGRES_FIELD_)
#undef POSTGRES_FIELD_
#define POSTGRES_FIELD_(field, type) uint16_t tag_##field;
	POSTGRES_TAGS(POSTGRES_FIELD_)
#undef POSTGRES_FIELD_
	uint16_t tag_of_state[POSTGRES_NR_NODES], tag_of_plan[POSTGRES_NR_NODES]; /* T_SeqScanState, T_SeqScan */
};

/* NULL: none is known. */
const struct postgres_layout *postgres_layout_of(unsigned major);
/* Major versions with a table, as words for a sentence: "15, 16". */
const char *postgres_layout_versions(void);

#endif
