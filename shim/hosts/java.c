/* SPDX-License-Identifier: MIT */
/*
 * Adapts OpenJDK.  The launcher looks up JNI_CreateJavaVM by dlsym, and a program that embeds a machine calls it.  Both get the agent's
 * function instead, so the machine is known as soon as it is created, and before the program's first class is loaded. JVMTI then calls back
 * for compiled methods (with their inline tree, whose innermost frame has the line), for stubs, and for threads that start. Because these
 * events are enabled, HotSpot keeps line numbers also for places that are no safepoints.
 *
 * The option -XX:+PreserveFramePointer is put in front of the machine's other options, which override it.  Without it no stack goes through
 * compiled code.  The tables are those of jni.h and jvmti.h, by number.
 */
#include "shim/hosts/hosts.h"

#include "agent/guest/sys.h"
#include "shim/libraries/java_spark.h"

#include <string.h>

#define JNI_OK 0
#define JVMTI_VERSION 0x30010000
#define INLINE_INFO 2 /* JVMTI_CMLR_INLINE_INFO */
#define EVENT_FIRST 50
#define EVENT_THREAD_START 52
#define EVENT_COMPILED_LOAD 68
#define EVENT_COMPILED_UNLOAD 69
#define EVENT_CODE_GENERATED 70
#define OPTIONS_MAX 256 /* a machine with nearly as many options of its own gets none of the agent's */
#define LINES_BYTES (256u << 10)
#define INLINES_BYTES (2u << 20) /* large, because HotSpot compiles methods of 8000 bytes, and Spark's have names of 100 letters */
#define NAME_BYTES 1024
#define FILE_BYTES 256
#define NAMES 64 /* methods whose texts are kept while one code object is registered */
/* HotSpot reports a method a moment after it began to run, so its LOAD is stamped this long before now. */
#define TOLD_LATE_NS 5000000

typedef void *const *table;  /* a machine or an environment, which begins with a pointer to its functions */
typedef struct { table functions; } *handle;

struct option {
	char *text;
	void *extra;
};
struct arguments {
	int32_t version, nr;
	struct option *options;
	uint8_t ignore_unknown;
};
struct line {
	int64_t bci;
	int32_t number;
};
struct inline_record {
	int32_t kind, major, minor;
	void *next;
	int32_t nr;
	struct frame {
		void *pc;
		int32_t nr;
		void **methods; /* innermost first */
		int32_t *bcis;
	} *frames;
};

typedef int (*create_function)(handle *vm, void **env, struct arguments *a);
static create_function real_create;
static void *(*real_dlsym)(void *, const char *);
static unsigned char *lines_buffer; /* memory for lines, then inlines, then method texts; NULL: there is none */
static int lines_taken;

/* The functions of jvmti.h are numbered from 1, and those of jni.h from 0. */
#define JVMTI(env, n, ...) ((int (*)(handle, ##__VA_ARGS__))(env)->functions[(n)-1])
#define JNI(type, env, n, ...) ((type (*)(handle, ##__VA_ARGS__))(env)->functions[n])
#define GET_THREAD_INFO 9
#define DEALLOCATE 47
#define GET_CLASS_SIGNATURE 48
#define GET_SOURCE_FILE_NAME 50
#define GET_METHOD_NAME 64
#define GET_METHOD_CLASS 65
#define GET_LINE_TABLE 70
#define SET_EVENT_CALLBACKS 122
#define GENERATE_EVENTS 123
#define ADD_CAPABILITIES 142
#define SET_EVENT_MODE 2
#define DELETE_LOCAL_REFERENCE 23
#define IS_SAME_OBJECT 24
#define GET_STRING_LENGTH 164
#define GET_STRING_UTF_REGION 221
#define LETTERS_MAX 340 /* letters of up to 3 bytes */

static void free_jvmti_memory(handle env, void *p)
{
	if (p)
		JVMTI(env, DEALLOCATE, unsigned char *)(env, p);
}

/* Formats a method's name as "package.Class.method", from "Lpackage/Class;" and "method". */
static void format_method_name(handle env, void *method, char out[NAME_BYTES])
{
	char *name = NULL, *signature = NULL;
	void *class = NULL;
	size_t at = 0;

	JVMTI(env, GET_METHOD_NAME, void *, char **, char **, char **)(env, method, &name, NULL, NULL);
	if (JVMTI(env, GET_METHOD_CLASS, void *, void **)(env, method, &class) == 0)
		JVMTI(env, GET_CLASS_SIGNATURE, void *, char **, char **)(env, class, &signature, NULL);
	for (const char *c = signature && *signature == 'L' ? signature + 1 : ""; *c && *c != ';' && at < NAME_BYTES / 2; c++)
		out[at++] = *c == '/' ? '.' : *c;
	if (at)
		out[at++] = '.';
	for (const char *c = name ? name : "(no name)"; *c && at < NAME_BYTES - 1; c++)
		out[at++] = *c;
	out[at] = 0;
	free_jvmti_memory(env, name);
	free_jvmti_memory(env, signature);
}

/* Formats the path of a method's file from its class's package and file, as "com/shop/Cart.java", which distinguishes files of the same
 * name.  out is empty if the class has no file. */
static void format_method_file(handle env, void *method, char out[FILE_BYTES])
{
	char *signature = NULL, *file = NULL;
	size_t package = 0, bytes;
	void *class = NULL;

	memset(out, 0, FILE_BYTES);
	if (JVMTI(env, GET_METHOD_CLASS, void *, void **)(env, method, &class) ||
	    JVMTI(env, GET_SOURCE_FILE_NAME, void *, char **)(env, class, &file) || !file)
		return;
	JVMTI(env, GET_CLASS_SIGNATURE, void *, char **, char **)(env, class, &signature, NULL);
	for (size_t i = 1; signature && *signature == 'L' && signature[i]; i++)
		package = signature[i] == '/' ? i : package; /* up to its last slash, without the L */
	bytes = strlen(file);
	package = package + bytes < FILE_BYTES ? package : 0;
	bytes = bytes < FILE_BYTES ? bytes : FILE_BYTES - 1;
	if (package)
		memcpy(out, signature + 1, package);
	memcpy(out + package, file, bytes);
	free_jvmti_memory(env, file);
	free_jvmti_memory(env, signature);
}

/* These are the lines of the last method that was looked up. They are kept, because neighbouring addresses mostly have the same method. */
struct method_lines {
	void *method;
	struct line *lines;
	int32_t nr;
	char file[FILE_BYTES];
};

static void free_method_lines(handle env, struct method_lines *m)
{
	free_jvmti_memory(env, m->lines);
	memset(m, 0, sizeof(*m));
}

static uint32_t find_line_of_bytecode(handle env, struct method_lines *m, void *method, int32_t bci)
{
	uint32_t number = 0;

	if (m->method != method) {
		free_method_lines(env, m);
		m->method = method;
		if (JVMTI(env, GET_LINE_TABLE, void *, int32_t *, struct line **)(env, method, &m->nr, &m->lines))
			m->nr = 0;
		format_method_file(env, method, m->file);
	}
	for (int32_t i = 0; i < m->nr; i++)
		if (m->lines[i].bci <= bci)
			number = (uint32_t)m->lines[i].number;
	return *m->file ? number : 0;
}

struct method_text {
	void *method;
	char name[NAME_BYTES], file[FILE_BYTES];
};

static const struct method_text *get_method_text(handle env, void *method)
{
	struct method_text *t = (struct method_text *)(lines_buffer + LINES_BYTES + INLINES_BYTES) + (uintptr_t)method / 8 % NAMES;

	if (t->method == method)
		return t;
	format_method_name(env, method, t->name);
	format_method_file(env, method, t->file);
	t->method = method;
	return t;
}

/* Do two addresses have the same methods inlined in the same places?  The place in the innermost method does not matter. */
static bool same_inlining(const struct frame *a, const struct frame *b)
{
	if (a->nr != b->nr || a->methods[0] != b->methods[0])
		return false;
	for (int32_t i = 1; i < a->nr; i++)
		if (a->methods[i] != b->methods[i] || a->bcis[i] != b->bcis[i])
			return false;
	return true;
}

/* Adds the methods at an address, outermost first.  Returns false if there is no room. */
static bool add_inlined_methods(handle env, struct line_table *t, struct method_lines *m, uint64_t address, const struct frame *f)
{
	for (int32_t i = f->nr; i > 0; i--) {
		const struct method_text *text = get_method_text(env, f->methods[i - 1]);
		uint32_t line = i < f->nr && f->bcis[i] >= 0 ? find_line_of_bytecode(env, m, f->methods[i], f->bcis[i]) : 0;

		if (t->capacity - t->bytes < 2 * (NAME_BYTES + FILE_BYTES) ||
		    !inline_table_add(t, address, line, (uint32_t)(f->nr - i), text->name, text->file,
				      strlen(text->file)))
			return false;
	}
	return true;
}

/* Registers the methods that are inlined.  The entry of a pc describes the code up to that pc. */
static void register_inlines(handle env, uint64_t start, const struct inline_record *r, struct method_lines *m)
{
	struct line_table t = { .buffer = lines_buffer + LINES_BYTES, .capacity = INLINES_BYTES };
	const struct frame *before = NULL;
	bool any = false, room = true;
	uint64_t from = start;

	memset(lines_buffer + LINES_BYTES + INLINES_BYTES, 0, NAMES * sizeof(struct method_text)); /* method numbers are reused */
	for (int32_t i = 0; i < r->nr && room; i++) {
		const struct frame *f = &r->frames[i];

		if (f->nr > 0 && (!before || !same_inlining(before, f))) {
			room = add_inlined_methods(env, &t, m, from, f);
			any |= f->nr > 1;
			before = f;
		}
		if ((uint64_t)(uintptr_t)f->pc > from)
			from = (uint64_t)(uintptr_t)f->pc;
	}
	if (!room) /* the end of the last entry is marked, because nothing is known of the code behind */
		inline_table_add(&t, from, 0, 0, "", "", 0);
	if (any)
		inline_table_send(&t, start);
}

/* Registers lines, and the methods that are inlined. The entry of a pc describes the code up to that pc. Registers nothing while another
 * thread does so, because there is one buffer. */
static void register_lines_and_inlines(handle env, uint64_t start, const struct inline_record *r)
{
	struct line_table t = { .buffer = lines_buffer, .capacity = LINES_BYTES };
	struct method_lines m = { 0 };
	uint64_t from = start;

	while (r && r->kind != INLINE_INFO)
		r = r->next;
	if (!r || !t.buffer || __atomic_exchange_n(&lines_taken, 1, __ATOMIC_ACQUIRE))
		return;
	for (int32_t i = 0; i < r->nr; i++) {
		const struct frame *f = &r->frames[i];
		uint32_t line = 0;

		for (int32_t n = 0; n < f->nr && !line; n++)
			line = f->bcis[n] >= 0 ? find_line_of_bytecode(env, &m, f->methods[n], f->bcis[n]) : 0;
		if (line && !line_table_add(&t, t.nr ? from : start, line, m.file, strlen(m.file)))
			break;
		if ((uint64_t)(uintptr_t)f->pc > from)
			from = (uint64_t)(uintptr_t)f->pc;
	}
	line_table_send(&t, start);
	register_inlines(env, start, r, &m);
	__atomic_store_n(&lines_taken, 0, __ATOMIC_RELEASE);
	free_method_lines(env, &m);
}

/*
 * JVMTI calls this for each compiled method. Context: the machine's service thread, or the calling thread while it asks for all existing
 * code.
 */
static void on_compiled_method_load(handle env, void *method, int32_t bytes, const void *address, int32_t nr, const void *map,
				    const struct inline_record *info)
{
	char name[NAME_BYTES];

	(void)nr;
	(void)map;
	if (bytes <= 0)
		return;
	format_method_name(env, method, name);
	register_lines_and_inlines(env, (uint64_t)(uintptr_t)address, info);
	announce_load((uint64_t)(uintptr_t)address, (uint64_t)bytes, name, address, TOLD_LATE_NS);
}

static void on_compiled_method_unload(handle env, void *method, const void *address)
{
	(void)env;
	(void)method;
	jitreg_code_unload((uint64_t)(uintptr_t)address, 0);
}

static void on_dynamic_code_generated(handle env, const char *name, const void *address, int32_t bytes)
{
	(void)env;
	if (bytes > 0)
		jitreg_code_load((uint64_t)(uintptr_t)address, (uint64_t)bytes, 0, name, NULL);
}

/* ---------------------------------------------------------------------------------------------------- names of threads */
/*
 * Thread.setName() ends in JVM_SetNativeThreadName(), whose address libjava takes.  The agent precedes libjvm in the order of lookup, so
 * libjava gets the agent's function, which calls libjvm's.  A name that a thread has before it starts does not pass through it, and comes
 * with JVMTI's event.  Nothing is allocated in Java's heap, and no Java code runs.
 */
struct thread_info {
	char *name;
	int32_t priority;
	uint8_t is_daemon;
	void *group, *class_loader;
};

typedef void set_name_function(handle env, void *thread, void *name);
typedef void *current_thread_function(handle env, void *class);

static bool are_heard;

static void announce_name_of_thread(handle env, void *thread)
{
	struct thread_info info = { .name = NULL };

	if (JVMTI(env, GET_THREAD_INFO, void *, struct thread_info *)(env, thread, &info) || !info.name)
		return;
	announce_thread_name(info.name);
	free_jvmti_memory(env, info.name);
}

static void on_thread_start(handle env, handle jni, void *thread)
{
	(void)jni;
	announce_name_of_thread(env, thread);
}

/* Names the calling thread, which has created the machine, and enables the hook for other names. */
static void hear_thread_names(handle env)
{
	announce_name_of_thread(env, NULL);
	__atomic_store_n(&are_heard, true, __ATOMIC_RELEASE);
}

/* Is `thread` the calling thread?  Java also sets names of other threads, but a record names the thread that sends it. */
static bool is_calling_thread(handle env, void *thread)
{
	static void *found;
	current_thread_function *current = (current_thread_function *)objects_find_next_cached("JVM_CurrentThread", &found);
	void *self = current ? current(env, NULL) : NULL;
	bool same = self && JNI(uint8_t, env, IS_SAME_OBJECT, void *, void *)(env, self, thread);

	if (self)
		JNI(void, env, DELETE_LOCAL_REFERENCE, void *)(env, self);
	return same;
}

static void announce_name(handle env, void *name)
{
	int32_t letters = JNI(int32_t, env, GET_STRING_LENGTH, void *)(env, name);
	char text[3 * LETTERS_MAX + 1] = "";

	letters = letters < LETTERS_MAX ? letters : LETTERS_MAX;
	JNI(void, env, GET_STRING_UTF_REGION, void *, int32_t, int32_t, char *)(env, name, 0, letters, text);
	announce_thread_name(text);
}

/* Replaces libjvm's function.  The record is sent before libjvm's function sets the kernel's name (announce_thread_name()). */
API void JVM_SetNativeThreadName(handle env, void *thread, void *name);
API void JVM_SetNativeThreadName(handle env, void *thread, void *name)
{
	static void *found;
	set_name_function *set_name = (set_name_function *)objects_find_next_cached("JVM_SetNativeThreadName", &found);

	if (name && guest_is_on() && __atomic_load_n(&are_heard, __ATOMIC_ACQUIRE) && is_calling_thread(env, thread))
		announce_name(env, name);
	if (set_name)
		set_name(env, thread, name);
}

/* ------------------------------------------------------------------------------------------------------- the machine */

static void enable_event(handle env, int event)
{
	((int (*)(handle, int, int, void *, ...))env->functions[SET_EVENT_MODE - 1])(env, 1, event, NULL);
}

static void enable_jvmti_events(handle vm)
{
	/* the bits of can_get_source_file_name, can_get_line_numbers, and can_generate_compiled_method_load_events */
	uint8_t capabilities[16] = { 0, 0x18, 0, 0x08 };
	void *callbacks[64] = { NULL };
	handle env = NULL;

	if (((int (*)(handle, void **, int32_t))vm->functions[6])(vm, (void **)&env, JVMTI_VERSION) != JNI_OK || !env)
		return;
	if (JVMTI(env, ADD_CAPABILITIES, const void *)(env, capabilities))
		return;
	callbacks[EVENT_THREAD_START - EVENT_FIRST] = (void *)on_thread_start;
	callbacks[EVENT_COMPILED_LOAD - EVENT_FIRST] = (void *)on_compiled_method_load;
	callbacks[EVENT_COMPILED_UNLOAD - EVENT_FIRST] = (void *)on_compiled_method_unload;
	callbacks[EVENT_CODE_GENERATED - EVENT_FIRST] = (void *)on_dynamic_code_generated;
	/* the table has the events of version 1.0, and later ones are not read */
	JVMTI(env, SET_EVENT_CALLBACKS, const void *, int32_t)(env, callbacks, 35 * (int32_t)sizeof(void *));
	enable_event(env, EVENT_THREAD_START);
	for (int event = EVENT_COMPILED_LOAD; event <= EVENT_CODE_GENERATED; event++)
		enable_event(env, event);
	hear_thread_names(env);
	JVMTI(env, GENERATE_EVENTS, int)(env, EVENT_CODE_GENERATED);
	JVMTI(env, GENERATE_EVENTS, int)(env, EVENT_COMPILED_LOAD);
	ANNOUNCE_ONCE("OpenJDK: compiled methods, lines and threads' names registered through JVMTI; -XX:+PreserveFramePointer added");
}

static int create_java_vm(handle *vm, void **env, struct arguments *given)
{
	static char keep_frames[] = "-XX:+PreserveFramePointer";
	struct option options[OPTIONS_MAX];
	struct arguments a = *given;
	int ret;

	if (a.nr >= 0 && a.nr < OPTIONS_MAX - 1 - JAVA_SPARK_OPTIONS) {
		int added = 1;

		/* the added options come first, so that the user's own ones override them */
		options[0] = (struct option){ keep_frames, NULL };
		for (; java_spark_option(added - 1); added++)
			options[added] = (struct option){ (char *)(uintptr_t)java_spark_option(added - 1), NULL };
		memcpy(options + added, a.options, (size_t)a.nr * sizeof(*options));
		a.options = options;
		a.nr += added;
	}
	ret = real_create(vm, env, &a);
	if (ret == JNI_OK && guest_is_on()) {
		enable_jvmti_events(*vm);
		java_spark_begin(*vm);
	}
	return ret;
}

/* Replaces dlsym() in the launcher only. */
static void *on_launcher_dlsym(void *library, const char *name)
{
	void *symbol = real_dlsym(library, name);

	if (!symbol || strcmp(name, "JNI_CreateJavaVM") != 0)
		return symbol;
	real_create = (create_function)symbol;
	return (void *)create_java_vm;
}

void java_hook_object(const struct object *o)
{
	bool is_launcher = object_find_symbol(o, "JLI_Launch"); /* o is libjli, or a program that contains it */
	long p;

	/* an object that calls JNI_CreateJavaVM embeds a machine */
	if (real_dlsym || real_create || (!is_launcher && !object_find_slot(o, "JNI_CreateJavaVM")) ||
	    object_hook_when_relocated(o, java_hook_object))
		return;
	if (is_launcher) {
		if (slot_replace(o, "dlsym", (void *)on_launcher_dlsym, &real_dlsym)) {
			guest_debug("OpenJDK: adapter unavailable (the launcher's call of JNI_CreateJavaVM was not found)");
			return;
		}
	} else if (slot_replace(o, "JNI_CreateJavaVM", (void *)create_java_vm, &real_create)) {
		return;
	}
	p = sys_mmap(NULL, LINES_BYTES + INLINES_BYTES + NAMES * sizeof(struct method_text), PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1);
	lines_buffer = p < 0 && p > -4096 ? NULL : (unsigned char *)p;
}
