/* SPDX-License-Identifier: MIT */
/*
 * This module reads another process's memory, and its loaded objects there, from outside. The process is neither changed nor stopped, and
 * what is read is not trusted. Context: thread.
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
 * Returns a thread of pid that lives: pid itself, or another one if the first thread has ended, which is a zombie without memory then.  The
 * thread's number can be used in place of pid in the functions below and in /proc.  Returns 0 if no thread lives.
 */
pid_t proc_mem_living_thread(pid_t pid);
/* Waits until /proc shows the command line (and so the environment) of a process that has just executed a program: some milliseconds at
 * most, and not if the process has ended.  The kernel reports an exec before it has set these up. */
void proc_mem_wait_for_program(pid_t pid);
/* Returns the number under which /proc shows the process's memory and files: proc_mem_living_thread(), or pid if that is 0. */
uint32_t proc_mem_number_in_proc(uint32_t pid);

/* This struct has the facts of a process by which files of its own (/tmp/perf-PID.map) are recognised. */
struct proc_mem_identity {
	pid_t own_pid;	/* PID in its own PID namespace, which is in the names of its files */
	uid_t uid;	/* effective user; ~0: unknown */
	int64_t born_s; /* time of its start, CLOCK_REALTIME; the present time if that cannot be read */
};
struct proc_mem_identity proc_mem_identify(pid_t pid);
/* May the process have written this file?  It has to be a regular file of the process's own user or of root, and was not last written
 * more than a second before the process began.  This is asked because all users can write to /tmp. */
bool proc_mem_may_have_written(const struct proc_mem_identity *p, const struct stat *file);

/* Copies [address, address + bytes) to `to`.  Returns 0, -EFAULT if a part cannot be read, -EPERM if it is not permitted (yama, another
 * user), or -ESRCH.  After an error, `to` may have some of the bytes. */
int proc_mem_read(pid_t pid, uint64_t address, void *to, size_t bytes);

/* Copies many pieces by one system call, one behind another in `to`. pid: a thread that lives (proc_mem_living_thread()). Returns the
 * number of bytes up to the first that cannot be read, or -errno if none can. */
ssize_t proc_mem_read_many(pid_t pid, const struct iovec *pieces, size_t nr, void *to);

/* Returns the end of the 64-bit ELF object whose first page is mapped at base, with its data without initial values, or 0 if there is no
 * object. */
uint64_t proc_mem_object_end(pid_t pid, uint64_t base);
/*
 * Returns the address of a symbol that the 64-bit ELF object whose first page is mapped at base exports, or 0.  Its tables are read from
 * memory, so its file is not needed.
 */
uint64_t proc_mem_find_symbol(pid_t pid, uint64_t base, const char *name);
/* Finds the addresses of many symbols of such an object at once.  found[i] is 0 if there is none, or names[i] is NULL.  Returns false if
 * there is no object, or its dynamic section cannot be read, as when the file is mapped as data. */
bool proc_mem_find_symbols(pid_t pid, uint64_t base, const char *const *names, size_t nr, uint64_t *found);
/* Finds the function, or the part of one that a compiler has put elsewhere (.cold), around an address in such an object, by the table of
 * its unwind information (.eh_frame_hdr). The function [range[0], range[1]) goes from the last entry at or before the address to the next
 * entry. Returns false if there is no such table or function, or the address is at or behind the last entry, whose end is unknown. */
bool proc_mem_find_function(pid_t pid, uint64_t base, uint64_t address, uint64_t range[2]);
/* Returns the address of a symbol that the program itself defines, exported or not, by the symbol table of its file, or 0.  base: address
 * at which the program's first page is mapped. */
uint64_t proc_mem_find_program_symbol(pid_t pid, uint64_t base, const char *name);

#endif
