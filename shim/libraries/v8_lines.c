/* SPDX-License-Identifier: MIT */
#include "shim/libraries/v8_lines.h"

#include "agent/guest/sys.h"
#include "shim/announce/announce.h"
#include "shim/libraries/v8_functions.h"

#include <string.h>

#define LINES_BYTES (256u << 10)
#define INLINES_BYTES (1u << 20) /* large, because each entry has a name with a path */
#define NAME_BYTES 1024

/* This struct is a function whose code is somewhere in a code object, its own one, or one that is inlined. */
struct function {
	const char *name; /* without the tier; NULL: unknown, so that its code counts as that of the function around it */
	const char *file;
	size_t file_bytes;
	uint32_t begins; /* line; 0: unknown */
	void *script; /* handle */
};

static struct memory {
	int taken; /* lock of all that is here, and of the functions of scripts and the reader of inlined calls */
	unsigned char lines[LINES_BYTES], inlines[INLINES_BYTES];
	char own_name[NAME_BYTES];
	struct function own, called[V8_INLINED_MAX]; /* called: functions of the calls in `inlining` */
	const struct v8_inlining *inlining; /* places and calls of the code that is being registered; NULL: unknown */
} *memory;
static struct v8_calls v8;

bool v8_lines_init(const struct v8_calls *calls)
{
	long p = sys_mmap(NULL, sizeof(*memory), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);

	v8 = *calls;
	memory = p < 0 && p > -4096 ? NULL : (struct memory *)p;
	return memory && v8_functions_init();
}

static bool take_memory(void)
{
	return !__atomic_exchange_n(&memory->taken, 1, __ATOMIC_ACQUIRE);
}

static void give_memory_back(void)
{
	__atomic_store_n(&memory->taken, 0, __ATOMIC_RELEASE);
}

/* Does the text begin with a scheme, such as "node:" or "https:"? "a.js:12" does not. */
static bool begins_with_scheme(const char *text, size_t bytes)
{
	size_t letters = 0;

	while (letters < bytes && text[letters] >= 'a' && text[letters] <= 'z')
		letters++;
	return letters > 1 && letters + 1 < bytes && text[letters] == ':' && (text[letters + 1] < '0' || text[letters + 1] > '9');
}

/* Finds the file in a name such as "JS:*name file:12:3", before V8 11 "LazyCompile:*name file:12".  File and name may have blanks
 * (analyzer/attribute/host_names.c finds the file in the same way).  The file of a module is a URL.  line: where the function begins, or 0
 * if unknown.  Returns the length of the file's path, or 0 if there is none. */
static size_t find_file_in_code_name(const char *name, size_t bytes, const char **file, uint32_t *line)
{
	static const char scheme[] = "file://";
	size_t end = bytes, begin = 0, colon = 0;

	for (int numbers = 0; numbers < 2; numbers++) {
		size_t digit = end;

		while (digit > 0 && name[digit - 1] >= '0' && name[digit - 1] <= '9')
			digit--;
		if (digit == end || digit == 0 || name[digit - 1] != ':')
			break;
		*line = 0;
		for (size_t at = digit; at < end; at++)
			*line = 10 * *line + (uint32_t)(name[at] - '0');
		end = digit - 1;
	}
	while (colon < end && name[colon] != ':') /* the tier and the name, which may be empty, are behind the colon */
		colon++;
	for (size_t at = colon + 1; at < end; at++)
		if (name[at] == ' ') {
			begin = at + 1;
			if (at <= colon + 2 || (at == colon + 3 && name[colon + 2] == '\'') || /* the tier may have two characters */
			    (begin < end && name[begin] == '/') || begins_with_scheme(name + begin, end - begin))
				break;
		}
	if (end > begin + sizeof(scheme) - 1 && memcmp(name + begin, scheme, sizeof(scheme) - 1) == 0)
		begin += sizeof(scheme) - 1;
	*file = name + begin;
	return end < bytes && begin > 0 && begin < end ? end - begin : 0;
}

/* Returns the first and the last position of bytecode. */
static struct v8_range find_range(const struct v8_code *code)
{
	struct v8_range range = { UINT32_MAX, 0 };

	if (!code->nr_places || code->nr_places == V8_PLACES_MAX)
		return V8_NO_RANGE;
	for (uint32_t i = 0; i < code->nr_places; i++) {
		range.first = code->places[i].position < range.first ? code->places[i].position : range.first;
		range.last = code->places[i].position > range.last ? code->places[i].position : range.last;
	}
	return range;
}

void v8_lines_note_bytecode(const struct v8_code *code)
{
	struct v8_script script = { v8.current_isolate(), code->script && v8.script_id ? v8.script_id(code->script) : 0 };
	struct v8_range range = find_range(code);

	if (!code->script || !take_memory())
		return;
	v8_functions_add(&script, &range, (uintptr_t)*code->script, code->name, code->name_bytes);
	give_memory_back();
}

/* ------------------------------------------------------------------------------------------------- inlined functions */

static struct function make_function(const char *name, void *script)
{
	struct function f = { .name = name, .script = script };

	if (name)
		f.file_bytes = find_file_in_code_name(name, strlen(name), &f.file, &f.begins);
	if (!f.file_bytes)
		f.name = NULL;
	return f;
}

static uint32_t line_in(const struct function *f, uint32_t position)
{
	int line = v8.line_number(f->script, (int)position) + 1;

	return line > 0 ? (uint32_t)line : f->begins;
}

/* Returns a handle, so that the object may move.  Older versions take the address of a pointer to it. */
static void *make_handle(void *isolate, uintptr_t object)
{
	return v8.globalize_at ? v8.globalize_at(isolate, &object) : v8.globalize(isolate, object);
}

/* Finds the functions of inlined calls.  A function is known by a position in it, which is that of a place, or of a call that it makes.
 * All become handles before V8 is called, which may move them. */
static void find_called_functions(void)
{
	const struct v8_inlining *in = memory->inlining;
	void *isolate = v8.current_isolate();
	struct v8_script script = { isolate, 0 };
	uint32_t inside[V8_INLINED_MAX];

	memset(inside, 0xff, sizeof(inside));
	for (int i = 0; i < in->nr; i++)
		if (in->call[i].in >= 0)
			inside[in->call[i].in] = in->call[i].position;
	for (uint32_t i = 0; i < in->nr_places; i++)
		if (in->of[i] >= 0)
			inside[in->of[i]] = in->place[i].position;
	for (int i = 0; i < in->nr; i++)
		memory->called[i].script = inside[i] == UINT32_MAX ? NULL : make_handle(isolate, in->call[i].info);
	for (int i = 0; i < in->nr; i++) {
		void *handle = memory->called[i].script;

		script.id = handle ? v8.script_id(handle) : 0;
		memory->called[i] = make_function(handle ? v8_functions_find(&script, in->call[i].info, inside[i]) : NULL, handle);
		if (memory->called[i].name && line_in(&memory->called[i], inside[i]) < memory->called[i].begins)
			memory->called[i].name = NULL;
	}
}

static bool has_functions_for_inlining(void)
{
	return v8.script_id && v8.dispose && (v8.globalize || v8.globalize_at) && v8.current_isolate();
}

/* Writes a notice if there are called functions without a name. */
static void note_unknown_functions(const struct v8_code *code)
{
	const struct v8_inlining *in = memory->inlining;

	if (!in && code->script && code->nr_places > 1 && memory->own.name)
		ANNOUNCE_ONCE("V8: functions that it inlined have no names (its heap is not as expected); their time is their callers'");
	for (int i = 0; in && i < in->nr; i++)
		if (memory->called[i].script && !memory->called[i].name)
			ANNOUNCE_ONCE("V8: some functions that it inlined have no names (they were not reported, or too many were); "
				      "their time is their callers'");
}

static void release_called_functions(void)
{
	for (int i = 0; i < memory->inlining->nr; i++)
		if (memory->called[i].script)
			v8.dispose(memory->called[i].script);
}

/* Goes outwards from a call to the nearest one whose function has a name.  position: in the call's function, then in that of the result,
 * which is -1 for the code's own function. */
static int go_to_named(int call, uint32_t *position)
{
	while (call >= 0 && !memory->called[call].name) {
		*position = memory->inlining->call[call].position;
		call = memory->inlining->call[call].in;
	}
	return call;
}

static const struct function *function_of(int call)
{
	return call < 0 ? &memory->own : &memory->called[call];
}

/* Adds the functions that contain code from address on: the one that `call` leads to, those around it, and the code's own, which comes
 * first. Returns false if there is no room. */
static bool add_inlined_functions(struct line_table *t, uint64_t address, int call)
{
	struct {
		const struct function *f;
		uint32_t line; /* line of the call */
	} chain[V8_INLINED_MAX];
	uint32_t nr = 0;
	bool room;

	while (call >= 0) {
		uint32_t position = memory->inlining->call[call].position;

		chain[nr].f = function_of(call);
		call = go_to_named(memory->inlining->call[call].in, &position);
		chain[nr++].line = line_in(function_of(call), position);
	}
	room = inline_table_add(t, address, 0, 0, memory->own.name, memory->own.file, memory->own.file_bytes);
	for (uint32_t i = nr; i > 0 && room; i--) {
		const struct function *f = chain[i - 1].f;

		room = inline_table_add(t, address, chain[i - 1].line, nr - i + 1, f->name, f->file, f->file_bytes);
	}
	return room;
}

static void register_inlined_functions(const struct v8_code *code)
{
	struct line_table t = { .buffer = memory->inlines, .capacity = INLINES_BYTES - NAME_BYTES };
	const struct v8_inlining *in = memory->inlining;
	int before = -1;

	for (uint32_t i = 0; i < in->nr_places; i++) {
		uint32_t position = in->place[i].position;
		uint64_t address = code->start + in->place[i].offset;
		int call = go_to_named(in->of[i], &position);

		if (call != before && !add_inlined_functions(&t, address, call)) {
			t.capacity = INLINES_BYTES;
			inline_table_add(&t, address, 0, 0, "", "", 0); /* nothing is known of the code behind */
			break;
		}
		before = call;
	}
	inline_table_send(&t, code->start);
}

/* -------------------------------------------------------------------------------------------------------------- lines */

/* Finds the line of a place in its own function.  If inlined calls are unknown, a position may be another function's.  Then it is outside
 * of the range of the code's own function, or on a line in front of it, and counts as the line where that begins. */
static uint32_t line_without_inlining(const struct v8_range *range, uint32_t position)
{
	const struct function *own = &memory->own;
	uint32_t line = line_in(own, position);

	return own->begins && (position < range->first || position > range->last || line < own->begins) ? own->begins : line;
}

static bool add_place(struct line_table *t, uint64_t address, const struct function *f, uint32_t line)
{
	return !line || line_table_add(t, address, line, f->file, f->file_bytes);
}

static void add_lines_with_inlining(struct line_table *t, const struct v8_code *code)
{
	const struct v8_inlining *in = memory->inlining;

	for (uint32_t i = 0; i < in->nr_places; i++) {
		uint32_t position = in->place[i].position;
		const struct function *f = function_of(go_to_named(in->of[i], &position));

		if (!add_place(t, code->start + in->place[i].offset, f, line_in(f, position)))
			return;
	}
}

static void add_lines_without_inlining(struct line_table *t, const struct v8_code *code)
{
	struct v8_range range;

	if (!v8_functions_range(code->name, code->name_bytes, &range))
		range = (struct v8_range){ .last = UINT32_MAX };
	for (uint32_t i = 0; code->script && i < code->nr_places; i++)
		if (!add_place(t, code->start + code->places[i].offset, &memory->own,
			       line_without_inlining(&range, code->places[i].position)))
			return;
}

/* Code that exists already gets the line where its function begins, so all of its samples are on that line, and so does code in front of
 * the first place. */
static void register_lines(const struct v8_code *code)
{
	struct line_table t = { .buffer = memory->lines, .capacity = LINES_BYTES };
	const struct function *own = &memory->own;
	const struct v8_place *places = memory->inlining ? memory->inlining->place : code->places;
	uint32_t nr = memory->inlining ? memory->inlining->nr_places : code->nr_places;

	if (own->begins && (!code->script || !nr || places[0].offset > 0))
		line_table_add(&t, code->start, own->begins, own->file, own->file_bytes);
	if (memory->inlining)
		add_lines_with_inlining(&t, code);
	else
		add_lines_without_inlining(&t, code);
	line_table_send(&t, code->start);
}

void v8_lines_register(const struct v8_code *code)
{
	if (!take_memory())
		return;
	v8_functions_copy_name(memory->own_name, sizeof(memory->own_name), code->name, code->name_bytes);
	memory->own = make_function(memory->own_name, code->script);
	memory->inlining = code->script && has_functions_for_inlining() ?
		v8_inlined_read(code->start, (uintptr_t)*code->script, code->places, code->nr_places) : NULL;
	if (memory->own.name && memory->inlining)
		find_called_functions();
	note_unknown_functions(code);
	if (memory->own.name)
		register_lines(code);
	if (memory->own.name && memory->inlining) {
		register_inlined_functions(code);
		release_called_functions();
	}
	give_memory_back();
}
