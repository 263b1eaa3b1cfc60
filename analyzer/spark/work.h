/* SPDX-License-Identifier: MIT */
/*
 * This file has the only table of Spark's own classes. An entry has the beginning of their names, and the kind of node of the running stage
 * that they work for.
 *
 * X(beginning, rank, kind, what): the function of the lowest rank on a stack decides, whether it is an inner or an outer frame.  Functions
 * of the JVM and of libraries have the highest rank, for stacks that are cut before Spark's frames.  Functions of Python run in its
 * workers.
 */
#ifndef TAILOR_SPARK_WORK_H
#define TAILOR_SPARK_WORK_H

/* This list has kinds of nodes: the node's name, and a metric that only one side has if both sides of a node have one name (Exchange). */
#define SPARK_KINDS(X) \
	X(NONE, "", "") \
	X(SCAN, "Scan", "") \
	X(MEMORY_SCAN, "InMemoryTableScan", "") \
	X(SORT, "Sort", "") \
	X(WRITE, "Exchange", "shuffle records written") \
	X(READ, "Exchange", "records read") \
	X(BROADCAST, "BroadcastExchange", "") \
	X(AGGREGATE, "ObjectHashAggregate", "") \
	X(HASH_AGGREGATE, "HashAggregate", "") \
	X(SORT_AGGREGATE, "SortAggregate", "") \
	X(MERGE_JOIN, "SortMergeJoin", "") \
	X(HASH_JOIN, "ShuffledHashJoin", "") \
	X(LOOP_JOIN, "BroadcastNestedLoopJoin", "") \
	X(CARTESIAN, "CartesianProduct", "") \
	X(WINDOW, "Window", "") \
	X(EXPAND, "Expand", "") \
	X(GENERATE, "Generate", "") \
	X(PYTHON, "BatchEvalPython", "") \
	X(ARROW_PYTHON, "ArrowEvalPython", "") \
	X(ANY_PYTHON, "Python", "") \
	X(TOP, "TakeOrderedAndProject", "") \
	X(COMMAND, "Execute InsertIntoHadoopFsRelationCommand", "")

#define SPARK_KIND_(NAME, node, metric) SPARK_##NAME,
enum spark_kind { SPARK_KINDS(SPARK_KIND_) NR_SPARK_KINDS };
#undef SPARK_KIND_

#define SPARK_SQL "org.apache.spark.sql.execution."
#define SPARK_WORK(X) \
	X(SPARK_SQL "datasources.FileScanRDD", 0, SCAN, "read of files") \
	X(SPARK_SQL "datasources.parquet.Parquet", 0, SCAN, "read of Parquet") \
	X(SPARK_SQL "datasources.parquet.Vectorized", 0, SCAN, "read of Parquet") \
	X("org.apache.parquet.hadoop.ParquetFileReader", 0, SCAN, "read of Parquet") \
	X("org.apache.parquet.column.page", 0, SCAN, "read of Parquet") \
	X("org.apache.parquet.hadoop.ParquetWriter", 0, COMMAND, "write of Parquet") \
	X("org.apache.parquet.hadoop.ParquetRecordWriter", 0, COMMAND, "write of Parquet") \
	X(SPARK_SQL "datasources.FileFormatWriter", 1, COMMAND, "write of files") \
	X(SPARK_SQL "datasources.FileFormatDataWriter", 0, COMMAND, "write of files") \
	X(SPARK_SQL "datasources.SingleDirectoryDataWriter", 0, COMMAND, "write of files") \
	X(SPARK_SQL "datasources.v2", 0, SCAN, "read of a data source") \
	X(SPARK_SQL "datasources.orc", 0, SCAN, "read of ORC") \
	X(SPARK_SQL "datasources.csv", 0, SCAN, "read of CSV") \
	X(SPARK_SQL "datasources.json", 0, SCAN, "read of JSON") \
	X(SPARK_SQL "columnar.", 0, MEMORY_SCAN, "read of cached tables") \
	X(SPARK_SQL "UnsafeExternalRowSorter", 0, SORT, "sort") \
	X("org.apache.spark.util.collection.unsafe.sort.Unsafe", 0, SORT, "sort") \
	X("org.apache.spark.util.collection.unsafe.sort.RadixSort", 0, SORT, "sort") \
	X("org.apache.spark.util.collection.TimSort", 0, SORT, "sort") \
	X("org.apache.spark.util.collection.Sorter", 0, SORT, "sort") \
	X("org.apache.spark.util.collection.ExternalSorter", 0, WRITE, "shuffle write") \
	X("org.apache.spark.util.collection.ExternalAppendOnlyMap", 0, NONE, "aggregation of RDDs") \
	X("org.apache.spark.shuffle.sort.", 0, WRITE, "shuffle write") \
	X("org.apache.spark.shuffle.ShuffleWriteProcessor", 0, WRITE, "shuffle write") \
	X("org.apache.spark.shuffle.checksum.", 0, WRITE, "shuffle write") \
	X("org.apache.spark.shuffle.IndexShuffleBlockResolver", 0, WRITE, "shuffle write") \
	X("org.apache.spark.storage.DiskBlockObjectWriter", 0, WRITE, "shuffle write") \
	X(SPARK_SQL "exchange.ShuffleExchangeExec", 0, WRITE, "shuffle write") \
	X(SPARK_SQL "PartitionIdPassthrough", 0, WRITE, "shuffle write") \
	X("org.apache.spark.storage.ShuffleBlockFetcherIterator", 0, READ, "shuffle read") \
	X("org.apache.spark.shuffle.BlockStoreShuffleReader", 0, READ, "shuffle read") \
	X(SPARK_SQL "ShuffledRowRDD", 0, READ, "shuffle read") \
	X(SPARK_SQL "UnsafeRowSerializerInstance$$anon$1", 0, WRITE, "shuffle write") \
	X(SPARK_SQL "UnsafeRowSerializerInstance$$anon$2", 0, READ, "shuffle read") \
	X(SPARK_SQL "UnsafeRowSerializerInstance$$anon$3", 0, READ, "shuffle read") \
	X(SPARK_SQL "joins.SortMergeJoinScanner", 0, MERGE_JOIN, "merge join") \
	X(SPARK_SQL "joins.SortMergeJoinExec", 0, MERGE_JOIN, "merge join") \
	X(SPARK_SQL "ExternalAppendOnlyUnsafeRowArray", 1, MERGE_JOIN, "rows of a join or window") \
	X(SPARK_SQL "joins.ShuffledHashJoinExec", 0, HASH_JOIN, "hash join") \
	X(SPARK_SQL "joins.BroadcastNestedLoopJoinExec", 0, LOOP_JOIN, "nested loop join") \
	X(SPARK_SQL "joins.CartesianProductExec", 0, CARTESIAN, "cartesian product") \
	X(SPARK_SQL "aggregate.ObjectHashAggregate", 0, AGGREGATE, "aggregation") \
	X(SPARK_SQL "aggregate.ObjectAggregationIterator", 0, AGGREGATE, "aggregation") \
	X(SPARK_SQL "aggregate.TungstenAggregationIterator", 0, HASH_AGGREGATE, "aggregation") \
	X(SPARK_SQL "aggregate.SortBasedAggregationIterator", 0, SORT_AGGREGATE, "aggregation") \
	X(SPARK_SQL "window.", 0, WINDOW, "window functions") \
	X(SPARK_SQL "ExpandExec", 0, EXPAND, "expand") \
	X(SPARK_SQL "GenerateExec", 0, GENERATE, "generate") \
	X(SPARK_SQL "python.BatchEvalPython", 0, PYTHON, "Python functions") \
	X(SPARK_SQL "python.BatchIterator", 0, PYTHON, "Python functions") \
	X(SPARK_SQL "python.ArrowEvalPython", 0, ARROW_PYTHON, "Python functions") \
	X(SPARK_SQL "python.", 1, ANY_PYTHON, "Python functions") \
	X("org.apache.spark.api.python.", 1, ANY_PYTHON, "Python functions") \
	X("Py", 3, ANY_PYTHON, "Python functions") \
	X("_Py", 3, ANY_PYTHON, "Python functions") \
	X(SPARK_SQL "TakeOrderedAndProjectExec", 0, TOP, "first rows in order") \
	X("org.apache.spark.util.BoundedPriorityQueue", 0, TOP, "first rows in order") \
	X("org.apache.spark.util.collection.Utils$.takeOrdered", 0, TOP, "first rows in order") \
	X(SPARK_SQL "SparkPlan.$anonfun$getByteArrayRdd", 1, NONE, "result to the driver") \
	X("org.apache.spark.executor.Executor$TaskRunner.run", 2, NONE, "start and end of a task") \
	X("org.apache.spark.serializer.", 1, NONE, "serialisation") \
	X("org.apache.spark.broadcast.", 0, NONE, "read of a broadcast") \
	X("org.apache.spark.storage.BlockManager", 1, NONE, "storage of blocks") \
	X("org.apache.spark.memory.", 1, NONE, "memory of tasks") \
	X("org.apache.spark.sql.catalyst.expressions.codegen.CodeGenerator", 0, NONE, "code generation") \
	X("org.codehaus.", 0, NONE, "code generation") \
	X("org.apache.spark.rdd.", 2, NONE, "functions of RDDs") \
	X("org.apache.spark.scheduler.", 2, NONE, "start and end of a task") \
	X("java.io.Object", 2, NONE, "serialisation") \
	X("java.lang.ClassLoader", 3, NONE, "class loading") \
	X("java.lang.Class.", 3, NONE, "class loading") \
	X("java.lang.invoke.", 3, NONE, "class loading") \
	X("java.util.jar.", 3, NONE, "class loading") \
	X("java.util.zip.", 3, NONE, "class loading") \
	X("LZ4_", 3, NONE, "compression") \
	X("LinkResolver::", 3, NONE, "class loading") \
	X("SystemDictionary::", 3, NONE, "class loading") \
	X("ClassVerifier::", 3, NONE, "class loading") \
	X("InstanceKlass::", 3, NONE, "class loading") \
	X("java.io.File", 3, NONE, "files") \
	X("java.io.UnixFileSystem", 3, NONE, "files")

#endif
