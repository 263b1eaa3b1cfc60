/* SPDX-License-Identifier: MIT */
/*
 * Adapts CPython 3.8 to 3.15.  Frames are evaluated by a function that an extension may set (PEP 523).  The agent's function evaluates each
 * frame through a trampoline that is registered with the function's name, as 3.12 and later do themselves with -X perf.  No option and no
 * file is needed.
 *
 * The function is set when the interpreter asks for the descriptors of its standard streams. By then the interpreter is initialised and
 * holds its lock, and none of the program's own code has run, whose calls 3.11 would otherwise specialise so that they do not ask for the
 * function again. An evaluation function that is set already is left alone.
 *
 * A call then takes C stack where 3.11 and later take none.  Deep in the stack, calls are left to the interpreter, so that programs which
 * raise the recursion limit recurse as deep as without the agent.  All calls that are left to it have one name (JIT_PYTHON_DEEP).
 */
#include "shim/libraries/python.h"

#include "agent/guest/sys.h"
#include "jitreg/hosts/jit_hosts.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define MINOR_JIT_WITHOUT_FRAMES 14
#define FRAME_CODE_WORD 4	 /* index of f_code in a frame of 3.8 to 3.11; its type is checked */
#define CALLS_BETWEEN_LOOKS 256
#define DEPTH_MAX_UNCOUNTED 200	 /* calls through trampolines where 3.12 and 3.13 would count them (python_c_calls()) */
#define TYPE_BASICSIZE_WORD 4	 /* index of tp_basicsize, the bytes of an object */
#define TYPE_ITEMSIZE_WORD 5	 /* index of tp_itemsize, the bytes of each of the items behind it */
#define BYTECODE_BYTES 2
#define OBJECT_ITEMS_WORD 2	 /* index of ob_size, the number of these items */
#define MINOR_BYTECODES_BEHIND 11 /* since then the bytecodes are the items behind a code object */
#define CODE_BYTES_MAX 1024
#define EXTENSIONS_MAX 255
#define INTERPRETER_BYTES 16384 /* bytes of 3.8's interpreter state that are searched */

static struct {
	int minor, extra_index;
	bool has_extra;
	char version[HOST_VERSION_BYTES];
	const char *lack; /* why Python is left alone; "": its version; NULL: it is not */
	void *evaluate; /* _PyEval_EvalFrameDefault; NULL: no interpreter was found */
	void *ours;	/* the function that is set instead */
	void **evaluate_word; /* word of 3.8's interpreter state that has the function; NULL: not looked for, or not found */
	void *(*current_thread)(void), *(*this_thread)(void);
	void *(*get_interpreter)(void);
	void *(*get_evaluate)(void *interpreter);
	void (*set_evaluate)(void *interpreter, void *evaluate);
	intptr_t (*request_extra)(void (*free)(void *));
	int (*get_extra)(void *code, intptr_t index, void **extra);
	int (*set_extra)(void *code, intptr_t index, void *extra);
	struct python_object *(*get_frame_code)(void *frame);
	void (*decref)(void *);
	void *(*get_attribute)(void *object, const char *name);
	void *(*get_system_object)(const char *name);
	void *(*call)(void *function);
	const char *(*as_utf8)(void *text);
	const char *(*as_bytes)(void *bytes);
	intptr_t (*bytes_size)(void *bytes);
	long (*as_long)(void *number);
	int (*get_recursion_limit)(void);
	void (*fetch_error)(void **type, void **value, void **traceback);
	void (*restore_error)(void *type, void *value, void *traceback);
	const void *code_type;
} python;

static int (*real_fileno)(FILE *);
static struct {
	struct object object;
	object_init_function *init;
	int taken;
} opened; /* a library that dlopen loads, until it is relocated */

/* ---------------------------------------------------------------------------------------------------- each code object */

/* Reads a text of a code object, which keeps owning the text. Returns NULL if it is unavailable, with an error set. */
static const char *read_code_text(void *code, const char *name)
{
	void *text = python.get_attribute(code, name);
	const char *utf8 = text ? python.as_utf8(text) : NULL;

	if (text)
		python.decref(text);
	return utf8;
}

static uint32_t read_first_line(void *code)
{
	void *number = python.get_attribute(code, "co_firstlineno");
	long line = number ? python.as_long(number) : 0;

	if (number)
		python.decref(number);
	return line > 0 && line < INT32_MAX ? (uint32_t)line : 0;
}

/* Reads bytes of a code object, which keeps owning them. Returns NULL if they are unavailable, with an error set. */
static const unsigned char *read_code_bytes(void *code, const char *name, uint64_t *nr)
{
	void *bytes = python.get_attribute(code, name);
	const char *at = bytes ? python.as_bytes(bytes) : NULL;

	*nr = at ? (uint64_t)python.bytes_size(bytes) : 0;
	if (bytes)
		python.decref(bytes);
	return (const unsigned char *)at;
}

static struct python_bytecodes read_bytecodes(void *code)
{
	const intptr_t *type = python.code_type;
	struct python_bytecodes b = { .first_line = read_first_line(code) };

	if (python.minor < MINOR_BYTECODES_BEHIND) {
		b.address = (uint64_t)(uintptr_t)read_code_bytes(code, "co_code", &b.bytes);
	} else if (type[TYPE_ITEMSIZE_WORD] == BYTECODE_BYTES && ((intptr_t *)code)[OBJECT_ITEMS_WORD] > 0) {
		b.address = (uint64_t)(uintptr_t)code + (uint64_t)type[TYPE_BASICSIZE_WORD];
		b.bytes = (uint64_t)((intptr_t *)code)[OBJECT_ITEMS_WORD] * BYTECODE_BYTES;
	}
	b.lines = read_code_bytes(code, python.minor < 10 ? "co_lnotab" : "co_linetable", &b.lines_bytes);
	b.bytes = b.lines && b.first_line ? b.bytes : 0;
	return b;
}

/*
 * The data kept with a code object has a word for each extension that asked for one.  When the code object is freed, CPython calls the free
 * functions of all of these, even for those that kept nothing.  So the array is cut to the first word, which is the agent's, until another
 * extension keeps something.
 */
struct python_extra {
	intptr_t nr;
	void *kept[1];
};

static struct python_extra *find_extra(const void *code, const void *trampoline)
{
	static size_t known_word; /* word of the code object that points to the data; 0: not known */
	struct python_extra *const *word = code, *e;
	const intptr_t *type = python.code_type;
	size_t nr = type[TYPE_BASICSIZE_WORD] > CODE_BYTES_MAX ? 0 : (size_t)type[TYPE_BASICSIZE_WORD] / sizeof(*word);

	for (size_t i = known_word ? known_word : sizeof(struct python_object) / sizeof(*word); i < nr; i++) {
		e = word[i];
		if ((uintptr_t)e % sizeof(*word) == 0 && sys_readable_range(e, sizeof(*e)) && e->kept[0] == trampoline && e->nr > 0 &&
		    e->nr <= EXTENSIONS_MAX) {
			known_word = i;
			return e;
		}
	}
	return NULL;
}

static void keep_no_other_word(const void *code, const void *trampoline)
{
	struct python_extra *e = find_extra(code, trampoline);

	for (intptr_t i = 1; e && i < e->nr; i++)
		if (e->kept[i])
			return;
	if (e)
		e->nr = 1;
}

/* Calls sys._jit.is_enabled(), which 3.14 and later have. */
static bool is_jit_enabled(void)
{
	void *jit = python.get_system_object("_jit"); /* the reference is borrowed */
	void *ask = jit && python.call ? python.get_attribute(jit, "is_enabled") : NULL;
	void *answer = ask ? python.call(ask) : NULL;
	bool yes = answer && python.as_long(answer) == 1;

	if (ask)
		python.decref(ask);
	if (answer)
		python.decref(answer);
	return yes;
}

void python_note_jit(void)
{
	if (python.minor == MINOR_JIT_WITHOUT_FRAMES && is_jit_enabled())
		announce_python(PYTHON_NOTE_JIT_WITHOUT_FRAMES);
}

/*
 * register_trampoline() calls this for each function. The JIT is noted at the first one that does not belong to the interpreter's start. A
 * running interpreter was checked when it was found.
 */
static void note_jit_once(const char *file)
{
	static bool is_noted;

	if (is_noted || guest_was_loaded_late() || !file || *file == '<')
		return;
	is_noted = true;
	python_note_jit();
}

static void register_trampoline(void *trampoline, void *code)
{
	const char *function = read_code_text(code, python.minor >= 11 ? "co_qualname" : "co_name");
	const char *file = read_code_text(code, "co_filename");

	const struct python_bytecodes bytecodes = read_bytecodes(code);

	note_jit_once(file);
	python_trampoline_register(trampoline, python.minor,
				   &(struct python_function){ function ? function : "?", file ? file : "?", &bytecodes });
}

/* Makes the trampoline of a code object. Returns NULL if none is free, or it cannot be kept with the code object. */
static void *make_trampoline(void *code)
{
	void *trampoline = python_trampoline_take();

	if (trampoline && python.set_extra(code, python.extra_index, trampoline) == 0) {
		keep_no_other_word(code, trampoline);
		return trampoline;
	}
	if (trampoline)
		python_trampoline_give_back(trampoline);
	return NULL;
}

/* An error that is set when a frame is entered (generator.throw) is kept, and no error of these calls remains. */
static void *make_or_register_trampoline(void *code, void *trampoline)
{
	void *type, *value, *traceback;

	if (!guest_is_on())
		return trampoline;
	python.fetch_error(&type, &value, &traceback);
	if (!trampoline)
		trampoline = make_trampoline(code);
	if (trampoline)
		register_trampoline(trampoline, code);
	python.restore_error(type, value, traceback);
	return trampoline;
}

/*
 * CPython calls this when a code object is freed with which any extension has kept something. trampoline is NULL if the agent has kept
 * nothing.
 */
static void on_code_freed(void *trampoline)
{
	if (trampoline)
		python_trampoline_give_back(trampoline);
}

/* Finds or makes the trampoline of a code object.  Returns NULL if it has none. */
static python_trampoline *find_trampoline(struct python_object *code)
{
	void *trampoline = NULL;

	if (!code || code->type != python.code_type)
		return NULL;
	python.get_extra(code, python.extra_index, &trampoline);
	if (!trampoline || !python_trampoline_is_registered(trampoline))
		trampoline = make_or_register_trampoline(code, trampoline);
	return (python_trampoline *)trampoline;
}

static python_trampoline *find_trampoline_of_frame(void *frame)
{
	struct python_object *code;
	python_trampoline *trampoline;

	if (!python.get_frame_code)
		return find_trampoline(((struct python_object **)frame)[FRAME_CODE_WORD]);
	code = python.get_frame_code(frame);
	trampoline = find_trampoline(code);
	if (code)
		python.decref(code); /* the frame has a reference of its own */
	return trampoline;
}

/* --------------------------------------------------------------------------------------------------------- evaluation */

typedef void *evaluate_function(void *thread, void *frame, int throws);

static void set_evaluate_of(void *interpreter, void *evaluate)
{
	if (python.minor == 8)
		*python.evaluate_word = evaluate;
	else
		python.set_evaluate(interpreter, evaluate);
}

/* Has the recorder of an injected agent ended? Only one of CALLS_BETWEEN_LOOKS calls checks it, and the others return false. */
static bool is_over(void)
{
	static unsigned nr_calls;

	return guest_was_loaded_late() && ++nr_calls % CALLS_BETWEEN_LOOKS == 0 && log_is_ended();
}

/* Finds the trampoline of a frame. Returns NULL if it has none. If the recorder has ended, restores the interpreter's own evaluation
 * function and returns NULL. */
static python_trampoline *find_trampoline_or_end(void *frame)
{
	if (!is_over())
		return find_trampoline_of_frame(frame);
	set_evaluate_of(python.get_interpreter(), python.evaluate);
	return NULL;
}

static void *evaluate_3_8(void *frame, void *throws)
{
	python_trampoline *trampoline = find_trampoline_or_end(frame);

	if (!trampoline)
		return ((void *(*)(void *, void *))python.evaluate)(frame, throws);
	return trampoline(frame, throws, NULL, python.evaluate);
}

/* Returns the trampoline that calls deep in the stack go through, or NULL if there is none. */
static python_trampoline *find_deep_trampoline(void)
{
	static const struct python_bytecodes none;
	static const struct python_function deep = { JIT_PYTHON_DEEP, JIT_PYTHON_DEEP_WHERE, &none };
	static void *trampoline;
	bool is_new = !trampoline;

	if (is_new)
		trampoline = python_trampoline_take();
	if (trampoline && (is_new || !python_trampoline_is_registered(trampoline)) && guest_is_on())
		python_trampoline_register(trampoline, python.minor, &deep);
	return (python_trampoline *)trampoline;
}

/*
 * The interpreter's own evaluation function is restored until this frame is left, because calls that it evaluates take no C stack. If
 * another extension sets a function meanwhile, that one stays.
 */
static void *evaluate_deep(void *thread, void *frame, void *throws)
{
	python_trampoline *trampoline = find_deep_trampoline();
	void *interpreter = python.get_interpreter(), *result;

	python.set_evaluate(interpreter, python.evaluate);
	if (trampoline)
		result = trampoline(thread, frame, throws, python.evaluate);
	else
		result = ((evaluate_function *)python.evaluate)(thread, frame, (int)(intptr_t)throws);
	if (python.get_evaluate(interpreter) == python.evaluate)
		python.set_evaluate(interpreter, python.ours);
	return result;
}

static void *evaluate_3_9(void *thread, void *frame, void *throws)
{
	python_trampoline *trampoline;

	if (python.minor >= 11 && python_stack_is_deep())
		return evaluate_deep(thread, frame, throws);
	trampoline = find_trampoline_or_end(frame);
	if (!trampoline)
		return ((evaluate_function *)python.evaluate)(thread, frame, (int)(intptr_t)throws);
	return trampoline(thread, frame, throws, python.evaluate);
}

/* This is the number of frames on the calling thread's stack that 3.12 and 3.13 evaluate without python_c_calls(). */
static __thread uint32_t depth __attribute__((tls_model("initial-exec")));

static void *evaluate_and_count(void *thread, void *frame, void *throws)
{
	void *result;

	if (depth >= DEPTH_MAX_UNCOUNTED)
		return evaluate_deep(thread, frame, throws);
	depth++;
	result = evaluate_3_9(thread, frame, throws);
	depth--;
	return result;
}

static void *evaluate_3_12(void *thread, void *frame, void *throws)
{
	int32_t more, *left = python_c_calls(thread, &more);
	void *result;

	if (!left)
		return evaluate_and_count(thread, frame, throws);
	*left += more;
	result = evaluate_3_9(thread, frame, throws);
	*left -= more;
	return result;
}

/* Finds the word of 3.8's interpreter state that has the evaluation function, because 3.8 exports no function that sets it.  Returns NULL
 * if the value is not there, or more than once. */
static void **find_evaluate_in_state(void *interpreter)
{
	void **word = interpreter, **found = NULL;

	if (!sys_readable_range(interpreter, INTERPRETER_BYTES))
		return NULL;
	for (size_t i = 0; i < INTERPRETER_BYTES / sizeof(*word); i++) {
		if (word[i] == python.evaluate && found)
			return NULL;
		if (word[i] == python.evaluate)
			found = &word[i];
	}
	return found;
}

static void *get_evaluate_of(void *interpreter)
{
	if (python.minor != 8)
		return python.get_evaluate(interpreter);
	if (!python.evaluate_word)
		python.evaluate_word = find_evaluate_in_state(interpreter);
	return python.evaluate_word ? *python.evaluate_word : NULL;
}

/* Returns false if another extension has the first word of the data kept with code objects (struct python_extra), or there is no memory. */
static bool get_place_for_trampolines(void)
{
	if (!python.has_extra)
		python.extra_index = (int)python.request_extra(on_code_freed);
	python.has_extra = true;
	return python.extra_index == 0 && python_trampolines_start();
}

bool python_adapt_interpreter(void)
{
	void *thread = python.current_thread(), *interpreter, *evaluate;

	/* Both ways return the same state only in threads of the main interpreter, and only while they hold its lock. */
	if (!thread || thread != python.this_thread())
		return false;
	interpreter = python.get_interpreter();
	evaluate = get_evaluate_of(interpreter);
	python_find_c_calls(python.minor, thread, python.get_recursion_limit());
	if (evaluate == python.evaluate && get_place_for_trampolines())
		set_evaluate_of(interpreter, evaluate = python.ours);
	return evaluate == python.ours;
}

/*
 * Python calls this instead of fileno(). 3.12 and later ask for stdin's descriptor after the place where they begin with trampolines of
 * their own (-X perf), which end the process if they find another evaluation function.
 */
static int on_fileno(FILE *file)
{
	static int said;

	if (guest_is_on() && (python.minor < 12 || file == stdin) && python_adapt_interpreter() &&
	    !__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED))
		announce_python(PYTHON_NOTE_REGISTERED);
	return real_fileno(file);
}

/* -------------------------------------------------------------------------------------------------------- recognition */

static bool find_python_functions(const struct object *o)
{
	static const struct {
		const char *name, *other_name; /* other_name: name in other versions */
		size_t at;
	} wanted[] = {
		{ "_PyEval_EvalFrameDefault", NULL, offsetof(__typeof__(python), evaluate) },
		{ "_PyThreadState_UncheckedGet", "PyThreadState_GetUnchecked", offsetof(__typeof__(python), current_thread) },
		{ "PyGILState_GetThisThreadState", NULL, offsetof(__typeof__(python), this_thread) },
		{ "PyInterpreterState_Get", "_PyInterpreterState_Get", offsetof(__typeof__(python), get_interpreter) },
		{ "_PyEval_RequestCodeExtraIndex", "PyUnstable_Eval_RequestCodeExtraIndex",
		  offsetof(__typeof__(python), request_extra) },
		{ "_PyCode_GetExtra", "PyUnstable_Code_GetExtra", offsetof(__typeof__(python), get_extra) },
		{ "_PyCode_SetExtra", "PyUnstable_Code_SetExtra", offsetof(__typeof__(python), set_extra) },
		{ "Py_DecRef", NULL, offsetof(__typeof__(python), decref) },
		{ "PyObject_GetAttrString", NULL, offsetof(__typeof__(python), get_attribute) },
		{ "PySys_GetObject", NULL, offsetof(__typeof__(python), get_system_object) },
		{ "PyUnicode_AsUTF8", NULL, offsetof(__typeof__(python), as_utf8) },
		{ "PyBytes_AsString", NULL, offsetof(__typeof__(python), as_bytes) },
		{ "PyBytes_Size", NULL, offsetof(__typeof__(python), bytes_size) },
		{ "PyLong_AsLong", NULL, offsetof(__typeof__(python), as_long) },
		{ "Py_GetRecursionLimit", NULL, offsetof(__typeof__(python), get_recursion_limit) },
		{ "PyErr_Fetch", NULL, offsetof(__typeof__(python), fetch_error) },
		{ "PyErr_Restore", NULL, offsetof(__typeof__(python), restore_error) },
		{ "PyCode_Type", NULL, offsetof(__typeof__(python), code_type) },
	};

	for (size_t i = sizeof(wanted) / sizeof(wanted[0]); i-- > 0;) {
		void *symbol = object_find_symbol(o, wanted[i].name);

		if (!symbol && wanted[i].other_name)
			symbol = object_find_symbol(o, wanted[i].other_name);
		if (!symbol)
			return false;
		memcpy((char *)&python + wanted[i].at, &symbol, sizeof(symbol));
	}
	python.call = (void *(*)(void *))object_find_symbol(o, "PyObject_CallNoArgs");
	python.get_evaluate = (void *(*)(void *))object_find_symbol(o, "_PyInterpreterState_GetEvalFrameFunc");
	python.set_evaluate = (void (*)(void *, void *))object_find_symbol(o, "_PyInterpreterState_SetEvalFrameFunc");
	python.get_frame_code = (struct python_object *(*)(void *))object_find_symbol(o, "PyUnstable_InterpreterFrame_GetCode");
	return true;
}

/* Reads Python's version, or why this Python is left alone.  Context: o is relocated. */
static void read_version(const struct object *o)
{
	const char *(*get_version)(void) = (const char *(*)(void))object_find_symbol(o, "Py_GetVersion");
	const char *version = get_version ? get_version() : "";
	int minor = 0;

	python.minor = 0;
	python.lack = NULL;
	strncpy(python.version, version, sizeof(python.version) - 1); /* it is copied, because Python may be unloaded */
	if (strncmp(version, "3.", 2) != 0)
		return;
	for (const char *c = version + 2; *c >= '0' && *c <= '9' && minor < 1000; c++)
		minor = 10 * minor + (*c - '0');
	if (minor < HOST_CPYTHON_OLDEST || minor > HOST_CPYTHON_NEWEST)
		python.lack = "";
	else if (strstr(version, "free-threading"))
		python.lack = "it is built without its global lock (free-threaded)";
	else
		python.minor = minor;
}

static bool has_functions_of_version(void)
{
	int minor = python.minor;

	python.ours = minor == 8 ? (void *)evaluate_3_8 : minor == 12 || minor == 13 ? (void *)evaluate_3_12 : (void *)evaluate_3_9;
	return (minor == 8 || (python.get_evaluate && python.set_evaluate)) && (minor < 12 || python.get_frame_code);
}

int python_find(const struct object *o)
{
	read_version(o);
	if (python.minor && find_python_functions(o) && has_functions_of_version())
		return python.minor;
	if (python.minor)
		python.lack = "it does not export the functions that its frames are named by";
	python.evaluate = NULL;
	return 0;
}

void python_note_why_left_alone(void)
{
	if (python.lack)
		announce_lack(HOST_CPYTHON, python.version, python.lack);
}

static void hook_relocated_python(const struct object *o)
{
	if (python_find(o) == 0)
		python_note_why_left_alone();
	else if (slot_replace(o, "fileno", (void *)on_fileno, &real_fileno))
		announce_lack(HOST_CPYTHON, python.version, "its call that asks for a stream's descriptor was not found");
}

/* The loader calls this instead of the object's own init function, when the object has been relocated. */
static void on_python_library_init(int argc, char **argv, char **env)
{
	struct object o = opened.object;

	opened.init(argc, argv, env);
	if (guard_enter()) {
		hook_relocated_python(&o);
		guard_leave();
	}
}

void python_hook_object(const struct object *o)
{
	void **slot;

	if (python.evaluate || python.lack || !object_find_symbol(o, "_PyEval_EvalFrameDefault"))
		return;
	slot = object_find_slot(o, "fileno");
	if (!slot) {
		announce_lack(HOST_CPYTHON, "", "it asks for no stream's descriptor");
	} else if (object_is_bound(o, slot)) {
		hook_relocated_python(o);
	} else if (!__atomic_exchange_n(&opened.taken, 1, __ATOMIC_ACQUIRE)) {
		opened.object = *o;
		if (object_replace_init(o, on_python_library_init, &opened.init))
			announce_lack(HOST_CPYTHON, "", "its library cannot be waited for");
	}
}
