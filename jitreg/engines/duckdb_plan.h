/* SPDX-License-Identifier: MIT */
/*
 * This file has the names of DuckDB's functions, by which the library and the work on operators are recognised, and a search for the
 * operators of a pipeline. No offsets of struct members, which differ from version to version, are needed. Exported functions of the
 * library describe operators, and in a pipeline's memory the operators are found because pointers to them have a certain order. Context:
 * any. Allocates no memory.
 */
#ifndef JITREG_DUCKDB_PLAN_H
#define JITREG_DUCKDB_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DUCKDB_LEVEL_QUERY 0x64750001u
#define DUCKDB_LEVEL_PIPELINE 0x64750002u
#define DUCKDB_LEVEL_OPERATOR 0x64750003u

/* An operator has a role in a pipeline, in which it produces rows, passes them on or consumes them. It may have another role in another
 * pipeline. */
enum duckdb_role { DUCKDB_SOURCE, DUCKDB_MIDDLE, DUCKDB_SINK, DUCKDB_NO_ROLE };

#define DUCKDB_STRING "NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
/* This function begins a query, in versions 1.3 to 1.5, in 2.0, and in 1.1 and 1.2. */
#define DUCKDB_BEGIN_ "_ZN6duckdb13ClientContext18BeginQueryInternalERNS_17ClientContextLockE"
#define DUCKDB_BEGINS \
	DUCKDB_BEGIN_ "RK" DUCKDB_STRING, DUCKDB_BEGIN_ "NS_21PreprocessedStatementERKNS_15QueryParametersENS0_9RetentionE", \
	DUCKDB_BEGIN_ "RKSs"
#define DUCKDB_OPERATOR_TABLE "_ZTVN6duckdb16PhysicalOperatorE"
#define DUCKDB_PROJECTION_TABLE "_ZTVN6duckdb18PhysicalProjectionE"
#define DUCKDB_OPERATOR_(name) "_ZNK6duckdb16PhysicalOperator" name
#define DUCKDB_GET_CHILDREN DUCKDB_OPERATOR_("11GetChildrenEv")
#define DUCKDB_FORMAT_JSON 2 /* value of enum class ExplainFormat, up to 1.5 */
/* These functions return texts. The rows are for versions 1.3 to 1.5, for 2.0, and for 1.1 and 1.2. Columns: function that explains an
 * operator; function that returns the query of a connection; ABI of the strings that they return (std::string before or since C++11);
 * whether the former takes a ProfilerPrintFormat, the string "json", and no ExplainFormat. */
enum duckdb_string_abi { DUCKDB_STRING_NEW, DUCKDB_STRING_OLD };
#define DUCKDB_CURRENT_QUERY(abi) "_ZN6duckdb13ClientContext15GetCurrentQuery" abi "Ev"
#define DUCKDB_TEXTS(X) \
	X(DUCKDB_OPERATOR_("8ToStringB5cxx11ENS_13ExplainFormatE"), DUCKDB_CURRENT_QUERY("B5cxx11"), DUCKDB_STRING_NEW, false) \
	X(DUCKDB_OPERATOR_("8ToStringB5cxx11ENS_12optional_ptrINS_13ClientContextELb1EEERKNS_19ProfilerPrintFormatE"), \
	  DUCKDB_CURRENT_QUERY("B5cxx11"), DUCKDB_STRING_NEW, true) \
	X(DUCKDB_OPERATOR_("8ToStringENS_13ExplainFormatE"), DUCKDB_CURRENT_QUERY(""), DUCKDB_STRING_OLD, false)

/* These virtual functions of operators are called while a query runs. Columns: role in which the operator is called, function. */
#define DUCKDB_ROLES(X) \
	X(SOURCE, DUCKDB_OPERATOR_("7GetDataERNS_16ExecutionContextERNS_9DataChunkERNS_19OperatorSourceInputE")) \
	X(SOURCE, DUCKDB_OPERATOR_("15GetDataInternalERNS_16ExecutionContextERNS_9DataChunkERNS_19OperatorSourceInputE")) \
	X(SOURCE, DUCKDB_OPERATOR_("19GetLocalSourceStateERNS_16ExecutionContextERNS_17GlobalSourceStateE")) \
	X(SOURCE, DUCKDB_OPERATOR_("20GetGlobalSourceStateERNS_13ClientContextE")) \
	X(SOURCE, DUCKDB_OPERATOR_("16GetPartitionDataERNS_16ExecutionContextERNS_9DataChunkERNS_17GlobalSourceStateERNS_16LocalSource" \
				   "StateERKNS_21OperatorPartitionInfoE")) \
	X(MIDDLE, DUCKDB_OPERATOR_("7ExecuteERNS_16ExecutionContextERNS_9DataChunkES4_RNS_19GlobalOperatorStateERNS_13OperatorStateE")) \
	X(MIDDLE, DUCKDB_OPERATOR_("12FinalExecuteERNS_16ExecutionContextERNS_9DataChunkERNS_19GlobalOperatorStateERNS_13Operator" \
				   "StateE")) \
	X(MIDDLE, DUCKDB_OPERATOR_("16GetOperatorStateERNS_16ExecutionContextE")) \
	/* PhysicalOperator's own function has no symbol, so that of PhysicalProjection is used. */ \
	X(MIDDLE, "_ZNK6duckdb18PhysicalProjection21InitializeOutputChunkERNS_9AllocatorERNS_9DataChunkE") \
	X(MIDDLE, DUCKDB_OPERATOR_("22GetGlobalOperatorStateERNS_13ClientContextE")) \
	X(MIDDLE, DUCKDB_OPERATOR_("16OperatorFinalizeERNS_8PipelineERNS_5EventERNS_13ClientContextERNS_21OperatorFinalizeInputE")) \
	X(SINK, DUCKDB_OPERATOR_("4SinkERNS_16ExecutionContextERNS_9DataChunkERNS_17OperatorSinkInputE")) \
	X(SINK, DUCKDB_OPERATOR_("7CombineERNS_16ExecutionContextERNS_24OperatorSinkCombineInputE")) \
	X(SINK, DUCKDB_OPERATOR_("9NextBatchERNS_16ExecutionContextERNS_26OperatorSinkNextBatchInputE")) \
	X(SINK, DUCKDB_OPERATOR_("15PrepareFinalizeERNS_13ClientContextERNS_15GlobalSinkStateE")) \
	X(SINK, DUCKDB_OPERATOR_("8FinalizeERNS_8PipelineERNS_5EventERNS_13ClientContextERNS_25OperatorSinkFinalizeInputE")) \
	X(SINK, DUCKDB_OPERATOR_("17GetLocalSinkStateERNS_16ExecutionContextE")) \
	X(SINK, DUCKDB_OPERATOR_("18GetGlobalSinkStateERNS_13ClientContextE"))

/* These are the functions of a pipeline's executor, with the role of the operators for which they work. The work at the end of a
 * pipeline counts as that of its sink. */
#define DUCKDB_EXECUTOR_(name) "_ZN6duckdb16PipelineExecutor" name
#define DUCKDB_PIPELINE_FUNCTIONS(X) \
	X(SOURCE, DUCKDB_EXECUTOR_("C1ERNS_13ClientContextERNS_8PipelineE")) \
	X(SOURCE, DUCKDB_EXECUTOR_("C1ERNS_13ClientContextERNS_8PipelineENS_12optional_idxE")) \
	X(SOURCE, DUCKDB_EXECUTOR_("7ExecuteEv")) \
	X(SOURCE, DUCKDB_EXECUTOR_("7ExecuteEm")) \
	X(SOURCE, DUCKDB_EXECUTOR_("15FetchFromSourceERNS_9DataChunkE")) \
	X(SOURCE, DUCKDB_EXECUTOR_("7GetDataERNS_9DataChunkERNS_19OperatorSourceInputE")) \
	X(MIDDLE, DUCKDB_EXECUTOR_("7ExecuteERNS_9DataChunkES2_m")) \
	X(SINK, DUCKDB_EXECUTOR_("19ExecutePushInternalERNS_9DataChunkERNS_15ExecutionBudgetEm")) \
	X(SINK, DUCKDB_EXECUTOR_("19ExecutePushInternalERNS_9DataChunkEm")) \
	X(SINK, DUCKDB_EXECUTOR_("14PushInputChunkERNS_9DataChunkERNS_15ExecutionBudgetENS0_22PipelineInputChunkModeE")) \
	X(SINK, DUCKDB_EXECUTOR_("4SinkERNS_9DataChunkERNS_17OperatorSinkInputE")) \
	X(SINK, DUCKDB_EXECUTOR_("9NextBatchERNS_9DataChunkEb")) \
	X(SINK, DUCKDB_EXECUTOR_("9NextBatchERNS_9DataChunkE")) \
	X(SINK, DUCKDB_EXECUTOR_("9NextBatchERNS_9DataChunkERKNS0_17SourceFetchResultE")) \
	X(SINK, DUCKDB_EXECUTOR_("12PushFinalizeEv")) \
	X(SINK, DUCKDB_EXECUTOR_("12PushExternalERNS_9DataChunkERKNS_21OperatorPartitionDataENS_12optional_idxE")) \
	X(SINK, DUCKDB_EXECUTOR_("16FlushAndFinalizeERNS_15ExecutionBudgetE")) \
	X(SINK, DUCKDB_EXECUTOR_("24TryFlushCachingOperatorsERNS_15ExecutionBudgetE")) \
	X(SINK, DUCKDB_EXECUTOR_("24TryFlushCachingOperatorsEv"))
#define DUCKDB_TASK_EXECUTE "_ZN6duckdb12ExecutorTask7ExecuteENS_17TaskExecutionModeE"
#define DUCKDB_PIPELINE_TASK_EXECUTE "_ZN6duckdb12PipelineTask11ExecuteTaskENS_17TaskExecutionModeE"
/* These are the type infos of the classes from which the states of operators are derived, by role. The executor of a pipeline has such a
 * state for each operator, so the states tell which role an operator has. */
#define DUCKDB_STATES(X) \
	X(SOURCE, "_ZTIN6duckdb16LocalSourceStateE") \
	X(MIDDLE, "_ZTIN6duckdb13OperatorStateE") \
	X(SINK, "_ZTIN6duckdb14LocalSinkStateE")

/* This names the time in which the thread that started the query waits for tasks. The thread executes tasks itself in the functions
 * DUCKDB_WAITS (the first of a row is the executor's, the second one the connection's), and waits in the rest of their time. */
#define DUCKDB_WAITING "(waiting for tasks)"
/* This names the work of a task or a pipeline that belongs to no operator. */
#define DUCKDB_BETWEEN "(between operators)"
/* This names the work of the profiler's agent in the program. */
#define DUCKDB_PROFILING "(profiling)"
#define DUCKDB_EXECUTOR_WAITS "_ZN6duckdb8Executor11ExecuteTaskE"
#define DUCKDB_CONTEXT_WAITS "_ZN6duckdb13ClientContext19ExecuteTaskInternalERNS_17ClientContextLockERNS_15BaseQueryResultE"
#define DUCKDB_WAITS(X) X(DUCKDB_EXECUTOR_WAITS "b", DUCKDB_CONTEXT_WAITS "b") X(DUCKDB_EXECUTOR_WAITS "v", DUCKDB_CONTEXT_WAITS)

/* This work belongs to no operator. Columns: name, function. */
#define DUCKDB_PLAN_ "ENS_10unique_ptrINS_15LogicalOperatorESt14default_deleteIS2_ELb1EEE"
#define DUCKDB_CLASSES(X) \
	X("(parsing)", "_ZN6duckdb6Parser10ParseQueryERK" DUCKDB_STRING) \
	X("(binding)", "_ZN6duckdb7Planner10CreatePlanENS_10unique_ptrINS_12SQLStatementESt14default_deleteIS2_ELb1EEE") \
	X("(optimizing)", "_ZN6duckdb9Optimizer8Optimize" DUCKDB_PLAN_) \
	X("(physical planning)", "_ZN6duckdb21PhysicalPlanGenerator4Plan" DUCKDB_PLAN_) \
	X("(commit)", "_ZN6duckdb18TransactionContext6CommitEv") \
	X("(checkpoint)", "_ZN6duckdb26SingleFileCheckpointWriter16CreateCheckpointEv")

/* A pipeline's memory has pointers to its operators at these places. The operators are the source, those that pass rows on, and the
 * sink. */
struct duckdb_pipeline {
	uint32_t source;	 /* index of the word that points to the source */
	uint64_t first, end;	 /* addresses [first, end) have the pointers to the operators between them */
	uint64_t sink;		 /* address of the sink; 0: none */
};
/* Find a pipeline's operators in the nr words of its memory, by a pointer to an operator, a std::vector of pointers, and another pointer to
 * an operator or NULL, one behind another. is_operator: is this the address of an operator of the running query? Returns false if there
 * are no such words. */
bool duckdb_pipeline_find(const uint64_t *word, uint32_t nr, bool (*is_operator)(void *context, uint64_t address), void *context,
			  struct duckdb_pipeline *to);

#endif
