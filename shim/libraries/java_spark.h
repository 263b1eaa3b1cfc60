/* SPDX-License-Identifier: MIT */
/*
 * Spark in a Java machine (`tailor run --spark`).  The options give its operators what they need, and the Java texts that it generated are
 * registered.  Context: thread.
 */
#ifndef TAILOR_JAVA_SPARK_H
#define TAILOR_JAVA_SPARK_H

#include <stddef.h>

/* Options for a machine that is about to be created, by index.  NULL behind the last one, and for all of them if none are wanted. */
#define JAVA_SPARK_OPTIONS 6
const char *java_spark_option(int i);
/* Called when the machine was created. */
void java_spark_begin(void *vm);

#endif
