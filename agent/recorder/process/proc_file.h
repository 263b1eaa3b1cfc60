/* SPDX-License-Identifier: MIT */
/* This module reads files of the kernel in /proc, so that the recorder parses each format only here. Formats: proc(5). Context: thread. */
#ifndef TAILOR_PROC_FILE_H
#define TAILOR_PROC_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Reads a file that holds one number.  Returns false if the file cannot be read or has none, and leaves *value. */
bool proc_read_number(const char *path, long long *value);
/* Reads the rest of the first line that begins with key, without the blanks, tabs and colons after the key, and cuts it to fit.  value is
 * "" if there is none. */
void proc_read_value(const char *path, const char *key, char *value, size_t bytes);

/* Returns a soft limit of /proc/PID/limits, by its name there: UINT64_MAX if it is unlimited, 0 if it is 0 or cannot be read.  prlimit(2)
 * is not used, since it needs CAP_SYS_RESOURCE for processes of other users. */
uint64_t proc_limit(pid_t pid, const char *name);

/* This struct has values of /proc/PID/stat, or of a thread's. */
struct proc_stat {
	char state; /* letter of the state (proc(5)): R is running, Z a zombie, X dead */
	pid_t parent;
	uint64_t start_ticks; /* clock ticks since boot, sysconf(_SC_CLK_TCK) a second */
	uint64_t used_ticks;  /* processor time of the program and of the kernel for it */
};
/* Reads /proc/PID/stat, or that of thread tid unless it is 0.  Returns false if it cannot be read, mostly because the process is gone. */
bool proc_stat(pid_t pid, pid_t tid, struct proc_stat *out);

/* This struct has values of /proc/PID/status, or of a thread's. parent and users are -1 if the file has no such line. */
struct proc_status {
	char state;
	long process, parent, tracer, user, effective_user;
	pid_t own_pid; /* PID, or the thread's number, in the innermost of its PID namespaces */
	bool has_memory;
	uint64_t pending_signals; /* signals pending for the thread or its process, a bit each */
};
/* Reads /proc/PID/status, or that of thread tid unless it is 0.  Returns 0, -ESRCH if the process is gone, or another -errno. */
int proc_status(pid_t pid, pid_t tid, struct proc_status *out);

/* This struct is a line of /proc/PID/maps. path: "" for anonymous memory; valid until the callback returns. */
struct proc_mapping {
	uint64_t start, end, offset, inode;
	uint64_t device; /* major << 32 | minor */
	uint32_t prot; /* PROT_* */
	bool shared;
	const char *path;
};
/* Calls each(context, mapping) for the mappings of a process, by ascending address, until it returns nonzero.  Returns what each() returned
 * last, 0 if there are no mappings, or -errno if they cannot be read (-ENOENT: the process is gone). */
int proc_each_mapping(pid_t pid, int (*each)(void *context, const struct proc_mapping *m), void *context);

/* Calls each(context, text) for the texts of /proc/PID/NAME ("environ" or "cmdline") until it returns nonzero.  Returns what each()
 * returned last, 0 if there are no texts, or -errno if the file cannot be read.  Texts behind the first MiB are not read. */
int proc_each_terminated_text(pid_t pid, const char *name, int (*each)(void *context, const char *text), void *context);

enum proc_namespace { PROC_NAMESPACE_PID, PROC_NAMESPACE_USER, PROC_NAMESPACE_CGROUP };
/* Is this process in the machine's first namespace of that kind, or is that unknown?  In another, what the kernel tells is not the
 * machine's: processes outside have the PID 0, root has no rights outside, and control groups have no names above the namespace's own. */
bool proc_is_first_namespace(enum proc_namespace kind);
/* Is this user root, and not only of a user namespace? */
bool proc_is_root_of_machine(void);

/* Calls each(context, number) for the names in a folder (/proc, /proc/PID/task) that are numbers, until it returns nonzero.  Returns what
 * each() returned last, 0 if there are no numbers, or -errno if the folder cannot be opened. */
int proc_each_numbered_entry(const char *folder, int (*each)(void *context, pid_t number), void *context);

#endif
