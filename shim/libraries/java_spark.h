/* SPDX-License-Identifier: MIT */
/*
 * Spark in a Java machine (`tailor run --spark`): the options that its operators need, and the Java texts that it generated.
 * Context: thread.
 */
#ifndef TAILOR_JAVA_SPARK_H
#define TAILOR_JAVA_SPARK_H

#include <stddef.h>

/* Options of a machine that is about to be made, in order; NULL behind the last one: none are wanted. */
#define JAVA_SPARK_OPTIONS 6
const char *java_spark_option(int i);
/* The machine is there. */
void java_spark_begin(void *vm);

#endif
