/* SPDX-License-Identifier: MIT */
#include "analyzer/report/composition.h"

#include "analyzer/leading/own_code.h"
#include "jitreg/hosts/jit_hosts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATTERNS "PCRE2" /* the host whose generated code is regular expressions, of programs in any language */
/* share of the programs' own code from which one program gives that part its name, and share of generated code from which the language of
 * one host does */
#define MAINLY 0.99

/* These are the languages that the hosts of jit_hosts.h run, and what the report calls the work of their compilers, or "" for the common
 * name. */
static const struct language {
	const char *host, *language, *compiler;
} languages[] = {
	{ "Node", "JavaScript", "V8 compiling" },  { "deno", "JavaScript", "V8 compiling" }, { "bun", "JavaScript", "" },
	{ "JavaScriptCore", "JavaScript", "" },	   { "OpenJDK", "Java", "JVM compiling" },   { "LuaJIT", "Lua", "" },
	{ "Mono", ".NET code", "Mono compiling" }, { "PHP", "PHP", "" },		     { "Ruby", "Ruby", "" },
	{ "Erlang", "Erlang", "" },		   { "Guile", "Scheme", "" },		     { "PyPy", "Python", "" },
};

static const struct language *language_of_path(const char *path)
{
	const struct jit_host *host = path && *path ? jit_host_of_object(path) : NULL;

	for (size_t i = 0; host && host->name && i < sizeof(languages) / sizeof(languages[0]); i++)
		if (strcmp(languages[i].host, host->name) == 0)
			return &languages[i];
	return NULL;
}

/* This struct has facts of an image, which are found once so that each path is examined once. */
struct image_parts {
	unsigned char part; /* enum composition_part of its functions, other than those of a JIT */
	bool has_jit; /* functions that compile in this image do so for generated code */
};

static bool is_maker(const struct attribution *a, const struct report_group *functions, const char *path)
{
	for (uint32_t i = 0; i < functions->g.nr; i++) {
		const char *maker = a->function[report_value(functions, i, 0)].maker;

		if (maker && strcmp(maker, path) == 0)
			return true;
	}
	return false;
}

static bool generates_code(const struct attribution *a, const struct report_group *functions)
{
	for (uint32_t i = 0; i < functions->g.nr; i++) {
		const struct function *f = &a->function[report_value(functions, i, 0)];

		if (f->jit || f->unknown)
			return true;
	}
	return false;
}

/* The kernel's images and modules have brackets; the vdso is code of the kernel's that runs as a library of the program. Processes of other
 * PID namespaces are programs.
 * Compilers of a build (cc1plus, clang) have functions of the names by which a JIT's compiler is known. They count as that only in programs
 * that run code of a host or generate code, and in libraries only if there is generated code. The caller frees the result. Return NULL if
 * memory runs out. */
static struct image_parts *parts_of_images(const struct attribution *a, const struct report_group *functions)
{
	struct image_parts *of = malloc((size_t)a->nr_images * sizeof(*of) + 1);
	const bool generates = generates_code(a, functions);

	for (uint32_t i = 0; of && i < a->nr_images; i++) {
		const char *path = a->image[i].path;
		const bool is_outside = strcmp(path, TRACE_OUTSIDE) == 0;
		const bool is_kernel = *path == '[' && strcmp(path, "[vdso]") != 0 && !is_outside;
		const bool is_program = is_outside || (*path != '[' && own_code_is_program(a->model, path));

		of[i].part = is_program ? COMPOSITION_PROGRAM : is_kernel ? COMPOSITION_KERNEL : COMPOSITION_LIBRARIES;
		of[i].has_jit = (*path && jit_host_of_object(path)) || (is_program ? is_maker(a, functions, path) : generates);
	}
	return of;
}

static enum reason work_of_function(const struct function *f, const struct image_parts *of_image)
{
	return f->work == REASON_COMPILER && !of_image[f->image].has_jit ? REASON_NONE : f->work;
}

static enum composition_part part_of_function(const struct function *f, const struct image_parts *of_image)
{
	const enum reason work = work_of_function(f, of_image);

	if (f->jit || f->unknown)
		return f->unknown ? COMPOSITION_UNREGISTERED : COMPOSITION_LANGUAGE;
	return work == REASON_COMPILER ? COMPOSITION_COMPILER : work == REASON_COLLECTOR ? COMPOSITION_COLLECTOR :
									  (enum composition_part)of_image[f->image].part;
}

/* Return the part of a stack. A function of a compiler or a collector among the callers decides it, up to the first generated code, whose
 * callers are not examined. Samples in generated code belong to the language. */
static enum composition_part part_of_stack(const struct attribution *a, uint32_t node, uint32_t function,
					   const struct image_parts *of_image)
{
	enum composition_part part = part_of_function(&a->function[function], of_image);

	for (; part != COMPOSITION_LANGUAGE && node; node = a->stacks.node[node].caller) {
		const struct function *f = &a->function[a->stacks.node[node].function];

		if (f->jit)
			break;
		if (work_of_function(f, of_image) != REASON_NONE)
			return part_of_function(f, of_image);
	}
	return part;
}

/* Is the file CPython or its library? CPython runs functions in its interpreter, so samples there belong to the language, and generated
 * code belongs to a library (numba). */
static bool is_cpython(const char *program)
{
	return strncmp(program, "python3", 7) == 0 || strncmp(program, "libpython3", 10) == 0;
}

/* Split the programs' own code into CPython's interpreter and programs that load libpython (uWSGI, blender), and set the language to
 * Python. */
static void split_cpython(const struct attribution *a, const double *by_image, const struct image_parts *of_image, struct composition *c)
{
	double others = 0;

	for (uint32_t i = 0; i < a->nr_images; i++)
		if (of_image[i].part == COMPOSITION_PROGRAM && !is_cpython(basename(a->image[i].path)))
			others += by_image[i];
	others = others < c->share[COMPOSITION_PROGRAM] ? others : c->share[COMPOSITION_PROGRAM];
	c->share[COMPOSITION_EMBEDDERS] = others;
	c->share[COMPOSITION_PROGRAM] -= others;
	c->language = "Python";
	snprintf(c->name[COMPOSITION_PROGRAM], COMPOSITION_NAME, "%s", c->language);
}

/* Return the language of the host that generated the code, if nearly all of that code is of one host. Without generated code, it is that of
 * the first program, or else of the first sampled image, that has one. Return NULL if there is no language, or no single host. */
static const struct language *find_language(const struct report *r, const struct report_group *functions, const double *by_image)
{
	const size_t none = sizeof(languages) / sizeof(languages[0]);
	double share[sizeof(languages) / sizeof(languages[0]) + 1] = { 0 }, all = 0;
	const struct language *language = NULL;
	size_t most = none;

	for (uint32_t i = 0; i < functions->g.nr; i++) {
		const struct function *f = &r->a->function[report_value(functions, i, 0)];
		const struct jit_host *host = f->maker ? jit_host_of_object(f->maker) : NULL;
		const struct language *of = language_of_path(f->maker);
		const double measure = report_measure(r, &functions->g.sum[i]);

		if (!f->maker || (host && host->name && strcmp(host->name, PATTERNS) == 0))
			continue;
		share[of ? (size_t)(of - languages) : none] += measure;
		all += measure;
	}
	for (size_t i = 0; i < none; i++)
		most = share[i] > share[most] ? i : most;
	if (all > 0)
		return most < none && share[most] > MAINLY * all ? &languages[most] : NULL;
	for (uint32_t i = 0; i < r->model->processes.nr && !language; i++)
		language = language_of_path(r->model->numbered.at[i]->executable);
	for (uint32_t i = 0; i < r->a->nr_images && !language; i++)
		language = by_image[i] > 0 ? language_of_path(r->a->image[i].path) : NULL;
	return language;
}

/* Name the parts, and set the language. If nearly all samples in the programs' own code are in one of them, it gives that part its name. */
static void name_parts(const struct report *r, const struct language *language, const double *by_image, const struct image_parts *of_image,
		       struct composition *c)
{
	static const char *const names[NR_COMPOSITION_PARTS] = { "generated code", "JIT compiler", "garbage collector", "programs",
								 "programs", "libraries", "kernel", "unregistered code" };
	const struct attribution *a = r->a;
	uint32_t most = 0;

	for (int i = 0; i < NR_COMPOSITION_PARTS; i++)
		snprintf(c->name[i], COMPOSITION_NAME, "%s", names[i]);
	for (uint32_t i = 0; i < a->nr_images; i++)
		if (of_image[i].part == COMPOSITION_PROGRAM && by_image[i] > by_image[most])
			most = i;
	if (most && by_image[most] > MAINLY * c->share[COMPOSITION_PROGRAM])
		snprintf(c->name[COMPOSITION_PROGRAM], COMPOSITION_NAME, "%.40s", basename(a->image[most].path));
	c->language = language ? language->language : "";
	if (!language && most && is_cpython(basename(a->image[most].path)) && 2 * by_image[most] > c->share[COMPOSITION_PROGRAM])
		split_cpython(a, by_image, of_image, c);
	if (!language)
		return;
	snprintf(c->name[COMPOSITION_LANGUAGE], COMPOSITION_NAME, "%s", language->language);
	if (*language->compiler)
		snprintf(c->name[COMPOSITION_COMPILER], COMPOSITION_NAME, "%s", language->compiler);
}

struct report_group *composition_ask(struct report *r)
{
	bool any = false;

	for (uint32_t i = 0; i < r->model->threads.nr && !any; i++)
		any = report_work_of_thread(r, i) != REASON_NONE;
	if (!any)
		return NULL;
	r->stacks |= r->has_stacks;
	return r->has_stacks ? report_add_group(r, 0, TABLE_FUNCTION, TABLE_THREAD, TABLE_STACK, -1) :
			       report_add_group(r, 0, TABLE_FUNCTION, TABLE_THREAD, -1);
}

/* Return the value of a column in a sum of the group, or `none` if the group has no such key. */
static uint32_t value_of_column(const struct report_group *g, uint32_t sum, enum table_column column, uint32_t none)
{
	for (uint32_t key = 0; key < g->g.nr_keys; key++)
		if (g->g.key[key] == (uint32_t)column)
			return report_value(g, sum, key);
	return none;
}

/* Return the part of a sum. The name of a collector's or compiler's thread decides before the functions do, because these threads spend
 * their time in functions whose names say nothing (memmove, page faults, most of libjvm). generates: there is generated code, without which
 * threads of that name belong to the compiler of a build. */
static enum composition_part part_of_sum(const struct report *r, const struct report_group *g, uint32_t sum,
					 const struct image_parts *of_image, bool generates)
{
	const struct attribution *a = r->a;
	const enum reason work = report_work_of_thread(r, value_of_column(g, sum, TABLE_THREAD, UINT32_MAX));
	const uint32_t function = value_of_column(g, sum, TABLE_FUNCTION, 0);

	if (work == REASON_COLLECTOR && !a->function[function].jit)
		return COMPOSITION_COLLECTOR;
	if (work == REASON_COMPILER && !a->function[function].jit && generates)
		return COMPOSITION_COMPILER;
	return part_of_stack(a, value_of_column(g, sum, TABLE_STACK, 0), function, of_image);
}

void composition_make(const struct report *r, const struct report_group *g, const struct report_group *functions, struct composition *c)
{
	struct image_parts *of_image = parts_of_images(r->a, functions);
	double *by_image = calloc((size_t)r->a->nr_images + 1, sizeof(*by_image)), all = report_measure(r, &g->g.total);
	const bool generates = generates_code(r->a, functions);

	*c = (struct composition){ .language = "" };
	for (uint32_t i = 0; of_image && by_image && all > 0 && i < g->g.nr; i++) {
		const double share = report_measure(r, &g->g.sum[i]) / all;

		c->share[part_of_sum(r, g, i, of_image, generates)] += share;
		by_image[r->a->function[value_of_column(g, i, TABLE_FUNCTION, 0)].image] += share;
	}
	if (of_image && by_image)
		name_parts(r, find_language(r, functions, by_image), by_image, of_image, c);
	free(of_image);
	free(by_image);
}

static int compare_parts(const void *a, const void *b, void *context)
{
	const struct composition *c = context;
	int i = *(const int *)a, j = *(const int *)b;

	return c->share[i] < c->share[j] ? 1 : c->share[i] > c->share[j] ? -1 : i - j;
}

void composition_print(const struct composition *c, struct page *p)
{
	int order[NR_COMPOSITION_PARTS];
	const int language = strcmp(c->name[COMPOSITION_PROGRAM], c->language) == 0 ? COMPOSITION_PROGRAM : COMPOSITION_LANGUAGE;
	char text[512];
	size_t at = 0;

	for (int i = 0; i < NR_COMPOSITION_PARTS; i++)
		order[i] = i;
	order[0] = language;
	order[language] = 0;
	/* The language is the first part in order, and the others follow by size. */
	qsort_r(order + 1, NR_COMPOSITION_PARTS - 1, sizeof(order[0]), compare_parts, (void *)(uintptr_t)c);
	for (int i = 0; i < NR_COMPOSITION_PARTS && at < sizeof(text); i++)
		if (c->share[order[i]] >= 0.0005)
			at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s %.1f %%", at ? ", " : "", c->name[order[i]],
					       grid_percent(c->share[order[i]]));
	if (at)
		page_text(p, "", 2, "%s.", text);
}
