/* SPDX-License-Identifier: MIT */
/*
 * PyPy's JIT prints what it compiles, if PYPYLOG asks for that. Unless the user has set the variable, it is answered once with a path that
 * names no file. When PyPy opens this path, it gets a stream whose text pypy_log.c reads, and no descriptor is used.
 */
#include "shim/hosts/pypy_log.h"

#include <stdio.h>
#include <string.h>

static char answer[] = "jit-backend-addr,jit-log-opt:/tailor/is/no/file";
static char *(*real_getenv)(const char *);
static FILE *(*real_fopen)(const char *, const char *);

/* The log's stream calls this for each write. Context: the thread that compiles, with the interpreter's lock. */
static ssize_t on_log_write(void *cookie, const char *text, size_t bytes)
{
	(void)cookie;
	pypy_log_read(text, bytes, guest_is_on());
	return (ssize_t)bytes;
}

static FILE *on_log_fopen(const char *path, const char *mode)
{
	cookie_io_functions_t ours = { .write = on_log_write };

	return path && strcmp(path, strchr(answer, ':') + 1) == 0 ? fopencookie(NULL, "w", ours) : real_fopen(path, mode);
}

static char *on_pypylog_getenv(const char *name)
{
	static int answered;
	char *users = real_getenv(name);

	if (users || strcmp(name, "PYPYLOG") != 0 || !real_fopen || !guest_is_on() ||
	    __atomic_exchange_n(&answered, 1, __ATOMIC_RELAXED))
		return users;
	ANNOUNCE_ONCE(
		"PyPy: loops, bridges and lines registered from its log, as with PYPYLOG=jit-backend-addr,jit-log-opt");
	return answer;
}

/* Only the JIT maps so much executable memory, and it does so before it prints anything. */
#define JIT_BYTES_MIN 65536

void pypy_note_mapping(const void *address, size_t bytes)
{
	if (real_fopen && bytes >= JIT_BYTES_MIN)
		pypy_log_note_mapping((uint64_t)(uintptr_t)address, bytes);
}

void pypy_hook_object(const struct object *o)
{
	if (real_getenv || !object_find_symbol(o, "pypy_main_startup") || object_hook_when_relocated(o, pypy_hook_object))
		return;
	if (slot_replace(o, "fopen", (void *)on_log_fopen, &real_fopen) ||
	    slot_replace(o, "getenv", (void *)on_pypylog_getenv, &real_getenv))
		guest_debug("PyPy: adapter unavailable (the calls of fopen and getenv were not found)");
}
