/* SPDX-License-Identifier: MIT */
/*
 * Adapts V8, where its interface is exported (Node, embedders).  Isolate::SetJitCodeEventHandler reports code, also nearly all existing
 * code (v8_running.h), and source positions (v8-callbacks.h).  An isolate is found when its thread asks for the time inside a context,
 * which V8 does whenever it compiles a script.  At that moment V8 may be in the middle of anything, so it is asked for an interrupt
 * (Isolate::RequestInterrupt), which comes at the next function or loop of a script.  The handler is set there.
 */
#include "shim/hosts/hosts.h"

#include "agent/guest/sys.h"
#include "shim/libraries/v8_lines.h"
#include "shim/libraries/v8_running.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#define RECORDINGS_MAX 8 /* maximum number of recordings at the same time */

enum event_type { ADDED, MOVED, REMOVED, ADD_LINE, START_LINES, END_LINES };
enum code_type { BYTE_CODE, JIT_CODE, WASM_CODE };

/* This is the layout of v8::JitCodeEvent in HOST_V8_OLDEST to HOST_V8_NEWEST. */
struct event {
	uint32_t type, code_type;
	uint64_t start, bytes;
	void **script; /* a handle: the address of a pointer to the script */
	void *user_data;
	void *wasm;
	union {
		struct {
			const char *text;
			uint64_t bytes;
		} name;
		struct {
			uint64_t offset, position;
			uint32_t kind;
		} line;
		uint64_t new_start;
	};
	void *isolate;
};

struct recording {
	int taken;
	uint64_t start; /* 0: not complete */
	uint32_t nr;
	struct v8_place at[V8_PLACES_MAX];
};

static struct {
	void *(*current)(void);
	bool (*in_context)(void *isolate);
	void (*request_interrupt)(void *isolate, void (*)(void *isolate, void *data), void *data);
	void (*set_handler)(void *isolate, int options, void (*)(struct event *));
	struct v8_calls of_scripts;
	void (*set_flags)(const char *); /* NULL: V8 exports no such function */
	const int *isolate_key; /* V8 9 and 10: key for pthread_getspecific; 0: not created yet.  NULL: there is none */
	int (*clock_gettime)(clockid_t, struct timespec *);
	struct recording *recording; /* NULL: V8 was not found, or is not to be called */
	bool is_refused;	     /* V8 is older or newer than the known versions, and no other object is checked */
	char version[HOST_VERSION_BYTES]; /* V8's version, once it was read */
	const char *lack; /* why V8's code is not registered; "": because of its version; NULL: nothing to report */
} v8;

/* This is an object with V8 that dlopen has loaded, until it is relocated. */
static struct {
	int taken;
	struct object object;
	object_init_function *init;
} opened;

/* The thread was seen in these isolates. Each worker has one, and a later isolate may get the same memory. */
#define ISOLATES_MAX 16
#define TLS __attribute__((tls_model("initial-exec")))
static __thread void *known_isolates[ISOLATES_MAX] TLS;
static __thread unsigned nr_known_isolates TLS;
static __thread bool was_outside TLS; /* the thread was in no isolate when it last asked for the time */
static __thread bool is_reporting TLS; /* this thread registers code that existed before */
static __thread bool looks_at_running TLS; /* code that V8 reports in this thread is compared with running code (v8_running.h) */

/* Code that exists when the agent is injected ran before, so its records are stamped this long before now, even in a recording that began a
 * moment ago. */
#define EXISTS_NS 1000000000

/*
 * All code is reported again for memory that may hold a new isolate, but only while all reports have taken less than one part in
 * PART_OF_TIME of the time.
 */
#define PART_OF_TIME 20
static uint64_t first_ns, reporting_ns;

static void *map_anonymous_memory(size_t bytes)
{
	long p = sys_mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);

	return p < 0 && p > -4096 ? NULL : (void *)p;
}

static struct recording *take_position_recording(void)
{
	for (int i = 0; i < RECORDINGS_MAX; i++)
		if (!__atomic_exchange_n(&v8.recording[i].taken, 1, __ATOMIC_ACQUIRE)) {
			v8.recording[i].start = 0;
			v8.recording[i].nr = 0;
			return &v8.recording[i];
		}
	/* All recordings that wait for their code are given up, because those whose code is never added would keep their places. */
	for (int i = 0; i < RECORDINGS_MAX; i++)
		if (v8.recording[i].start)
			__atomic_store_n(&v8.recording[i].taken, 0, __ATOMIC_RELEASE);
	return NULL;
}

static struct recording *find_position_recording(uint64_t start)
{
	for (int i = 0; i < RECORDINGS_MAX; i++)
		if (v8.recording[i].taken && v8.recording[i].start == start)
			return &v8.recording[i];
	return NULL;
}

static struct v8_code code_of(const struct event *e, const struct recording *r)
{
	return (struct v8_code){ e->start, e->script, e->name.text, e->name.bytes, r ? r->at : NULL, r ? r->nr : 0 };
}

static void on_bytecode(const struct event *e)
{
	struct recording *r = find_position_recording(e->start);
	struct v8_code code = code_of(e, r);

	v8_lines_note_bytecode(&code);
	if (r)
		__atomic_store_n(&r->taken, 0, __ATOMIC_RELEASE);
}

static void register_added_code(const struct event *e)
{
	struct recording *r = find_position_recording(e->start);
	struct v8_code code = code_of(e, r);
	char name[1024];
	size_t bytes = e->name.bytes < sizeof(name) - 1 ? e->name.bytes : sizeof(name) - 1;

	v8_lines_register(&code);
	if (r)
		__atomic_store_n(&r->taken, 0, __ATOMIC_RELEASE);
	memcpy(name, e->name.text, bytes);
	name[bytes] = 0;
	announce_load(e->start, e->bytes, name, (const void *)(uintptr_t)e->start, is_reporting && guest_was_loaded_late() ? EXISTS_NS : 0);
}

/* Registers code that V8 does not report, in the same way as reported code that existed before. */
static void register_running_code(uint64_t start, uint64_t bytes, const char *name, size_t name_bytes)
{
	struct event e = { .type = ADDED, .code_type = JIT_CODE, .start = start, .bytes = bytes, .name = { name, name_bytes } };

	is_reporting = true;
	register_added_code(&e);
	is_reporting = false;
}

/* V8 calls this. Context: the isolate's thread, or one that compiles WebAssembly for it. */
static void on_jit_code_event(struct event *e)
{
	struct recording *r;

	if (looks_at_running && e->type == ADDED && e->code_type != WASM_CODE)
		v8_running_note_code(e->start, e->code_type == BYTE_CODE ? 0 : e->bytes, e->script, e->name.text, e->name.bytes);
	if (e->code_type == BYTE_CODE && (e->type == MOVED || e->type == REMOVED))
		return;
	switch (e->type) {
	case ADDED:
		if (e->code_type == BYTE_CODE)
			on_bytecode(e);
		else
			register_added_code(e);
		break;
	case MOVED:
		jitreg_code_move(e->start, e->new_start, e->bytes, 0);
		break;
	case REMOVED:
		jitreg_code_unload(e->start, e->bytes);
		break;
	case START_LINES:
		e->user_data = take_position_recording();
		break;
	case ADD_LINE:
		r = e->user_data;
		if (r && r->nr < V8_PLACES_MAX && e->line.kind == 0) {
			r->at[r->nr].offset = (uint32_t)e->line.offset;
			r->at[r->nr++].position = (uint32_t)e->line.position;
		}
		break;
	case END_LINES:
		r = e->user_data;
		if (r)
			r->start = e->start;
		break;
	}
}

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t = { 0, 0 };

	v8.clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* V8 calls this after RequestInterrupt(). Context: the isolate's thread, between two steps of a script. */
static void on_isolate_interrupt(void *isolate, void *data)
{
	uint64_t begin_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);

	(void)data;
	if (!guest_is_on())
		return;
	is_reporting = true;
	looks_at_running = guest_was_loaded_late() && v8_running_find_frames();
	v8.set_handler(isolate, 1, on_jit_code_event); /* 1: existing code is reported, too */
	if (looks_at_running)
		v8_running_register_frames(register_running_code);
	looks_at_running = is_reporting = false;
	__atomic_fetch_add(&reporting_ns, now_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns, __ATOMIC_RELAXED);
	ANNOUNCE_ONCE("V8: code and lines registered through Isolate::SetJitCodeEventHandler");
}

/* Returns the calling thread's isolate, or NULL.  Before V8 has created its key, the key is 0, which may be another library's (OpenSSL in
 * Node 16, which asks for the time first). */
static void *current_isolate(void)
{
	return v8.isolate_key && !__atomic_load_n(v8.isolate_key, __ATOMIC_ACQUIRE) ? NULL : v8.current();
}

static bool is_known_isolate(const void *isolate)
{
	for (unsigned i = 0; i < nr_known_isolates; i++)
		if (known_isolates[i] == isolate)
			return true;
	return nr_known_isolates == ISOLATES_MAX;
}

static void forget_isolate(const void *isolate)
{
	for (unsigned i = 0; i < nr_known_isolates; i++)
		if (known_isolates[i] == isolate)
			known_isolates[i] = known_isolates[--nr_known_isolates];
}

static bool has_time_to_report_again(void)
{
	uint64_t spent_ns = __atomic_load_n(&reporting_ns, __ATOMIC_RELAXED);

	return spent_ns < (now_ns(CLOCK_MONOTONIC) - __atomic_load_n(&first_ns, __ATOMIC_RELAXED)) / PART_OF_TIME;
}

/*
 * Asks for an interrupt in the thread's isolate, if that was not seen before.  An isolate that is being created has no context yet.  One
 * that existed before is entered together with its context.  Context: a thread that asks for the time.  V8 may hold locks, but not that of
 * its interrupts, which any thread may request.
 */
static void ask_new_isolate_for_interrupt(void)
{
	void *isolate = guest_is_on() ? current_isolate() : NULL;
	int saved;

	if (!isolate) {
		was_outside = true;
		return;
	}
	if (was_outside && is_known_isolate(isolate) && !v8.in_context(isolate) && has_time_to_report_again())
		forget_isolate(isolate);
	was_outside = false;
	if (is_known_isolate(isolate) || !v8.in_context(isolate))
		return;
	known_isolates[nr_known_isolates++] = isolate;
	if (!__atomic_load_n(&first_ns, __ATOMIC_RELAXED))
		__atomic_store_n(&first_ns, now_ns(CLOCK_MONOTONIC), __ATOMIC_RELAXED);
	saved = errno;
	v8.request_interrupt(isolate, on_isolate_interrupt, NULL);
	errno = saved;
}

static int on_v8_clock_gettime(clockid_t clock, struct timespec *now)
{
	ask_new_isolate_for_interrupt();
	return v8.clock_gettime(clock, now);
}

static void find_functions_for_scripts(const struct object *o, struct v8_calls *out)
{
	out->current_isolate = v8.current;
	out->line_number = (int (*)(void *, int))object_find_symbol(o, "_ZN2v813UnboundScript13GetLineNumberEi");
	out->script_id = (int (*)(void *))object_find_symbol(o, "_ZNK2v813UnboundScript5GetIdEv");
	out->globalize = (void *(*)(void *, uintptr_t))object_find_symbol(o,
		"_ZN2v812api_internal18GlobalizeReferenceEPNS_8internal7IsolateEm");
	out->globalize_at = (void *(*)(void *, uintptr_t *))object_find_symbol(o,
		"_ZN2v812api_internal18GlobalizeReferenceEPNS_8internal7IsolateEPm");
	out->dispose = (void (*)(void *))object_find_symbol(o, "_ZN2v812api_internal13DisposeGlobalEPm");
}

/* Returns true if o has V8 with all functions that are needed and memory was available, or if its V8 is refused. o is relocated. */
static bool find_v8_functions(const struct object *o)
{
	const char *(*get_version)(void) = (const char *(*)(void))object_find_symbol(o, "_ZN2v82V810GetVersionEv"), *version;
	int major = 0;

	if (!get_version)
		return false;
	version = get_version();
	for (const char *c = version; *c >= '0' && *c <= '9' && major < 10000; c++)
		major = 10 * major + (*c - '0');
	strncpy(v8.version, version, sizeof(v8.version) - 1); /* it is copied, because V8 may be unloaded */
	v8.is_refused = major < HOST_V8_OLDEST || major > HOST_V8_NEWEST;
	if (v8.is_refused) {
		v8.lack = "";
		return true;
	}
	v8.current = (void *(*)(void))object_find_symbol(o, "_ZN2v87Isolate13TryGetCurrentEv");
	v8.isolate_key = object_find_symbol(o, "_ZN2v88internal7Isolate12isolate_key_E");
	v8.in_context = (bool (*)(void *))object_find_symbol(o, "_ZN2v87Isolate9InContextEv");
	v8.set_handler = (void (*)(void *, int, void (*)(struct event *)))object_find_symbol(o,
		"_ZN2v87Isolate22SetJitCodeEventHandlerENS_19JitCodeEventOptionsEPFvPKNS_12JitCodeEventEE");
	v8.request_interrupt = (void (*)(void *, void (*)(void *, void *), void *))object_find_symbol(o,
		"_ZN2v87Isolate16RequestInterruptEPFvPS0_PvES2_");
	find_functions_for_scripts(o, &v8.of_scripts);
	v8.set_flags = (void (*)(const char *))object_find_symbol(o, "_ZN2v82V818SetFlagsFromStringEPKc");
	v8.clock_gettime = clock_gettime;
	if (!v8.current || !v8.in_context || !v8.request_interrupt || !v8.set_handler || !v8.of_scripts.line_number) {
		v8.lack = "it lacks a function of V8's interface";
		return false;
	}
	v8.lack = NULL;
	if (v8_lines_init(&v8.of_scripts))
		v8.recording = map_anonymous_memory(RECORDINGS_MAX * sizeof(*v8.recording));
	return v8.recording;
}

static void note_v8_lack(void)
{
	if (v8.lack)
		announce_lack(HOST_V8, v8.version, v8.lack);
}

static void note_unheard_v8(const char *lack)
{
	v8.lack = lack;
	note_v8_lack();
}

/*
 * V8's interpreter runs all functions in one piece of code.  With this option each function has a copy of it, which V8 reports with the
 * function's name.  So a handler that only calls others, and stays interpreted for long, is on call stacks.  The option is set before V8
 * begins, because older versions create what is copied with the isolate.
 */
static void give_interpreted_functions_frames(void)
{
	if (v8.set_flags)
		v8.set_flags("--interpreted-frames-native-stack");
}

static void hook_relocated_v8(const struct object *o)
{
	if (v8.recording || v8.is_refused)
		return;
	if (!find_v8_functions(o) || v8.is_refused)
		note_v8_lack();
	else if (slot_replace(o, "clock_gettime", (void *)on_v8_clock_gettime, &v8.clock_gettime))
		note_unheard_v8("its call that asks for the time was not found");
	else
		give_interpreted_functions_frames();
}

/* The loader calls this instead of the object's own init function, when the object has been relocated. */
static void on_v8_library_init(int argc, char **argv, char **env)
{
	struct object o = opened.object;

	opened.init(argc, argv, env);
	if (guard_enter()) {
		hook_relocated_v8(&o);
		guard_leave();
	}
	__atomic_store_n(&opened.taken, 0, __ATOMIC_RELEASE);
}

void v8_hook_object(const struct object *o)
{
	void **slot;

	if (v8.recording || v8.is_refused || !object_find_symbol(o, "_ZN2v82V810GetVersionEv"))
		return;
	slot = object_find_slot(o, "clock_gettime");
	if (!slot) {
		note_unheard_v8("it does not ask for the time itself");
	} else if (object_is_bound(o, slot)) {
		hook_relocated_v8(o);
	} else if (!__atomic_exchange_n(&opened.taken, 1, __ATOMIC_ACQUIRE)) {
		opened.object = *o;
		if (object_replace_init(o, on_v8_library_init, &opened.init)) {
			__atomic_store_n(&opened.taken, 0, __ATOMIC_RELEASE);
			note_unheard_v8("its library cannot be waited for");
		}
	}
}

static int find_v8_in_object(void *context, const struct object *o)
{
	(void)context;
	return find_v8_functions(o);
}

/* Nothing is hooked.  Only this thread's isolate is asked for an interrupt, and it is asked again for each recorder. */
void v8_adapt_injected(void)
{
	void *isolate;

	if (!v8.recording && !v8.is_refused)
		objects_each(find_v8_in_object, NULL);
	if (!v8.recording) {
		note_v8_lack();
		return;
	}
	isolate = current_isolate();
	if (isolate)
		v8.request_interrupt(isolate, on_isolate_interrupt, NULL);
}
