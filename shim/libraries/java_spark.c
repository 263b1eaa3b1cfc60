/* SPDX-License-Identifier: MIT */
/*
 * Spark takes its settings from system properties, so options of the Java machine are all that it needs.  They enable an event log, and
 * lines in the classes that Janino makes.  The texts of these classes are in the heap, as objects of one class (CodeAndComment, field
 * body).  When the machine ends, they are found by a walk of the heap for that class alone.  No bytecode is changed and no Java code is
 * run.
 */
#include "shim/libraries/java_spark.h"

#include "agent/guest/guest.h"
#include "jitreg/jitreg.h"
#include "jitreg/protocol/env.h"
#include "shim/announce/announce.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define JNI_OK 0
#define JVMTI_VERSION 0x30010000
#define EVENT_VM_DEATH 51
#define CAN_TAG_OBJECTS 1 /* a bit in the first byte of the capabilities */
#define TAG 0x5350
#define TEXTS_MAX 1000
#define TEXT_BYTES_MAX (4u << 20)
#define CLASS "Lorg/apache/spark/sql/catalyst/expressions/codegen/CodeAndComment;"

typedef void *const *table;
typedef struct { table functions; } *handle;
#define JVMTI(env, n, ...) ((int (*)(handle, ##__VA_ARGS__))(env)->functions[(n)-1])
#define SET_EVENT_MODE 2
#define DEALLOCATE 47
#define GET_CLASS_SIGNATURE 48
#define GET_LOADED_CLASSES 78
#define GET_OBJECTS_WITH_TAGS 114
#define ITERATE_THROUGH_HEAP 116
#define SET_EVENT_CALLBACKS 122
#define ADD_CAPABILITIES 142
#define JNI(type, env, n, ...) ((type (*)(handle, ##__VA_ARGS__))(env)->functions[n])
#define EXCEPTION_CLEAR 17
#define DELETE_LOCAL_REFERENCE 23
#define GET_FIELD_ID 94
#define GET_OBJECT_FIELD 95
#define GET_STRING_UTF_LENGTH 168
#define GET_STRING_UTF_CHARS 169
#define RELEASE_STRING_UTF_CHARS 170

static handle walker; /* the agent's own JVMTI environment in the machine */

#define FOLDER_OPTION "-Dspark.eventLog.dir=file:"

/* Formats the option that names the folder. Spark reads a URI, in which bytes other than letters, digits and "/-_.~" are written as %XX.
 * Returns false if there is no room. */
static bool put_folder_option(const char *path, char *to, size_t room)
{
	size_t at = strlen(FOLDER_OPTION);

	memcpy(to, FOLDER_OPTION, at);
	for (; *path && room - at > 3; path++) {
		const unsigned char c = (unsigned char)*path;
		const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("/-_.~", c);

		at += (size_t)snprintf(to + at, room - at, plain ? "%c" : "%%%02X", c);
	}
	return !*path;
}

const char *java_spark_option(int i)
{
	static char folder[sizeof(FOLDER_OPTION) + 3 * TAILOR_SPARK_BYTES];
	static const char *const options[JAVA_SPARK_OPTIONS] = {
		"-Dorg.codehaus.janino.source_debugging.enable=true", "-Dspark.sql.codegen.comments=true",
		"-Dspark.eventLog.enabled=true", "-Dspark.eventLog.compress=false", folder, NULL,
	};
	const char *path = getenv(TAILOR_ENV_SPARK);

	if (!path || !*path || i >= JAVA_SPARK_OPTIONS || !put_folder_option(path, folder, sizeof(folder)))
		return NULL;
	return options[i];
}

/* ------------------------------------------------------------------------------------------------------------ the heap */

static int32_t tag_object(int64_t class_tag, int64_t bytes, int64_t *tag, int32_t length, void *nr)
{
	(void)class_tag;
	(void)bytes;
	(void)length;
	if ((*(int *)nr)++ < TEXTS_MAX)
		*tag = TAG;
	return 0;
}

static void send_text(handle jni, void *class, void *object, int number)
{
	void *field = JNI(void *, jni, GET_FIELD_ID, void *, const char *, const char *)(jni, class, "body", "Ljava/lang/String;");
	void *text = field ? JNI(void *, jni, GET_OBJECT_FIELD, void *, void *)(jni, object, field) : NULL;
	int32_t bytes = text ? JNI(int32_t, jni, GET_STRING_UTF_LENGTH, void *)(jni, text) : 0;
	const char *utf = bytes > 0 && (uint32_t)bytes <= TEXT_BYTES_MAX ?
				  JNI(const char *, jni, GET_STRING_UTF_CHARS, void *, uint8_t *)(jni, text, NULL) : NULL;
	char name[64];

	snprintf(name, sizeof(name), "spark/generated-%d.java", number);
	if (utf) {
		jitreg_source_text(name, utf, (size_t)bytes, 0, 1, 0);
		JNI(void, jni, RELEASE_STRING_UTF_CHARS, void *, const char *)(jni, text, utf);
	}
	if (!field) {
		JNI(void, jni, EXCEPTION_CLEAR)(jni);
		announce_lack(HOST_SPARK, "", "its class CodeAndComment has no field body");
	}
	if (text)
		JNI(void, jni, DELETE_LOCAL_REFERENCE, void *)(jni, text);
}

static double now_ms(void)
{
	struct timespec t = { 0 };

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void send_texts_of_class(handle env, handle jni, void *class)
{
	void *callbacks[16] = { (void *)tag_object }, **objects = NULL;
	const int64_t tag = TAG;
	const double begin_ms = now_ms();
	int32_t nr = 0;
	int seen = 0;

	if (JVMTI(env, ITERATE_THROUGH_HEAP, int32_t, void *, void **, void *)(env, 0, class, callbacks, &seen) ||
	    JVMTI(env, GET_OBJECTS_WITH_TAGS, int32_t, const int64_t *, int32_t *, void ***, int64_t **)(env, 1, &tag, &nr, &objects, NULL))
		return;
	guest_debug("Spark: %d texts of generated classes found by a walk of the heap in %.1f ms", nr, now_ms() - begin_ms);
	for (int32_t i = 0; i < nr; i++) {
		send_text(jni, class, objects[i], i);
		JNI(void, jni, DELETE_LOCAL_REFERENCE, void *)(jni, objects[i]);
	}
	JVMTI(env, DEALLOCATE, void *)(env, objects);
}

static bool is_class_of_texts(handle env, void *class)
{
	char *signature = NULL;
	bool is;

	if (JVMTI(env, GET_CLASS_SIGNATURE, void *, char **, char **)(env, class, &signature, NULL) || !signature)
		return false;
	is = strcmp(signature, CLASS) == 0;
	JVMTI(env, DEALLOCATE, void *)(env, signature);
	return is;
}

static void on_machine_death(handle env, handle jni)
{
	void **classes = NULL;
	int32_t nr = 0;

	if (!guest_is_on() || JVMTI(env, GET_LOADED_CLASSES, int32_t *, void ***)(env, &nr, &classes))
		return;
	for (int32_t i = 0; i < nr; i++) {
		if (is_class_of_texts(env, classes[i]))
			send_texts_of_class(env, jni, classes[i]);
		JNI(void, jni, DELETE_LOCAL_REFERENCE, void *)(jni, classes[i]);
	}
	JVMTI(env, DEALLOCATE, void *)(env, classes);
}

void java_spark_begin(void *vm)
{
	const uint8_t capabilities[16] = { CAN_TAG_OBJECTS };
	void *callbacks[35] = { [EVENT_VM_DEATH - 50] = (void *)on_machine_death };
	handle machine = vm;

	if (walker || !java_spark_option(0) ||
	    ((int (*)(handle, void **, int32_t))machine->functions[6])(machine, (void **)&walker, JVMTI_VERSION) != JNI_OK || !walker)
		return;
	if (JVMTI(walker, ADD_CAPABILITIES, const void *)(walker, capabilities) ||
	    JVMTI(walker, SET_EVENT_CALLBACKS, const void *, int32_t)(walker, callbacks, (int32_t)sizeof(callbacks)))
		return;
	((int (*)(handle, int, int, void *, ...))walker->functions[SET_EVENT_MODE - 1])(walker, 1, EVENT_VM_DEATH, NULL);
}
