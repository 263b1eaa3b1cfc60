/* SPDX-License-Identifier: MIT */
/*
 * An engine that emits C, compiles it with gcc and loads it: emits_c FOLDER ROUNDS, where FOLDER is below /tmp.  Each line of generated
 * code is a component.  What operators share is a function of the runtime; generated code has the operator's number in r13 when it calls
 * it.  Built with -ffixed-r13 -rdynamic.
 */
#define _GNU_SOURCE
#include "jitreg.h" /* jitreg */

#include "work.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* Shared: its address says nothing. */
RUNTIME uint64_t runtime_mix(uint64_t x, uint64_t turns)
{
	while (turns--)
		x = turn(x);
	return x;
}

enum { OPERATOR = 1, LINE = 2 };                                        /* jitreg */
#define TAG 0x7a100000u                                                 /* jitreg */
#define TAG_CHECK 0xfff00000u                                           /* jitreg */
static struct jitreg_tracker tracker = { LINE, OPERATOR, 0, 0, { 0 } }; /* jitreg */
static uint64_t nr_lines;                                               /* jitreg */

/* Every line of generated code goes through here. */
static void emit(FILE *to, const char *format, uint64_t a, uint64_t b)
{
	fprintf(to, format, a, b);
	fputc('\n', to);
	jitreg_tracker_link(&tracker, ++nr_lines); /* jitreg */
}

static void generate(FILE *to)
{
	emit(to, "#include <stdint.h>", 0, 0);
	emit(to, "register uint64_t tag __asm__(\"r13\");", 0, 0); /* jitreg */
	emit(to, "uint64_t runtime_mix(uint64_t x, uint64_t turns);", 0, 0);
	emit(to, "uint64_t query(uint64_t x) {", 0, 0);
	emit(to, "uint64_t outer = tag;", 0, 0); /* jitreg */
	jitreg_tracker_push(&tracker, SCAN);     /* jitreg */
	emit(to, "for (uint64_t row = 1; row <= %lu; row++) {", ROWS, 0);
	for (uint64_t o = SCAN; o < NR_OPERATORS; o++) {
		jitreg_tracker_push(&tracker, o); /* jitreg */
		emit(to, "for (uint64_t i = 0; i < row * %lu; i++)", operator_work[o] * TURNS, 0);
		emit(to, "\tx = (x ^ x >> %lu) * %luull;", SHIFT, MULTIPLIER);
		emit(to, "tag = %lu;", TAG | o, 0); /* jitreg */
		emit(to, "x = runtime_mix(x, row * %lu);", operator_work[o] * TURNS, 0);
		jitreg_tracker_pop(&tracker); /* jitreg */
	}
	emit(to, "}", 0, 0);
	jitreg_tracker_pop(&tracker);   /* jitreg */
	emit(to, "tag = outer;", 0, 0); /* jitreg */
	emit(to, "return x; }", 0, 0);
}

static void announce(void)                                                                                       /* jitreg */
{                                                                                                                /* jitreg */
	const struct jitreg_range runtime = { (uintptr_t)__start_runtime_text, (uintptr_t)__stop_runtime_text }; /* jitreg */
	const struct jitreg_tag_field field = { OPERATOR, 0, 20 };                                               /* jitreg */

	jitreg_level(OPERATOR, "operator", 0, JITREG_LEVEL_PLAN);           /* jitreg */
	jitreg_level(LINE, "line", OPERATOR, 0);                            /* jitreg */
	for (uint64_t o = SCAN; o < NR_OPERATORS; o++) {                    /* jitreg */
		jitreg_component(OPERATOR, o, operator_name[o], "", 0);     /* jitreg */
		jitreg_counter(OPERATOR, o, "rows", ROWS);                  /* jitreg */
		if (o > SCAN)                                               /* jitreg */
			jitreg_edge(OPERATOR, o - 1, o, 0, "rows");         /* jitreg */
	}                                                                   /* jitreg */
	jitreg_tag_in_register(13, TAG_CHECK, TAG, &field, 1, &runtime, 1); /* jitreg */
}                                                                           /* jitreg */

int main(int argc, char **argv)
{
	char source[512], library[512], command[2048], *text = NULL;
	uint64_t (*query)(uint64_t), result = 0;
	size_t bytes = 0;
	FILE *in_memory = open_memstream(&text, &bytes), *file;
	void *handle, *symbol;

	if (argc < 3 || !in_memory)
		return 2;
	announce();                                                                                       /* jitreg */
	uint64_t mark = jitreg_mark_begin(JITREG_COVERS_PROCESS, "compile", jitreg_at(0, 0), 0, 0, NULL); /* jitreg */
	generate(in_memory);
	fclose(in_memory);
	snprintf(source, sizeof(source), "%s/query.c", argv[1]);
	snprintf(library, sizeof(library), "%s/query.so", argv[1]);
	snprintf(command, sizeof(command), "gcc -O1 -g -shared -fPIC -o %s %s", library, source);
	file = fopen(source, "w");
	if (!file || fwrite(text, 1, bytes, file) != bytes || fclose(file) || system(command))
		return 1;
	jitreg_source_text(source, text, bytes, LINE, 1, 0); /* jitreg */
	handle = dlopen(library, RTLD_NOW);
	symbol = handle ? dlsym(handle, "query") : NULL;
	if (!symbol)
		return 1;
	memcpy(&query, &symbol, sizeof(query));
	jitreg_mark_end(mark, bytes); /* jitreg */
	for (long round = 0; round < atol(argv[2]); round++) {
		mark = jitreg_mark_begin(JITREG_COVERS_PROCESS, "run", jitreg_at(0, 0), (uint64_t)round, 0, NULL); /* jitreg */
		result = query(1);
		jitreg_mark_end(mark, ROWS); /* jitreg */
	}
	return finish(result, query_in_c(1));
}
