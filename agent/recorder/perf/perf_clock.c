/* SPDX-License-Identifier: MIT */
#include "agent/recorder/perf/perf_clock.h"

#include "agent/recorder/perf/event.h"
#include "jitreg/base/clock.h"

#include <sys/mman.h>
#include <unistd.h>

#define TRIES 3

bool perf_clock_of_page(const struct perf_event_mmap_page *page, struct perf_clock *out)
{
	bool there;
	uint32_t seq;

	do { /* an odd number means that the kernel is writing the page */
		seq = __atomic_load_n(&page->lock, __ATOMIC_ACQUIRE);
		there = page->cap_user_time && page->cap_user_time_zero;
		*out = (struct perf_clock){ page->time_zero, page->time_mult, page->time_shift };
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (seq & 1 || seq != __atomic_load_n(&page->lock, __ATOMIC_RELAXED));
	return there && out->mult && out->shift < 64;
}

bool perf_clock_read(struct perf_clock *out)
{
	struct perf_event_attr a = { .type = PERF_TYPE_SOFTWARE, .size = sizeof(a), .config = PERF_COUNT_SW_DUMMY, .disabled = 1,
				     .exclude_kernel = 1, .exclude_hv = 1 };
	size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
	int fd = event_open(&a, 0, -1, 0);
	void *page = fd < 0 ? MAP_FAILED : mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
	bool there = page != MAP_FAILED && perf_clock_of_page(page, out);

	if (page != MAP_FAILED)
		munmap(page, bytes);
	if (fd >= 0)
		close(fd);
	return there;
}

uint64_t perf_clock_ns(const struct perf_clock *c, uint64_t counter)
{
	return c->zero_ns + (uint64_t)((unsigned __int128)counter * c->mult >> c->shift);
}

void perf_clock_add_pair(const struct perf_clock *c, struct clock_pairs *to)
{
	uint64_t best_ns = UINT64_MAX, perf_ns = 0, mono_ns = 0;

	for (int i = 0; i < TRIES; i++) {
		uint64_t begin_ns = clock_now_ns(), counter = __builtin_ia32_rdtsc(), spent_ns = clock_now_ns() - begin_ns;

		if (spent_ns >= best_ns)
			continue;
		best_ns = spent_ns;
		perf_ns = perf_clock_ns(c, counter);
		mono_ns = begin_ns + spent_ns / 2;
	}
	clock_pairs_add(to, perf_ns, mono_ns);
}
