/* SPDX-License-Identifier: MIT */
/*
 * Holds profiles for export to another program, which are samples with their call stacks, by process and event. Each text, function,
 * location and stack is in a table once, and is referred to by its number. pprof.h and otlp.h write profiles. Numbers of table entries
 * begin at 1, and 0 is none. The functions that return a number add the entry if it is missing. They set failed if memory runs out, and
 * the number must not be used then. Context: thread.
 */
#ifndef TAILOR_WIRE_PROFILES_H
#define TAILOR_WIRE_PROFILES_H

#include "jitreg/base/hash_map.h"

#include <stdbool.h>

enum wire_kind { WIRE_NATIVE, WIRE_KERNEL, WIRE_GENERATED, WIRE_COMPONENT, WIRE_QUERY, WIRE_UNKNOWN, NR_WIRE_KINDS };

/* A frame of a call stack with its names.  NULL counts as "". */
struct wire_frame {
	enum wire_kind kind;
	const char *name, *symbol; /* symbol: one of the function's mangled symbols if name is not a symbol itself; else NULL */
	const char *image, *source;
	uint32_t line;
	uint32_t start_line; /* line of the function's declaration; 0: unknown */
};

/* This struct is a process.  All members but pid are numbers of texts. */
struct wire_process {
	uint32_t service, name, executable, host, pid; /* name: that of the executable */
};

struct wire_thread {
	uint32_t name, tid; /* name: number of a text */
};

struct wire_profile {
	uint32_t process; /* number in the table of processes */
	uint32_t event, unit; /* numbers of texts; weight_unit_parse() reads the unit */
	uint64_t period; /* events or ns that a sample stands for; 0: not fixed */
	uint64_t begin_ns, end_ns; /* ns since 1970, UTC */
	/* id of the recording, from which otlp.c makes the identifier of the profile, together with number and part, process, event and
	 * begin_ns */
	uint64_t recording;
	uint32_t number, part; /* number: that of the epoch in the recording; part: index among those that a profile is split into */
};

struct wire_sample {
	uint32_t profile, stack;
	uint32_t thread;    /* number in the table of threads; 0: none */
	uint32_t component; /* number of a text */
	uint64_t samples, weight;
};

struct wire_function {
	uint32_t name, symbol, image, source, start_line;
};

struct wire_location {
	uint32_t function, line;
	enum wire_kind kind;
};

struct wire_stack { /* a call stack: number of the caller's stack (0: none), number of the innermost location */
	uint32_t caller, location;
};

struct wire_table {
	struct hash_map of;
	uint32_t nr, capacity;
};

/* This struct has all profiles.  A struct of all zeros has none. */
struct wire_profiles {
	char **text;
	struct wire_function *function;
	struct wire_location *location;
	struct wire_stack *stack;
	struct wire_process *process;
	struct wire_thread *thread;
	struct wire_profile *profile;
	struct wire_sample *sample;
	struct wire_table texts, functions, locations, stacks, processes, threads, profiles, samples;
	const char *component_key; /* name of the component's level ("operator") */
	bool failed; /* memory ran out, and the content is unusable */
};

/* wire_text() returns 0 for NULL and "", and wire_text_of() returns "" for 0. Its result is valid until wire_fini(). */
uint32_t wire_text(struct wire_profiles *p, const char *text);
const char *wire_text_of(const struct wire_profiles *p, uint32_t text);
/* Returns the number of the stack of this frame, which the stack caller (0: none) called. */
uint32_t wire_stack(struct wire_profiles *p, uint32_t caller, const struct wire_frame *frame);
/* Returns the number of the process with this service, executable, host and pid.  service: "" or NULL if it has none. */
uint32_t wire_process(struct wire_profiles *p, const char *service, const char *name, const char *executable, const char *host,
		      uint32_t pid);
uint32_t wire_thread(struct wire_profiles *p, const char *name, uint32_t tid);
/* Returns the number of the profile with this process, event and begin_ns. A new one copies *profile, with the texts event and unit. */
uint32_t wire_profile(struct wire_profiles *p, const struct wire_profile *profile, const char *event, const char *unit);
/* Add a sample. If one with the same profile, stack, thread and component was added before, samples and weight are added to that one. */
void wire_sample(struct wire_profiles *p, const struct wire_sample *sample);
void wire_fini(struct wire_profiles *p);

#endif
