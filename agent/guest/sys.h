/* SPDX-License-Identifier: MIT */
/*
 * This header has the guest's system calls, on x86-64. They return -errno and leave errno alone, and none is a cancellation point, because
 * a host's thread must not be cancelled inside the agent. Context: any.
 */
#ifndef TAILOR_SYS_H
#define TAILOR_SYS_H

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>

struct perf_event_attr;
struct pollfd;

#if !defined(__x86_64__)
#error "this architecture is not supported: system calls are x86-64 only"
#endif

static inline long sys_call(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

static inline int sys_close(int fd)
{
	return (int)sys_call(SYS_close, fd, 0, 0, 0, 0, 0);
}

static inline long sys_write(int fd, const void *bytes, size_t nr)
{
	return sys_call(SYS_write, fd, (long)bytes, (long)nr, 0, 0, 0);
}

static inline int sys_open(const char *path, int flags)
{
	return (int)sys_call(SYS_openat, AT_FDCWD, (long)path, flags, 0, 0, 0);
}

static inline int sys_fcntl(int fd, int command, long argument)
{
	return (int)sys_call(SYS_fcntl, fd, command, argument, 0, 0, 0);
}

/* Errors are returned as -errno, below 0, and not as MAP_FAILED. */
static inline long sys_mmap(void *address, size_t bytes, int prot, int flags, int fd)
{
	return sys_call(SYS_mmap, (long)address, (long)bytes, prot, flags, fd, 0);
}

static inline int sys_mprotect(uintptr_t address, size_t bytes, int prot)
{
	return (int)sys_call(SYS_mprotect, (long)address, (long)bytes, prot, 0, 0, 0);
}

static inline int sys_madvise(void *address, size_t bytes, int advice)
{
	return (int)sys_call(SYS_madvise, (long)address, (long)bytes, advice, 0, 0, 0);
}

static inline int sys_poll(struct pollfd *fds, unsigned int nr, int timeout_ms)
{
	return (int)sys_call(SYS_poll, (long)fds, nr, timeout_ms, 0, 0, 0);
}

static inline uint32_t sys_getpid(void)
{
	return (uint32_t)sys_call(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

static inline uint32_t sys_gettid(void)
{
	return (uint32_t)sys_call(SYS_gettid, 0, 0, 0, 0, 0, 0);
}

static inline uint32_t sys_geteuid(void)
{
	return (uint32_t)sys_call(SYS_geteuid, 0, 0, 0, 0, 0, 0);
}

/* ns is below 1,000,000,000. A signal ends the sleep early. */
static inline void sys_sleep_ns(long ns)
{
	struct timespec t = { 0, ns };

	sys_call(SYS_nanosleep, (long)&t, 0, 0, 0, 0, 0);
}

/* Sleeps for 1 ms, or until a signal comes. It uses ppoll, because nanosleep would replace the kernel's restart state of a call of the host
 * that was interrupted. */
static inline void sys_nap(void)
{
	struct timespec t = { 0, 1000000 };

	sys_call(SYS_ppoll, 0, 0, (long)&t, 0, 0, 0);
}

static inline int sys_socket(int domain, int type)
{
	return (int)sys_call(SYS_socket, domain, type, 0, 0, 0, 0);
}

static inline int sys_connect(int fd, const void *address, size_t bytes)
{
	return (int)sys_call(SYS_connect, fd, (long)address, (long)bytes, 0, 0, 0);
}

static inline int sys_getsockopt(int fd, int level, int name, void *value, socklen_t *bytes)
{
	return (int)sys_call(SYS_getsockopt, fd, level, name, (long)value, (long)bytes, 0);
}

static inline long sys_sendmsg(int fd, const struct msghdr *message, int flags)
{
	return sys_call(SYS_sendmsg, fd, (long)message, flags, 0, 0, 0);
}

static inline long sys_recvmsg(int fd, struct msghdr *message, int flags)
{
	return sys_call(SYS_recvmsg, fd, (long)message, flags, 0, 0, 0);
}

static inline int sys_perf_event_open(struct perf_event_attr *attr, int pid, int cpu, int group, unsigned long flags)
{
	return (int)sys_call(SYS_perf_event_open, (long)attr, pid, cpu, group, (long)flags, 0);
}

/*
 * Can the 8-byte word that contains the address be read?  rt_sigprocmask reads the new mask before it checks "how", and an impossible "how"
 * changes nothing.  So -EFAULT means no, and -EINVAL means yes.  (Abseil's AddressIsReadable does the same.)
 */
static inline int sys_readable(const void *address)
{
	return sys_call(SYS_rt_sigprocmask, ~0L, (long)((uintptr_t)address & ~(uintptr_t)7), 0, 8, 0, 0) == -22;
}

#define SYS_PAGE_BYTES 4096u

/* Can all of [address, address + bytes) be read?  Costs one system call per page. */
static inline int sys_readable_range(const void *address, size_t bytes)
{
	uintptr_t at = (uintptr_t)address;
	uintptr_t end;

	if (__builtin_add_overflow(at, bytes, &end))
		return 0;
	for (; at < end; at = (at | (SYS_PAGE_BYTES - 1)) + 1) {
		if (!sys_readable((const void *)at))
			return 0;
	}
	return 1;
}

#endif
