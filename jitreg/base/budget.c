/* SPDX-License-Identifier: MIT */
#include "jitreg/base/budget.h"

#include "jitreg/base/kernel_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define LOOK_STEPS 65536u
#define STEP_NS 50u

/* This is the sum of bytes_max of all open budgets. The memory of the process is compared with it, because it is unknown which trace a part
 * of it belongs to. */
static uint64_t all_bytes_max;
static double own_factor = -1; /* the factor of budget_set_factor(); below 0: it was not called, and the environment's is used */

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED_
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED_
#endif

#ifdef SANITIZED_ /* sanitizers need several times the memory of the program, so only the program's allocations are counted */
size_t __sanitizer_get_current_allocated_bytes(void);

static uint64_t used_bytes(void)
{
	return __sanitizer_get_current_allocated_bytes();
}
#else
/* Returns the bytes of resident memory of the process that are not shared.  So pages of mapped files, as the trace's, are not counted.
 * Returns 0 if they cannot be read. */
static uint64_t used_bytes(void)
{
	unsigned long long all, resident = 0, shared = 0;
	char text[128];

	kernel_file_read("/proc/self/statm", text, sizeof(text));
	if (sscanf(text, "%llu %llu %llu", &all, &resident, &shared) != 3 || resident < shared)
		return 0;
	return (resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE);
}
#endif

static uint64_t multiply_saturated(double factor, uint64_t n)
{
	double product = factor * (double)n;

	return product < 1e18 ? (uint64_t)product : (uint64_t)1e18;
}

void budget_set_factor(double factor)
{
	own_factor = factor;
}

static void grow(struct budget *b, uint64_t steps, uint64_t bytes)
{
	uint64_t before = b->bytes_max;
	struct rlimit limit;

	b->steps_max += multiply_saturated(b->factor, steps);
	b->bytes_max += multiply_saturated(b->factor, bytes);
	/* Under a limit of the address space, half of it is left for code, libraries, and mapped memory that is not resident. */
	if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && b->bytes_max > limit.rlim_cur / 2)
		b->bytes_max = limit.rlim_cur / 2;
	all_bytes_max += b->bytes_max - before;
}

void budget_add_file(struct budget *b, const struct stat *file)
{
	/* Holes of a sparse file do not count. */
	uint64_t bytes = (uint64_t)(file->st_blocks * 512 < file->st_size ? file->st_blocks * 512 : file->st_size);

	if (!hash_map_find(&b->others, file->st_dev, file->st_ino) && hash_map_set(&b->others, file->st_dev, file->st_ino, 1))
		grow(b, BUDGET_STEPS_EACH_OTHER * bytes, BUDGET_BYTES_EACH_OTHER * bytes);
}

int budget_open(struct budget *b, size_t file_bytes, struct diag *d)
{
	static const struct budget_size of_trace = { BUDGET_STEPS, BUDGET_BYTES, BUDGET_STEPS_EACH, BUDGET_BYTES_EACH };

	return budget_open_sized(b, &of_trace, file_bytes, d);
}

int budget_open_sized(struct budget *b, const struct budget_size *size, size_t file_bytes, struct diag *d)
{
	const char *text = own_factor < 0 ? getenv(BUDGET_ENV) : NULL;
	char *end;

	*b = (struct budget){ .factor = text ? strtod(text, &end) : own_factor < 0 ? 1 : own_factor };
	if (text && (end == text || *end || !(b->factor >= 0)))
		return diag_fail(d, EINVAL, BUDGET_ENV " must be a number, not '%s'", text);
	grow(b, size->steps + (uint64_t)size->steps_each * file_bytes, size->bytes + (uint64_t)size->bytes_each * file_bytes);
	return 0;
}

void budget_close(struct budget *b)
{
	all_bytes_max -= b->bytes_max;
	b->bytes_max = 0;
	hash_map_fini(&b->others);
}

bool budget_has_room(struct budget *b, uint64_t bytes)
{
	uint64_t used;

	if (b->exceeded)
		return false;
	if (b->factor <= 0)
		return true;
	used = used_bytes();
	if (used > all_bytes_max || bytes > all_bytes_max - used)
		b->exceeded = "memory";
	return !b->exceeded;
}

bool budget_spend(struct budget *b, uint64_t steps)
{
	if (b->exceeded)
		return false;
	b->steps = steps > UINT64_MAX - b->steps ? UINT64_MAX : b->steps + steps;
	if (b->factor <= 0 || b->steps < b->look_at)
		return true;
	b->look_at = b->steps + LOOK_STEPS;
	if (b->steps > b->steps_max)
		b->exceeded = "work";
	return !b->exceeded && budget_has_room(b, 0);
}

uint64_t budget_clock(void)
{
	struct timespec t;

	return clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) ? 0 : (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

bool budget_spend_time(struct budget *b, uint64_t *since)
{
	uint64_t now = budget_clock(), steps = (now - *since) / STEP_NS;

	*since = now;
	return budget_spend(b, steps);
}

bool budget_describe(const struct budget *b, const char *name, char *text, size_t bytes)
{
	if (!b->exceeded)
		return false;
	snprintf(text, bytes, "%s: reading it takes more %s than a file of its size should; if you trust it, allow more (--budget 10, or "
		 BUDGET_ENV "=10 for ten times as much)", name, b->exceeded);
	return true;
}
