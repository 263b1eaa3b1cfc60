/* SPDX-License-Identifier: MIT */
/*
 * PyPy's log has each loop, or bridge ("bridge out of Guard 0x…"), first with its addresses, then with its operations.
 *
 *   [time] {jit-backend-addr
 *   Loop 2 (fib;/path/fib.py:7-8~#0 LOAD_FAST) has address 0x… to 0x… (bootstrap 0x…)
 *          gc table: 0x…
 *          failures: 0x…
 *               end: 0x…             (and more such lines)
 *   [time] jit-backend-addr}
 *   [time] {jit-log-opt-loop
 *   debug_merge_point(0, 0, 'fib;/path/fib.py:7-8~#4 COMPARE_OP')
 *   +324: i21 = getfield_gc_i(p9, …)
 *   [time] jit-log-opt-loop}
 *
 * "7-8" are the lines of the function and of the instruction.  The offsets of operations are relative to the gc table.
 *
 * Code that the interpreter enters begins with a prologue, which shows the size of the frame and where registers are saved in it.  The
 * frame is the same in the whole process, and bridges run in it as well.  Helpers, which lie before all other code, lower the stack pointer
 * by 8 while they call the runtime, for example to collect garbage (rpython/jit/backend/x86/assembler.py).
 */
#include "shim/hosts/pypy_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES 1024
#define CODE_BYTES_MAX (1u << 26)
#define PROLOGUE_BYTES 128
#define RULES_MAX 8
#define SAVED_MAX 6
#define HELPERS_BYTES_MAX 65536
#define HELPER_RULES_MAX 64

/* This is a place in a program, "fib;/path/fib.py:7-8~#0 LOAD_FAST". */
struct place {
	const char *function, *file;
	int function_bytes, file_bytes;
	uint32_t line;
};

static struct {
	char line[2048];
	size_t bytes;
	/* state of the code object that is being printed */
	bool begun, known, in_operations; /* addresses follow; they are complete; operations follow */
	uint64_t table, start, failures, end;
	char name[NAME_BYTES]; /* "Loop 2", or "bridge out of …" */
	char title[NAME_BYTES]; /* name with the place where it starts */
	uint32_t line_nr, first_line; /* line of the operations that follow; of the first one; 0: not known */
	char file[NAME_BYTES], first_file[NAME_BYTES];
	unsigned char table_bytes[65536];
	struct line_table lines;
	uint64_t helpers, helpers_end; /* range in which the helpers are expected; helpers is 0 after the first code */
	/* the frame of all code in this process; 0: no prologue has been seen */
	uint32_t frame_bytes;
	int nr_saved;
	struct frame_saved saved[SAVED_MAX];
} reader;

static uint64_t parse_hex_behind(const char *line, const char *words)
{
	const char *at = strstr(line, words);

	return at ? strtoull(at + strlen(words), NULL, 16) : 0;
}

static bool parse_program_place(const char *at, const char *end, struct place *p)
{
	const char *semicolon = memchr(at, ';', (size_t)(end - at)), *colon = NULL, *dash;

	for (const char *c = semicolon; c && c < end; c++)
		if (*c == ':' && c[1] >= '0' && c[1] <= '9')
			colon = c;
	if (!colon)
		return false;
	p->function = at;
	p->function_bytes = (int)(semicolon - at);
	p->file = semicolon + 1;
	p->file_bytes = (int)(colon - semicolon - 1);
	dash = memchr(colon, '-', (size_t)(end - colon));
	p->line = (uint32_t)strtoul(dash ? dash + 1 : colon + 1, NULL, 10);
	return p->line != 0 && p->file_bytes < NAME_BYTES;
}

static void set_code_title(const struct place *p)
{
	if (snprintf(reader.title, sizeof(reader.title), "%.*s %.*s:%u (%s)", p->function_bytes, p->function, p->file_bytes, p->file,
		     p->line, reader.name) < 0)
		reader.title[0] = 0; /* a truncated title is kept */
}

/* ------------------------------------------------------------------------------------------------------------ frames */

/* Reads movq register, disp(%rsp).  Returns the length of the instruction, or 0 if there is another one. */
static int read_register_save(const unsigned char *p, unsigned char *reg, uint32_t *displacement)
{
	static const unsigned char preserved[16] = { [3] = 1, [5] = 1, [12] = 1, [13] = 1, [14] = 1, [15] = 1 };
	unsigned char n = (unsigned char)((p[1 + 1] >> 3 & 7) | (p[0] & 4) << 1);

	if ((p[0] & 0xfb) != 0x48 || p[1] != 0x89 || p[3] != 0x24 || !preserved[n])
		return 0;
	*reg = n == 5 ? 6 : n; /* DWARF register number of rbp */
	switch (p[2] & 0xc7) {
	case 0x44:
		*displacement = p[4];
		return 5;
	case 0x84:
		memcpy(displacement, p + 4, 4);
		return 8;
	}
	return 0;
}

/* Learns the frame from subq frame, %rsp, and the registers that are saved behind it. */
static void learn_frame_of_prologue(const unsigned char *code, uint64_t bytes)
{
	uint32_t displacement, frame;
	unsigned char reg;
	int length, nr = 0;

	if (bytes < PROLOGUE_BYTES || code[0] != 0x48 || code[1] != 0x81 || code[2] != 0xec)
		return;
	memcpy(&frame, code + 3, 4);
	for (const unsigned char *p = code + 7; p + 8 <= code + PROLOGUE_BYTES && nr < SAVED_MAX; p += length ? length : 1) {
		length = read_register_save(p, &reg, &displacement);
		if (length && displacement < frame && displacement % 8 == 0)
			reader.saved[nr++] = (struct frame_saved){ reg, (frame + 8 - displacement) / 8 };
	}
	reader.nr_saved = nr;
	reader.frame_bytes = frame;
}

static void register_code_frames(bool entered)
{
	const unsigned char *code = (const unsigned char *)(uintptr_t)reader.start;
	uint32_t bytes = (uint32_t)(reader.end - reader.start), frame = reader.frame_bytes + 8;
	struct frame_rule rule[RULES_MAX];
	int nr = 0;

	if (!reader.frame_bytes)
		return;
	if (entered)
		rule[nr++] = (struct frame_rule){ 0, 8 };
	rule[nr++] = (struct frame_rule){ entered ? 7 : 0, frame };
	/* addq frame, %rsp; ret */
	for (uint32_t at = 7; at + 8 <= bytes && nr + 2 <= RULES_MAX; at++)
		if (code[at] == 0x48 && code[at + 1] == 0x81 && code[at + 2] == 0xc4 && code[at + 7] == 0xc3 &&
		    memcmp(code + at + 3, &reader.frame_bytes, 4) == 0) {
			rule[nr++] = (struct frame_rule){ at + 7, 8 };
			rule[nr++] = (struct frame_rule){ at + 8, frame };
		}
	announce_frames(reader.start, bytes, rule, nr, reader.saved, reader.nr_saved);
}

/* Registers the helpers, which lie before the first code. */
static void register_helpers(uint64_t end)
{
	const unsigned char *code = (const unsigned char *)(uintptr_t)reader.helpers;
	uint32_t bytes = (uint32_t)(end - reader.helpers), lowered = 0;
	struct frame_rule rule[HELPER_RULES_MAX] = { { 0, 8 } };
	int nr = 1;

	for (uint32_t at = 0; at + 4 <= bytes && nr < HELPER_RULES_MAX; at++) {
		bool back = code[at + 1] == 0x83 && code[at + 2] == 0xc4; /* addq, subq number, %rsp */

		if (code[at] != 0x48 || (!back && (code[at + 1] != 0x83 || code[at + 2] != 0xec)) || code[at + 3] >= 0x80 ||
		    (back && code[at + 3] != lowered))
			continue;
		lowered = back ? 0 : code[at + 3];
		rule[nr++] = (struct frame_rule){ at + 4, 8 + lowered };
	}
	jitreg_code_load(reader.helpers, bytes, 0, "(the JIT's helpers)", code);
	announce_frames(reader.helpers, bytes, rule, nr, NULL, 0);
}

void pypy_log_note_mapping(uint64_t start, uint64_t bytes)
{
	if (reader.helpers_end)
		return;
	reader.helpers = start;
	reader.helpers_end = start + bytes;
}

/* ------------------------------------------------------------------------------------------------------------- lines */

static void register_complete_code(void)
{
	const unsigned char *code = (const unsigned char *)(uintptr_t)reader.start;
	bool entered = strncmp(reader.name, "Loop", 4) == 0;

	if (!reader.known)
		return;
	reader.known = false;
	if (reader.helpers && reader.table > reader.helpers && reader.table < reader.helpers_end &&
	    reader.table - reader.helpers <= HELPERS_BYTES_MAX)
		register_helpers(reader.table);
	reader.helpers = 0;
	if (reader.first_line && reader.failures > reader.start) /* code that runs when a guard fails */
		line_table_add(&reader.lines, reader.failures, reader.first_line, reader.first_file, strlen(reader.first_file));
	line_table_send(&reader.lines, reader.start);
	jitreg_code_load(reader.start, reader.end - reader.start, 0, reader.title, code);
	if (entered && !reader.frame_bytes)
		learn_frame_of_prologue(code, reader.end - reader.start);
	register_code_frames(entered);
}

static void begin_code_of_line(const char *line, const char *has)
{
	const char *open = memchr(line, '(', (size_t)(has - line));
	uint64_t bootstrap = parse_hex_behind(has, "(bootstrap ");
	struct place p;

	register_complete_code(); /* registers the previous code, if its operations did not come */
	snprintf(reader.name, sizeof(reader.name), "%.*s", (int)((open ? open - 1 : has) - line), line);
	snprintf(reader.title, sizeof(reader.title), "%s", reader.name);
	reader.first_line = reader.line_nr = 0;
	reader.failures = reader.table = 0;
	reader.lines = (struct line_table){ .buffer = reader.table_bytes, .capacity = sizeof(reader.table_bytes) };
	reader.start = parse_hex_behind(has, " has address ");
	if (bootstrap && bootstrap < reader.start)
		reader.start = bootstrap;
	reader.begun = reader.start != 0;
	if (!open || !parse_program_place(open + 1, has, &p))
		return;
	set_code_title(&p);
	reader.first_line = p.line;
	snprintf(reader.first_file, sizeof(reader.first_file), "%.*s", p.file_bytes, p.file);
	line_table_add(&reader.lines, reader.start, p.line, reader.first_file, strlen(reader.first_file));
}

static void read_code_addresses(const char *line)
{
	if (strstr(line, "gc table: 0x"))
		reader.table = parse_hex_behind(line, "gc table: ");
	else if (strstr(line, "failures: 0x"))
		reader.failures = parse_hex_behind(line, "failures: ");
	else if (strstr(line, "end: 0x")) {
		reader.end = parse_hex_behind(line, "end: ");
		reader.begun = false;
		reader.known = reader.end > reader.start && reader.end - reader.start < CODE_BYTES_MAX;
	}
}

/* Reads the line of the operations that follow. */
static void read_merge_point(const char *line)
{
	const char *open = strchr(line, '\''), *close = strrchr(line, '\'');
	struct place p;

	if (!open || open == close || !parse_program_place(open + 1, close, &p))
		return;
	reader.line_nr = p.line;
	snprintf(reader.file, sizeof(reader.file), "%.*s", p.file_bytes, p.file);
	if (reader.first_line)
		return;
	set_code_title(&p); /* the line with the address names no place, as that of a bridge */
	reader.first_line = p.line;
	memcpy(reader.first_file, reader.file, sizeof(reader.first_file));
	line_table_add(&reader.lines, reader.start, p.line, reader.file, strlen(reader.file));
}

static void read_operation(const char *line)
{
	uint64_t at = reader.table + strtoull(line + 1, NULL, 10);

	if (reader.line_nr && reader.table && at > reader.start && at < reader.end)
		line_table_add(&reader.lines, at, reader.line_nr, reader.file, strlen(reader.file));
}

static void read_log_line(const char *line)
{
	const char *has = reader.in_operations ? NULL : strstr(line, " has address 0x");

	if (has)
		begin_code_of_line(line, has);
	else if (reader.begun)
		read_code_addresses(line);
	else if (*line == '[' && strstr(line, "{jit-log-opt"))
		reader.in_operations = reader.known;
	else if (*line == '[' && strstr(line, "jit-log-opt") && reader.in_operations) {
		reader.in_operations = false;
		register_complete_code();
	} else if (reader.in_operations && *line == '+')
		read_operation(line);
	else if (reader.in_operations && strncmp(line, "debug_merge_point(", 18) == 0)
		read_merge_point(line);
}

void pypy_log_read(const char *text, size_t bytes, bool listening)
{
	for (size_t i = 0; i < bytes; i++) {
		if (text[i] != '\n') {
			if (reader.bytes < sizeof(reader.line) - 1)
				reader.line[reader.bytes++] = text[i];
			continue;
		}
		reader.line[reader.bytes] = 0;
		reader.bytes = 0;
		if (listening)
			read_log_line(reader.line);
	}
}
