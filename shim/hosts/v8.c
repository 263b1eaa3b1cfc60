/* SPDX-License-Identifier: MIT */
/*
 * V8, where its interface is exported (Node): Isolate::SetJitCodeEventHandler reports all code, that which exists, too, and
 * source positions (v8-callbacks.h).  An isolate is found when its thread opens a file, which Node does from a script's
 * call, before the user's script is read: a moment at which V8 may be called.
 *
 * Positions are characters of the script; the script, which comes with the code, tells their lines.
 */
#include "shim/hosts/hosts.h"

#include "agent/guest/sys.h"

#include <stdarg.h>
#include <string.h>

#define RECORDINGS_MAX 8 /* at a time */
#define POSITIONS_MAX 8192
#define LINES_BYTES (256u << 10)

enum event_type { ADDED, MOVED, REMOVED, ADD_LINE, START_LINES, END_LINES };
enum code_type { BYTE_CODE, JIT_CODE, WASM_CODE };

/* v8::JitCodeEvent of V8 9 to 13. */
struct event {
	uint32_t type, code_type;
	uint64_t start, bytes;
	void **script; /* a handle */
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
	uint64_t start; /* 0: not ended */
	uint32_t nr;
	struct {
		uint32_t offset, position;
	} at[POSITIONS_MAX];
};

static struct {
	void *(*current)(void);
	bool (*in_context)(void *isolate);
	void (*set_handler)(void *isolate, int options, void (*)(struct event *));
	int (*line_number)(void *script, int position);
	int (*open)(const char *, int, ...);
	int (*uv_fs_open)(void *loop, void *request, const char *, int flags, int mode, void *callback);
	struct recording *recording;
	unsigned char *lines;
	int lines_taken;
} v8;

/* The isolate that this thread was seen with: workers have one each, and its memory is used again. */
static __thread void *known_isolate __attribute__((tls_model("initial-exec")));

static void *map(size_t bytes)
{
	long p = sys_mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);

	return p < 0 && p > -4096 ? NULL : (void *)p;
}

static struct recording *begin_recording(void)
{
	for (int i = 0; i < RECORDINGS_MAX; i++)
		if (!__atomic_exchange_n(&v8.recording[i].taken, 1, __ATOMIC_ACQUIRE)) {
			v8.recording[i].start = 0;
			v8.recording[i].nr = 0;
			return &v8.recording[i];
		}
	/* some code was recorded and never added */
	for (int i = 0; i < RECORDINGS_MAX; i++)
		if (v8.recording[i].start)
			__atomic_store_n(&v8.recording[i].taken, 0, __ATOMIC_RELEASE);
	return NULL;
}

static struct recording *find_recording(uint64_t start)
{
	for (int i = 0; i < RECORDINGS_MAX; i++)
		if (v8.recording[i].taken && v8.recording[i].start == start)
			return &v8.recording[i];
	return NULL;
}

/* "JS:*name file:12:3", before V8 11 "LazyCompile:*name file:12": the file. */
static size_t find_file(const char *name, size_t bytes, const char **file)
{
	size_t end = bytes, begin;

	for (int numbers = 0; numbers < 2; numbers++) {
		size_t digit = end;

		while (digit > 0 && name[digit - 1] >= '0' && name[digit - 1] <= '9')
			digit--;
		if (digit == end || digit == 0 || name[digit - 1] != ':')
			break;
		end = digit - 1;
	}
	for (begin = end; begin > 0 && name[begin - 1] != ' '; begin--)
		;
	*file = name + begin;
	return end < bytes && begin > 0 ? end - begin : 0;
}

static void send_lines(const struct event *e, const struct recording *r)
{
	struct line_table t = { .buffer = v8.lines, .capacity = LINES_BYTES };
	const char *file;
	size_t file_bytes = find_file(e->name.text, e->name.bytes, &file);

	if (!e->script || !file_bytes || __atomic_exchange_n(&v8.lines_taken, 1, __ATOMIC_ACQUIRE))
		return;
	for (uint32_t i = 0; i < r->nr; i++) {
		int line = v8.line_number(e->script, (int)r->at[i].position);

		if (line >= 0 && !line_table_add(&t, e->start + r->at[i].offset, (uint32_t)line + 1, file, file_bytes))
			break;
	}
	line_table_send(&t, e->start);
	__atomic_store_n(&v8.lines_taken, 0, __ATOMIC_RELEASE);
}

static void on_added(const struct event *e)
{
	struct recording *r = find_recording(e->start);
	char name[1024];
	size_t bytes = e->name.bytes < sizeof(name) - 1 ? e->name.bytes : sizeof(name) - 1;

	if (r) {
		send_lines(e, r);
		__atomic_store_n(&r->taken, 0, __ATOMIC_RELEASE);
	}
	memcpy(name, e->name.text, bytes);
	name[bytes] = 0;
	jitreg_code_load(e->start, e->bytes, 0, name, (const void *)(uintptr_t)e->start);
}

/* Context: the isolate's thread, or one that compiles WebAssembly for it. */
static void on_event(struct event *e)
{
	struct recording *r;

	if (e->code_type == BYTE_CODE)
		return;
	switch (e->type) {
	case ADDED:
		on_added(e);
		break;
	case MOVED:
		jitreg_code_move(e->start, e->new_start, e->bytes, 0);
		break;
	case REMOVED:
		jitreg_code_unload(e->start, e->bytes);
		break;
	case START_LINES:
		e->user_data = begin_recording();
		break;
	case ADD_LINE:
		r = e->user_data;
		if (r && r->nr < POSITIONS_MAX && e->line.kind == 0) {
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

/* Context: a thread that opens a file. */
static void look_for_isolate(void)
{
	void *isolate = guest_is_on() ? v8.current() : NULL;

	/* (one that is being made opens files as well, and has no context yet) */
	if (isolate && isolate != known_isolate && v8.in_context(isolate)) {
		known_isolate = isolate;
		v8.set_handler(isolate, 1, on_event); /* and what exists */
		ANNOUNCE_ONCE("V8: code and lines registered through Isolate::SetJitCodeEventHandler");
	}
}

static int on_open(const char *path, int flags, ...)
{
	va_list list;
	int mode;

	va_start(list, flags);
	mode = va_arg(list, int);
	va_end(list);
	look_for_isolate();
	return v8.open(path, flags, mode);
}

/* libuv's, where it is a library of its own. */
static int on_uv_fs_open(void *loop, void *request, const char *path, int flags, int mode, void *callback)
{
	look_for_isolate();
	return v8.uv_fs_open(loop, request, path, flags, mode, callback);
}

void v8_object(const struct object *o)
{
	const char *(*version)(void) = (const char *(*)(void))object_find_symbol(o, "_ZN2v82V810GetVersionEv");
	int major = 0;

	if (!version || v8.recording)
		return;
	for (const char *c = version(); *c >= '0' && *c <= '9'; c++)
		major = 10 * major + (*c - '0');
	v8.current = (void *(*)(void))object_find_symbol(o, "_ZN2v87Isolate13TryGetCurrentEv");
	v8.in_context = (bool (*)(void *))object_find_symbol(o, "_ZN2v87Isolate9InContextEv");
	v8.set_handler = (void (*)(void *, int, void (*)(struct event *)))object_find_symbol(o,
		"_ZN2v87Isolate22SetJitCodeEventHandlerENS_19JitCodeEventOptionsEPFvPKNS_12JitCodeEventEE");
	v8.line_number = (int (*)(void *, int))object_find_symbol(o, "_ZN2v813UnboundScript13GetLineNumberEi");
	if (major < 9 || major > 13 || !v8.current || !v8.in_context || !v8.set_handler || !v8.line_number)
		return;
	v8.lines = map(LINES_BYTES);
	v8.recording = v8.lines ? map(RECORDINGS_MAX * sizeof(*v8.recording)) : NULL;
	if (v8.recording && slot_replace(o, "open64", (void *)on_open, &v8.open) &&
	    slot_replace(o, "uv_fs_open", (void *)on_uv_fs_open, &v8.uv_fs_open))
		guest_debug("V8: adapter unavailable (the call that opens files was not found)");
}
