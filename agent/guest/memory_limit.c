/* SPDX-License-Identifier: MIT */
/*
 * A program that limits its own address space while it runs (`ulimit -v` in a shell) allows for what it maps itself, not for the log, which
 * takes up to 64 MiB. That may be more than the limit, and then the program's next malloc would fail. So after each change of that limit,
 * if less than PRELOAD_ADDRESS_SPACE_MIN is left and the process has one thread, the log is unmapped and the agent ends in this process.
 * ENOMEM is sent to the recorder if the log was this process's own.
 *
 * Context: any, also signal, also a child of vfork.  The child runs in its parent's memory, so nothing is done there.
 */
#include "agent/guest/guest.h"

#include "agent/guest/sys.h"
#include "jitreg/protocol/preload.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/stat.h>

typedef int (*set_function)(int resource, const struct rlimit *limit);
typedef int (*prlimit_function)(pid_t pid, int resource, const struct rlimit *limit, struct rlimit *before);

static struct {
	set_function set;
	prlimit_function prlimit;
} next;

/* Both functions have a second name that ends in 64, for the same structure. */
_Static_assert(sizeof(struct rlimit) == sizeof(struct rlimit64), "one function for both names");

void memory_limit_find_next_functions(void)
{
	next.set = (set_function)objects_find_next_symbol("setrlimit");
	next.prlimit = (prlimit_function)objects_find_next_symbol("prlimit");
}

/* Counts the links of /proc/self/task, which has two of its own, and one for each thread's folder. */
static bool process_has_one_thread(void)
{
	struct stat s;

	return sys_call(SYS_stat, (long)"/proc/self/task", (long)&s, 0, 0, 0, 0) == 0 && s.st_nlink == 3;
}

static void make_room_for_program(int resource, const struct rlimit *limit)
{
	uint64_t used;

	if (resource != RLIMIT_AS || limit->rlim_cur == RLIM_INFINITY || !guest_is_on() || !guest_owns_memory())
		return;
	used = guest_used_address_space();
	if (limit->rlim_cur >= used + PRELOAD_ADDRESS_SPACE_MIN || !process_has_one_thread())
		return;
	if (log_unmap())
		guest_switch_off(guest_owns_log() ? ENOMEM : 0);
}

/* Stands in for libc's functions until they have been looked up, because constructors of other libraries may call the hooks earlier. */
static int set_by_kernel(pid_t pid, int resource, const struct rlimit *limit, struct rlimit *before)
{
	long ret = sys_call(SYS_prlimit64, pid, resource, (long)limit, (long)before, 0, 0);

	if (ret >= 0)
		return 0;
	errno = (int)-ret;
	return -1;
}

static int set_own_limit(int resource, const struct rlimit *limit)
{
	int ret = next.set ? next.set(resource, limit) : set_by_kernel(0, resource, limit, NULL), saved = errno;

	if (ret == 0 && limit) /* the kernel accepts NULL, and changes nothing */
		make_room_for_program(resource, limit);
	errno = saved;
	return ret;
}

static int set_limit(pid_t pid, int resource, const struct rlimit *limit, struct rlimit *before)
{
	int ret = next.prlimit ? next.prlimit(pid, resource, limit, before) : set_by_kernel(pid, resource, limit, before), saved = errno;

	if (ret == 0 && limit && (pid == 0 || (uint32_t)pid == sys_getpid()))
		make_room_for_program(resource, limit);
	errno = saved;
	return ret;
}

API int setrlimit(__rlimit_resource_t resource, const struct rlimit *limit)
{
	return set_own_limit((int)resource, limit);
}

API int setrlimit64(__rlimit_resource_t resource, const struct rlimit64 *limit)
{
	return set_own_limit((int)resource, (const struct rlimit *)limit);
}

API int prlimit(pid_t pid, enum __rlimit_resource resource, const struct rlimit *limit, struct rlimit *before)
{
	return set_limit(pid, (int)resource, limit, before);
}

API int prlimit64(pid_t pid, enum __rlimit_resource resource, const struct rlimit64 *limit, struct rlimit64 *before)
{
	return set_limit(pid, (int)resource, (const struct rlimit *)limit, (struct rlimit *)before);
}
