/* SPDX-License-Identifier: MIT */
/*
 * Adapts PCRE2 with its JIT, in whatever program uses it (grep -P, git, glib's GRegex, and others). The code of each pattern is registered
 * as a function that is named by the pattern. pcre2_compile_8() gets the pattern, and pcre2_jit_compile_8() has made the code when it
 * returns.
 *
 * The address of the code is in the library's own structures.  They are read only where they agree with what the library reports.  The
 * sizes in them must add up to PCRE2_INFO_JITSIZE, and the code must be readable.
 */
#include "shim/libraries/libraries.h"

#include "agent/guest/sys.h"

#include <link.h>
#include <stdio.h>
#include <string.h>

#define CODES 64 /* patterns that are remembered from compile to jit_compile, of which mostly one is needed */
#define NAME_BYTES 96
#define INFO_JITSIZE 10 /* PCRE2_INFO_JITSIZE */
#define MODES 3 /* modes of a match: complete, partial soft, partial hard */
#define CODE_JIT_WORD 4 /* word of pcre2_real_code, behind the memory functions (3 words) and the tables */

/* These are the first members of struct executable_functions in pcre2_jit_compile.c. */
struct jit {
	void *code[MODES];
	void *data[MODES];
	size_t bytes[MODES];
};

typedef void *compile_function(const unsigned char *pattern, size_t bytes, uint32_t options, int *error, size_t *offset, void *context);
typedef int jit_compile_function(void *code, uint32_t options);

static compile_function *real_compile;
static jit_compile_function *real_jit_compile;
static int (*get_info)(const void *code, uint32_t what, void *where);

static struct {
	const void *code;
	char name[NAME_BYTES];
} patterns[CODES];
static unsigned next_pattern;

static const char *const mode_names[MODES] = { "", " (partial soft)", " (partial hard)" };

/* Remembers a pattern as "/pattern/", or "/pattern.../" if it is cut. Control characters become dots, and a NUL ends the pattern. */
static void remember_pattern(const void *code, const unsigned char *pattern, size_t bytes)
{
	unsigned i = __atomic_fetch_add(&next_pattern, 1, __ATOMIC_RELAXED) % CODES;
	char *name = patterns[i].name;
	size_t n = 0;

	__atomic_store_n(&patterns[i].code, NULL, __ATOMIC_RELEASE);
	name[n++] = '/';
	for (; bytes && *pattern && n < NAME_BYTES - 5; pattern++, bytes -= bytes != SIZE_MAX)
		name[n++] = *pattern < ' ' || *pattern == 127 ? '.' : (char)*pattern;
	strcpy(name + n, bytes && *pattern ? ".../" : "/");
	__atomic_store_n(&patterns[i].code, code, __ATOMIC_RELEASE);
}

static void *on_pcre2_compile(const unsigned char *pattern, size_t bytes, uint32_t options, int *error, size_t *offset, void *context)
{
	void *code = real_compile(pattern, bytes, options, error, offset, context);

	if (code && pattern && guest_is_on() && guard_enter()) {
		remember_pattern(code, pattern, bytes);
		guard_leave();
	}
	return code;
}

static void register_compiled_pattern(const void *code, const struct jit *jit)
{
	char name[NAME_BYTES + 32];
	const char *pattern = "PCRE2 pattern";

	for (int i = 0; i < CODES; i++)
		if (__atomic_load_n(&patterns[i].code, __ATOMIC_ACQUIRE) == code)
			pattern = patterns[i].name;
	for (int i = 0; i < MODES; i++) {
		if (!jit->code[i] || !jit->bytes[i] || !sys_readable_range(jit->code[i], jit->bytes[i]))
			continue;
		snprintf(name, sizeof(name), "%.*s%s", NAME_BYTES, pattern, mode_names[i]);
		announce_load((uintptr_t)jit->code[i], jit->bytes[i], name, jit->code[i], 0);
	}
	ANNOUNCE_ONCE("PCRE2: compiled patterns are named by their text");
}

static int on_pcre2_jit_compile(void *code, uint32_t options)
{
	int ret = real_jit_compile(code, options);
	size_t bytes = 0;
	struct jit *jit;

	if (ret || !code || !guest_is_on() || !get_info || get_info(code, INFO_JITSIZE, &bytes) || !bytes || !guard_enter())
		return ret;
	jit = ((void **)code)[CODE_JIT_WORD];
	if ((uintptr_t)jit % sizeof(void *) == 0 && sys_readable_range(jit, sizeof(*jit)) &&
	    jit->bytes[0] + jit->bytes[1] + jit->bytes[2] == bytes)
		register_compiled_pattern(code, jit);
	guard_leave();
	return ret;
}

/* Notes the function of PCRE2's library that describes a pattern, and hooks programs and other libraries that use PCRE2. The library itself
 * calls neither of the two hooked functions. */
void pcre2_hook_object(const struct object *o)
{
	void *info = object_find_symbol(o, "pcre2_pattern_info_8");

	if (info)
		*(void **)&get_info = info;
	else if (object_needs_library(o, "libpcre2-8.so") && !object_hook_when_relocated(o, pcre2_hook_object) &&
		 slot_replace(o, "pcre2_jit_compile_8", (void *)on_pcre2_jit_compile, &real_jit_compile) == 0)
		slot_replace(o, "pcre2_compile_8", (void *)on_pcre2_compile, &real_compile);
}
