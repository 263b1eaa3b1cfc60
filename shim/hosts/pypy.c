/* SPDX-License-Identifier: MIT */
/*
 * PyPy: its JIT prints where each loop and bridge lies, by the function and line where it starts, if PYPYLOG asks for that.
 * It is answered with a file of ours, which is none: what is printed comes here, and no descriptor is used.
 *
 *   Loop 2 (fib;/path/fib.py:7-8~#0 LOAD_FAST) has address 0x… to 0x… (bootstrap 0x…)
 *   Bridge out of guard 0x… has address 0x… to 0x…
 *          gc table: 0x…
 *          function: 0x…       (and more such lines)
 *               end: 0x…
 */
#include "hosts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES 1024

static char answer[] = "jit-backend-addr:/tailor/is/no/file";
static char *(*real_getenv)(const char *);
static FILE *(*real_fopen)(const char *, const char *);

static struct {
	char line[2048];
	size_t bytes;
	bool begun;
	uint64_t start, end;
	char name[NAME_BYTES];
	char file[NAME_BYTES];
	uint32_t number;
} reader;

static uint64_t hex_behind(const char *line, const char *words)
{
	const char *at = strstr(line, words);

	return at ? strtoull(at + strlen(words), NULL, 16) : 0;
}

/* "Loop 2 (fib;/path/fib.py:7-8~#0 LOAD_FAST)": the name is "fib", the file and the line where it starts. */
static void read_name(const char *line, const char *has)
{
	const char *open = memchr(line, '(', (size_t)(has - line)), *file, *colon = NULL;

	reader.file[0] = 0;
	reader.number = 0;
	snprintf(reader.name, sizeof(reader.name), "%.*s", (int)(has - line), line);
	file = open ? memchr(open, ';', (size_t)(has - open)) : NULL;
	for (const char *c = file; c && c < has; c++)
		if (*c == ':' && c[1] >= '0' && c[1] <= '9')
			colon = c;
	if (!colon)
		return;
	reader.number = (uint32_t)strtoul(colon + 1, NULL, 10);
	snprintf(reader.file, sizeof(reader.file), "%.*s", (int)(colon - file - 1), file + 1);
	if (snprintf(reader.name, sizeof(reader.name), "%.*s %s:%u (%.*s)", (int)(file - open - 1), open + 1, reader.file, reader.number,
		     (int)(open - line - 1), line) < 0)
		reader.name[0] = 0; /* (a name that is cut is a name) */
}

static void send_loop(void)
{
	unsigned char buffer[NAME_BYTES + 64];
	struct line_table t = { .buffer = buffer, .capacity = sizeof(buffer) };
	const void *code = (const void *)(uintptr_t)reader.start;

	if (reader.number && line_table_add(&t, reader.start, reader.number, reader.file, strlen(reader.file)))
		line_table_send(&t, reader.start);
	jitreg_code_load(reader.start, reader.end - reader.start, 0, reader.name, code);
}

static void read_line(const char *line)
{
	const char *has = strstr(line, " has address 0x");
	uint64_t bootstrap;

	if (has) {
		read_name(line, has);
		reader.start = hex_behind(has, " has address ");
		bootstrap = hex_behind(has, "(bootstrap ");
		if (bootstrap && bootstrap < reader.start)
			reader.start = bootstrap;
		reader.begun = reader.start != 0;
	} else if (reader.begun && strstr(line, "end: 0x")) {
		reader.end = hex_behind(line, "end: ");
		reader.begun = false;
		if (reader.end > reader.start && reader.end - reader.start < 1u << 26)
			send_loop();
	}
}

/* Context: the thread that compiles, with the interpreter's lock. */
static ssize_t on_write(void *cookie, const char *text, size_t bytes)
{
	(void)cookie;
	for (size_t i = 0; i < bytes; i++) {
		if (text[i] != '\n') {
			if (reader.bytes < sizeof(reader.line) - 1)
				reader.line[reader.bytes++] = text[i];
			continue;
		}
		reader.line[reader.bytes] = 0;
		reader.bytes = 0;
		if (guest_is_on())
			read_line(reader.line);
	}
	return (ssize_t)bytes;
}

static FILE *on_fopen(const char *path, const char *mode)
{
	cookie_io_functions_t ours = { .write = on_write };

	return path && strcmp(path, strchr(answer, ':') + 1) == 0 ? fopencookie(NULL, "w", ours) : real_fopen(path, mode);
}

static char *on_getenv(const char *name)
{
	static int answered;
	char *users = real_getenv(name);

	if (users || strcmp(name, "PYPYLOG") != 0 || !real_fopen || !guest_is_on() ||
	    __atomic_exchange_n(&answered, 1, __ATOMIC_RELAXED))
		return users;
	HOSTS_SAY("PyPy: loops are heard through its log, as if PYPYLOG asked for jit-backend-addr");
	return answer;
}

void pypy_object(const struct object *o)
{
	if (real_getenv || !object_find_symbol(o, "pypy_main_startup"))
		return;
	if (slot_replace(o, "fopen", (void *)on_fopen, &real_fopen) || slot_replace(o, "getenv", (void *)on_getenv, &real_getenv))
		guest_debug("PyPy: where it reads its environment cannot be found");
}
