/* SPDX-License-Identifier: MIT */
/* Written by postgres_waits.sh. */
#include "agent/recorder/engines/postgres_waits.h"

#include <stdio.h>

/* A major version, a class, its name, the names of its events from 0 on. */
#define NAMES(...) (const char *const[]){ __VA_ARGS__ }
#define WAITS(major, class, type, ...) { major, class, type, NAMES(__VA_ARGS__), sizeof(NAMES(__VA_ARGS__)) / sizeof(char *) },
static const struct {
	unsigned major, class;
	const char *type;
	const char *const *name;
	size_t nr;
} waits[] = {
	WAITS(15, 1, "LWLock",
	       "", "ShmemIndex", "OidGen", "XidGen",
	       "ProcArray", "SInvalRead", "SInvalWrite", "WALBufMapping",
	       "WALWrite", "ControlFile", "<unassigned:10>", "XactSLRU",
	       "SubtransSLRU", "MultiXactGen", "MultiXactOffsetSLRU", "MultiXactMemberSLRU",
	       "RelCacheInit", "CheckpointerComm", "TwoPhaseState", "TablespaceCreate",
	       "BtreeVacuum", "AddinShmemInit", "Autovacuum", "AutovacuumSchedule",
	       "SyncScan", "RelationMapping", "NotifySLRU", "NotifyQueue",
	       "SerializableXactHash", "SerializableFinishedList", "SerializablePredicateList", "SerialSLRU",
	       "SyncRep", "BackgroundWorker", "DynamicSharedMemoryControl", "AutoFile",
	       "ReplicationSlotAllocation", "ReplicationSlotControl", "CommitTsSLRU", "CommitTs",
	       "ReplicationOrigin", "MultiXactTruncation", "OldSnapshotTimeMap", "LogicalRepWorker",
	       "XactTruncation", "<unassigned:45>", "WrapLimitsVacuum", "NotifyQueueTail",
	       "XactBuffer", "CommitTsBuffer", "SubtransBuffer", "MultiXactOffsetBuffer",
	       "MultiXactMemberBuffer", "NotifyBuffer", "SerialBuffer", "WALInsert",
	       "BufferContent", "ReplicationOriginState", "ReplicationSlotIO", "LockFastPath",
	       "BufferMapping", "LockManager", "PredicateLockManager", "ParallelHashJoin",
	       "ParallelQueryDSA", "PerSessionDSA", "PerSessionRecordType", "PerSessionRecordTypmod",
	       "SharedTupleStore", "SharedTidBitmap", "ParallelAppend", "PerXactPredicateList",
	       "PgStatsDSA", "PgStatsHash", "PgStatsData")
	WAITS(15, 3, "Lock",
	       "relation", "extend", "frozenid", "page",
	       "tuple", "transactionid", "virtualxid", "spectoken",
	       "object", "userlock", "advisory")
	WAITS(15, 4, "BufferPin",
	       "BufferPin")
	WAITS(15, 5, "Activity",
	       "ArchiverMain", "AutoVacuumMain", "BgWriterHibernate", "BgWriterMain",
	       "CheckpointerMain", "LogicalApplyMain", "LogicalLauncherMain", "RecoveryWalStream",
	       "SysLoggerMain", "WalReceiverMain", "WalSenderMain", "WalWriterMain")
	WAITS(15, 6, "Client",
	       "ClientRead", "ClientWrite", "GSSOpenServer", "LibPQWalReceiverConnect",
	       "LibPQWalReceiverReceive", "SSLOpenServer", "WalSenderWaitForWAL", "WalSenderWriteData")
	WAITS(15, 8, "IPC",
	       "AppendReady", "ArchiveCleanupCommand", "ArchiveCommand", "BackendTermination",
	       "BackupWaitWalArchive", "BgWorkerShutdown", "BgWorkerStartup", "BtreePage",
	       "BufferIO", "CheckpointDone", "CheckpointStart", "ExecuteGather",
	       "HashBatchAllocate", "HashBatchElect", "HashBatchLoad", "HashBuildAllocate",
	       "HashBuildElect", "HashBuildHashInner", "HashBuildHashOuter", "HashGrowBatchesAllocate",
	       "HashGrowBatchesDecide", "HashGrowBatchesElect", "HashGrowBatchesFinish", "HashGrowBatchesRepartition",
	       "HashGrowBucketsAllocate", "HashGrowBucketsElect", "HashGrowBucketsReinsert", "LogicalSyncData",
	       "LogicalSyncStateChange", "MessageQueueInternal", "MessageQueuePutMessage", "MessageQueueReceive",
	       "MessageQueueSend", "ParallelBitmapScan", "ParallelCreateIndexScan", "ParallelFinish",
	       "ProcArrayGroupUpdate", "ProcSignalBarrier", "Promote", "RecoveryConflictSnapshot",
	       "RecoveryConflictTablespace", "RecoveryEndCommand", "RecoveryPause", "ReplicationOriginDrop",
	       "ReplicationSlotDrop", "RestoreCommand", "SafeSnapshot", "SyncRep",
	       "WalReceiverExit", "WalReceiverWaitStart", "XactGroupUpdate", "WalReceiverUpstreamCatchup")
	WAITS(15, 9, "Timeout",
	       "BaseBackupThrottle", "CheckpointWriteDelay", "PgSleep", "RecoveryApplyDelay",
	       "RecoveryRetrieveRetryInterval", "RegisterSyncRequest", "VacuumDelay", "VacuumTruncate")
	WAITS(15, 10, "IO",
	       "BaseBackupRead", "BaseBackupSync", "BaseBackupWrite", "BufFileRead",
	       "BufFileWrite", "BufFileTruncate", "ControlFileRead", "ControlFileSync",
	       "ControlFileSyncUpdate", "ControlFileWrite", "ControlFileWriteUpdate", "CopyFileRead",
	       "CopyFileWrite", "DataFileExtend", "DataFileFlush", "DataFileImmediateSync",
	       "DataFilePrefetch", "DataFileRead", "DataFileSync", "DataFileTruncate",
	       "DataFileWrite", "DSMFillZeroWrite", "LockFileAddToDataDirRead", "LockFileAddToDataDirSync",
	       "LockFileAddToDataDirWrite", "LockFileCreateRead", "LockFileCreateSync", "LockFileCreateWrite",
	       "LockFileReCheckDataDirRead", "LogicalRewriteCheckpointSync", "LogicalRewriteMappingSync", "LogicalRewriteMappingWrite",
	       "LogicalRewriteSync", "LogicalRewriteTruncate", "LogicalRewriteWrite", "RelationMapRead",
	       "RelationMapSync", "RelationMapWrite", "ReorderBufferRead", "ReorderBufferWrite",
	       "ReorderLogicalMappingRead", "ReplicationSlotRead", "ReplicationSlotRestoreSync", "ReplicationSlotSync",
	       "ReplicationSlotWrite", "SLRUFlushSync", "SLRURead", "SLRUSync",
	       "SLRUWrite", "SnapbuildRead", "SnapbuildSync", "SnapbuildWrite",
	       "TimelineHistoryFileSync", "TimelineHistoryFileWrite", "TimelineHistoryRead", "TimelineHistorySync",
	       "TimelineHistoryWrite", "TwophaseFileRead", "TwophaseFileSync", "TwophaseFileWrite",
	       "VersionFileWrite", "WALSenderTimelineHistoryRead", "WALBootstrapSync", "WALBootstrapWrite",
	       "WALCopyRead", "WALCopySync", "WALCopyWrite", "WALInitSync",
	       "WALInitWrite", "WALRead", "WALSync", "WALSyncMethodAssign",
	       "WALWrite", "VersionFileSync")
};

void postgres_wait_text(unsigned major, uint32_t info, char *to, size_t room)
{
	static const char *const types[] = { "",	  "LWLock",    "",    "Lock",	 "BufferPin", "Activity",
					     "Client", "Extension", "IPC", "Timeout", "IO" };
	const unsigned class = info >> 24, event = info & 0xffff;

	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++)
		if (waits[i].major == major && waits[i].class == class && event < waits[i].nr) {
			snprintf(to, room, "%s:%s", waits[i].type, waits[i].name[event]);
			return;
		}
	if (class < sizeof(types) / sizeof(types[0]) && *types[class])
		snprintf(to, room, "%s:event %u", types[class], event);
	else
		snprintf(to, room, "event %#x", info);
}
