/* SPDX-License-Identifier: MIT */
/*
 * Commands that parse untrusted bytes keep only the rights that they need. A command names the files that it will read and write. Then it
 * gives up the rights to all other files by Landlock, those to system calls that could do harm by a seccomp filter, and privileges by
 * dropping capabilities. If the kernel lacks one of the three, the command runs without it, and without a message. `tailor doctor` shows
 * which are available.
 *
 *	confine_allow_read("t.tlr");
 *	confine_allow_write("out/t.html");	// allows the folder, since outputs are created beside the old file
 *	confine_begin(CONFINE_READER);
 *
 * Recorders do not use Landlock, since a process under Landlock may not read the memory of processes that are not. Instead, their filter
 * refuses to change files, except for policies with CONFINE_WRITE, and they ask a steward process (jitreg/confine/steward.h) for the few
 * changes that they need.
 *
 * Context: thread, before the command starts threads.
 */
#ifndef TAILOR_CONFINE_H
#define TAILOR_CONFINE_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Columns: NAME, use of Landlock, permissions (enum confine_permission), capabilities that are kept (KEEP_* in confine.c), purpose.  The
 * filter refuses what the permissions name unless a policy has them.  All policies refuse kernel keys, modules, mounts, namespaces, BPF,
 * io_uring, changes of owners and modes by path, and putting text into the input of a terminal.
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
	CONFINE_OTHERS_MEMORY = 1 << 3, /* process_vm_readv(), pidfd_getfd(), kcmp() */
	CONFINE_PERF = 1 << 4,
	CONFINE_PTRACE = 1 << 5,
	CONFINE_WRITE = 1 << 6, /* changing files, in policies without Landlock */
};

#define CONFINE_POLICY_(NAME, landlock, permissions, capabilities, text) CONFINE_##NAME,
enum confine_policy { CONFINE_POLICIES(CONFINE_POLICY_) NR_CONFINE_POLICIES };
#undef CONFINE_POLICY_

/* This argp child adds --no-sandbox to a command's options. If the option is given, confine_begin() and the confine_allow functions do
 * nothing. */
extern const struct argp confine_argp;
#define CONFINE_OPTION "--no-sandbox"
bool confine_is_off(void);

/* Allow to read a file, or a folder with everything in it.  A path that does not exist is ignored. */
void confine_allow_read(const char *path);
/* Allow to read, create, write, rename and remove files in the folder of path, and in folders in it. The file itself need not exist. If it
 * is a FIFO or a device, opening it is allowed too. "-" and paths in /dev and /proc are ignored. */
void confine_allow_write(const char *path);
/* Allow to read, create, write, rename and remove files in this folder, and in folders in it. */
void confine_allow_folder(const char *folder);
/* Allow to remove this folder once it is empty.  Landlock then allows to remove other empty folders beside it as well. */
void confine_allow_removal(const char *folder);
/* Allow to execute a program, which is the first executable file of this name in the folders of PATH, and the dynamic loader. */
void confine_allow_program(const char *name);
/* Allow to read what nearly all commands need: system libraries, /usr, /opt, time zones, terminal descriptions, information on the machine
 * in /proc and /sys, and the working folder, unless root runs the command in a folder such as / or /home. Also allows to write to
 * /dev/null, /dev/zero, /dev/full and /dev/tty, and to open the standard streams again. */
void confine_allow_usual(void);
/* Allow to read the files that libcurl needs: host names, certificates, Kerberos settings, and the user's ~/.netrc. */
void confine_allow_network_files(void);

/* Give up all rights that the policy does not permit and that the confine_allow functions did not allow.  What the kernel does not support
 * is skipped. */
void confine_begin(enum confine_policy policy);

/* Says which means of confinement the kernel offers to this process, for `tailor doctor`. */
struct confine_state {
	int landlock_abi; /* 0: no Landlock */
	bool filters;	  /* the kernel has seccomp */
};
struct confine_state confine_state(void);

#endif
