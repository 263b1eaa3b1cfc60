/* SPDX-License-Identifier: MIT */
/* This file was written by postgres_waits.sh.  Context: any. */
#ifndef TAILOR_POSTGRES_WAIT_NAMES_H
#define TAILOR_POSTGRES_WAIT_NAMES_H

/* Each row has a major version, a class, its name, and the names of its events from 0 on. */
#define POSTGRES_WAITS(X) \
	X(14, 1, "LWLock", \
	  "", "ShmemIndex", "OidGen", "XidGen", \
	  "ProcArray", "SInvalRead", "SInvalWrite", "WALBufMapping", \
	  "WALWrite", "ControlFile", "<unassigned:10>", "XactSLRU", \
	  "SubtransSLRU", "MultiXactGen", "MultiXactOffsetSLRU", "MultiXactMemberSLRU", \
	  "RelCacheInit", "CheckpointerComm", "TwoPhaseState", "TablespaceCreate", \
	  "BtreeVacuum", "AddinShmemInit", "Autovacuum", "AutovacuumSchedule", \
	  "SyncScan", "RelationMapping", "NotifySLRU", "NotifyQueue", \
	  "SerializableXactHash", "SerializableFinishedList", "SerializablePredicateList", "SerialSLRU", \
	  "SyncRep", "BackgroundWorker", "DynamicSharedMemoryControl", "AutoFile", \
	  "ReplicationSlotAllocation", "ReplicationSlotControl", "CommitTsSLRU", "CommitTs", \
	  "ReplicationOrigin", "MultiXactTruncation", "OldSnapshotTimeMap", "LogicalRepWorker", \
	  "XactTruncation", "<unassigned:45>", "WrapLimitsVacuum", "NotifyQueueTail", \
	  "XactBuffer", "CommitTsBuffer", "SubtransBuffer", "MultiXactOffsetBuffer", \
	  "MultiXactMemberBuffer", "NotifyBuffer", "SerialBuffer", "WALInsert", \
	  "BufferContent", "ReplicationOriginState", "ReplicationSlotIO", "LockFastPath", \
	  "BufferMapping", "LockManager", "PredicateLockManager", "ParallelHashJoin", \
	  "ParallelQueryDSA", "PerSessionDSA", "PerSessionRecordType", "PerSessionRecordTypmod", \
	  "SharedTupleStore", "SharedTidBitmap", "ParallelAppend", "PerXactPredicateList") \
	X(14, 3, "Lock", \
	  "relation", "extend", "frozenid", "page", \
	  "tuple", "transactionid", "virtualxid", "spectoken", \
	  "object", "userlock", "advisory") \
	X(14, 4, "BufferPin", \
	  "BufferPin") \
	X(14, 5, "Activity", \
	  "ArchiverMain", "AutoVacuumMain", "BgWriterHibernate", "BgWriterMain", \
	  "CheckpointerMain", "LogicalApplyMain", "LogicalLauncherMain", "PgStatMain", \
	  "RecoveryWalStream", "SysLoggerMain", "WalReceiverMain", "WalSenderMain", \
	  "WalWriterMain") \
	X(14, 6, "Client", \
	  "ClientRead", "ClientWrite", "GSSOpenServer", "LibPQWalReceiverConnect", \
	  "LibPQWalReceiverReceive", "SSLOpenServer", "WalSenderWaitForWAL", "WalSenderWriteData") \
	X(14, 8, "IPC", \
	  "AppendReady", "BackendTermination", "BackupWaitWalArchive", "BgWorkerShutdown", \
	  "BgWorkerStartup", "BtreePage", "BufferIO", "CheckpointDone", \
	  "CheckpointStart", "ExecuteGather", "HashBatchAllocate", "HashBatchElect", \
	  "HashBatchLoad", "HashBuildAllocate", "HashBuildElect", "HashBuildHashInner", \
	  "HashBuildHashOuter", "HashGrowBatchesAllocate", "HashGrowBatchesDecide", "HashGrowBatchesElect", \
	  "HashGrowBatchesFinish", "HashGrowBatchesRepartition", "HashGrowBucketsAllocate", "HashGrowBucketsElect", \
	  "HashGrowBucketsReinsert", "LogicalSyncData", "LogicalSyncStateChange", "MessageQueueInternal", \
	  "MessageQueuePutMessage", "MessageQueueReceive", "MessageQueueSend", "ParallelBitmapScan", \
	  "ParallelCreateIndexScan", "ParallelFinish", "ProcArrayGroupUpdate", "ProcSignalBarrier", \
	  "Promote", "RecoveryConflictSnapshot", "RecoveryConflictTablespace", "RecoveryPause", \
	  "ReplicationOriginDrop", "ReplicationSlotDrop", "SafeSnapshot", "SyncRep", \
	  "WalReceiverExit", "WalReceiverWaitStart", "XactGroupUpdate") \
	X(14, 9, "Timeout", \
	  "BaseBackupThrottle", "PgSleep", "RecoveryApplyDelay", "RecoveryRetrieveRetryInterval", \
	  "VacuumDelay", "CheckpointWriteDelay", "RegisterSyncRequest") \
	X(14, 10, "IO", \
	  "BaseBackupRead", "BufFileRead", "BufFileWrite", "BufFileTruncate", \
	  "ControlFileRead", "ControlFileSync", "ControlFileSyncUpdate", "ControlFileWrite", \
	  "ControlFileWriteUpdate", "CopyFileRead", "CopyFileWrite", "DataFileExtend", \
	  "DataFileFlush", "DataFileImmediateSync", "DataFilePrefetch", "DataFileRead", \
	  "DataFileSync", "DataFileTruncate", "DataFileWrite", "DSMFillZeroWrite", \
	  "LockFileAddToDataDirRead", "LockFileAddToDataDirSync", "LockFileAddToDataDirWrite", "LockFileCreateRead", \
	  "LockFileCreateSync", "LockFileCreateWrite", "LockFileReCheckDataDirRead", "LogicalRewriteCheckpointSync", \
	  "LogicalRewriteMappingSync", "LogicalRewriteMappingWrite", "LogicalRewriteSync", "LogicalRewriteTruncate", \
	  "LogicalRewriteWrite", "RelationMapRead", "RelationMapSync", "RelationMapWrite", \
	  "ReorderBufferRead", "ReorderBufferWrite", "ReorderLogicalMappingRead", "ReplicationSlotRead", \
	  "ReplicationSlotRestoreSync", "ReplicationSlotSync", "ReplicationSlotWrite", "SLRUFlushSync", \
	  "SLRURead", "SLRUSync", "SLRUWrite", "SnapbuildRead", \
	  "SnapbuildSync", "SnapbuildWrite", "TimelineHistoryFileSync", "TimelineHistoryFileWrite", \
	  "TimelineHistoryRead", "TimelineHistorySync", "TimelineHistoryWrite", "TwophaseFileRead", \
	  "TwophaseFileSync", "TwophaseFileWrite", "WALSenderTimelineHistoryRead", "WALBootstrapSync", \
	  "WALBootstrapWrite", "WALCopyRead", "WALCopySync", "WALCopyWrite", \
	  "WALInitSync", "WALInitWrite", "WALRead", "WALSync", \
	  "WALSyncMethodAssign", "WALWrite", "LogicalChangesRead", "LogicalChangesWrite", \
	  "LogicalSubxactRead", "LogicalSubxactWrite") \
	X(15, 1, "LWLock", \
	  "", "ShmemIndex", "OidGen", "XidGen", \
	  "ProcArray", "SInvalRead", "SInvalWrite", "WALBufMapping", \
	  "WALWrite", "ControlFile", "<unassigned:10>", "XactSLRU", \
	  "SubtransSLRU", "MultiXactGen", "MultiXactOffsetSLRU", "MultiXactMemberSLRU", \
	  "RelCacheInit", "CheckpointerComm", "TwoPhaseState", "TablespaceCreate", \
	  "BtreeVacuum", "AddinShmemInit", "Autovacuum", "AutovacuumSchedule", \
	  "SyncScan", "RelationMapping", "NotifySLRU", "NotifyQueue", \
	  "SerializableXactHash", "SerializableFinishedList", "SerializablePredicateList", "SerialSLRU", \
	  "SyncRep", "BackgroundWorker", "DynamicSharedMemoryControl", "AutoFile", \
	  "ReplicationSlotAllocation", "ReplicationSlotControl", "CommitTsSLRU", "CommitTs", \
	  "ReplicationOrigin", "MultiXactTruncation", "OldSnapshotTimeMap", "LogicalRepWorker", \
	  "XactTruncation", "<unassigned:45>", "WrapLimitsVacuum", "NotifyQueueTail", \
	  "XactBuffer", "CommitTsBuffer", "SubtransBuffer", "MultiXactOffsetBuffer", \
	  "MultiXactMemberBuffer", "NotifyBuffer", "SerialBuffer", "WALInsert", \
	  "BufferContent", "ReplicationOriginState", "ReplicationSlotIO", "LockFastPath", \
	  "BufferMapping", "LockManager", "PredicateLockManager", "ParallelHashJoin", \
	  "ParallelQueryDSA", "PerSessionDSA", "PerSessionRecordType", "PerSessionRecordTypmod", \
	  "SharedTupleStore", "SharedTidBitmap", "ParallelAppend", "PerXactPredicateList", \
	  "PgStatsDSA", "PgStatsHash", "PgStatsData") \
	X(15, 3, "Lock", \
	  "relation", "extend", "frozenid", "page", \
	  "tuple", "transactionid", "virtualxid", "spectoken", \
	  "object", "userlock", "advisory") \
	X(15, 4, "BufferPin", \
	  "BufferPin") \
	X(15, 5, "Activity", \
	  "ArchiverMain", "AutoVacuumMain", "BgWriterHibernate", "BgWriterMain", \
	  "CheckpointerMain", "LogicalApplyMain", "LogicalLauncherMain", "RecoveryWalStream", \
	  "SysLoggerMain", "WalReceiverMain", "WalSenderMain", "WalWriterMain") \
	X(15, 6, "Client", \
	  "ClientRead", "ClientWrite", "GSSOpenServer", "LibPQWalReceiverConnect", \
	  "LibPQWalReceiverReceive", "SSLOpenServer", "WalSenderWaitForWAL", "WalSenderWriteData") \
	X(15, 8, "IPC", \
	  "AppendReady", "ArchiveCleanupCommand", "ArchiveCommand", "BackendTermination", \
	  "BackupWaitWalArchive", "BgWorkerShutdown", "BgWorkerStartup", "BtreePage", \
	  "BufferIO", "CheckpointDone", "CheckpointStart", "ExecuteGather", \
	  "HashBatchAllocate", "HashBatchElect", "HashBatchLoad", "HashBuildAllocate", \
	  "HashBuildElect", "HashBuildHashInner", "HashBuildHashOuter", "HashGrowBatchesAllocate", \
	  "HashGrowBatchesDecide", "HashGrowBatchesElect", "HashGrowBatchesFinish", "HashGrowBatchesRepartition", \
	  "HashGrowBucketsAllocate", "HashGrowBucketsElect", "HashGrowBucketsReinsert", "LogicalSyncData", \
	  "LogicalSyncStateChange", "MessageQueueInternal", "MessageQueuePutMessage", "MessageQueueReceive", \
	  "MessageQueueSend", "ParallelBitmapScan", "ParallelCreateIndexScan", "ParallelFinish", \
	  "ProcArrayGroupUpdate", "ProcSignalBarrier", "Promote", "RecoveryConflictSnapshot", \
	  "RecoveryConflictTablespace", "RecoveryEndCommand", "RecoveryPause", "ReplicationOriginDrop", \
	  "ReplicationSlotDrop", "RestoreCommand", "SafeSnapshot", "SyncRep", \
	  "WalReceiverExit", "WalReceiverWaitStart", "XactGroupUpdate", "WalReceiverUpstreamCatchup") \
	X(15, 9, "Timeout", \
	  "BaseBackupThrottle", "CheckpointWriteDelay", "PgSleep", "RecoveryApplyDelay", \
	  "RecoveryRetrieveRetryInterval", "RegisterSyncRequest", "VacuumDelay", "VacuumTruncate") \
	X(15, 10, "IO", \
	  "BaseBackupRead", "BaseBackupSync", "BaseBackupWrite", "BufFileRead", \
	  "BufFileWrite", "BufFileTruncate", "ControlFileRead", "ControlFileSync", \
	  "ControlFileSyncUpdate", "ControlFileWrite", "ControlFileWriteUpdate", "CopyFileRead", \
	  "CopyFileWrite", "DataFileExtend", "DataFileFlush", "DataFileImmediateSync", \
	  "DataFilePrefetch", "DataFileRead", "DataFileSync", "DataFileTruncate", \
	  "DataFileWrite", "DSMFillZeroWrite", "LockFileAddToDataDirRead", "LockFileAddToDataDirSync", \
	  "LockFileAddToDataDirWrite", "LockFileCreateRead", "LockFileCreateSync", "LockFileCreateWrite", \
	  "LockFileReCheckDataDirRead", "LogicalRewriteCheckpointSync", "LogicalRewriteMappingSync", "LogicalRewriteMappingWrite", \
	  "LogicalRewriteSync", "LogicalRewriteTruncate", "LogicalRewriteWrite", "RelationMapRead", \
	  "RelationMapSync", "RelationMapWrite", "ReorderBufferRead", "ReorderBufferWrite", \
	  "ReorderLogicalMappingRead", "ReplicationSlotRead", "ReplicationSlotRestoreSync", "ReplicationSlotSync", \
	  "ReplicationSlotWrite", "SLRUFlushSync", "SLRURead", "SLRUSync", \
	  "SLRUWrite", "SnapbuildRead", "SnapbuildSync", "SnapbuildWrite", \
	  "TimelineHistoryFileSync", "TimelineHistoryFileWrite", "TimelineHistoryRead", "TimelineHistorySync", \
	  "TimelineHistoryWrite", "TwophaseFileRead", "TwophaseFileSync", "TwophaseFileWrite", \
	  "VersionFileWrite", "WALSenderTimelineHistoryRead", "WALBootstrapSync", "WALBootstrapWrite", \
	  "WALCopyRead", "WALCopySync", "WALCopyWrite", "WALInitSync", \
	  "WALInitWrite", "WALRead", "WALSync", "WALSyncMethodAssign", \
	  "WALWrite", "VersionFileSync") \
	X(16, 1, "LWLock", \
	  "", "ShmemIndex", "OidGen", "XidGen", \
	  "ProcArray", "SInvalRead", "SInvalWrite", "WALBufMapping", \
	  "WALWrite", "ControlFile", "<unassigned:10>", "XactSLRU", \
	  "SubtransSLRU", "MultiXactGen", "MultiXactOffsetSLRU", "MultiXactMemberSLRU", \
	  "RelCacheInit", "CheckpointerComm", "TwoPhaseState", "TablespaceCreate", \
	  "BtreeVacuum", "AddinShmemInit", "Autovacuum", "AutovacuumSchedule", \
	  "SyncScan", "RelationMapping", "NotifySLRU", "NotifyQueue", \
	  "SerializableXactHash", "SerializableFinishedList", "SerializablePredicateList", "SerialSLRU", \
	  "SyncRep", "BackgroundWorker", "DynamicSharedMemoryControl", "AutoFile", \
	  "ReplicationSlotAllocation", "ReplicationSlotControl", "CommitTsSLRU", "CommitTs", \
	  "ReplicationOrigin", "MultiXactTruncation", "OldSnapshotTimeMap", "LogicalRepWorker", \
	  "XactTruncation", "<unassigned:45>", "WrapLimitsVacuum", "NotifyQueueTail", \
	  "XactBuffer", "CommitTsBuffer", "SubtransBuffer", "MultiXactOffsetBuffer", \
	  "MultiXactMemberBuffer", "NotifyBuffer", "SerialBuffer", "WALInsert", \
	  "BufferContent", "ReplicationOriginState", "ReplicationSlotIO", "LockFastPath", \
	  "BufferMapping", "LockManager", "PredicateLockManager", "ParallelHashJoin", \
	  "ParallelQueryDSA", "PerSessionDSA", "PerSessionRecordType", "PerSessionRecordTypmod", \
	  "SharedTupleStore", "SharedTidBitmap", "ParallelAppend", "PerXactPredicateList", \
	  "PgStatsDSA", "PgStatsHash", "PgStatsData", "LogicalRepLauncherDSA", \
	  "LogicalRepLauncherHash") \
	X(16, 3, "Lock", \
	  "relation", "extend", "frozenid", "page", \
	  "tuple", "transactionid", "virtualxid", "spectoken", \
	  "object", "userlock", "advisory", "applytransaction") \
	X(16, 4, "BufferPin", \
	  "BufferPin") \
	X(16, 5, "Activity", \
	  "ArchiverMain", "AutoVacuumMain", "BgWriterHibernate", "BgWriterMain", \
	  "CheckpointerMain", "LogicalApplyMain", "LogicalLauncherMain", "LogicalParallelApplyMain", \
	  "RecoveryWalStream", "SysLoggerMain", "WalReceiverMain", "WalSenderMain", \
	  "WalWriterMain") \
	X(16, 6, "Client", \
	  "ClientRead", "ClientWrite", "GSSOpenServer", "LibPQWalReceiverConnect", \
	  "LibPQWalReceiverReceive", "SSLOpenServer", "WalSenderWaitForWAL", "WalSenderWriteData") \
	X(16, 8, "IPC", \
	  "AppendReady", "ArchiveCleanupCommand", "ArchiveCommand", "BackendTermination", \
	  "BackupWaitWalArchive", "BgWorkerShutdown", "BgWorkerStartup", "BtreePage", \
	  "BufferIO", "CheckpointDone", "CheckpointStart", "ExecuteGather", \
	  "HashBatchAllocate", "HashBatchElect", "HashBatchLoad", "HashBuildAllocate", \
	  "HashBuildElect", "HashBuildHashInner", "HashBuildHashOuter", "HashGrowBatchesDecide", \
	  "HashGrowBatchesElect", "HashGrowBatchesFinish", "HashGrowBatchesReallocate", "HashGrowBatchesRepartition", \
	  "HashGrowBucketsElect", "HashGrowBucketsReallocate", "HashGrowBucketsReinsert", "LogicalApplySendData", \
	  "LogicalParallelApplyStateChange", "LogicalSyncData", "LogicalSyncStateChange", "MessageQueueInternal", \
	  "MessageQueuePutMessage", "MessageQueueReceive", "MessageQueueSend", "ParallelBitmapScan", \
	  "ParallelCreateIndexScan", "ParallelFinish", "ProcArrayGroupUpdate", "ProcSignalBarrier", \
	  "Promote", "RecoveryConflictSnapshot", "RecoveryConflictTablespace", "RecoveryEndCommand", \
	  "RecoveryPause", "ReplicationOriginDrop", "ReplicationSlotDrop", "RestoreCommand", \
	  "SafeSnapshot", "SyncRep", "WalReceiverExit", "WalReceiverWaitStart", \
	  "XactGroupUpdate") \
	X(16, 9, "Timeout", \
	  "BaseBackupThrottle", "CheckpointWriteDelay", "PgSleep", "RecoveryApplyDelay", \
	  "RecoveryRetrieveRetryInterval", "RegisterSyncRequest", "SpinDelay", "VacuumDelay", \
	  "VacuumTruncate") \
	X(16, 10, "IO", \
	  "BaseBackupRead", "BaseBackupSync", "BaseBackupWrite", "BufFileRead", \
	  "BufFileWrite", "BufFileTruncate", "ControlFileRead", "ControlFileSync", \
	  "ControlFileSyncUpdate", "ControlFileWrite", "ControlFileWriteUpdate", "CopyFileRead", \
	  "CopyFileWrite", "DataFileExtend", "DataFileFlush", "DataFileImmediateSync", \
	  "DataFilePrefetch", "DataFileRead", "DataFileSync", "DataFileTruncate", \
	  "DataFileWrite", "DSMAllocate", "DSMFillZeroWrite", "LockFileAddToDataDirRead", \
	  "LockFileAddToDataDirSync", "LockFileAddToDataDirWrite", "LockFileCreateRead", "LockFileCreateSync", \
	  "LockFileCreateWrite", "LockFileReCheckDataDirRead", "LogicalRewriteCheckpointSync", "LogicalRewriteMappingSync", \
	  "LogicalRewriteMappingWrite", "LogicalRewriteSync", "LogicalRewriteTruncate", "LogicalRewriteWrite", \
	  "RelationMapRead", "RelationMapReplace", "RelationMapWrite", "ReorderBufferRead", \
	  "ReorderBufferWrite", "ReorderLogicalMappingRead", "ReplicationSlotRead", "ReplicationSlotRestoreSync", \
	  "ReplicationSlotSync", "ReplicationSlotWrite", "SLRUFlushSync", "SLRURead", \
	  "SLRUSync", "SLRUWrite", "SnapbuildRead", "SnapbuildSync", \
	  "SnapbuildWrite", "TimelineHistoryFileSync", "TimelineHistoryFileWrite", "TimelineHistoryRead", \
	  "TimelineHistorySync", "TimelineHistoryWrite", "TwophaseFileRead", "TwophaseFileSync", \
	  "TwophaseFileWrite", "VersionFileWrite", "WALSenderTimelineHistoryRead", "WALBootstrapSync", \
	  "WALBootstrapWrite", "WALCopyRead", "WALCopySync", "WALCopyWrite", \
	  "WALInitSync", "WALInitWrite", "WALRead", "WALSync", \
	  "WALSyncMethodAssign", "WALWrite", "VersionFileSync") \
	X(17, 1, "LWLock", \
	  "", "ShmemIndex", "OidGen", "XidGen", \
	  "ProcArray", "SInvalRead", "SInvalWrite", "WALBufMapping", \
	  "WALWrite", "ControlFile", "", "", \
	  "", "MultiXactGen", "", "", \
	  "RelCacheInit", "CheckpointerComm", "TwoPhaseState", "TablespaceCreate", \
	  "BtreeVacuum", "AddinShmemInit", "Autovacuum", "AutovacuumSchedule", \
	  "SyncScan", "RelationMapping", "", "NotifyQueue", \
	  "SerializableXactHash", "SerializableFinishedList", "SerializablePredicateList", "", \
	  "SyncRep", "BackgroundWorker", "DynamicSharedMemoryControl", "AutoFile", \
	  "ReplicationSlotAllocation", "ReplicationSlotControl", "", "CommitTs", \
	  "ReplicationOrigin", "MultiXactTruncation", "", "LogicalRepWorker", \
	  "XactTruncation", "", "WrapLimitsVacuum", "NotifyQueueTail", \
	  "WaitEventCustom", "WALSummarizer", "DSMRegistry", "InjectionPoint", \
	  "SerialControl", "XactBuffer", "CommitTsBuffer", "SubtransBuffer", \
	  "MultiXactOffsetBuffer", "MultiXactMemberBuffer", "NotifyBuffer", "SerialBuffer", \
	  "WALInsert", "BufferContent", "ReplicationOriginState", "ReplicationSlotIO", \
	  "LockFastPath", "BufferMapping", "LockManager", "PredicateLockManager", \
	  "ParallelHashJoin", "ParallelQueryDSA", "PerSessionDSA", "PerSessionRecordType", \
	  "PerSessionRecordTypmod", "SharedTupleStore", "SharedTidBitmap", "ParallelAppend", \
	  "PerXactPredicateList", "PgStatsDSA", "PgStatsHash", "PgStatsData", \
	  "LogicalRepLauncherDSA", "LogicalRepLauncherHash", "DSMRegistryDSA", "DSMRegistryHash", \
	  "CommitTsSLRU", "MultiXactMemberSLRU", "MultiXactOffsetSLRU", "NotifySLRU", \
	  "SerialSLRU", "SubtransSLRU", "XactSLRU", "ParallelVacuumDSA") \
	X(17, 3, "Lock", \
	  "relation", "extend", "frozenid", "page", \
	  "tuple", "transactionid", "virtualxid", "spectoken", \
	  "object", "userlock", "advisory", "applytransaction") \
	X(17, 4, "BufferPin", \
	  "BufferPin") \
	X(17, 5, "Activity", \
	  "ArchiverMain", "AutovacuumMain", "BgwriterHibernate", "BgwriterMain", \
	  "CheckpointerMain", "LogicalApplyMain", "LogicalLauncherMain", "LogicalParallelApplyMain", \
	  "RecoveryWalStream", "ReplicationSlotsyncMain", "ReplicationSlotsyncShutdown", "SysloggerMain", \
	  "WalReceiverMain", "WalSenderMain", "WalSummarizerWal", "WalWriterMain") \
	X(17, 6, "Client", \
	  "ClientRead", "ClientWrite", "GssOpenServer", "LibpqwalreceiverConnect", \
	  "LibpqwalreceiverReceive", "SslOpenServer", "WaitForStandbyConfirmation", "WalSenderWaitForWal", \
	  "WalSenderWriteData") \
	X(17, 8, "IPC", \
	  "AppendReady", "ArchiveCleanupCommand", "ArchiveCommand", "BackendTermination", \
	  "BackupWaitWalArchive", "BgworkerShutdown", "BgworkerStartup", "BtreePage", \
	  "BufferIo", "CheckpointDelayComplete", "CheckpointDelayStart", "CheckpointDone", \
	  "CheckpointStart", "ExecuteGather", "HashBatchAllocate", "HashBatchElect", \
	  "HashBatchLoad", "HashBuildAllocate", "HashBuildElect", "HashBuildHashInner", \
	  "HashBuildHashOuter", "HashGrowBatchesDecide", "HashGrowBatchesElect", "HashGrowBatchesFinish", \
	  "HashGrowBatchesReallocate", "HashGrowBatchesRepartition", "HashGrowBucketsElect", "HashGrowBucketsReallocate", \
	  "HashGrowBucketsReinsert", "LogicalApplySendData", "LogicalParallelApplyStateChange", "LogicalSyncData", \
	  "LogicalSyncStateChange", "MessageQueueInternal", "MessageQueuePutMessage", "MessageQueueReceive", \
	  "MessageQueueSend", "MultixactCreation", "ParallelBitmapScan", "ParallelCreateIndexScan", \
	  "ParallelFinish", "ProcarrayGroupUpdate", "ProcSignalBarrier", "Promote", \
	  "RecoveryConflictSnapshot", "RecoveryConflictTablespace", "RecoveryEndCommand", "RecoveryPause", \
	  "ReplicationOriginDrop", "ReplicationSlotDrop", "RestoreCommand", "SafeSnapshot", \
	  "SyncRep", "WalReceiverExit", "WalReceiverWaitStart", "WalSummaryReady", \
	  "XactGroupUpdate", "WalReceiverUpstreamCatchup") \
	X(17, 9, "Timeout", \
	  "BaseBackupThrottle", "CheckpointWriteDelay", "PgSleep", "RecoveryApplyDelay", \
	  "RecoveryRetrieveRetryInterval", "RegisterSyncRequest", "SpinDelay", "VacuumDelay", \
	  "VacuumTruncate", "WalSummarizerError") \
	X(17, 10, "IO", \
	  "BasebackupRead", "BasebackupSync", "BasebackupWrite", "BuffileRead", \
	  "BuffileTruncate", "BuffileWrite", "ControlFileRead", "ControlFileSync", \
	  "ControlFileSyncUpdate", "ControlFileWrite", "ControlFileWriteUpdate", "CopyFileRead", \
	  "CopyFileWrite", "DataFileExtend", "DataFileFlush", "DataFileImmediateSync", \
	  "DataFilePrefetch", "DataFileRead", "DataFileSync", "DataFileTruncate", \
	  "DataFileWrite", "DsmAllocate", "DsmFillZeroWrite", "LockFileAddtodatadirRead", \
	  "LockFileAddtodatadirSync", "LockFileAddtodatadirWrite", "LockFileCreateRead", "LockFileCreateSync", \
	  "LockFileCreateWrite", "LockFileRecheckdatadirRead", "LogicalRewriteCheckpointSync", "LogicalRewriteMappingSync", \
	  "LogicalRewriteMappingWrite", "LogicalRewriteSync", "LogicalRewriteTruncate", "LogicalRewriteWrite", \
	  "RelationMapRead", "RelationMapReplace", "RelationMapWrite", "ReorderBufferRead", \
	  "ReorderBufferWrite", "ReorderLogicalMappingRead", "ReplicationSlotRead", "ReplicationSlotRestoreSync", \
	  "ReplicationSlotSync", "ReplicationSlotWrite", "SlruFlushSync", "SlruRead", \
	  "SlruSync", "SlruWrite", "SnapbuildRead", "SnapbuildSync", \
	  "SnapbuildWrite", "TimelineHistoryFileSync", "TimelineHistoryFileWrite", "TimelineHistoryRead", \
	  "TimelineHistorySync", "TimelineHistoryWrite", "TwophaseFileRead", "TwophaseFileSync", \
	  "TwophaseFileWrite", "VersionFileSync", "VersionFileWrite", "WalsenderTimelineHistoryRead", \
	  "WalBootstrapSync", "WalBootstrapWrite", "WalCopyRead", "WalCopySync", \
	  "WalCopyWrite", "WalInitSync", "WalInitWrite", "WalRead", \
	  "WalSummaryRead", "WalSummaryWrite", "WalSync", "WalSyncMethodAssign", \
	  "WalWrite") \
	X(18, 1, "LWLock", \
	  "", "ShmemIndex", "OidGen", "XidGen", \
	  "ProcArray", "SInvalRead", "SInvalWrite", "WALBufMapping", \
	  "WALWrite", "ControlFile", "", "", \
	  "", "MultiXactGen", "", "", \
	  "RelCacheInit", "CheckpointerComm", "TwoPhaseState", "TablespaceCreate", \
	  "BtreeVacuum", "AddinShmemInit", "Autovacuum", "AutovacuumSchedule", \
	  "SyncScan", "RelationMapping", "", "NotifyQueue", \
	  "SerializableXactHash", "SerializableFinishedList", "SerializablePredicateList", "", \
	  "SyncRep", "BackgroundWorker", "DynamicSharedMemoryControl", "AutoFile", \
	  "ReplicationSlotAllocation", "ReplicationSlotControl", "", "CommitTs", \
	  "ReplicationOrigin", "MultiXactTruncation", "", "LogicalRepWorker", \
	  "XactTruncation", "", "WrapLimitsVacuum", "NotifyQueueTail", \
	  "WaitEventCustom", "WALSummarizer", "DSMRegistry", "InjectionPoint", \
	  "SerialControl", "AioWorkerSubmissionQueue", "XactBuffer", "CommitTsBuffer", \
	  "SubtransBuffer", "MultiXactOffsetBuffer", "MultiXactMemberBuffer", "NotifyBuffer", \
	  "SerialBuffer", "WALInsert", "BufferContent", "ReplicationOriginState", \
	  "ReplicationSlotIO", "LockFastPath", "BufferMapping", "LockManager", \
	  "PredicateLockManager", "ParallelHashJoin", "ParallelBtreeScan", "ParallelQueryDSA", \
	  "PerSessionDSA", "PerSessionRecordType", "PerSessionRecordTypmod", "SharedTupleStore", \
	  "SharedTidBitmap", "ParallelAppend", "PerXactPredicateList", "PgStatsDSA", \
	  "PgStatsHash", "PgStatsData", "LogicalRepLauncherDSA", "LogicalRepLauncherHash", \
	  "DSMRegistryDSA", "DSMRegistryHash", "CommitTsSLRU", "MultiXactMemberSLRU", \
	  "MultiXactOffsetSLRU", "NotifySLRU", "SerialSLRU", "SubtransSLRU", \
	  "XactSLRU", "ParallelVacuumDSA", "AioUringCompletion") \
	X(18, 3, "Lock", \
	  "relation", "extend", "frozenid", "page", \
	  "tuple", "transactionid", "virtualxid", "spectoken", \
	  "object", "userlock", "advisory", "applytransaction") \
	X(18, 4, "BufferPin", \
	  "BufferPin") \
	X(18, 5, "Activity", \
	  "ArchiverMain", "AutovacuumMain", "BgwriterHibernate", "BgwriterMain", \
	  "CheckpointerMain", "CheckpointerShutdown", "IoWorkerMain", "LogicalApplyMain", \
	  "LogicalLauncherMain", "LogicalParallelApplyMain", "RecoveryWalStream", "ReplicationSlotsyncMain", \
	  "ReplicationSlotsyncShutdown", "SysloggerMain", "WalReceiverMain", "WalSenderMain", \
	  "WalSummarizerWal", "WalWriterMain") \
	X(18, 6, "Client", \
	  "ClientRead", "ClientWrite", "GssOpenServer", "LibpqwalreceiverConnect", \
	  "LibpqwalreceiverReceive", "SslOpenServer", "WaitForStandbyConfirmation", "WalSenderWaitForWal", \
	  "WalSenderWriteData") \
	X(18, 8, "IPC", \
	  "AppendReady", "ArchiveCleanupCommand", "ArchiveCommand", "BackendTermination", \
	  "BackupWaitWalArchive", "BgworkerShutdown", "BgworkerStartup", "BtreePage", \
	  "BufferIo", "CheckpointDelayComplete", "CheckpointDelayStart", "CheckpointDone", \
	  "CheckpointStart", "ExecuteGather", "HashBatchAllocate", "HashBatchElect", \
	  "HashBatchLoad", "HashBuildAllocate", "HashBuildElect", "HashBuildHashInner", \
	  "HashBuildHashOuter", "HashGrowBatchesDecide", "HashGrowBatchesElect", "HashGrowBatchesFinish", \
	  "HashGrowBatchesReallocate", "HashGrowBatchesRepartition", "HashGrowBucketsElect", "HashGrowBucketsReallocate", \
	  "HashGrowBucketsReinsert", "LogicalApplySendData", "LogicalParallelApplyStateChange", "LogicalSyncData", \
	  "LogicalSyncStateChange", "MessageQueueInternal", "MessageQueuePutMessage", "MessageQueueReceive", \
	  "MessageQueueSend", "MultixactCreation", "ParallelBitmapScan", "ParallelCreateIndexScan", \
	  "ParallelFinish", "ProcarrayGroupUpdate", "ProcSignalBarrier", "Promote", \
	  "RecoveryConflictSnapshot", "RecoveryConflictTablespace", "RecoveryEndCommand", "RecoveryPause", \
	  "ReplicationOriginDrop", "ReplicationSlotDrop", "RestoreCommand", "SafeSnapshot", \
	  "SyncRep", "WalReceiverExit", "WalReceiverWaitStart", "WalSummaryReady", \
	  "XactGroupUpdate", "WalReceiverUpstreamCatchup") \
	X(18, 9, "Timeout", \
	  "BaseBackupThrottle", "CheckpointWriteDelay", "PgSleep", "RecoveryApplyDelay", \
	  "RecoveryRetrieveRetryInterval", "RegisterSyncRequest", "SpinDelay", "VacuumDelay", \
	  "VacuumTruncate", "WalSummarizerError") \
	X(18, 10, "IO", \
	  "AioIoCompletion", "AioIoUringExecution", "AioIoUringSubmit", "BasebackupRead", \
	  "BasebackupSync", "BasebackupWrite", "BuffileRead", "BuffileTruncate", \
	  "BuffileWrite", "ControlFileRead", "ControlFileSync", "ControlFileSyncUpdate", \
	  "ControlFileWrite", "ControlFileWriteUpdate", "CopyFileCopy", "CopyFileRead", \
	  "CopyFileWrite", "DataFileExtend", "DataFileFlush", "DataFileImmediateSync", \
	  "DataFilePrefetch", "DataFileRead", "DataFileSync", "DataFileTruncate", \
	  "DataFileWrite", "DsmAllocate", "DsmFillZeroWrite", "LockFileAddtodatadirRead", \
	  "LockFileAddtodatadirSync", "LockFileAddtodatadirWrite", "LockFileCreateRead", "LockFileCreateSync", \
	  "LockFileCreateWrite", "LockFileRecheckdatadirRead", "LogicalRewriteCheckpointSync", "LogicalRewriteMappingSync", \
	  "LogicalRewriteMappingWrite", "LogicalRewriteSync", "LogicalRewriteTruncate", "LogicalRewriteWrite", \
	  "RelationMapRead", "RelationMapReplace", "RelationMapWrite", "ReorderBufferRead", \
	  "ReorderBufferWrite", "ReorderLogicalMappingRead", "ReplicationSlotRead", "ReplicationSlotRestoreSync", \
	  "ReplicationSlotSync", "ReplicationSlotWrite", "SlruFlushSync", "SlruRead", \
	  "SlruSync", "SlruWrite", "SnapbuildRead", "SnapbuildSync", \
	  "SnapbuildWrite", "TimelineHistoryFileSync", "TimelineHistoryFileWrite", "TimelineHistoryRead", \
	  "TimelineHistorySync", "TimelineHistoryWrite", "TwophaseFileRead", "TwophaseFileSync", \
	  "TwophaseFileWrite", "VersionFileSync", "VersionFileWrite", "WalsenderTimelineHistoryRead", \
	  "WalBootstrapSync", "WalBootstrapWrite", "WalCopyRead", "WalCopySync", \
	  "WalCopyWrite", "WalInitSync", "WalInitWrite", "WalRead", \
	  "WalSummaryRead", "WalSummaryWrite", "WalSync", "WalSyncMethodAssign", \
	  "WalWrite") \
	X(19, 1, "LWLock", \
	  "", "", "OidGen", "XidGen", \
	  "ProcArray", "SInvalRead", "SInvalWrite", "WALBufMapping", \
	  "WALWrite", "ControlFile", "", "", \
	  "", "MultiXactGen", "", "", \
	  "RelCacheInit", "CheckpointerComm", "TwoPhaseState", "TablespaceCreate", \
	  "BtreeVacuum", "AddinShmemInit", "Autovacuum", "AutovacuumSchedule", \
	  "SyncScan", "RelationMapping", "", "NotifyQueue", \
	  "SerializableXactHash", "SerializableFinishedList", "SerializablePredicateList", "", \
	  "SyncRep", "BackgroundWorker", "DynamicSharedMemoryControl", "AutoFile", \
	  "ReplicationSlotAllocation", "ReplicationSlotControl", "", "CommitTs", \
	  "ReplicationOrigin", "MultiXactTruncation", "", "LogicalRepWorker", \
	  "XactTruncation", "", "WrapLimitsVacuum", "NotifyQueueTail", \
	  "WaitEventCustom", "WALSummarizer", "DSMRegistry", "InjectionPoint", \
	  "SerialControl", "AioWorkerSubmissionQueue", "WaitLSN", "LogicalDecodingControl", \
	  "", "AioWorkerControl", "XactBuffer", "CommitTsBuffer", \
	  "SubtransBuffer", "MultiXactOffsetBuffer", "MultiXactMemberBuffer", "NotifyBuffer", \
	  "NotifyChannelHash", "SerialBuffer", "WALInsert", "ReplicationOriginState", \
	  "ReplicationSlotIO", "LockFastPath", "BufferMapping", "LockManager", \
	  "PredicateLockManager", "ParallelHashJoin", "ParallelBtreeScan", "ParallelQueryDSA", \
	  "PerSessionDSA", "PerSessionRecordType", "PerSessionRecordTypmod", "SharedTupleStore", \
	  "SharedTidBitmap", "ParallelAppend", "PerXactPredicateList", "PgStatsDSA", \
	  "PgStatsHash", "PgStatsData", "LogicalRepLauncherDSA", "LogicalRepLauncherHash", \
	  "DSMRegistryDSA", "DSMRegistryHash", "CommitTsSLRU", "MultiXactOffsetSLRU", \
	  "MultiXactMemberSLRU", "NotifySLRU", "SerialSLRU", "SubtransSLRU", \
	  "XactSLRU", "ParallelVacuumDSA", "AioUringCompletion", "ShmemIndex") \
	X(19, 3, "Lock", \
	  "relation", "extend", "frozenid", "page", \
	  "tuple", "transactionid", "virtualxid", "spectoken", \
	  "object", "userlock", "advisory", "applytransaction") \
	X(19, 4, "Buffer", \
	  "BufferCleanup", "BufferExclusive", "BufferShared", "BufferShareExclusive") \
	X(19, 5, "Activity", \
	  "ArchiverMain", "AutovacuumMain", "BgwriterHibernate", "BgwriterMain", \
	  "CheckpointerMain", "CheckpointerShutdown", "IoWorkerMain", "LogicalApplyMain", \
	  "LogicalLauncherMain", "LogicalParallelApplyMain", "RecoveryWalStream", "ReplicationSlotsyncMain", \
	  "ReplicationSlotsyncShutdown", "SysloggerMain", "WalReceiverMain", "WalSenderMain", \
	  "WalSummarizerWal", "WalWriterMain") \
	X(19, 6, "Client", \
	  "ClientRead", "ClientWrite", "GssOpenServer", "LibpqwalreceiverConnect", \
	  "LibpqwalreceiverReceive", "SslOpenServer", "WaitForStandbyConfirmation", "WalSenderWaitForWal", \
	  "WalSenderWriteData") \
	X(19, 8, "IPC", \
	  "AppendReady", "ArchiveCleanupCommand", "ArchiveCommand", "BackendTermination", \
	  "BackupWaitWalArchive", "BgworkerShutdown", "BgworkerStartup", "BtreePage", \
	  "BufferIo", "CheckpointDelayComplete", "CheckpointDelayStart", "CheckpointDone", \
	  "CheckpointStart", "ExecuteGather", "HashBatchAllocate", "HashBatchElect", \
	  "HashBatchLoad", "HashBuildAllocate", "HashBuildElect", "HashBuildHashInner", \
	  "HashBuildHashOuter", "HashGrowBatchesDecide", "HashGrowBatchesElect", "HashGrowBatchesFinish", \
	  "HashGrowBatchesReallocate", "HashGrowBatchesRepartition", "HashGrowBucketsElect", "HashGrowBucketsReallocate", \
	  "HashGrowBucketsReinsert", "LogicalApplySendData", "LogicalParallelApplyStateChange", "LogicalSyncData", \
	  "LogicalSyncStateChange", "MessageQueueInternal", "MessageQueuePutMessage", "MessageQueueReceive", \
	  "MessageQueueSend", "MultixactCreation", "ParallelBitmapScan", "ParallelCreateIndexScan", \
	  "ParallelFinish", "ProcarrayGroupUpdate", "ProcSignalBarrier", "Promote", \
	  "RecoveryConflictSnapshot", "RecoveryConflictTablespace", "RecoveryEndCommand", "RecoveryPause", \
	  "RepackWorkerExport", "ReplicationOriginDrop", "ReplicationSlotDrop", "RestoreCommand", \
	  "SafeSnapshot", "SyncRep", "WaitForWalFlush", "WaitForWalReplay", \
	  "WaitForWalWrite", "WalReceiverExit", "WalReceiverUpstreamCatchup", "WalReceiverWaitStart", \
	  "WalSummaryReady", "XactGroupUpdate") \
	X(19, 9, "Timeout", \
	  "BaseBackupThrottle", "CheckpointWriteDelay", "CommitDelay", "PgSleep", \
	  "RecoveryApplyDelay", "RecoveryRetrieveRetryInterval", "RegisterSyncRequest", "SpinDelay", \
	  "VacuumDelay", "VacuumTruncate", "WalSummarizerError") \
	X(19, 10, "IO", \
	  "AioIoCompletion", "AioIoUringExecution", "AioIoUringSubmit", "BasebackupRead", \
	  "BasebackupSync", "BasebackupWrite", "BuffileRead", "BuffileTruncate", \
	  "BuffileWrite", "ControlFileRead", "ControlFileSync", "ControlFileSyncUpdate", \
	  "ControlFileWrite", "ControlFileWriteUpdate", "CopyFileCopy", "CopyFileRead", \
	  "CopyFileWrite", "CopyFromRead", "CopyToWrite", "DataFileExtend", \
	  "DataFileFlush", "DataFileImmediateSync", "DataFilePrefetch", "DataFileRead", \
	  "DataFileSync", "DataFileTruncate", "DataFileWrite", "DsmAllocate", \
	  "DsmFillZeroWrite", "LockFileAddtodatadirRead", "LockFileAddtodatadirSync", "LockFileAddtodatadirWrite", \
	  "LockFileCreateRead", "LockFileCreateSync", "LockFileCreateWrite", "LockFileRecheckdatadirRead", \
	  "LogicalRewriteCheckpointSync", "LogicalRewriteMappingSync", "LogicalRewriteMappingWrite", "LogicalRewriteSync", \
	  "LogicalRewriteTruncate", "LogicalRewriteWrite", "RelationMapRead", "RelationMapReplace", \
	  "RelationMapWrite", "ReorderBufferRead", "ReorderBufferWrite", "ReorderLogicalMappingRead", \
	  "ReplicationSlotRead", "ReplicationSlotRestoreSync", "ReplicationSlotSync", "ReplicationSlotWrite", \
	  "SlruFlushSync", "SlruRead", "SlruSync", "SlruWrite", \
	  "SnapbuildRead", "SnapbuildSync", "SnapbuildWrite", "TimelineHistoryFileSync", \
	  "TimelineHistoryFileWrite", "TimelineHistoryRead", "TimelineHistorySync", "TimelineHistoryWrite", \
	  "TwophaseFileRead", "TwophaseFileSync", "TwophaseFileWrite", "VersionFileSync", \
	  "VersionFileWrite", "WalsenderTimelineHistoryRead", "WalBootstrapSync", "WalBootstrapWrite", \
	  "WalCopyRead", "WalCopySync", "WalCopyWrite", "WalInitSync", \
	  "WalInitWrite", "WalRead", "WalSummaryRead", "WalSummaryWrite", \
	  "WalSync", "WalSyncMethodAssign", "WalWrite") \

#endif
