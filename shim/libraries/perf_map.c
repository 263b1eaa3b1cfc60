/* SPDX-License-Identifier: MIT */
/*
 * Adapts hosts that write a perf map (/tmp/perf-PID.map) if an environment variable is set, which are MoarVM and Qt's QML. Their calls of
 * getenv() are answered as if it were set. When they open the map, MoarVM gets a stream of the agent, and Qt gets /dev/null. The map's
 * lines are read while they are written, so code gets its name, and its bytes, as soon as it is made, and no file is left behind. A user's
 * own setting has precedence.
 */
#include "shim/libraries/libraries.h"

#include "agent/guest/sys.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NAME_BYTES 512

static const char moarvm_variable[] = "MVM_JIT_PERF_MAP", qt_variable[] = "QV4_PROFILE_WRITE_PERF_MAP", map_path[] = "/tmp/perf-";
static char yes[] = "1"; /* not const, because the result of getenv() may be written to */

static char *(*moarvm_getenv)(const char *), *(*qt_getenv)(const char *);
static FILE *(*moarvm_fopen)(const char *, const char *);
static int (*qt_open)(const char *, int, ...);
static ssize_t (*qt_write)(int, const void *, size_t);
static int moarvm_answered, qt_answered, qt_map = -1;

bool perf_map_is_path(const char *path)
{
	return path && strncmp(path, map_path, sizeof(map_path) - 1) == 0;
}

/* Parses up to 16 hexadecimal digits in lower case, and the space behind them. Returns the place behind the space, or NULL if there is
 * something else. */
static const char *parse_hex_field(const char *at, const char *end, uint64_t *number)
{
	static const char digits[] = "0123456789abcdef";
	const char *first = at, *digit;

	for (*number = 0; at < end && (digit = memchr(digits, *at, 16)); at++)
		*number = *number << 4 | (uint64_t)(digit - digits);
	return at > first && at - first <= 16 && at < end && *at == ' ' ? at + 1 : NULL;
}

static void register_map_line(const char *line, const char *end)
{
	uint64_t address, bytes;
	const char *name = parse_hex_field(line, end, &address);
	char text[NAME_BYTES];
	size_t length;

	name = name ? parse_hex_field(name, end, &bytes) : NULL;
	if (!name || name == end || !guard_enter())
		return;
	length = (size_t)(end - name) < sizeof(text) ? (size_t)(end - name) : sizeof(text) - 1;
	memcpy(text, name, length);
	text[length] = 0;
	if (sys_readable_range((const void *)address, bytes))
		announce_load(address, bytes, text, (const void *)address, 0);
	guard_leave();
}

/* Hosts write whole lines, so text behind the last newline is left out. */
void perf_map_register_text(const char *text, size_t bytes)
{
	const char *end = text + bytes, *line_end;

	for (; text < end && (line_end = memchr(text, '\n', (size_t)(end - text))); text = line_end + 1)
		register_map_line(text, line_end);
}

/* --------------------------------------------------------------------------------------------------------- MoarVM */

static ssize_t on_moarvm_text(void *cookie, const char *text, size_t bytes)
{
	(void)cookie;
	perf_map_register_text(text, bytes);
	return (ssize_t)bytes;
}

static FILE *on_moarvm_fopen(const char *path, const char *mode)
{
	cookie_io_functions_t lines = { .write = on_moarvm_text };

	if (!perf_map_is_path(path) || __atomic_exchange_n(&moarvm_answered, 0, __ATOMIC_RELAXED) != 1)
		return moarvm_fopen(path, mode);
	ANNOUNCE_ONCE("MoarVM: MVM_JIT_PERF_MAP answered as set; no perf map is written");
	return fopencookie(NULL, "w", lines);
}

static char *on_moarvm_getenv(const char *name)
{
	char *theirs = moarvm_getenv(name);

	if (theirs || strcmp(name, moarvm_variable) != 0 || !guest_is_on())
		return theirs;
	__atomic_store_n(&moarvm_answered, 1, __ATOMIC_RELAXED);
	return yes;
}

/* ------------------------------------------------------------------------------------------------------------- Qt */

static int on_qt_open(const char *path, int flags, ...)
{
	va_list list;
	int mode, fd;

	va_start(list, flags);
	mode = va_arg(list, int); /* undefined without O_CREAT, and not used then */
	va_end(list);
	if (!perf_map_is_path(path) || __atomic_exchange_n(&qt_answered, 0, __ATOMIC_RELAXED) != 1)
		return qt_open(path, flags, mode);
	fd = qt_open("/dev/null", O_WRONLY | (flags & O_CLOEXEC));
	__atomic_store_n(&qt_map, fd, __ATOMIC_RELAXED);
	ANNOUNCE_ONCE("Qt: QV4_PROFILE_WRITE_PERF_MAP answered as set; no perf map is written");
	return fd;
}

static ssize_t on_qt_write(int fd, const void *text, size_t bytes)
{
	if (fd >= 0 && fd == __atomic_load_n(&qt_map, __ATOMIC_RELAXED))
		perf_map_register_text(text, bytes);
	return qt_write(fd, text, bytes);
}

static char *on_qt_getenv(const char *name)
{
	char *theirs = qt_getenv(name);

	if (theirs || strcmp(name, qt_variable) != 0 || !guest_is_on())
		return theirs;
	__atomic_store_n(&qt_answered, 1, __ATOMIC_RELAXED);
	return yes;
}

/* Qt's files are opened and written by its core library, which may be before or behind the library with the JIT in the loader's list. */
static void hook_qt_core_library(const struct object *o)
{
	if (qt_getenv || !object_find_symbol(o, "_ZN5QFile4openE6QFlagsIN9QIODevice12OpenModeFlagEE"))
		return;
	if (slot_replace(o, "open64", (void *)on_qt_open, &qt_open) || slot_replace(o, "write", (void *)on_qt_write, &qt_write) ||
	    slot_replace(o, "getenv", (void *)on_qt_getenv, &qt_getenv))
		guest_debug("Qt: adapter unavailable (a call that writes a perf map was not found)");
}

static int hook_if_qt_core_library(void *context, const struct object *o)
{
	(void)context;
	hook_qt_core_library(o);
	return qt_getenv != NULL;
}

void perf_map_hook_object(const struct object *o)
{
	bool is_moarvm = !moarvm_getenv && object_find_symbol(o, "MVM_vm_create_instance");
	bool is_qt = object_find_symbol(o, "_ZN9QJSEngineC1Ev");

	if ((!is_moarvm && !is_qt) || object_hook_when_relocated(o, perf_map_hook_object))
		return;
	if (is_moarvm &&
	    (slot_replace(o, "fopen64", (void *)on_moarvm_fopen, &moarvm_fopen) ||
	     slot_replace(o, "getenv", (void *)on_moarvm_getenv, &moarvm_getenv)))
		guest_debug("MoarVM: adapter unavailable (the call that opens a perf map was not found)");
	if (is_qt) /* the core library is relocated before this one */
		objects_each_in_all_namespaces(hook_if_qt_core_library, NULL);
}
