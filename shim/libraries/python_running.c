/* SPDX-License-Identifier: MIT */
/*
 * Adapts CPython in a process that runs already.  It is asked for a pending call, which Python makes between two instructions of a program,
 * with its lock held, in its main thread, or since 3.12 in any thread.  There the evaluation function is set, as at the start of a process
 * under `tailor run`.
 *
 * In 3.11, calls that were specialised before do not ask for an evaluation function, but check the version of the function that they call.
 * So the default values of each function are set again to what they are, which invalidates its version, as it does in any program.
 */
#include "shim/libraries/python.h"

#include <stddef.h>
#include <string.h>

#define MINOR_SPECIALIZED 11
#define MINOR_ANY_THREAD 12

static struct {
	int minor; /* 0: no interpreter was found */
	int (*is_initialized)(void);
	int (*add_pending_call)(int (*call)(void *), void *argument);
	/* for 3.12 and later; NULL: not found */
	int (*add_call_of_any_thread)(void *interpreter, int (*call)(void *), void *argument, int only_main_thread);
	void *(*get_main_interpreter)(void);
	/* for 3.11 */
	void *(*import)(const char *name);
	void *(*call_method)(void *object, const char *name, const char *format, ...);
	intptr_t (*list_size)(void *list);
	void *(*list_item)(void *list, intptr_t i);
	void *(*get_defaults)(void *function);
	int (*set_defaults)(void *function, void *defaults);
	void (*clear_error)(void);
	void (*decref)(void *);
	const void *function_type, *none;
} running;

/* Sets the default values of all functions again.  The garbage collector's list has every function that can call or be called. */
static void forget_specialized_calls(void)
{
	void *collector = running.import("gc"), *list = collector ? running.call_method(collector, "get_objects", NULL) : NULL;
	intptr_t nr = list ? running.list_size(list) : 0;

	for (intptr_t i = 0; i < nr; i++) {
		void *object = running.list_item(list, i), *defaults;

		if (((struct python_object *)object)->type != running.function_type)
			continue;
		defaults = running.get_defaults(object);
		running.set_defaults(object, defaults ? defaults : (void *)(uintptr_t)running.none);
	}
	if (list)
		running.decref(list);
	else
		running.clear_error();
	if (collector)
		running.decref(collector);
}

/* Python calls this. Context: Python's main thread, or since 3.12 any thread of the main interpreter, which holds its lock. */
static int on_pending_call(void *unused)
{
	(void)unused;
	if (!guest_is_on())
		return 0;
	python_trampolines_forget_registrations();
	if (!python_adapt_interpreter()) {
		announce_python(PYTHON_NOTE_REFUSED);
		return 0;
	}
	announce_python(PYTHON_NOTE_REGISTERED_LATE);
	python_note_jit();
	if (running.minor == MINOR_SPECIALIZED)
		forget_specialized_calls();
	return 0;
}

static bool find_running_functions(const struct object *o)
{
	static const struct {
		const char *name;
		size_t at;
	} wanted[] = {
		{ "Py_IsInitialized", offsetof(__typeof__(running), is_initialized) },
		{ "Py_AddPendingCall", offsetof(__typeof__(running), add_pending_call) },
		{ "PyImport_ImportModule", offsetof(__typeof__(running), import) },
		{ "PyObject_CallMethod", offsetof(__typeof__(running), call_method) },
		{ "PyList_Size", offsetof(__typeof__(running), list_size) },
		{ "PyList_GetItem", offsetof(__typeof__(running), list_item) },
		{ "PyFunction_GetDefaults", offsetof(__typeof__(running), get_defaults) },
		{ "PyFunction_SetDefaults", offsetof(__typeof__(running), set_defaults) },
		{ "PyErr_Clear", offsetof(__typeof__(running), clear_error) },
		{ "Py_DecRef", offsetof(__typeof__(running), decref) },
		{ "PyFunction_Type", offsetof(__typeof__(running), function_type) },
		{ "_Py_NoneStruct", offsetof(__typeof__(running), none) },
	};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		void *symbol = object_find_symbol(o, wanted[i].name);

		if (!symbol)
			return false;
		memcpy((char *)&running + wanted[i].at, &symbol, sizeof(symbol));
	}
	return true;
}

static int find_python_in_object(void *context, const struct object *o)
{
	int minor = object_find_symbol(o, "_PyEval_EvalFrameDefault") ? python_find(o) : 0;

	(void)context;
	if (minor && find_running_functions(o))
		running.minor = minor;
	if (running.minor >= MINOR_ANY_THREAD) {
		running.add_call_of_any_thread =
			(int (*)(void *, int (*)(void *), void *, int))object_find_symbol(o, "_PyEval_AddPendingCall");
		running.get_main_interpreter = (void *(*)(void))object_find_symbol(o, "PyInterpreterState_Main");
	}
	return running.minor;
}

/* The main thread may wait for good, as in a join(). Since 3.12 the next thread of the interpreter that runs Python code makes the call. */
static void add_pending_call(void)
{
	if (running.add_call_of_any_thread && running.get_main_interpreter)
		running.add_call_of_any_thread(running.get_main_interpreter(), on_pending_call, NULL, 0);
	else
		running.add_pending_call(on_pending_call, NULL);
}

void python_adapt_injected(void)
{
	if (!running.minor)
		objects_each(find_python_in_object, NULL);
	if (!running.minor)
		python_note_why_left_alone();
	else if (running.is_initialized())
		add_pending_call();
}
