/* SPDX-License-Identifier: MIT */
/*
 * Tracks which code mapped executable memory, and when that is unmapped. mmap, mprotect and pkey_mprotect that make an unknown range
 * executable become REGIONs, which name unregistered code. munmap, and MAP_FIXED over a range, end the code in it. JITs change the
 * protection of the same pages thousands of times a second, and most calls are not about code at all, so a call about a known range, or
 * outside of all ranges, costs little.
 *
 * Context: any, also signal, because hosts call mprotect there.  So the table's lock is tried for a moment only.  A thread that does not
 * get it leaves the table unchanged, and log_count_full() reports that.
 */
#include "shim/shim.h"

#include "agent/guest/sys.h"
#include "jitreg/jitreg.h"
#include "shim/hosts/hosts.h"

#include <errno.h>
#include <string.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

#define RANGES_MAX 256 /* maximum number of ranges at the same time; adjacent ones are merged */

struct range {
	uintptr_t start, end;
};
static struct range ranges[RANGES_MAX];
static int nr_ranges; /* ranges in use, at the front of the table */
static uintptr_t lowest = UINTPTR_MAX, highest; /* bounds of all ranges ever; most calls are outside of them */
static int taken;

typedef void *(*mmap_function)(void *, size_t, int, int, int, off_t);
typedef int (*mprotect_function)(void *, size_t, int);
typedef int (*pkey_mprotect_function)(void *, size_t, int, int);
typedef int (*munmap_function)(void *, size_t);

static struct {
	mmap_function mmap;
	mprotect_function mprotect;
	pkey_mprotect_function pkey_mprotect;
	munmap_function munmap;
} next;

void exec_memory_find_next_functions(void)
{
	next.mmap = (mmap_function)objects_find_next_symbol("mmap");
	next.mprotect = (mprotect_function)objects_find_next_symbol("mprotect");
	next.pkey_mprotect = (pkey_mprotect_function)objects_find_next_symbol("pkey_mprotect");
	next.munmap = (munmap_function)objects_find_next_symbol("munmap");
}

static bool try_lock_ranges(void)
{
	for (int i = 0; i < 1000; i++) {
		if (!__atomic_exchange_n(&taken, 1, __ATOMIC_ACQUIRE))
			return true;
		__builtin_ia32_pause();
	}
	log_count_full();
	return false;
}

static void unlock_ranges(void)
{
	__atomic_store_n(&taken, 0, __ATOMIC_RELEASE);
}

void exec_memory_reset_in_child(void)
{
	unlock_ranges();
}

/* A range for which there is no room is counted. It may be registered again, and its end is not noticed. */
static void append_range(uintptr_t start, uintptr_t end)
{
	if (nr_ranges < RANGES_MAX)
		ranges[nr_ranges++] = (struct range){ start, end };
	else
		log_count_full();
}

static void remove_range_at(int i)
{
	ranges[i] = ranges[--nr_ranges];
}

/*
 * Returns true if one known range contains [start, end). Otherwise adds it, merged with the ranges that it touches, unless the table is
 * full.
 */
static bool add_executable_range(uintptr_t start, uintptr_t end)
{
	for (int i = 0; i < nr_ranges; i++)
		if (ranges[i].start <= start && end <= ranges[i].end)
			return true;
	for (int i = nr_ranges - 1; i >= 0; i--)
		if (ranges[i].start <= end && start <= ranges[i].end) {
			start = ranges[i].start < start ? ranges[i].start : start;
			end = ranges[i].end > end ? ranges[i].end : end;
			remove_range_at(i);
		}
	append_range(start, end);
	if (start < lowest)
		__atomic_store_n(&lowest, start, __ATOMIC_RELAXED);
	if (end > highest)
		__atomic_store_n(&highest, end, __ATOMIC_RELAXED);
	return false;
}

/* Removes a range from the table, and ends the code in the parts of it that were there. */
static void unregister_range(uintptr_t start, uintptr_t end)
{
	for (int i = nr_ranges - 1; i >= 0; i--) {
		struct range old = ranges[i];

		if (end <= old.start || old.end <= start)
			continue;
		remove_range_at(i);
		if (old.start < start)
			append_range(old.start, start);
		if (end < old.end)
			append_range(end, old.end);
		old.start = old.start > start ? old.start : start;
		old.end = old.end < end ? old.end : end;
		jitreg_code_unload(old.start, old.end - old.start);
	}
}

struct mapping {
	struct range range;
	uintptr_t caller;
};

static uintptr_t round_up_to_page(uintptr_t at)
{
	return (at + SYS_PAGE_BYTES - 1) & ~(uintptr_t)(SYS_PAGE_BYTES - 1);
}

/*
 * Registers a region with the name of the object whose code mapped it. The walk over the objects calls this, so the object is still loaded.
 */
static int register_region_of_caller(void *context, const struct object *o)
{
	const struct mapping *m = context;
	const char *name = o->name;
	char path[512];
	long n;

	if (!object_contains(o, (const void *)m->caller, 1))
		return 0;
	if (!*name) { /* o is the main program */
		n = sys_call(SYS_readlink, (long)"/proc/self/exe", (long)path, sizeof(path) - 1, 0, 0, 0);
		path[n > 0 ? n : 0] = 0;
		name = path;
	}
	jitreg_region(m->range.start, m->range.end - m->range.start, PROT_EXEC, name, m->caller - o->bias);
	hosts_note_region(o, m->range.start, m->range.end - m->range.start);
	return 1;
}

static void note_executable_memory(const void *address, size_t bytes, const void *caller)
{
	uintptr_t start = (uintptr_t)address & ~(uintptr_t)(SYS_PAGE_BYTES - 1), end = round_up_to_page((uintptr_t)address + bytes);
	struct mapping m = { { start, end }, (uintptr_t)caller - 1 };
	bool known;

	if (end <= start || !guard_enter())
		return;
	if (try_lock_ranges()) {
		known = add_executable_range(start, end);
		unlock_ranges();
		if (!known && !objects_each_in_all_namespaces(register_region_of_caller, &m))
			jitreg_region(start, end - start, PROT_EXEC, "", 0); /* generated code mapped it */
	}
	guard_leave();
}

static void note_unmapped_memory(const void *address, size_t bytes)
{
	uintptr_t start = (uintptr_t)address, end = round_up_to_page(start + bytes);

	if (end <= __atomic_load_n(&lowest, __ATOMIC_RELAXED) || start >= __atomic_load_n(&highest, __ATOMIC_RELAXED) ||
	    !guard_enter())
		return;
	if (try_lock_ranges()) {
		unregister_range(start, end);
		unlock_ranges();
	}
	guard_leave();
}

static long set_errno_of_result(long result)
{
	if (result >= 0 || result < -4095)
		return result;
	errno = (int)-result;
	return -1;
}

/* Maps memory by libc's function, or by the system call while that function is unknown, and notes the range if it is executable. */
static void *mmap_and_note_code(void *address, size_t bytes, int prot, int flags, int fd, off_t offset, const void *caller)
{
	void *p;

	if (__atomic_load_n(&hosts_waiting, __ATOMIC_ACQUIRE) && guard_enter()) {
		hosts_retry_waiting_hooks();
		guard_leave();
	}
	if ((flags & MAP_FIXED) && !(flags & MAP_FIXED_NOREPLACE) && address)
		note_unmapped_memory(address, bytes); /* this comes first, because new code may be registered there after the call */
	if (next.mmap)
		p = next.mmap(address, bytes, prot, flags, fd, offset);
	else
		p = (void *)set_errno_of_result(sys_call(SYS_mmap, (long)address, (long)bytes, prot, flags, fd, offset));
	if ((prot & PROT_EXEC) && p != MAP_FAILED) {
		note_executable_memory(p, bytes, caller);
		hosts_note_mapping(p, bytes, flags & MAP_ANONYMOUS ? -1 : fd);
	}
	return p;
}

API void *mmap(void *address, size_t bytes, int prot, int flags, int fd, off_t offset)
{
	return mmap_and_note_code(address, bytes, prot, flags, fd, offset, __builtin_return_address(0));
}

API void *mmap64(void *address, size_t bytes, int prot, int flags, int fd, off64_t offset)
{
	return mmap_and_note_code(address, bytes, prot, flags, fd, offset, __builtin_return_address(0));
}

API int mprotect(void *address, size_t bytes, int prot)
{
	int ret = next.mprotect ? next.mprotect(address, bytes, prot) :
				  (int)set_errno_of_result(sys_call(SYS_mprotect, (long)address, (long)bytes, prot, 0, 0, 0));

	if (ret == 0 && (prot & PROT_EXEC)) {
		note_executable_memory(address, bytes, __builtin_return_address(0));
		hosts_note_executable(address, bytes);
	} else if (prot & PROT_WRITE) {
		hosts_note_writable();
	}
	return ret;
}

API int pkey_mprotect(void *address, size_t bytes, int prot, int key)
{
	int ret = next.pkey_mprotect ? next.pkey_mprotect(address, bytes, prot, key) :
				       (int)set_errno_of_result(sys_call(SYS_pkey_mprotect, (long)address, (long)bytes, prot, key, 0, 0));

	if (ret == 0 && (prot & PROT_EXEC)) {
		note_executable_memory(address, bytes, __builtin_return_address(0));
		hosts_note_executable(address, bytes);
	}
	return ret;
}

API int munmap(void *address, size_t bytes)
{
	note_unmapped_memory(address, bytes);
	return next.munmap ? next.munmap(address, bytes) :
			     (int)set_errno_of_result(sys_call(SYS_munmap, (long)address, (long)bytes, 0, 0, 0, 0));
}
