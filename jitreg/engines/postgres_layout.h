/* SPDX-License-Identifier: MIT */
/*
 * Describes the memory layout of PostgreSQL servers by offsets of members of structs, and tags of nodes (enum NodeTag), for each major
 * version. postgres_layout.sh writes postgres_layout.c from the headers of the servers. Context: any.
 */
#ifndef JITREG_POSTGRES_LAYOUT_H
#define JITREG_POSTGRES_LAYOUT_H

#include <stdint.h>

/* Columns: field of struct postgres_layout, the server's struct, its member. */
#define POSTGRES_OFFSETS(X) \
	X(portal_name, PortalData, name) \
	X(portal_query, PortalData, queryDesc) \
	X(portal_text, PortalData, sourceText) \
	X(portal_statements, PortalData, stmts) \
	X(query_operation, QueryDesc, operation) \
	X(query_statement, QueryDesc, plannedstmt) \
	X(query_text, QueryDesc, sourceText) \
	X(query_state, QueryDesc, estate) \
	X(query_root, QueryDesc, planstate) \
	X(query_destination, QueryDesc, dest) \
	X(query_counts, QueryDesc, instrument_options) \
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
	X(node_counts, PlanState, instrument) \
	X(counts_running, NodeInstrumentation, running) \
	X(counts_rows_now, NodeInstrumentation, tuplecount) \
	X(counts_rows, NodeInstrumentation, ntuples) \
	X(counts_loops, NodeInstrumentation, nloops) \
	X(node_init_plans, PlanState, initPlan) \
	X(node_subplans, PlanState, subPlan) \
	X(plan_startup_cost, Plan, startup_cost) \
	X(plan_total_cost, Plan, total_cost) \
	X(plan_rows, Plan, plan_rows) \
	X(plan_width, Plan, plan_width) \
	X(plan_parallel_aware, Plan, parallel_aware) \
	X(plan_asynchronous, Plan, async_capable) \
	X(plan_id, Plan, plan_node_id) \
	X(plan_targets, Plan, targetlist) \
	X(plan_filter, Plan, qual) \
	X(plan_left, Plan, lefttree) \
	X(plan_right, Plan, righttree) \
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
	X(append_requests, AppendState, as_asyncrequests) \
	X(request_node, AsyncRequest, requestee) \
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
	X(alias_columns, Alias, colnames) \
	X(string_text, String, sval) \
	X(index_condition, IndexScan, indexqualorig) \
	X(index_order, IndexScan, indexorderbyorig) \
	X(index_only_condition, IndexOnlyScan, indexqual) \
	X(index_only_targets, IndexOnlyScan, indextlist) \
	X(bitmap_index_condition, BitmapIndexScan, indexqualorig) \
	X(bitmap_recheck, BitmapHeapScan, bitmapqualorig) \
	X(tid_condition, TidScan, tidquals) \
	X(tid_range_condition, TidRangeScan, tidrangequals) \
	X(foreign_targets, ForeignScan, fdw_scan_tlist) \
	X(function_calls, FunctionScan, functions) \
	X(function_call, RangeTblFunction, funcexpr) \
	X(subquery_scan_plan, SubqueryScan, subplan) \
	X(append_plans, Append, appendplans) \
	X(merge_append_plans, MergeAppend, mergeplans) \
	X(merge_append_nr_keys, MergeAppend, numCols) \
	X(merge_append_keys, MergeAppend, sortColIdx) \
	X(merge_append_operators, MergeAppend, sortOperators) \
	X(join_filter, Join, joinqual) \
	X(merge_condition, MergeJoin, mergeclauses) \
	X(hash_condition, HashJoin, hashclauses) \
	X(loop_parameters, NestLoop, nestParams) \
	X(loop_parameter_number, NestLoopParam, paramno) \
	X(loop_parameter_value, NestLoopParam, paramval) \
	X(memoize_keys, Memoize, param_exprs) \
	X(result_condition, Result, resconstantqual) \
	X(sort_nr_keys, Sort, numCols) \
	X(sort_keys, Sort, sortColIdx) \
	X(sort_operators, Sort, sortOperators) \
	X(agg_nr_keys, Agg, numCols) \
	X(agg_keys, Agg, grpColIdx) \
	X(group_nr_keys, Group, numCols) \
	X(group_keys, Group, grpColIdx) \
	X(subplan_hashed, SubPlan, useHashTable) \
	X(subplan_parameters, SubPlan, parParam) \
	X(subplan_arguments, SubPlan, args) \
	X(target_expression, TargetEntry, expr) \
	X(variable_table, Var, varno) \
	X(variable_column, Var, varattno) \
	X(constant_type, Const, consttype) \
	X(constant_value, Const, constvalue) \
	X(constant_null, Const, constisnull) \
	X(parameter_kind, Param, paramkind) \
	X(parameter_number, Param, paramid) \
	X(aggregate_function, Aggref, aggfnoid) \
	X(aggregate_arguments, Aggref, args) \
	X(aggregate_distinct, Aggref, aggdistinct) \
	X(aggregate_star, Aggref, aggstar) \
	X(aggregate_split, Aggref, aggsplit) \
	X(window_function, WindowFunc, winfnoid) \
	X(window_arguments, WindowFunc, args) \
	X(call_function, FuncExpr, funcid) \
	X(call_form, FuncExpr, funcformat) \
	X(call_arguments, FuncExpr, args) \
	X(operation_operator, OpExpr, opno) \
	X(operation_arguments, OpExpr, args) \
	X(any_operator, ScalarArrayOpExpr, opno) \
	X(any_or, ScalarArrayOpExpr, useOr) \
	X(any_arguments, ScalarArrayOpExpr, args) \
	X(boolean_kind, BoolExpr, boolop) \
	X(boolean_arguments, BoolExpr, args) \
	X(relabel_argument, RelabelType, arg) \
	X(case_whens, CaseExpr, args) \
	X(case_else, CaseExpr, defresult) \
	X(when_condition, CaseWhen, expr) \
	X(when_result, CaseWhen, result) \
	X(array_elements, ArrayExpr, elements) \
	X(coalesce_arguments, CoalesceExpr, args) \
	X(minmax_kind, MinMaxExpr, op) \
	X(minmax_arguments, MinMaxExpr, args) \
	X(null_kind, NullTest, nulltesttype) \
	X(test_kind, BooleanTest, booltesttype) \
	X(context_blocks, AllocSetContextHead, blocks) \
	X(cached_magic, CatCTup, ct_magic) \
	X(cached_tuple, CatCTup, tuple) \
	X(cached_dead, CatCTup, dead) \
	X(cached_negative, CatCTup, negative) \
	X(tuple_table, HeapTupleData, t_tableOid) \
	X(tuple_header, HeapTupleData, t_data) \
	X(header_bytes, HeapTupleHeaderData, t_hoff) \
	X(function_name, FormData_pg_proc, proname) \
	X(operator_name, FormData_pg_operator, oprname) \
	X(backend_change_count, PgBackendStatus, st_changecount) \
	X(backend_pid, PgBackendStatus, st_procpid) \
	X(backend_type, PgBackendStatus, st_backendType) \
	X(backend_query_start_us, PgBackendStatus, st_activity_start_timestamp) \
	X(backend_state_start_us, PgBackendStatus, st_state_start_timestamp) \
	X(backend_application, PgBackendStatus, st_appname) \
	X(backend_state, PgBackendStatus, st_state) \
	X(backend_text, PgBackendStatus, st_activity_raw) \
	X(stored_signature, PLpgSQL_function, fn_signature) \
	X(stored_trigger, PLpgSQL_function, fn_is_trigger)

/* These are nodes of plans.  Columns: constant, name in the server, name in EXPLAIN. */
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

/* These are other nodes that are read.  Columns: field of struct postgres_layout behind tag_, name in the server. */
#define POSTGRES_TAGS(X) \
	X(list, List) \
	X(statement, PlannedStmt) \
	X(subplan_state, SubPlanState) \
	X(subplan, SubPlan) \
	X(state, EState) \
	X(range, RangeTblEntry) \
	X(alias, Alias) \
	X(integers, IntList) \
	X(string, String) \
	X(target, TargetEntry) \
	X(loop_parameter, NestLoopParam) \
	X(range_function, RangeTblFunction) \
	X(variable, Var) \
	X(constant, Const) \
	X(parameter, Param) \
	X(aggregate, Aggref) \
	X(window, WindowFunc) \
	X(call, FuncExpr) \
	X(operation, OpExpr) \
	X(distinct, DistinctExpr) \
	X(any, ScalarArrayOpExpr) \
	X(boolean, BoolExpr) \
	X(relabel, RelabelType) \
	X(coerce_io, CoerceViaIO) \
	X(coerce_array, ArrayCoerceExpr) \
	X(coerce_domain, CoerceToDomain) \
	X(collate, CollateExpr) \
	X(case, CaseExpr) \
	X(when, CaseWhen) \
	X(array, ArrayExpr) \
	X(coalesce, CoalesceExpr) \
	X(minmax, MinMaxExpr) \
	X(null_test, NullTest) \
	X(boolean_test, BooleanTest)

/* A server's program prints this text in front of its version for --version. The version is found by searching the constants of the
 * program for the text. */
#define POSTGRES_VERSION_TEXT "postgres (PostgreSQL) "
/* A member that a version does not have has this offset. */
#define POSTGRES_ABSENT UINT16_MAX

struct postgres_layout {
	uint16_t major; /* major version, as 15 */
#define POSTGRES_FIELD_(field, type, member) uint16_t field;
	POSTGRES_OFFSETS(POSTGRES_FIELD_)
#undef POSTGRES_FIELD_
#define POSTGRES_FIELD_(field, type) uint16_t tag_##field;
	POSTGRES_TAGS(POSTGRES_FIELD_)
#undef POSTGRES_FIELD_
	/* tags by enum postgres_node_type, as T_SeqScanState and T_SeqScan */
	uint16_t tag_of_state[POSTGRES_NR_NODES], tag_of_plan[POSTGRES_NR_NODES];
};

/* Returns the layout of a major version, or NULL if it is unknown. */
const struct postgres_layout *postgres_layout_of(unsigned major);

#endif
