/* SPDX-License-Identifier: MIT */
#include "analyzer/compare/alike.h"

#include "analyzer/attribute/host_names.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ADDRESS_DIGITS_MIN 4
#define RUST_HASH_DIGITS 16

/* These are parts of names that are counted anew in each run: classes that the JVM makes while it runs, traces of LuaJIT and PHP. */
static const char *const of_one_run[] = { "$$Lambda", "LambdaForm$", "$Proxy", "GeneratedMethodAccessor", "GeneratedConstructorAccessor",
					  "TRACE_", "TRACE-" };

/* These are marks that GCC and LLVM append to the names of copies of functions. A number may follow. */
static const char *const copies[] = { ".constprop", ".isra", ".part", ".cold", ".lto_priv", ".llvm" };

static bool is_one_of(char c, const char *list)
{
	return c && strchr(list, c);
}

static size_t count_digits(const char *at)
{
	size_t nr = 0;

	while (isdigit((unsigned char)at[nr]))
		nr++;
	return nr;
}

static size_t copy_mark(const char *at)
{
	for (size_t i = 0; i < sizeof(copies) / sizeof(copies[0]); i++) {
		size_t bytes = strlen(copies[i]);

		if (strncmp(at, copies[i], bytes) == 0 && (!at[bytes] || is_one_of(at[bytes], ".] ")))
			return bytes;
	}
	return 0;
}

/* Return the length of an address, or of a number that counts names of a kind, at this place in the name. Return 0 if there is none. */
static size_t number_at(const char *name, const char *at, uint64_t *number, bool *is_counter)
{
	char before = at > name ? at[-1] : 0;
	size_t nr;

	*is_counter = false;
	if (at[0] == '0' && at[1] == 'x' && before != '+') { /* after a '+', the number is an offset in a file, which stays the same */
		nr = strspn(at + 2, "0123456789abcdefABCDEF");
		*number = strtoull(at + 2, NULL, 16);
		return nr >= ADDRESS_DIGITS_MIN ? nr + 2 : 0;
	}
	nr = count_digits(at);
	*number = strtoull(at, NULL, 10);
	*is_counter = nr && is_one_of(before, "$_#.-@[") && (!at[nr] || is_one_of(at[nr], "$_#.-@]}(/: "));
	return *is_counter ? nr : 0;
}

/* Return the length of the hash that Rust's compiler appends to names ("::h" and 16 digits), or 0 if there is none. */
static size_t hash_at(const char *at)
{
	size_t nr = strncmp(at, "::h", 3) == 0 ? strspn(at + 3, "0123456789abcdef") : 0;

	return nr == RUST_HASH_DIGITS && !isalnum((unsigned char)at[3 + nr]) && at[3 + nr] != '_' ? nr + 3 : 0;
}

/* Return the length of ":LINE" or ":COLUMN" at this place in the name, or 0 if there is none. */
static size_t line_at(const char *name, const char *at, uint64_t *number)
{
	size_t nr = *at == ':' && at > name && at[-1] != ':' ? count_digits(at + 1) : 0;

	*number = nr ? strtoull(at + 1, NULL, 10) : 0;
	return nr && (!at[nr + 1] || is_one_of(at[nr + 1], ": )")) ? nr + 1 : 0;
}

/* Return the length of a mark of a copy with its number, in a symbol (".part.0") or after a demangled name (" [clone .part.0]"). Return 0
 * if there is none. */
static size_t copy_at(const char *at)
{
	static const char clone[] = " [clone ";
	const char *end = strncmp(at, clone, sizeof(clone) - 1) == 0 ? strchr(at, ']') : NULL;
	size_t nr = copy_mark(at);

	if (end)
		return (size_t)(end + 1 - at);
	return nr && at[nr] == '.' ? nr + 1 + count_digits(at + nr + 1) : nr;
}

static char *leave_out(const char *name, enum alike_how how, struct alike *out)
{
	size_t bytes = 0, token = 0, tier_bytes;
	const char *at = name, *tier = host_name_tier(name, &tier_bytes);
	char *text = malloc(strlen(name) + 1);

	while (text && *at) {
		uint64_t number = 0;
		bool is_counter = false;
		size_t skip = at == tier ? tier_bytes : copy_at(at);

		skip = skip ? skip : hash_at(at);
		skip = skip ? skip : number_at(name, at, &number, &is_counter);
		if (!skip && how == ALIKE_BUT_PLACES)
			skip = line_at(name, at, &number);
		if (skip) {
			out->has_counter |= is_counter;
			out->number = out->number ? out->number : number;
		} else if (how == ALIKE_BUT_PLACES && *at == '/' && at[1] && at[1] != ' ') {
			bytes = token; /* drop the folder that was written since the last blank, bracket or comma */
			skip = 1;
		} else {
			text[bytes++] = *at;
			token = is_one_of(*at, " (,") ? bytes : token;
			skip = 1;
		}
		at += skip;
	}
	if (text)
		text[bytes] = 0;
	return text;
}

int alike_make(const char *name, struct alike *out)
{
	*out = (struct alike){ 0 };
	for (size_t i = 0; i < sizeof(of_one_run) / sizeof(of_one_run[0]); i++)
		out->is_of_one_run |= strstr(name, of_one_run[i]) != NULL;
	for (int how = 0; how < NR_ALIKE; how++) {
		out->text[how] = leave_out(name, (enum alike_how)how, out);
		if (!out->text[how]) {
			alike_fini(out);
			return -ENOMEM;
		}
	}
	return 0;
}

void alike_fini(struct alike *a)
{
	for (int how = 0; how < NR_ALIKE; how++)
		free(a->text[how]);
	*a = (struct alike){ 0 };
}
