/* SPDX-License-Identifier: MIT */
/*
 * Finds what can be recorded on this machine. The result is a list of findings. A finding that is unavailable or restricted has the reason
 * and, if one is known, a remedy, which is a command or an instruction. build.c describes this tailor, machine.c reads settings, limits and
 * a process's state, sampling.c tries every sampling method, and symbols.c finds files without names of functions. Nothing on the machine
 * is changed. Context: thread.
 */
#ifndef TAILOR_DOCTOR_H
#define TAILOR_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

enum doctor_state {
	DOCTOR_YES,    /* available */
	DOCTOR_LESS,   /* available with a restriction */
	DOCTOR_NO,     /* unavailable */
	DOCTOR_FACT,   /* for information */
};

#define DOCTOR_FINDINGS_MAX 128

struct doctor_finding {
	const char *section; /* "machine", "sampling", ...; stable, for scripts */
	char name[64];
	enum doctor_state state;
	char says[320];	 /* a text on what was found; the reason, if it is unavailable or restricted */
	char remedy[256]; /* a command, or an instruction; "": none is known, or none is needed */
};

/* DOCTOR_NO_CONTAINER is 0. */
#define DOCTOR_CONTAINERS(X) X(NO_CONTAINER, "") X(DOCKER, "docker") X(PODMAN, "podman") X(KUBERNETES, "kubernetes")

#define DOCTOR_CONTAINER_(NAME, text) DOCTOR_##NAME,
enum doctor_container { DOCTOR_CONTAINERS(DOCTOR_CONTAINER_) NR_DOCTOR_CONTAINERS };
#undef DOCTOR_CONTAINER_
extern const char *const doctor_containers[NR_DOCTOR_CONTAINERS]; /* texts */

struct doctor {
	struct doctor_finding finding[DOCTOR_FINDINGS_MAX];
	int nr;
	/* facts that several findings need */
	int paranoid;	/* kernel.perf_event_paranoid; -2: unknown */
	bool root;	/* the effective user is root of the machine */
	bool user_namespace; /* this process is in another user namespace than the machine's first */
	bool perfmon;	/* CAP_PERFMON or CAP_SYS_ADMIN, effective */
	bool lock;	/* CAP_IPC_LOCK: locked memory has no limit */
	bool seccomp;	/* a filter restricts this process */
	bool virtual_machine;
	enum doctor_container container;
	bool can_sample; /* a method to take samples works */
};

/* Adds a finding, and returns it for doctor_set_remedy().  The texts but section are copied.  Findings beyond DOCTOR_FINDINGS_MAX are not
 * shown. */
struct doctor_finding *doctor_add_finding(struct doctor *d, const char *section, const char *name, enum doctor_state state,
					  const char *says, ...) __attribute__((format(printf, 5, 6)));
void doctor_set_remedy(struct doctor_finding *f, const char *remedy, ...) __attribute__((format(printf, 2, 3)));

/* Reports this tailor's version, compiler and build id, and the files of its libraries. */
void doctor_check_build(struct doctor *d);
/*
 * Reports kernel, processor, container, confinement, user, privileges and limits. Callers call it before doctor_check_sampling(), which
 * needs the facts of struct doctor that this sets.
 */
void doctor_check_machine(struct doctor *d);
/* Tries each sampling method, and reports what can be recorded with samples. */
void doctor_check_sampling(struct doctor *d);
/* Reports whether a running process can be attached to, and whether it has an agent and a recorder.  Returns 0, or -errno if it cannot be
 * attached to. */
int doctor_check_process(struct doctor *d, pid_t pid);

/*
 * Reports which files of a process, or whether the file of a program (pid 0), have no names of their own functions and no debug files with
 * them. At most 32 files are named, and fewer if their names are long.
 */
void doctor_check_symbols(struct doctor *d, const char *program, pid_t pid);

/* Can samples be taken by any method? The caller has called doctor_check_sampling(). */
bool doctor_can_record(const struct doctor *d);
void doctor_print_text(const struct doctor *d, FILE *to);
void doctor_print_json(const struct doctor *d, FILE *to);

#endif
