/* SPDX-License-Identifier: MIT */
/*
 * Least rights for commands that parse untrusted bytes.  A command names the files that it will read and write, and then gives up all
 * other rights: files by Landlock, system calls by a seccomp filter, privileges by dropping capabilities.  Means that the kernel lacks are
 * left out without a message.  `tailor doctor` shows which ones are available.
 *
 *	confine_allow_read("t.tlr");
 *	confine_allow_write("out/t.html");	// allows the folder, since outputs are created beside the old file
 *	confine_begin(CONFINE_READER);
 *
 * A recorder cannot be under Landlock, since a process under Landlock may not look into processes outside.  It asks a steward
 * (jitreg/confine/steward.h) for the few changes of files that it makes.
 *
 * Context: thread, before the command starts threads.
 */
#ifndef TAILOR_CONFINE_H
#define TAILOR_CONFINE_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Columns: NAME, use of Landlock, calls that the filter permits in addition, capabilities that are kept (confine.c), purpose.
 * Without such a permission, all policies refuse ptrace, other processes' memory, kernel keys, modules, mounts, namespaces, BPF, io_uring,
 * and changes of owners, set-user-ID bits and terminals' input.
 */
#define CONFINE_POLICIES(X) \
	X(READER, true, 0, READER, "commands that read: no programs, no sockets") \
	X(IMPORTER, true, 0, IMPORTER, "tailor import, which looks up the kernel's names") \
	X(STARTER, true, CONFINE_EXEC, READER, "views and pages that ask llvm-mca: it alone can be executed") \
	X(CLIENT, true, CONFINE_SOCKETS, READER, "commands that are given a server's address") \
	X(SERVER, true, CONFINE_LISTEN | CONFINE_EXEC, READER, "tailor serve, which asks llvm-mca, too") \
	X(CHANGER, true, 0, CHANGER, "the recorder's steward of files") \
	X(RECORDER, false, CONFINE_OTHERS_MEMORY | CONFINE_PERF, RECORDER, "recorders: no writable file is opened, no program executed") \
	X(INJECTOR, false, CONFINE_OTHERS_MEMORY | CONFINE_PERF | CONFINE_PTRACE, RECORDER, "recorders that load the agent (--inject)") \
	X(ON_CALL, false, CONFINE_OTHERS_MEMORY | CONFINE_PERF | CONFINE_WRITE, RECORDER, \
	  "recorders that wait for `tailor start` (--dormant), which names the output") \
	X(FETCHER, false, CONFINE_OTHERS_MEMORY | CONFINE_PERF | CONFINE_SOCKETS | CONFINE_WRITE, RECORDER, \
	  "recorders that fetch debug files (--debuginfod), whose library writes its own cache")

enum confine_permission {
	CONFINE_EXEC = 1 << 0,
	CONFINE_SOCKETS = 1 << 1,
	CONFINE_LISTEN = 1 << 2,
	CONFINE_OTHERS_MEMORY = 1 << 3, /* process_vm_readv, pidfds' descriptors */
	CONFINE_PERF = 1 << 4,
	CONFINE_PTRACE = 1 << 5,
	CONFINE_WRITE = 1 << 6, /* opens files for writing without Landlock */
};

#define CONFINE_POLICY_(NAME, landlock, permissions, capabilities, text) CONFINE_##NAME,
enum confine_policy { CONFINE_POLICIES(CONFINE_POLICY_) NR_CONFINE_POLICIES };
#undef CONFINE_POLICY_

/* Adds --no-sandbox to a command's options.  If it is given, all functions below do nothing. */
extern const struct argp confine_argp;
#define CONFINE_OPTION "--no-sandbox"
bool confine_is_off(void);

/* Allow to read a file, or a folder with everything below it.  A path that does not exist is ignored. */
void confine_allow_read(const char *path);
/* Allow to write to the folder of path, which need not exist, and to everything below it.  "-" is standard output, and ignored. */
void confine_allow_write(const char *path);
/* Allow to write to this folder and everything below it. */
void confine_allow_folder(const char *folder);
/* Allow to remove this folder once it is empty.  Empty folders beside it can be removed as well. */
void confine_allow_removal(const char *folder);
/* Allow to execute a program, which is looked up in PATH as execvp(3) does. */
void confine_allow_program(const char *name);
/* Allow to read system libraries, time zones, terminal descriptions, /usr, and the working folder (unless it is / or contains homes). */
void confine_allow_usual(void);
/* Allow to read the files of host names, certificates and passwords that libcurl needs. */
void confine_allow_network_files(void);

/* Give up all other rights.  Means that are unavailable are skipped; confine_state() has them. */
void confine_begin(enum confine_policy policy);

/* The means that this kernel and this process have, for `tailor doctor`. */
struct confine_state {
	int landlock_abi; /* 0: none */
	bool filters;	  /* seccomp */
};
struct confine_state confine_state(void);

#endif
