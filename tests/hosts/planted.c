/* SPDX-License-Identifier: MIT */
/*
 * Loops that are slow for one reason each: planted NAME SECONDS runs one of them.  Without arguments: a line for each, NAME CAUSE FUNCTION,
 * with the cause as `tailor report --view stalls --json` has it ("none" for those that are not slow).  Names that begin with jit- run in
 * generated code, which jitreg registers.
 */
#include "jitreg.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define KERNEL __attribute__((noinline, noclone)) static
#define ROUNDS 200000u

static volatile uint64_t sink;

static uint64_t next_random(void)
{
	static uint64_t state = 88172645463325252ull;

	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

static void *memory(size_t bytes, int huge)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		exit(1);
	madvise(p, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	memset(p, 1, bytes);
	return p;
}

/* ------------------------------------------------------------------------------------------------------------ pointers */

/* A cycle through n cells of so many bytes, in random order (S. Sattolo, 1986). */
static void **make_ring(char *base, size_t cells, size_t bytes)
{
	uint32_t *order = malloc(cells * sizeof(*order));

	for (size_t i = 0; i < cells; i++)
		order[i] = (uint32_t)i;
	for (size_t i = cells - 1; i > 0; i--) {
		size_t n = next_random() % i;
		uint32_t swap = order[i];

		order[i] = order[n];
		order[n] = swap;
	}
	/* a cell's pointer is not at the same offset in each: pages' first lines share a set of the cache */
	for (size_t i = 0; i < cells; i++) {
		size_t from = order[i], to = order[(i + 1) % cells];

		*(void **)(base + from * bytes + from * 64 % 4096 % bytes) = base + to * bytes + to * 64 % 4096 % bytes;
	}
	base += (size_t)order[0] * bytes + (size_t)order[0] * 64 % 4096 % bytes;
	free(order);
	return (void **)base;
}

KERNEL void **chase(void **at, unsigned n)
{
	while (n--)
		at = *at;
	return at;
}

static void **ring;

static void chase_round(void)
{
	ring = chase(ring, ROUNDS);
	sink = (uintptr_t)ring;
}

static void make_lines(size_t cells) { ring = make_ring(memory(cells * 128, 1), cells, 128); }
static void make_l2(void) { make_lines(2048); }
static void make_l3(void) { make_lines(65536); }
static void make_memory(void) { make_lines(2u << 20); }

/* A line in each of 4096 pages, each page with a table of its own: 256 KiB of lines, and 16 MiB of tables. */
static void make_pages(void)
{
	const size_t cells = 4096, bytes = (2u << 20) + 4096;
	char *p = mmap(NULL, cells * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		exit(1);
	madvise(p, cells * bytes, MADV_NOHUGEPAGE);
	ring = make_ring(p, cells, bytes);
}

static uint64_t *array;
#define ARRAY_WORDS (32u << 20) /* 256 MiB */

static void make_array(void) { array = memory(8ull * ARRAY_WORDS, 1); }

KERNEL uint64_t lines(const uint64_t *a, size_t from, unsigned n)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += a[(from + i * 8ull * 33) % ARRAY_WORDS];
	return sum;
}

static void lines_round(void)
{
	static size_t from;

	sink = lines(array, from, ROUNDS);
	from += 77;
}

KERNEL uint64_t gather(const uint64_t *a, uint64_t seed, unsigned n)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < n; i++) {
		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		sum += a[seed >> 39];
	}
	return sum;
}

static void gather_round(void) { sink = gather(array, sink + next_random(), ROUNDS); }

KERNEL void scatter(uint64_t *a, uint64_t seed, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		a[seed >> 39] = seed;
	}
}

static void scatter_round(void) { scatter(array, next_random(), ROUNDS); }

/* ------------------------------------------------------------------------------------------------------------ branches */

#define COINS 65536u
static unsigned char coins[COINS];

static void make_coins(void)
{
	for (size_t i = 0; i < COINS; i++)
		coins[i] = next_random() >> 20 & 3;
}

KERNEL uint64_t toss(const unsigned char *c)
{
	uint64_t heads = 0, tails = 1;

	for (size_t i = 0; i < COINS; i++) {
		if (c[i] & 1)
			__asm__ volatile("add $3, %0" : "+r"(heads));
		else
			__asm__ volatile("xor $5, %0" : "+r"(tails));
	}
	return heads + tails;
}

static void toss_round(void)
{
	sink = toss(coins);
	for (int i = 0; i < 512; i++) /* so that nothing can learn them */
		coins[next_random() % COINS] = next_random() >> 20 & 3;
}

KERNEL uint64_t sort_in(const unsigned char *c)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < COINS; i++)
		switch (c[i]) {
		case 0: __asm__ volatile("add $1, %0" : "+r"(sum)); break;
		case 1: __asm__ volatile("xor $2, %0" : "+r"(sum)); break;
		case 2: __asm__ volatile("sub $7, %0" : "+r"(sum)); break;
		default: __asm__ volatile("add $9, %0" : "+r"(sum)); break;
		}
	return sum;
}

static void sort_round(void) { sink = sort_in(coins); }

/* --------------------------------------------------------------------------------------------------- results and units */

KERNEL uint64_t divide(uint64_t x, uint64_t by, unsigned n)
{
	while (n--)
		x = (x | 1ull << 62) / by;
	return x;
}

static void divide_round(void) { sink = divide(sink, 3 + sink % 5, ROUNDS); }

KERNEL double divide_floats(double x, unsigned n)
{
	while (n--)
		x = 1.5 / (x + 0.25);
	return x;
}

static void divide_floats_round(void) { sink = (uint64_t)(1000 * divide_floats(1 + (double)(sink % 3), ROUNDS)); }

KERNEL double roots(double x, unsigned n)
{
	while (n--)
		__asm__ volatile("sqrtsd %0, %0\n\taddsd %0, %0" : "+x"(x));
	return x;
}

static void roots_round(void) { sink = (uint64_t)roots(1 + (double)(sink % 3), ROUNDS); }

KERNEL uint64_t multiply(uint64_t x, unsigned n)
{
	while (n--)
		__asm__ volatile("imul %0, %0\n\timul %0, %0\n\timul %0, %0\n\timul %0, %0" : "+r"(x));
	return x;
}

static void multiply_round(void) { sink = multiply(sink | 1, ROUNDS); }

KERNEL double add_floats(double x, unsigned n)
{
	while (n--)
		__asm__ volatile("addsd %0, %0\n\taddsd %0, %0\n\taddsd %0, %0\n\taddsd %0, %0" : "+x"(x));
	return x;
}

static void add_floats_round(void) { sink = (uint64_t)add_floats(0, ROUNDS); }

/* A load of eight bytes of which the last store wrote one cannot be forwarded. */
KERNEL uint64_t forward(unsigned char *a, unsigned n)
{
	uint64_t x = 0;

	while (n--)
		__asm__ volatile("movb %b0, 3(%1)\n\tmovq (%1), %0" : "+r"(x) : "r"(a) : "memory");
	return x;
}

static void forward_round(void)
{
	static unsigned char a[64] __attribute__((aligned(64)));

	sink = forward(a, ROUNDS);
}

/* ----------------------------------------------------------------------------------------------------------- the kernel */

KERNEL void touch_pages(void)
{
	const size_t bytes = 8u << 20;
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		exit(1);
	madvise(p, bytes, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < bytes; i += 4096)
		p[i] = 1;
	munmap(p, bytes);
}

KERNEL void call_kernel(void)
{
	for (int i = 0; i < 1000; i++)
		syscall(SYS_getppid);
}

KERNEL void read_zeros(void)
{
	static char to[65536];
	static int fd = -1;

	if (fd < 0)
		fd = open("/dev/zero", O_RDONLY);
	for (int i = 0; i < 10; i++)
		if (read(fd, to, sizeof(to)) < 0)
			exit(1);
}

/* ------------------------------------------------------------------------------------------------------- generated code */

static unsigned char *code;
static size_t code_bytes;

static void emit(const void *bytes, size_t nr)
{
	memcpy(code + code_bytes, bytes, nr);
	code_bytes += nr;
}

#define EMIT(...) emit((const unsigned char[]){ __VA_ARGS__ }, sizeof((const unsigned char[]){ __VA_ARGS__ }))

static void begin_code(size_t most)
{
	code = mmap(NULL, most, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED)
		exit(1);
}

static void end_code(const char *name)
{
	jitreg_code_load((uint64_t)(uintptr_t)code, code_bytes, 1, name, code);
}

static void make_jit_divide(void)
{
	begin_code(4096);
	EMIT(0xb9, 0x40, 0x0d, 0x03, 0x00);	  /* mov ecx, 200000 */
	EMIT(0x48, 0x89, 0xf8, 0x31, 0xd2);	  /* l: mov rax, rdi; xor edx, edx */
	EMIT(0x48, 0x83, 0xc8, 0x01);		  /* or rax, 1 */
	EMIT(0x48, 0xf7, 0xf6);			  /* div rsi */
	EMIT(0x48, 0x8d, 0xbc, 0x07, 0x00, 0x00, 0x00, 0x40); /* lea rdi, [rdi + rax + 0x40000000] */
	EMIT(0xff, 0xc9, 0x75, 0xe8);		  /* dec ecx; jnz l */
	EMIT(0x48, 0x89, 0xf8, 0xc3);		  /* mov rax, rdi; ret */
	end_code("jit_divide");
}

static void jit_divide_round(void) { sink = ((uint64_t (*)(uint64_t, uint64_t))(uintptr_t)code)(sink, 7); }

static void make_jit_chase(void)
{
	make_memory();
	begin_code(4096);
	EMIT(0xb9, 0x40, 0x0d, 0x03, 0x00);		     /* mov ecx, 200000 */
	EMIT(0x48, 0x8b, 0x3f, 0xff, 0xc9, 0x75, 0xf9);	     /* l: mov rdi, [rdi]; dec ecx; jnz l */
	EMIT(0x48, 0x89, 0xf8, 0xc3);			     /* mov rax, rdi; ret */
	end_code("jit_chase");
}

static void jit_chase_round(void) { ring = ((void **(*)(void **))(uintptr_t)code)(ring); }

/* More code than a first-level cache holds, in an order that no prefetcher foresees: jumps from line to line. */
#define SWEEP_FUNCTIONS 32u
#define SWEEP_LINES 512u /* of a function */

static void make_jit_sweep(void)
{
	static const unsigned char nop[] = { 0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00 };
	const size_t nr = SWEEP_FUNCTIONS * SWEEP_LINES; /* 1 MiB */
	uint32_t *order = malloc(nr * sizeof(*order));

	begin_code(nr * 64 + 64);
	for (size_t i = 0; i < nr; i++)
		order[i] = (uint32_t)i;
	for (size_t i = nr - 1; i > 1; i--) { /* line 0 is the first */
		size_t n = 1 + next_random() % i;
		uint32_t swap = order[i];

		order[i] = order[n];
		order[n] = swap;
	}
	for (size_t i = 0; i < nr; i++) {
		size_t to = i + 1 < nr ? order[i + 1] : nr;
		int32_t by = (int32_t)(((int64_t)to - (int64_t)order[i]) * 64 - 8);

		code_bytes = (size_t)order[i] * 64;
		EMIT(0x48, 0xff, 0xc0, 0xe9); /* inc rax; jmp */
		emit(&by, 4);
		for (int n = 0; n < 6; n++)
			emit(nop, sizeof(nop));
	}
	code_bytes = nr * 64;
	EMIT(0xc3);
	for (unsigned i = 0; i < SWEEP_FUNCTIONS; i++)
		jitreg_code_load((uint64_t)(uintptr_t)code + i * SWEEP_LINES * 64, SWEEP_LINES * 64, i + 1, "jit_sweep",
				 code + i * SWEEP_LINES * 64);
	free(order);
}

static void jit_sweep_round(void) { ((void (*)(void))(uintptr_t)code)(); }

static void make_jit_clean(void)
{
	begin_code(4096);
	EMIT(0xb9, 0x40, 0x0d, 0x03, 0x00); /* mov ecx, 200000 */
	for (int i = 0; i < 4; i++)	    /* l: inc rax; inc rdx; inc rsi; inc rdi; inc r8, four times */
		EMIT(0x48, 0xff, 0xc0, 0x48, 0xff, 0xc2, 0x48, 0xff, 0xc6, 0x48, 0xff, 0xc7, 0x49, 0xff, 0xc0);
	EMIT(0xff, 0xc9, 0x75, 0xc0); /* dec ecx; jnz l */
	EMIT(0xc3);
	end_code("jit_clean");
}

static void jit_clean_round(void) { ((void (*)(void))(uintptr_t)code)(); }

/* ---------------------------------------------------------------------------------------------------------------- clean */

/* All that a processor can do at once, in the first-level cache. */
KERNEL uint64_t clean(const uint64_t *a, unsigned n)
{
	uint64_t x = 0, y = 0, z = 0, w = 0;

	while (n--)
		__asm__ volatile("addq (%4), %0\n\taddq 8(%4), %1\n\tinc %2\n\tinc %3\n\tinc %0\n\tinc %1\n\tinc %2\n\tinc %3"
				 : "+r"(x), "+r"(y), "+r"(z), "+r"(w) : "r"(a));
	return x + y + z + w;
}

static void clean_round(void)
{
	static uint64_t a[8];

	sink = clean(a, ROUNDS);
}

static void nothing(void)
{
}

static const struct {
	const char *name, *cause, *function;
	void (*make)(void);
	void (*round)(void);
} kernels[] = {
	{ "chase-l2", "data_cache", "chase", make_l2, chase_round },
	{ "chase-l3", "data_cache", "chase", make_l3, chase_round },
	{ "chase-memory", "data_cache", "chase", make_memory, chase_round },
	{ "strided-lines", "data_cache", "lines", make_array, lines_round },
	{ "gather", "data_cache", "gather", make_array, gather_round },
	{ "scatter", "data_cache", "scatter", make_array, scatter_round },
	{ "page-stride", "tlb", "chase", make_pages, chase_round },
	{ "random-branch", "branch", "toss", make_coins, toss_round },
	{ "random-switch", "branch", "sort_in", make_coins, sort_round },
	{ "divide", "division", "divide", nothing, divide_round },
	{ "divide-floats", "division", "divide_floats", nothing, divide_floats_round },
	{ "roots", "division", "roots", nothing, roots_round },
	{ "multiply-chain", "dependency", "multiply", nothing, multiply_round },
	{ "add-chain", "dependency", "add_floats", nothing, add_floats_round },
	{ "store-forward", "store_forward", "forward", nothing, forward_round },
	{ "fresh-pages", "page_fault", "touch_pages", nothing, touch_pages },
	{ "system-calls", "kernel", "call_kernel", nothing, call_kernel },
	{ "read-zeros", "kernel", "read_zeros", nothing, read_zeros },
	{ "jit-divide", "division", "jit_divide", make_jit_divide, jit_divide_round },
	{ "jit-chase", "data_cache", "jit_chase", make_jit_chase, jit_chase_round },
	{ "jit-sweep", "front_end", "jit_sweep", make_jit_sweep, jit_sweep_round },
	{ "clean", "none", "clean", nothing, clean_round },
	{ "jit-clean", "none", "jit_clean", make_jit_clean, jit_clean_round },
};

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
		if (argc < 3) {
			printf("%s %s %s\n", kernels[i].name, kernels[i].cause, kernels[i].function);
		} else if (strcmp(argv[1], kernels[i].name) == 0) {
			uint64_t mark;
			double end;

			kernels[i].make();
			end = now_s() + atof(argv[2]);
			mark = jitreg_mark_begin(JITREG_COVERS_THREAD, "run", jitreg_at(0, 0), 1, 0, NULL);
			while (now_s() < end)
				kernels[i].round();
			jitreg_mark_end(mark, 0);
			return 0;
		}
	}
	return argc >= 3;
}
