/* SPDX-License-Identifier: MIT */
/*
 * Another process's memory and loaded objects, read from outside: nothing of it is changed, stopped or trusted.
 * Context: thread.
 */
#ifndef TAILOR_PROC_MEM_H
#define TAILOR_PROC_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>

/*
 * Finds a thread of pid that has its memory: pid itself, or another one when the first thread has ended.  The thread takes the place of pid
 * in everything below and in /proc.  0: there is none.
 */
pid_t proc_mem_living_thread(pid_t pid);
/* Waits for the command line and environment of a process that has executed a program, for some milliseconds at most, unless it has ended.
 * The kernel reports the program before they are in its memory. */
void proc_mem_wait_for_program(pid_t pid);
/* Number under which /proc shows a process's files: that of such a thread, or pid if there is none. */
uint32_t proc_mem_number_in_proc(uint32_t pid);

/* Identity of a process, for files that it may have left. */
struct proc_mem_identity {
	pid_t own_pid;	/* PID in its own namespace, by which it names its files */
	uid_t uid;	/* effective; ~0: not known */
	int64_t born_s; /* CLOCK_REALTIME; now, when it cannot be read */
};
struct proc_mem_identity proc_mem_identify(pid_t pid);
/* All users can write to /tmp: a file there is accepted if it is a regular file of the process's own user or root, and not older than
 * the process. */
bool proc_mem_may_have_written(const struct proc_mem_identity *p, const struct stat *file);

/* Reads all of [address, address + bytes) or nothing.  0, -EFAULT, -EPERM (yama, another user), -ESRCH. */
int proc_mem_read(pid_t pid, uint64_t address, void *to, size_t bytes);

/* Reads many pieces by one system call, one behind another.  Returns the bytes up to the first that cannot be read, or -errno. */
ssize_t proc_mem_read_many(pid_t pid, const struct iovec *pieces, size_t nr, void *to);

/* End of the 64-bit ELF object whose first page is mapped at base, data without initial values included; 0: there is no object. */
uint64_t proc_mem_object_end(pid_t pid, uint64_t base);
/*
 * Address of a symbol that the 64-bit ELF object whose first page is mapped at base exports, or 0.  Its tables are read
 * from memory, so it does not matter where its file is.
 */
uint64_t proc_mem_find_symbol(pid_t pid, uint64_t base, const char *name);
/* Addresses of many symbols of such an object at once: found[i] is 0 where there is none, or names[i] is NULL.  false: there is no object,
 * or it is mapped as a file of data is. */
bool proc_mem_find_symbols(pid_t pid, uint64_t base, const char *const *names, size_t nr, uint64_t *found);
/* Finds the function, or the part of one that a compiler has put elsewhere, around address in such an object: [range[0], range[1]), by the
 * table of its unwind information.  false: there is no such table or function. */
bool proc_mem_find_function(pid_t pid, uint64_t base, uint64_t address, uint64_t range[2]);
/* Address of a symbol that the program itself defines, exported or not, from the symbol table of its file; or 0. */
uint64_t proc_mem_find_program_symbol(pid_t pid, uint64_t base, const char *name);

#endif
