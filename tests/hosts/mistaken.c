/* SPDX-License-Identifier: MIT */
/*
 * A host that makes the mistakes it is asked for: mistaken LOOPS [MISTAKE...].  A plan of two operators, a task each with a loop in code
 * of its own; without a mistake all that it announces is right.  fork: all of it in a child.  serve: until SIGTERM, and announced again to
 * a recorder that comes.  register, word: the loop is in shared code that both tasks call, with a tag in r12 or in a word; the
 * mistakes that begin so are about that.
 */
#include "jitreg.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define OPERATOR 1
#define TASK 2
#define IR 3 /* lines of a text, where one of the mistakes is about that */

static unsigned char *code;
static char **mistakes;
static int nr_mistakes;

static int is(const char *mistake)
{
	for (int i = 0; i < nr_mistakes; i++)
		if (strcmp(mistakes[i], mistake) == 0)
			return 1;
	return 0;
}

static int starts(const char *kind)
{
	for (int i = 0; i < nr_mistakes; i++)
		if (strncmp(mistakes[i], kind, strlen(kind)) == 0)
			return 1;
	return 0;
}

#define TAG (0x7a11ull << 48)
static __thread uint64_t word JITREG_STATIC_TLS;

#define CALL_FROM_END 8
/* Registers that it changes are those of a call. */
__attribute__((noinline, section("shared_text"))) static long shared(long loops)
{
	for (long i = 0; i < loops; i++)
		__asm__ volatile("" : "+r"(i));
	return loops;
}
extern const char __start_shared_text[], __stop_shared_text[];

/* push rbp; mov rbp, rsp; push r12; push r12; [mov r12, tag]; call rsi; pop r12; pop r12; pop rbp; ret */
static size_t write_call(unsigned char *to, uint64_t task)
{
	static const unsigned char begin[] = { 0x55, 0x48, 0x89, 0xe5, 0x41, 0x54, 0x41, 0x54 };
	static const unsigned char end[] = { 0xff, 0xd6, 0x41, 0x5c, 0x41, 0x5c, 0x5d, 0xc3 };
	const uint64_t tag = TAG | (is("register-other") ? 1 : is("register-shift") || is("register-frame-shift") ? task << 8 : task);
	const bool forgets = (is("register-missing") || is("register-frame-missing")) && task == 2;
	const size_t set = starts("register") && !forgets ? 10 : 0;

	memcpy(to, begin, sizeof(begin));
	if (set) {
		memcpy(to + sizeof(begin), "\x49\xbc", 2);
		memcpy(to + sizeof(begin) + 2, &tag, sizeof(tag));
	}
	memcpy(to + sizeof(begin) + set, end, sizeof(end));
	return sizeof(begin) + set + sizeof(end);
}

static void declare_tag(void)
{
	const struct jitreg_range shared_code = { (uintptr_t)__start_shared_text, (uintptr_t)__stop_shared_text };
	const struct jitreg_range own_code = { (uintptr_t)code, (uintptr_t)code + 4096 };
	const struct jitreg_tag_field field = { TASK, 0, 20 };

	if (starts("register"))
		jitreg_tag_in_register(is("register-13") || is("register-frame-13") ? 13 : 12, 0xffffull << 48, TAG, &field, 1,
				       starts("register-frame") ? &own_code : &shared_code, 1);
	if (starts("word"))
		jitreg_tag_in_word(&word, 0xffffull << 48, TAG, &field, 1);
}

static int has_text(void)
{
	return is("text") || is("text-unlinked") || is("text-of-other-name") || is("text-too-short");
}

static void line_table(uint64_t address)
{
	struct {
		uint64_t address;
		uint32_t line, discriminator;
		char file[16];
	} row = { address, is("text-too-short") ? 9 : 1, 0, "query.ll" };

	jitreg_debug_info(address, 1, &row, offsetof(__typeof__(row), file) + strlen(row.file) + 1);
}

/* The loop of a task, in 64 bytes of its own. */
static void generate(unsigned at, uint64_t task, const char *name)
{
	/* mov rax, rdi; 1: dec rax; jnz 1b; ret */
	static const unsigned char loop[] = { 0x48, 0x89, 0xf8, 0x48, 0xff, 0xc8, 0x75, 0xfb, 0xc3 };
	const unsigned char nothing_yet[sizeof(loop)] = { 0 };
	size_t bytes = sizeof(loop);
	struct jitreg_code_map_entry entry[] = { { is("map-outside") ? 640 : 0, TASK, is("map-of-nobody") ? 77 : task }, { 0, TASK, 0 } };
	uint64_t address = (uintptr_t)(code + 64 * at);

	memcpy(code + 64 * at, loop, sizeof(loop));
	if (starts("register") || starts("word"))
		bytes = write_call(code + 64 * at, task);
	entry[1].offset = bytes - CALL_FROM_END; /* from its call on: register-frame, where the tag alone tells whose it is */
	if (is("unregistered"))
		return;
	if (has_text())
		line_table(address);
	else
		jitreg_code_map(address + (is("map-elsewhere") ? 1024 : 0), entry, starts("register-frame") ? 2 : 1);
	jitreg_code_load(address, is("empty") ? 0 : bytes, task, name, is("unwritten") ? nothing_yet : code + 64 * at);
	if (is("overlap"))
		jitreg_code_load(address + 4, sizeof(loop), task, "on it", NULL);
}

static void announce(void)
{
	jitreg_level(OPERATOR, "operator", 0, JITREG_LEVEL_PLAN);
	if (!is("no-level"))
		jitreg_level(TASK, "task", is("upper-itself") ? TASK : is("upper-nobody") ? 9 : OPERATOR,
			     is("two-plans") ? JITREG_LEVEL_PLAN : 0);
	if (is("level-again"))
		jitreg_level(OPERATOR, "pipeline", 0, JITREG_LEVEL_PLAN);
	if (is("number-zero"))
		jitreg_component(TASK, 0, "zero", "", 0);
	jitreg_component(OPERATOR, 1, "output", "", 0);
	jitreg_component(OPERATOR, 2, is("no-name") ? "" : "scan", "", 0);
	jitreg_component(TASK, 1, "write", "", 0);
	if (is("same-id"))
		jitreg_component(TASK, 1, "sort", "", 0);
	jitreg_component(TASK, 2, "read", "", 0);
	if (is("negative"))
		jitreg_counter(OPERATOR, 2, "estimated rows", -1);
	if (!is("two-roots"))
		jitreg_edge(OPERATOR, 2, is("edge-to-nobody") ? 77 : 1, 0, "");
	if (is("two-roots")) {
		jitreg_component(OPERATOR, 3, "sink", "", 0);
		jitreg_edge(OPERATOR, 2, 1, 0, "");
		jitreg_edge(OPERATOR, 2, 3, 0, "");
	}
	jitreg_link(TASK, 1, OPERATOR, is("link-to-nobody") ? 77 : 1, 1);
	if (is("swapped"))
		jitreg_link(OPERATOR, 2, TASK, 1, 1);
	if (!is("unlinked") && !is("late-link"))
		jitreg_link(TASK, 2, OPERATOR, 2, 1);
	if (is("no-fields"))
		jitreg_tag_in_register(12, 0, 0, NULL, 1, NULL, 0);
	if (is("control"))
		jitreg_control(99, "what may that be");
	if (has_text()) {
		jitreg_level(IR, "ir", TASK, 0);
		jitreg_source(is("text-of-other-name") ? "module.ll" : "query.ll", "one\ntwo\n", IR, 0, 0);
		if (!is("text-unlinked"))
			jitreg_link(IR, 1, TASK, 1, 1);
	}
	declare_tag();
	if (is("tag-in-sp"))
		jitreg_tag(7, 0, 0, 0, &(struct jitreg_tag_field){ TASK, 0, 20 }, 1, &(struct jitreg_range){ 4096, 8192 }, 1);
}

static void run(unsigned at, uint64_t task, long loops)
{
	static uint64_t instance;

	jitreg_mark(JITREG_MARK_BEGIN, "task", TASK, task, ++instance, 0, 0, "");
	word = TAG | (is("word-id") ? 77 : is("word-other") ? 1 : task);
	((long (*)(long, long (*)(long)))(uintptr_t)(code + 64 * at))(loops, shared);
	if (is("word-task")) { /* not from generated code: only the mark tells */
		uint64_t mark = jitreg_mark_begin(JITREG_COVERS_THREAD, "part", jitreg_at(TASK, task), instance, 0, NULL);

		word = TAG | 1;
		shared(loops);
		jitreg_mark_end(mark, 0);
	}
	word = 0;
	if (!is("open-mark"))
		jitreg_mark(JITREG_MARK_END, "task", TASK, task, instance + (is("ends-other") ? 1000 : 0), 0, 0, "");
	for (long i = 0; is("talks") && i < loops / 200; i++)
		jitreg_counter(OPERATOR, 1, "progress", i);
	if (is("ends-twice"))
		jitreg_mark(JITREG_MARK_END, "task", TASK, task, instance, 0, 0, "");
}

static void replay(void *host)
{
	(void)host;
	announce();
	generate(0, 1, "write");
	generate(1, 2, "read");
}

static volatile sig_atomic_t ended;

static void end(int signo)
{
	(void)signo;
	ended = 1;
}

int main(int argc, char **argv)
{
	long loops = argc > 1 ? atol(argv[1]) : 1000000;
	int status = 0;

	mistakes = argv + 2;
	nr_mistakes = argc > 2 ? argc - 2 : 0;
	code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED)
		return 1;
	if (is("fork") && fork())
		return wait(&status) < 0 || status;
	signal(SIGTERM, end);
	replay(NULL);
	jitreg_set_replay(replay, NULL);
	for (int i = 0; i < 4 || (is("serve") && !ended); i++) {
		run(0, 1, loops);
		run(1, 2, loops);
		if (jitreg_replay_wanted())
			jitreg_replay();
	}
	if (is("late-link"))
		jitreg_link(TASK, 2, OPERATOR, 2, 1);
	if (is("unload-elsewhere"))
		jitreg_code_unload((uintptr_t)code + 2048, 64);
	if (!is("unregistered") && !is("empty")) {
		jitreg_code_unload((uintptr_t)code, 0);
		jitreg_code_unload((uintptr_t)code + 64, 0);
	}
	puts("done");
	return 0;
}
