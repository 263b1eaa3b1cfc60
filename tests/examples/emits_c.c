/* SPDX-License-Identifier: MIT */
/*
 * An engine that emits C, compiles it with gcc and loads it: emits_c FOLDER ROUNDS, where FOLDER is below /tmp.  Three operators do work of
 * 1 : 3 : 6, a half in generated code, whose lines are components, a half in a function of the runtime that all of them call, under
 * a tag in r13.  Built with -ffixed-r13 -DJITREG_FIXED_R13 -rdynamic.
 */
#define _GNU_SOURCE
#include "jitreg.h"

#include "work.h"

#include <stdlib.h>

enum { OPERATOR = 1, LINE = 2 };
#define TAG 0x7a100000u
#define TAG_CHECK 0xfff00000u
#define TURNS 60000

#define RUNTIME __attribute__((section("runtime_text"), noinline))
extern const char __start_runtime_text[], __stop_runtime_text[];

/* Shared: its address says nothing. */
RUNTIME uint64_t runtime_mix(uint64_t x, uint64_t n)
{
	while (n--)
		x = x * 6364136223846793005ull + 1;
	return x;
}

void runtime_done(uint64_t o)
{
	count_for(o);
}

static struct jitreg_tracker tracker = { .lower_level = LINE, .upper_level = OPERATOR };
static uint64_t nr_lines;

/* Every line of generated code goes through here. */
static void emit(FILE *to, const char *format, uint64_t a, uint64_t b)
{
	fprintf(to, format, a, b);
	fputc('\n', to);
	jitreg_tracker_link(&tracker, ++nr_lines);
}

static void generate(FILE *to)
{
	emit(to, "#include <stdint.h>", 0, 0);
	emit(to, "register uint64_t tag __asm__(\"r13\");", 0, 0);
	emit(to, "uint64_t runtime_mix(uint64_t x, uint64_t n); void runtime_done(uint64_t o);", 0, 0);
	emit(to, "uint64_t query(uint64_t x) {", 0, 0);
	emit(to, "uint64_t outer = tag;", 0, 0);
	for (uint64_t o = SCAN; o < NR_OPERATORS; o++) {
		jitreg_tracker_push(&tracker, o);
		emit(to, "for (uint64_t i = 0; i < %lu; i++)", operator_work[o] * TURNS, 0);
		emit(to, "\tx = x * 2862933555777941757ull + i;", 0, 0);
		emit(to, "tag = %lu;", TAG | o, 0);
		emit(to, "x = runtime_mix(x, %lu);", operator_work[o] * TURNS, 0);
		emit(to, "tag = outer;", 0, 0);
		emit(to, "runtime_done(%lu);", o, 0);
		jitreg_tracker_pop(&tracker);
	}
	emit(to, "return x; }", 0, 0);
}

static void announce(void)
{
	const struct jitreg_range kept = { (uintptr_t)__start_runtime_text, (uintptr_t)__stop_runtime_text };
	const struct jitreg_tag_field field = { OPERATOR, 0, 20 };

	jitreg_level(OPERATOR, "operator", 0, JITREG_LEVEL_PLAN);
	jitreg_level(LINE, "line", OPERATOR, 0);
	for (uint64_t o = SCAN; o < NR_OPERATORS; o++) {
		jitreg_component(OPERATOR, o, operator_name[o], "", 0);
		jitreg_counter(OPERATOR, o, "rows", TURNS);
		if (o > SCAN)
			jitreg_edge(OPERATOR, o - 1, o, 0, "rows");
	}
	jitreg_tag_in_register(13, TAG_CHECK, TAG, &field, 1, &kept, 1);
}

int main(int argc, char **argv)
{
	char source[512], library[512], command[2048], *text = NULL;
	uint64_t (*query)(uint64_t), x = 0, mark;
	size_t bytes = 0;
	FILE *in_memory = open_memstream(&text, &bytes), *file;
	void *handle, *symbol;

	if (argc < 3 || !in_memory)
		return 2;
	announce();
	mark = jitreg_mark_begin(JITREG_COVERS_PROCESS, "compile", jitreg_at(0, 0), 0, 0, NULL);
	generate(in_memory);
	fclose(in_memory);
	snprintf(source, sizeof(source), "%s/query.c", argv[1]);
	snprintf(library, sizeof(library), "%s/query.so", argv[1]);
	snprintf(command, sizeof(command), "gcc -O1 -g -shared -fPIC -o %s %s", library, source);
	file = fopen(source, "w");
	if (!file || fwrite(text, 1, bytes, file) != bytes || fclose(file) || system(command))
		return 1;
	jitreg_source_text(source, text, bytes, LINE, 1, 0);
	handle = dlopen(library, RTLD_NOW);
	symbol = handle ? dlsym(handle, "query") : NULL;
	if (!symbol)
		return 1;
	memcpy(&query, &symbol, sizeof(query));
	jitreg_mark_end(mark, bytes);
	for (long round = 0; round < atol(argv[2]); round++) {
		mark = jitreg_mark_begin(JITREG_COVERS_PROCESS, "run", jitreg_at(0, 0), (uint64_t)round, 0, NULL);
		count_for(0);
		x = query(x);
		jitreg_mark_end(mark, TURNS);
	}
	print_counted();
	return x == 1; /* so that it is used */
}
