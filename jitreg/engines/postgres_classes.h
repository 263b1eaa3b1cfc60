/* SPDX-License-Identifier: MIT */
/* This file has the classes of work of a PostgreSQL server that is not that of a plan node, and the exported functions that do it.
 * Context: any. */
#ifndef JITREG_POSTGRES_CLASSES_H
#define JITREG_POSTGRES_CLASSES_H

#include <stdint.h>

/* These are the numbers of levels. The component of a class, and the object that stands for it (jitreg_object()), have the number 1 +
 * enum postgres_class. */
#define POSTGRES_LEVEL_SESSION 0x70670001u
#define POSTGRES_LEVEL_QUERY 0x70670002u
#define POSTGRES_LEVEL_NODE 0x70670003u
#define POSTGRES_LEVEL_WAIT 0x70670004u /* the components are the values of wait_event_info */
/* These are numbers of objects to which all work of a process belongs: its session, and, while it waits, what it waits for. */
#define POSTGRES_OBJECT_SESSION 1001u
#define POSTGRES_OBJECT_WAIT 1002u
#define POSTGRES_OBJECT_ACTIVITY 1003u /* activity of a process that has no client, by its own words */

#define POSTGRES_CLASSES(X) \
	X(PARSING, "(parsing)") \
	X(PLANNING, "(planning)") \
	X(EXECUTOR, "(executor start and end)") \
	X(TRANSACTION, "(transaction start)") \
	X(COMMIT, "(commit)") \
	X(TRIGGERS, "(triggers after the statement)") \
	X(ROWS_TO_LEADER, "(rows to the leader)") \
	X(ROWS_TO_CLIENT, "(rows to the client)") \
	X(ROWS_TO_TABLE, "(rows to a table)") \
	X(ROWS_TO_FUNCTION, "(rows to a function)") \
	X(CLIENT, "(client communication)") \
	X(CONNECTION, "(connection start)") \
	X(LLVM, "(LLVM compiling)") \
	X(COPY, "(copy)") \
	X(INDEX, "(index build)") \
	X(ALTER, "(alter table)") \
	X(VACUUM, "(vacuum)") \
	X(AUTOVACUUM, "(autovacuum launcher)") \
	X(CHECKPOINT, "(checkpoint)") \
	X(BACKGROUND_WRITER, "(background writer)") \
	X(WAL, "(WAL writing)") \
	X(ARCHIVER, "(archiver)") \
	X(RECOVERY, "(recovery)") \
	X(REPLICATION, "(replication)") \
	X(PROCESS, "(process start and end)") \
	X(LIBRARY, "(library loading)") \
	X(WORKER, "(parallel worker start and end)") \
	X(IO_WORKER, "(I/O worker)") \
	X(REPACK, "(repack)")
#define POSTGRES_CLASS_INDEX_(NAME, text) POSTGRES_CLASS_##NAME,
enum postgres_class { POSTGRES_CLASSES(POSTGRES_CLASS_INDEX_) POSTGRES_NR_CLASSES };
#undef POSTGRES_CLASS_INDEX_
const char *postgres_class_name(enum postgres_class class);
/* These are flags of the component of a class, which is the same in all processes, and is code of the server. */
#define POSTGRES_CLASS_FLAGS (JITREG_COMPONENT_COMMON | JITREG_COMPONENT_RUNTIME)

/* The server exports these functions, whose work has the class in front. Not all versions have all of them. */
#define POSTGRES_CLASS_SYMBOLS(X) \
	X(PARSING, "raw_parser") \
	X(PARSING, "parse_analyze") \
	X(PARSING, "parse_analyze_fixedparams") \
	X(PARSING, "parse_analyze_varparams") \
	X(PARSING, "parse_analyze_withcb") \
	X(PARSING, "QueryRewrite") \
	X(PLANNING, "planner") \
	X(PLANNING, "standard_planner") \
	X(EXECUTOR, "standard_ExecutorStart") \
	X(EXECUTOR, "standard_ExecutorEnd") \
	X(EXECUTOR, "ExecShutdownNode") \
	X(TRANSACTION, "StartTransactionCommand") \
	X(COMMIT, "CommitTransactionCommand") \
	X(COMMIT, "AbortCurrentTransaction") \
	X(TRIGGERS, "AfterTriggerEndQuery") \
	X(CLIENT, "secure_read") \
	X(CLIENT, "secure_write") \
	X(CONNECTION, "InitPostgres") \
	X(CONNECTION, "ClientAuthentication") \
	X(COPY, "DoCopy") \
	X(INDEX, "DefineIndex") \
	X(INDEX, "ExecReindex") \
	X(ALTER, "AlterTable") \
	X(VACUUM, "ExecVacuum") \
	X(VACUUM, "StartAutoVacWorker") \
	X(VACUUM, "AutoVacWorkerMain") \
	X(AUTOVACUUM, "StartAutoVacLauncher") \
	X(AUTOVACUUM, "AutoVacLauncherMain") \
	X(CHECKPOINT, "CheckpointerMain") \
	X(CHECKPOINT, "CreateCheckPoint") \
	X(BACKGROUND_WRITER, "BackgroundWriterMain") \
	X(WAL, "WalWriterMain") \
	X(WAL, "WalSummarizerMain") \
	X(ARCHIVER, "PgArchiverMain") \
	X(RECOVERY, "StartupProcessMain") \
	X(REPLICATION, "WalReceiverMain") \
	X(REPLICATION, "exec_replication_command") \
	X(REPLICATION, "ApplyLauncherMain") \
	X(REPLICATION, "ApplyWorkerMain") \
	X(REPLICATION, "ParallelApplyWorkerMain") \
	X(REPLICATION, "TableSyncWorkerMain") \
	X(REPLICATION, "TablesyncWorkerMain") \
	X(REPLICATION, "SequenceSyncWorkerMain") \
	X(REPLICATION, "ReplSlotSyncWorkerMain") \
	X(PROCESS, "fork_process") \
	X(PROCESS, "InitPostmasterChild") \
	X(PROCESS, "BaseInit") \
	X(PROCESS, "InitProcess") \
	X(PROCESS, "proc_exit") \
	X(LIBRARY, "load_file") \
	X(LIBRARY, "load_external_function") \
	X(LIBRARY, "process_session_preload_libraries") \
	X(LIBRARY, "RestoreLibraryState") \
	X(WORKER, "ParallelQueryMain") \
	X(WORKER, "RestoreGUCState") \
	X(WORKER, "RestoreTransactionSnapshot") \
	X(WORKER, "AttachSession") \
	X(WORKER, "DetachSession") \
	X(WORKER, "StartParallelWorkerTransaction") \
	X(WORKER, "EndParallelWorkerTransaction") \
	X(WORKER, "dsm_attach") \
	X(WORKER, "dsm_detach") \
	X(IO_WORKER, "IoWorkerMain") \
	X(REPACK, "ExecRepack") \
	X(REPACK, "RepackWorkerMain")
#define POSTGRES_LLVM_SYMBOLS(X) \
	X(LLVM, "llvm_compile_expr") \
	X(LLVM, "llvm_get_function") \
	X(LLVM, "llvm_create_context") \
	X(LLVM, "slot_compile_deform")
/* Since version 16, llvmjit.so exports only this function, by which postgres_code_llvm_functions() finds the others. */
#define POSTGRES_LLVM_INIT "_PG_jit_provider_init"

/* Returns the class of the work of passing on a query's rows (receiveSlot() of the query's DestReceiver), or -1 if there is none.  kind:
 * mydest of the DestReceiver, an enum CommandDest. */
static inline int postgres_class_of_destination(uint32_t kind)
{
	switch (kind) {
	case 2: /* DestRemote */
	case 3: /* DestRemoteExecute */
	case 4: /* DestRemoteSimple */
	case 8: /* DestCopyOut */
		return POSTGRES_CLASS_ROWS_TO_CLIENT;
	case 5: /* DestSPI */
	case 6: /* DestTuplestore */
	case 9: /* DestSQLFunction */
		return POSTGRES_CLASS_ROWS_TO_FUNCTION;
	case 7:	 /* DestIntoRel */
	case 10: /* DestTransientRel */
		return POSTGRES_CLASS_ROWS_TO_TABLE;
	case 11: /* DestTupleQueue */
		return POSTGRES_CLASS_ROWS_TO_LEADER;
	default:
		return -1;
	}
}

#endif
