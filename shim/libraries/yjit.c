/* SPDX-License-Identifier: MIT */
/*
 * Ruby's YJIT from 3.3 on can write a perf map (--yjit-perf=map; 3.4: iseq), with a line for each block that it compiles.  With the option
 * it also prints the path of the map on the program's standard output.  So the option is switched on later, by the function that parses it,
 * when YJIT makes its memory writable to compile for the first time.  All that is missed before are the names of YJIT's own exits.  The map
 * that it opens is /dev/null, and its lines are read while they are written, so no file is left behind.  A user's own --yjit-perf has
 * precedence.  It is recognised because YJIT then removes an older map at its start.
 *
 * All of YJIT's code runs in one frame, as that of 3.1 does (shim/hosts/fixed_frame.c), unless the user asked for frame pointers, which its
 * exit code shows.
 *
 * Context of the hooks: Ruby's threads, with the lock of its virtual machine.
 */
#include "shim/libraries/libraries.h"

#include "agent/guest/sys.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LINE_BYTES 512
#define MIB ((uint64_t)1 << 20)
#define FIRST_CODE_BYTES 65536 /* YJIT's exit code is near the beginning of its memory */

static const unsigned char pops[] = { 0x5b, 0x41, 0x5c, 0x41, 0x5d, 0xc3 }; /* rbx, r12, r13, ret */

static struct {
	bool (*parse_option)(const char *); /* parses what follows --yjit-; returns true if it was understood */
	const bool *is_enabled;
	const char *version; /* version of Ruby */
	uintptr_t bias; /* load bias of Ruby's library */
	uint64_t start, bytes; /* memory whose frames are registered; it grows by pages, in reserved memory of whole MiB */
	int is_known, is_fixed, asked, by_user;
	int map; /* -1: none is open */
	char line[LINE_BYTES];
	size_t line_bytes;
} yjit = { .map = -1 };

static int (*real_open)(const char *, int, ...);
static ssize_t (*real_write)(int, const void *, size_t);
static int (*real_close)(int);
static int (*real_unlink)(const char *);

static bool is_perf_map_ours(void)
{
	return yjit.asked && !yjit.by_user && guest_is_on();
}

static int on_perf_map_open(const char *path, int flags, ...)
{
	va_list list;
	int mode;

	va_start(list, flags);
	mode = va_arg(list, int); /* undefined without O_CREAT, and not used then */
	va_end(list);
	if (!is_perf_map_ours() || !(flags & O_APPEND) || !perf_map_is_path(path))
		return real_open(path, flags, mode);
	yjit.line_bytes = 0;
	yjit.map = real_open("/dev/null", O_WRONLY | (flags & O_CLOEXEC));
	ANNOUNCE_ONCE("YJIT: --yjit-perf=map switched on after the start; no perf map is written");
	return yjit.map;
}

/* Collects a line, which is written in pieces. */
static void collect_map_line(const char *text, size_t bytes)
{
	for (; bytes; text++, bytes--) {
		if (yjit.line_bytes < LINE_BYTES)
			yjit.line[yjit.line_bytes++] = *text;
		if (*text != '\n')
			continue;
		yjit.line[yjit.line_bytes - 1] = '\n';
		perf_map_register_text(yjit.line, yjit.line_bytes);
		yjit.line_bytes = 0;
	}
}

static ssize_t on_perf_map_write(int fd, const void *text, size_t bytes)
{
	if (fd < 0 || fd != yjit.map)
		return real_write(fd, text, bytes);
	collect_map_line(text, bytes); /* a line is six writes, none of which needs a system call */
	return (ssize_t)bytes;
}

static int on_perf_map_close(int fd)
{
	if (fd >= 0 && fd == yjit.map)
		yjit.map = -1;
	return real_close(fd);
}

static int on_perf_map_unlink(const char *path)
{
	if (perf_map_is_path(path))
		yjit.by_user = 1;
	return real_unlink(path);
}

/*
 * hosts_note_writable() calls this. YJIT makes its memory writable before it writes code, and before it is enabled it writes only exits of
 * its own, which need no names.
 */
void yjit_switch_on_perf_map(void)
{
	if (!yjit.parse_option || yjit.asked || !*yjit.is_enabled || !guest_is_on() ||
	    __atomic_exchange_n(&yjit.asked, 1, __ATOMIC_RELAXED) || yjit.by_user)
		return;
	if (!yjit.parse_option("perf=iseq") && !yjit.parse_option("perf=map"))
		announce_lack(HOST_RUBY, yjit.version, "its YJIT has no perf map");
}

/* Do the bytes contain the sequence that pops rbx, r12 and r13 and returns, as YJIT's exit code does without frame pointers?  Then all of
 * YJIT's code has one fixed frame. */
static bool has_fixed_frame(const unsigned char *code, size_t bytes)
{
	for (size_t i = 0; bytes >= sizeof(pops) && i <= bytes - sizeof(pops); i++)
		if (memcmp(code + i, pops, sizeof(pops)) == 0)
			return true;
	return false;
}

void yjit_note_region(const struct object *mapper, uint64_t address, uint64_t bytes)
{
	static const struct frame_rule rule = { 0, 32 };
	static const struct frame_saved saved[] = { { 13, 2 }, { 12, 3 }, { 3, 4 } };
	const unsigned char *code = (const unsigned char *)(uintptr_t)address;
	uint64_t mib = (bytes + MIB - 1) / MIB * MIB;

	if (!yjit.parse_option || mapper->bias != yjit.bias)
		return;
	if (!yjit.is_known) {
		size_t first = bytes < FIRST_CODE_BYTES ? bytes : FIRST_CODE_BYTES;

		yjit.is_known = 1;
		yjit.is_fixed = sys_readable_range(code, first) && has_fixed_frame(code, first);
		yjit.start = address;
	}
	if (!yjit.is_fixed || address != yjit.start || mib <= yjit.bytes)
		return;
	ANNOUNCE_ONCE("Ruby: YJIT code is unwound by its fixed frame of three saved registers");
	announce_frames(address, mib, &rule, 1, saved, sizeof(saved) / sizeof(saved[0]));
	yjit.bytes = mib;
}

void yjit_hook_object(const struct object *o)
{
	const char *version = yjit.parse_option ? NULL : object_find_symbol(o, "ruby_version");
	void *parse = version && strncmp(version, "3.1.", 4) != 0 ? object_find_symbol(o, "rb_yjit_parse_option") : NULL;

	if (!parse || object_hook_when_relocated(o, yjit_hook_object))
		return;
	yjit.is_enabled = object_find_symbol(o, "rb_yjit_enabled_p");
	if (!yjit.is_enabled || slot_replace(o, "open64", (void *)on_perf_map_open, &real_open) ||
	    slot_replace(o, "write", (void *)on_perf_map_write, &real_write) ||
	    slot_replace(o, "close", (void *)on_perf_map_close, &real_close) ||
	    slot_replace(o, "unlink", (void *)on_perf_map_unlink, &real_unlink)) {
		guest_debug("Ruby: adapter unavailable (a call that writes YJIT's perf map was not found)");
		return;
	}
	yjit.bias = o->bias;
	yjit.version = version;
	memcpy(&yjit.parse_option, &parse, sizeof(parse));
}
