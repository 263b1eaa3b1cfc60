/* SPDX-License-Identifier: MIT */
#include "analyzer/attribute/host_names.h"

#include "jitreg/hosts/jit_hosts.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Names of code that V8 compiled from a script begin with these texts (code-events.h). Names of other code have no place at their end. */
static const char *const v8_kinds[] = { "JS:", "LazyCompile:", "Function:", "Eval:", "Script:" };

/* Returns the number of bytes before ":NUMBER" at the end of text, or bytes if there is none. */
static size_t bytes_before_line_number(const char *text, size_t bytes)
{
	size_t at = bytes;

	while (at > 0 && isdigit((unsigned char)text[at - 1]))
		at--;
	return at < bytes && at > 1 && text[at - 1] == ':' ? at - 1 : bytes;
}

/* Checks for a scheme such as "node:", "file:", "https:" or "wasm:".  "a.js:12" has none. */
static bool begins_with_scheme(const char *text)
{
	size_t letters = 0;

	while (text[letters] >= 'a' && text[letters] <= 'z')
		letters++;
	return letters > 1 && text[letters] == ':' && text[letters + 1] && !isdigit((unsigned char)text[letters + 1]);
}

/* Finds the file in "function file:12:3", of which the first bytes are "function file". Both may contain blanks ("get hot", "/my dir/a
 * b.js"). A file that is a path or a URL begins after the first blank behind which one stands. Other files' names have no blanks, so
 * these begin after the last blank. Returns NULL if there is no blank. (shim/hosts/v8.c does the same.) */
static const char *find_v8_file(const char *text, size_t bytes)
{
	const char *last = NULL;

	for (const char *at = text; at < text + bytes; at++)
		if (*at == ' ') {
			if (at == text || at[1] == '/' || begins_with_scheme(at + 1))
				return at + 1;
			last = at + 1;
		}
	return last;
}

static const char *behind_v8_kind(const char *text)
{
	for (size_t i = 0; i < sizeof(v8_kinds) / sizeof(v8_kinds[0]); i++)
		if (strncmp(text, v8_kinds[i], strlen(v8_kinds[i])) == 0)
			return text + strlen(v8_kinds[i]);
	return NULL;
}

/* Returns the length of the tier's mark, including the second mark of code for one closure alone (V8 13 and later) or of code that took
 * over from a running loop (V8 14). Returns 0 if there is none. */
static size_t v8_tier_bytes(const char *at)
{
	if (*at == 'o' && (at[1] == '*' || at[1] == '+'))
		return 2;
	if (!*at || !strchr("*~^+-", *at))
		return 0;
	return at[1] == '\'' && strchr("*+", *at) ? 2 : 1;
}

/* Splits a name of V8, such as "JS:*name /file.js:12:3". V8 11 and later puts line and column after the file, earlier versions the line
 * alone. Returns false if it is none. */
static bool split_v8_name(const char *text, struct host_name *out)
{
	const char *at = behind_v8_kind(text), *file;
	size_t bytes, column, line;

	if (!at)
		return false;
	at += v8_tier_bytes(at);
	bytes = strlen(at);
	column = bytes_before_line_number(at, bytes);
	line = bytes_before_line_number(at, column);
	file = find_v8_file(at, line);
	if (column == bytes || !file || file == at + line)
		return false;
	*out = (struct host_name){
		at, (size_t)(file - 1 - at), file, line - (size_t)(file - at), file, bytes - (size_t)(file - at), false
	};
	if (!out->function_bytes) {
		out->function = "(anonymous)";
		out->function_bytes = strlen(out->function);
	}
	return true;
}

const char *host_name_tier(const char *text, size_t *bytes)
{
	const char *at = behind_v8_kind(text);
	struct host_name n;

	*bytes = at ? v8_tier_bytes(at) : 0;
	return *bytes && split_v8_name(text, &n) ? at : NULL;
}

char *host_name_of_function(const char *text)
{
	size_t bytes;
	const char *tier = host_name_tier(text, &bytes);
	char *name = strdup(text);

	if (name && tier)
		memmove(name + (tier - text), tier + bytes, strlen(tier + bytes) + 1);
	return name;
}

/* Splits a name of PyPy, such as "name /file.py:12". The line is where a loop begins, of which a function can have several, so it is not
 * part of the function's name. Returns false if it is none. */
static bool split_pypy_name(const char *text, struct host_name *out)
{
	const char *file = strstr(text, " /");
	size_t bytes = file ? strlen(file + 1) : 0, end = file ? bytes_before_line_number(file + 1, bytes) : 0;

	if (!file || file == text || end == bytes)
		return false;
	*out = (struct host_name){ text, (size_t)(file - text), file + 1, end, "", 0, false };
	return true;
}

/* Splits the name of a trace of PHP's JIT, such as "TRACE-5$name$12". A function can have several traces, so the numbers are not part of
 * its name. Returns false if it is none. */
static bool split_php_trace_name(const char *text, struct host_name *out)
{
	static const char prefix[] = "TRACE-";
	const char *name = strncmp(text, prefix, sizeof(prefix) - 1) == 0 ? strchr(text, '$') : NULL;
	const char *end = name ? strrchr(text, '$') : NULL;

	if (!name || end <= name + 1 || !isdigit((unsigned char)text[sizeof(prefix) - 1]) || !isdigit((unsigned char)end[1]))
		return false;
	*out = (struct host_name){ name + 1, (size_t)(end - name - 1), "", 0, "", 0, false };
	return true;
}

/* Splits a name that CPython writes for perf, such as "py::name:/file.py". The first line in the code's line table is where the function
 * begins, so it tells functions of one name apart. Returns false if it is none. */
static bool split_cpython_name(const char *text, struct host_name *out)
{
	static const char prefix[] = "py::";
	const char *name = strncmp(text, prefix, sizeof(prefix) - 1) == 0 ? text + sizeof(prefix) - 1 : NULL;
	const char *file = name ? strchr(name, ':') : NULL;

	if (!file || file == name || !file[1])
		return false;
	*out = (struct host_name){ name, (size_t)(file - name), file + 1, strlen(file + 1), file + 1, strlen(file + 1), true };
	return true;
}

/* Splits the name of V8's interpreter, which stands for the functions that it runs. */
static bool split_v8_interpreter_name(const char *text, struct host_name *out)
{
	static const char name[] = JIT_V8_INTERPRETED, where[] = JIT_V8_INTERPRETED_WHERE;

	if (strcmp(text, JIT_V8_INTERPRETER) != 0)
		return false;
	*out = (struct host_name){ name, sizeof(name) - 1, where, sizeof(where) - 1, where, sizeof(where) - 1, false };
	return true;
}

bool host_name_is_of_interpreter(const char *text)
{
	return strcmp(text, "py::jit:executor") == 0;
}

void host_name_split(const char *text, struct host_name *out)
{
	if (!split_v8_name(text, out) && !split_v8_interpreter_name(text, out) && !split_pypy_name(text, out) &&
	    !split_php_trace_name(text, out) && !split_cpython_name(text, out))
		*out = (struct host_name){ text, strlen(text), "", 0, "", 0, false };
}

/* ----------------------------------------------------------------------- what threads and functions do for the host */

struct beginning {
	const char *text;
	enum reason work;
};

/* Beginnings of names of threads.  They have at most 15 bytes, because Linux keeps no more of a name. */
static const struct beginning threads[] = {
	{ "C1 CompilerThre", REASON_COMPILER }, { "C2 CompilerThre", REASON_COMPILER }, { "JVMCI-native", REASON_COMPILER },
	{ "Sweeper thread", REASON_COMPILER }, { "GC Thread", REASON_COLLECTOR }, { "G1 ", REASON_COLLECTOR },
	{ "ParGC Thread", REASON_COLLECTOR }, { "ZDriver", REASON_COLLECTOR }, { "ZWorker", REASON_COLLECTOR },
	{ "ZDirector", REASON_COLLECTOR }, { "ZUn", REASON_COLLECTOR }, { "XWorker", REASON_COLLECTOR }, { "XDriver", REASON_COLLECTOR },
	{ "Shenandoah", REASON_COLLECTOR }, { "Gang worker", REASON_COLLECTOR }, { "llvm-worker", REASON_COMPILER },
	{ ".NET Tiered Com", REASON_COMPILER }, { ".NET BGC", REASON_COLLECTOR }, { ".NET Server GC", REASON_COLLECTOR },
	{ "SGen worker", REASON_COLLECTOR }, { "JITWorker", REASON_COMPILER }, { "Heap Helper", REASON_COLLECTOR },
	{ "Baseline JIT", REASON_COMPILER }, { "DFG ", REASON_COMPILER }, { "FTL ", REASON_COMPILER },
};

static const struct beginning functions[] = {
	{ "llvm::", REASON_COMPILER },
	{ "v8::internal::compiler::", REASON_COMPILER }, { "v8::internal::maglev::", REASON_COMPILER },
	{ "v8::internal::baseline::", REASON_COMPILER }, { "v8::internal::OptimizedCompilation", REASON_COMPILER },
	{ "v8::internal::OptimizingCompile", REASON_COMPILER }, { "v8::internal::TurbofanCompilation", REASON_COMPILER },
	{ "v8::internal::Compiler::", REASON_COMPILER }, { "v8::internal::ConcurrentMarking", REASON_COLLECTOR },
	{ "v8::internal::Scavenge", REASON_COLLECTOR }, { "v8::internal::MarkCompact", REASON_COLLECTOR },
	{ "v8::internal::MinorMarkCompact", REASON_COLLECTOR }, { "v8::internal::IncrementalMarking", REASON_COLLECTOR },
	{ "v8::internal::Sweeper", REASON_COLLECTOR }, { "v8::internal::Evacuator", REASON_COLLECTOR },
	{ "v8::internal::PageEvacuation", REASON_COLLECTOR }, { "v8::internal::PointersUpdating", REASON_COLLECTOR },
	{ "v8::internal::ArrayBufferSweeper", REASON_COLLECTOR }, { "v8::internal::Heap::CollectGarbage", REASON_COLLECTOR },
	{ "cppgc::internal::", REASON_COLLECTOR },
	{ "CompileBroker::", REASON_COMPILER }, { "VM_CollectFor", REASON_COLLECTOR }, { "VM_G1", REASON_COLLECTOR },
	{ "VM_GenCollect", REASON_COLLECTOR }, { "VM_Serial", REASON_COLLECTOR }, { "VM_Parallel", REASON_COLLECTOR },
	{ "VM_Shenandoah", REASON_COLLECTOR }, { "VM_X", REASON_COLLECTOR }, { "VM_Z", REASON_COLLECTOR },
	{ "VM_GC_Operation::", REASON_COLLECTOR },
	{ "GC_mark", REASON_COLLECTOR }, { "GC_try_to_collect", REASON_COLLECTOR }, { "sgen_", REASON_COLLECTOR },
};

static const struct beginning images[] = {
	{ "libLLVM", REASON_COMPILER }, { "libclrjit", REASON_COMPILER }, { "libgccjit", REASON_COMPILER },
	{ "llvmjit", REASON_COMPILER }, { "libclang", REASON_COMPILER },
};

static enum reason find_work_by_prefix(const struct beginning *list, size_t nr, const char *text)
{
	for (size_t i = 0; i < nr; i++)
		if (strncmp(text, list[i].text, strlen(list[i].text)) == 0)
			return list[i].work;
	return REASON_NONE;
}

enum reason host_work_of_thread(const char *name)
{
	return find_work_by_prefix(threads, sizeof(threads) / sizeof(threads[0]), name);
}

enum reason host_work_of_function(const char *name, const char *image)
{
	enum reason work = find_work_by_prefix(functions, sizeof(functions) / sizeof(functions[0]), name);

	return work != REASON_NONE ? work : find_work_by_prefix(images, sizeof(images) / sizeof(images[0]), basename(image));
}
