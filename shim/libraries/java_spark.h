/* SPDX-License-Identifier: MIT */
/*
 * Adapts Spark in a Java machine (`tailor run --spark`). Options make it write an event log and generate classes with line numbers, and the
 * Java texts of these classes are registered. Context: thread.
 */
#ifndef TAILOR_JAVA_SPARK_H
#define TAILOR_JAVA_SPARK_H

#include <stddef.h>

/* Returns the option with index i for a machine that is about to be created.  Returns NULL behind the last one, and for each i if Spark is
 * not recorded or the path of its log is too long. */
#define JAVA_SPARK_OPTIONS 6
const char *java_spark_option(int i);
/* Prepares a machine that was just created to register the texts when it ends, if Spark is recorded. */
void java_spark_begin(void *vm);

#endif
