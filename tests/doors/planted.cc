// SPDX-License-Identifier: MIT
// Planted work, 50 : 30 : 20, of which each function does its own: planted [engine].  With that word the work is done by generated code,
// whose operators are announced through jitreg.  It ends by SIGTERM.  $PLANTED_CLOCK.PID has what each took by the thread's clock.
#include "jitreg.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

static const char *const names[] = { "heavy", "middle", "light" };
static const uint64_t units[] = { 5000000, 3000000, 2000000 };

#define WORK(name, salt) \
	__attribute__((noinline)) static uint64_t name(uint64_t rounds) \
	{ \
		uint64_t x = salt; \
		for (uint64_t i = 0; i < rounds; i++) \
			x = x * 6364136223846793005u + (x >> 29); \
		return x; \
	}
WORK(heavy, 1)
WORK(middle, 2)
WORK(light, 3)

typedef uint64_t (*work_function)(uint64_t rounds);
static work_function work[] = { heavy, middle, light };

static int64_t clock_ns()
{
	timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/* mov rax,rdi; 1: dec rax; jnz 1b; ret */
static const uint8_t code[] = { 0x48, 0x89, 0xf8, 0x48, 0xff, 0xc8, 0x75, 0xfb, 0xc3 };
static uint64_t ids;

/* Three functions, each a component of the plan. */
static void announce(void *)
{
	jitreg_level(1, "operator", 0, JITREG_LEVEL_PLAN);
	jitreg_scope(ids, 3, "query 1", "select planted");
	for (uint64_t i = 0; i < 3; i++) {
		const struct jitreg_code_map_entry entry = { 0, 1, ids + i };
		const void *function = reinterpret_cast<const void *>(work[i]);
		uint64_t address = reinterpret_cast<uint64_t>(function);

		jitreg_component(1, ids + i, names[i], "", 0);
		jitreg_code_load(address, sizeof(code), i + 1, names[i], function);
		jitreg_code_map(address, &entry, 1);
	}
}

static void generate()
{
	uint8_t *at = static_cast<uint8_t *>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));

	ids = jitreg_new_ids(3);
	for (int i = 0; i < 3; i++) {
		memcpy(at + 64 * i, code, sizeof(code));
		work[i] = reinterpret_cast<work_function>(at + 64 * i);
	}
	mprotect(at, 4096, PROT_READ | PROT_EXEC);
	jitreg_set_replay(announce, nullptr);
	announce(nullptr);
}

int main(int argc, char **argv)
{
	const std::string name = std::string(getenv("PLANTED_CLOCK")) + "." + std::to_string(getpid());
	bool is_engine = argc > 1 && strcmp(argv[1], "engine") == 0;
	int file = open(name.c_str(), O_WRONLY | O_CREAT, 0644);
	int64_t took[3] = { 0, 0, 0 };
	volatile uint64_t sum = 0;

	if (is_engine)
		generate();
	for (uint64_t round = 1;; round++) {
		uint64_t run = is_engine ? jitreg_mark_begin(JITREG_COVERS_PROCESS, "run", jitreg_at(0, 0), round, 0, nullptr) : 0;
		char line[80];

		if (is_engine && jitreg_replay_wanted())
			jitreg_replay();
		for (int i = 0; i < 3; i++) {
			int64_t begin = clock_ns();

			sum += work[i](units[i]);
			took[i] += clock_ns() - begin;
		}
		if (is_engine)
			jitreg_mark_end(run, 1);
		int n = snprintf(line, sizeof(line), "%20lld %20lld %20lld\n", (long long)took[0], (long long)took[1], (long long)took[2]);
		if (pwrite(file, line, static_cast<size_t>(n), 0) != n)
			return 1;
	}
}
