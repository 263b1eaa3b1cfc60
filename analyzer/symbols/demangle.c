/* SPDX-License-Identifier: MIT */
/*
 * Bounds libiberty's demanglers.  Those of C++ and Rust write into a callback, and keep nothing on the heap, except that Rust's keeps a few
 * bytes while it decodes an identifier in Punycode.  If they write too much, the callback leaves them by longjmp().  D's demangler
 * allocates with xmalloc() and xrealloc(), which are defined here.  They count the bytes that are asked for, and leave by longjmp() if
 * these are too many.  The memory that is lost in this way is bounded by GIVEN_UP_MAX.
 */
#include "analyzer/symbols/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#ifndef __has_feature
#define __has_feature(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer) /* no leak is reported for memory allocated between the two macros */
#include <sanitizer/lsan_interface.h>
#define LOSES_MEMORY_BEGIN() __lsan_disable()
#define LOSES_MEMORY_END() __lsan_enable()
#else
#define LOSES_MEMORY_BEGIN()
#define LOSES_MEMORY_END()
#endif

#define WORK_MAX (16u * DEMANGLE_NAME_MAX) /* maximum number of bytes that D's demangler may allocate */
/* maximum length of a symbol of D, whose demangler has no limit of recursion, and takes up to 320 bytes of stack for each byte of it */
#define D_SYMBOL_MAX 2048u
#define GIVEN_UP_MAX 64 /* after so many symbols that may have lost memory, a thread demangles no more */

struct work {
	jmp_buf give_up;
	char name[DEMANGLE_NAME_MAX];
	size_t bytes;
	size_t asked;
	bool leaks; /* longjmp() out of this demangler may lose memory */
};

static _Thread_local struct work *current;
static _Thread_local unsigned given_up;

void *xmalloc(size_t bytes);
void *xrealloc(void *old, size_t bytes);

void *xmalloc(size_t bytes)
{
	return xrealloc(NULL, bytes);
}

void *xrealloc(void *old, size_t bytes)
{
	void *new = NULL;

	if (!current)
		abort(); /* only demangle() calls libiberty */
	if (bytes <= WORK_MAX - current->asked) {
		current->asked += bytes;
		LOSES_MEMORY_BEGIN();
		new = realloc(old, bytes ? bytes : 1);
		LOSES_MEMORY_END();
	}
	if (!new)
		longjmp(current->give_up, 1);
	return new;
}

static void write_name(const char *text, size_t bytes, void *context)
{
	struct work *w = context;

	if (bytes > sizeof(w->name) - w->bytes)
		longjmp(w->give_up, 1);
	if (bytes) /* text may be NULL if there are no bytes */
		memcpy(w->name + w->bytes, text, bytes);
	w->bytes += bytes;
}

static bool demangle_d(const char *symbol, struct work *w)
{
	char *name = strlen(symbol) <= D_SYMBOL_MAX ? dlang_demangle(symbol, DMGL_NO_OPTS) : NULL;

	if (name)
		write_name(name, strlen(name), w); /* loses name only if it is longer than DEMANGLE_NAME_MAX */
	free(name);
	return name;
}

static bool run_demanglers(const char *symbol, struct work *w)
{
	w->leaks = true;
	if (symbol[1] == 'D')
		return demangle_d(symbol, w);
	if (rust_demangle_callback(symbol, DMGL_NO_OPTS, write_name, w))
		return true;
	w->leaks = false;
	w->bytes = 0;
	return cplus_demangle_v3_callback(symbol, DMGL_PARAMS | DMGL_ANSI | DMGL_RET_DROP, write_name, w);
}

/* May a symbol be mangled?  Symbols of the four schemes, and C++'s functions that call constructors, begin like this. */
static bool is_mangled(const char *symbol)
{
	return symbol[0] == '_' && (symbol[1] == 'Z' || symbol[1] == 'R' || symbol[1] == 'D' || strncmp(symbol, "_GLOBAL_", 8) == 0);
}

char *demangle(const char *symbol)
{
	char copy[DEMANGLE_SYMBOL_MAX + 1];
	size_t bytes, behind;
	struct work *w;
	char *out = NULL;

	if (!is_mangled(symbol) || given_up >= GIVEN_UP_MAX)
		return NULL;
	bytes = strcspn(symbol, "@");
	behind = strnlen(symbol + bytes, DEMANGLE_SYMBOL_MAX + 1);
	if (bytes > DEMANGLE_SYMBOL_MAX || behind > DEMANGLE_SYMBOL_MAX)
		return NULL;
	memcpy(copy, symbol, bytes);
	copy[bytes] = 0;
	w = malloc(sizeof(*w));
	if (!w)
		return NULL;
	w->bytes = w->asked = 0;
	w->leaks = false;
	current = w;
	if (setjmp(w->give_up)) {
		given_up += w->leaks;
	} else if (run_demanglers(copy, w) && w->bytes) {
		out = malloc(w->bytes + behind + 1);
		if (out) {
			memcpy(out, w->name, w->bytes);
			memcpy(out + w->bytes, symbol + bytes, behind + 1);
		}
	}
	current = NULL;
	free(w);
	return out;
}
