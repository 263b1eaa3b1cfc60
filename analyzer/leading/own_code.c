/* SPDX-License-Identifier: MIT */
#include "analyzer/leading/own_code.h"

#include "jitreg/base/deleted_path.h"

#include <stdlib.h>
#include <string.h>

#define AGENT_LIBRARY "libtailor.so" /* file name of the library that `tailor run` preloads */

static bool begins_with_any(const char *text, const char *const *list)
{
	for (; *list; list++)
		if (strncmp(text, *list, strlen(*list)) == 0)
			return true;
	return false;
}

static bool contains_any(const char *text, const char *const *list)
{
	for (; *list; list++)
		if (strstr(text, *list))
			return true;
	return false;
}

bool own_code_is_program(const struct model *m, const char *path)
{
	static const char *const interpreters[] = { "libpython", "libruby", "libperl", "libphp", "libguile", "libluajit", "liblua", NULL };
	const size_t bytes = deleted_path_bytes(path, strlen(path));

	if (begins_with_any(basename(path), interpreters))
		return true;
	for (uint32_t i = 0; i < m->processes.nr; i++)
		if (m->numbered.at[i]->executable && strlen(m->numbered.at[i]->executable) == bytes &&
		    memcmp(m->numbered.at[i]->executable, path, bytes) == 0)
			return true;
	return false;
}

/* ------------------------------------------------------------------------------------------- compiled ahead of time */

/* The first parts of the names of packages in Go's standard library and runtime. */
static const char *const go_roots[] = {
	"archive", "bufio", "bytes", "cmp", "compress", "container", "context", "crypto", "database", "debug", "embed", "encoding",
	"errors", "expvar", "flag", "fmt", "go", "hash", "html", "image", "index", "internal", "io", "iter", "log", "maps", "math", "mime",
	"net", "os", "path", "plugin", "reflect", "regexp", "runtime", "slices", "sort", "strconv", "strings", "structs", "sync", "syscall",
	"testing", "text", "time", "type:", "unicode", "unique", "unsafe", "vendor", "weak", NULL
};

bool own_code_is_go_library(const char *function)
{
	size_t root = strcspn(function, "./");

	if (!function[root]) /* in Go, a name without a package is a function written in assembly */
		return true;
	for (const char *const *r = go_roots; *r; r++)
		if (strlen(*r) == root && strncmp(function, *r, root) == 0)
			return true;
	return strncmp(function, "type:", 5) == 0 || strncmp(function, "golang.org/x/", 13) == 0;
}

/* Is the function of a standard library of C++ or Rust, of Boost, or start-up code of the C library? Templates and generics of these
 * libraries are compiled into the programs that use them, and start-up code is linked into each program. */
static bool is_standard_library(const char *function)
{
	static const char *const prefixes[] = { "std::", "__gnu_cxx::", "boost::", "core::", "alloc::", "<core::", "<alloc::", "<std::",
						"operator new", "operator delete", "__rust", "__libc_", NULL };

	return begins_with_any(function, prefixes);
}

/* Is it a function of Rust's libraries by the type and trait in its name? Only they define functions of a primitive type, such as
 * <u32>::pow, and those of a trait of theirs for one or for references, as <i32 as core::fmt::Display>::fmt. */
static bool is_of_rust_primitive(const char *function)
{
	static const char *const types[] = { "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize", "f32",
					     "f64", "bool", "char", "str", NULL };
	static const char *const traits[] = { " as core::", " as std::", " as alloc::", NULL };
	size_t bytes;

	if (*function != '<')
		return false;
	if (function[1] == '&' && contains_any(function, traits))
		return true;
	function += 1 + strspn(function + 1, "&[");
	function += strncmp(function, "mut ", 4) == 0 ? 4 : 0;
	bytes = strspn(function, "abcdefghijklmnopqrstuvwxyz0123456789_");
	for (const char *const *t = types; *t; t++)
		if (strlen(*t) == bytes && strncmp(*t, function, bytes) == 0)
			return strncmp(function + bytes, ">::", 3) == 0 ||
			       begins_with_any(function + bytes + (function[bytes] == ']'), traits);
	return false;
}

bool own_code_is_standard_library(const char *function)
{
	return is_standard_library(function) || is_of_rust_primitive(function);
}

unsigned char *own_functions_find(const struct report *r)
{
	const struct attribution *a = r->a;
	unsigned char *own = calloc((size_t)a->nr_functions + 1, 1), *program = calloc((size_t)a->nr_images + 1, 1);
	unsigned char *is_go = calloc((size_t)a->nr_images + 1, 1);

	for (uint32_t i = 0; program && i < a->nr_images; i++)
		program[i] = own_code_is_program(r->model, a->image[i].path);
	for (uint32_t i = 0; is_go && i < a->nr_functions; i++)
		is_go[a->function[i].image] |= strcmp(a->function[i].name, "runtime.main") == 0;
	for (uint32_t i = 1; own && program && is_go && i < a->nr_functions; i++) {
		const struct function *f = &a->function[i];

		own[i] = f->jit || (program[f->image] && !strstr(f->name, "@plt") &&
				    !(is_go[f->image] ? own_code_is_go_library(f->name) : own_code_is_standard_library(f->name)));
	}
	free(program);
	free(is_go);
	return own;
}

bool own_code_is_library_source(const char *path)
{
	static const char *const beginnings[] = { "/usr/include/", "/usr/lib/", "/usr/local/go/src/", "/rustc/", "library/std/",
						  "library/core/", "library/alloc/", NULL };
	static const char *const parts[] = { "/.cargo/registry/", "/rustlib/src/", "/go/pkg/mod/", "/include/c++/", NULL };

	return begins_with_any(path, beginnings) || contains_any(path, parts);
}

static enum own_line rank_line(const struct line *l, bool of_language, bool is_program)
{
	const struct code *c = l->code;

	if (c && c->kind == CODE_IMAGE && c->path && strcmp(basename(c->path), AGENT_LIBRARY) == 0)
		return OWN_LINE_AGENT;
	if (own_code_is_library_path(l->file) || own_code_is_library_source(l->file))
		return OWN_LINE_OTHER;
	return l->jit || (is_program && !of_language) ? OWN_LINE : OWN_LINE_OTHER;
}

unsigned char *own_lines_rank(const struct report *r, bool of_language)
{
	const struct attribution *a = r->a;
	unsigned char *rank = malloc((size_t)a->nr_lines + 1);
	const struct code *last = NULL;
	bool is_program = false;

	for (uint32_t i = 0; rank && i < a->nr_lines; i++) {
		const struct line *l = &a->line[i];

		if (i && l->code != last) {
			last = l->code;
			is_program = last && last->kind == CODE_IMAGE && last->path && own_code_is_program(r->model, last->path);
		}
		rank[i] = i ? rank_line(l, of_language, is_program) : OWN_LINE; /* value 0 has the samples without a line */
	}
	return rank;
}

/* ---------------------------------------------------------------------------------------------- of a host's language */

bool own_code_is_library_path(const char *path)
{
	static const char *const beginnings[] = { "node:", "internal/", "deno:", "ext:", "<frozen ", "<__array_function__",
						  "/usr/share/nodejs/", "/usr/share/php/", "/usr/lib/", "/usr/lib64/", NULL };
	static const char *const parts[] = { "/node_modules/", "/site-packages/", "/dist-packages/", "/lib/python3.", "/lib64/python3.",
					     "/lib/ruby/", "/gems/", NULL };

	return begins_with_any(path, beginnings) || contains_any(path, parts);
}

static bool is_java_library(const char *function)
{
	static const char *const packages[] = { "java.", "javax.", "jdk.", "sun.", "com.sun.", NULL };

	return !strchr(function, '.') || begins_with_any(function, packages); /* a name without a class is code of the JVM itself */
}

/* Return the word after the one at the pointer, or NULL at the end of the command. */
static const char *next_word(const char *at)
{
	at += strcspn(at, " ");
	at += strspn(at, " ");
	return *at ? at : NULL;
}

const char *own_java_package(const char *command, char text[OWN_PACKAGE_BYTES])
{
	static const char *const with_value[] = { "-cp ", "-classpath ", "--class-path ", "-p ", "--module-path ", "--add-modules ",
						  "--add-opens ", "--add-exports ", "--add-reads ", "--upgrade-module-path ", NULL };
	const char *word = command;
	size_t bytes = 0, end;

	while (word && (word == command || *word == '-')) {
		if (strncmp(word, "-jar ", 5) == 0 || strncmp(word, "-m ", 3) == 0 || strncmp(word, "--module ", 9) == 0)
			return NULL;
		if (begins_with_any(word, with_value))
			word = next_word(word);
		word = word ? next_word(word) : NULL;
	}
	end = word ? strcspn(word, " ") : 0;
	if (!word || memchr(word, '/', end) || (end > 5 && strncmp(word + end - 5, ".java", 5) == 0))
		return NULL; /* there is no class, or the program is started from a source file, which does not show the package */
	/* Two parts of the package are taken, which is "com.example." of com.example.shop.Main. */
	for (size_t i = 0, dots = 0; i < end && i + 1 < OWN_PACKAGE_BYTES && dots < 2; i++)
		if (word[i] == '.' && ++dots)
			bytes = i + 1;
	memcpy(text, word, bytes);
	text[bytes] = 0;
	return text;
}

static bool is_java_class_of(const char *function, const char *package)
{
	const char *method = strrchr(function, '.');

	if (*package)
		return strncmp(function, package, strlen(package)) == 0;
	return method && !memchr(function, '.', (size_t)(method - function));
}

static const char *module_path_of(const struct model *m, const struct component *c)
{
	for (uint32_t i = 0; i < c->links.nr; i++) {
		const struct component *upper = &m->dictionary.components.at[c->links.at[i].upper];

		if (upper->level == m->host_level[HOST_LEVEL_MODULE])
			return upper->detail && *upper->detail ? upper->detail : upper->name;
	}
	return NULL;
}

unsigned char *own_components_find(const struct report *r, const char *language)
{
	const struct model *m = r->model;
	const struct dictionary *d = &m->dictionary;
	unsigned char *own = calloc((size_t)d->components.nr + 1, 1);
	const bool is_java = strcmp(language, "Java") == 0, is_javascript = strcmp(language, "JavaScript") == 0;
	char text[OWN_PACKAGE_BYTES];
	const char *package = is_java && m->command ? own_java_package(m->command, text) : NULL;

	for (uint32_t i = 1; own && i < d->components.nr; i++) {
		const struct component *c = &d->components.at[i];
		const char *path;

		if (c->level != m->host_level[HOST_LEVEL_FUNCTION] || !c->name)
			continue;
		path = module_path_of(m, c);
		if (is_java)
			own[i] = package ? is_java_class_of(c->name, package) : !is_java_library(c->name);
		else
			/* functions of JavaScript without a file are regular expressions and builtins */
			own[i] = path ? !own_code_is_library_path(path) : !is_javascript;
	}
	return own;
}
