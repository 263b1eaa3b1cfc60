/* SPDX-License-Identifier: MIT */
/*
 * Profiles for export to another program: samples of call stacks, by process and event, over tables that hold each text, function,
 * location and stack once.  pprof.h and otlp.h write them.  Numbers of table entries begin at 1, and 0 is none.  Context: thread.
 */
#ifndef TAILOR_WIRE_PROFILES_H
#define TAILOR_WIRE_PROFILES_H

#include "jitreg/base/hash_map.h"

#include <stdbool.h>

enum wire_kind { WIRE_NATIVE, WIRE_KERNEL, WIRE_GENERATED, WIRE_COMPONENT, WIRE_QUERY, WIRE_UNKNOWN, NR_WIRE_KINDS };

/* A frame with its names.  NULL is "". */
struct wire_frame {
	enum wire_kind kind;
	const char *name, *symbol; /* symbol: the name in the symbol table if it differs */
	const char *image, *source;
	uint32_t line;
};

/* All members but pid are numbers of texts. */
struct wire_process {
	uint32_t service, name, executable, host, pid; /* name: that of the executable */
};

struct wire_thread {
	uint32_t name, tid;
};

struct wire_profile {
	uint32_t process; /* number in the table of processes */
	uint32_t event, unit; /* numbers of texts; the unit of nanoseconds is "ns" */
	uint64_t period;
	uint64_t begin_ns, end_ns; /* UTC */
	uint64_t recording; /* id of the recording; with number, process and event, it identifies the profile */
	uint32_t number, part; /* part: index among those that the profile is split into */
};

struct wire_sample {
	uint32_t profile, stack;
	uint32_t thread;    /* number in the table of threads; 0: none */
	uint32_t component; /* number of a text */
	uint64_t samples, weight;
};

struct wire_function {
	uint32_t name, symbol, image, source;
};

struct wire_location {
	uint32_t function, line;
	enum wire_kind kind;
};

struct wire_stack { /* a location and what called it */
	uint32_t caller, location;
};

struct wire_table {
	struct hash_map of;
	uint32_t nr, capacity;
};

/* All zeros are valid and empty. */
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
	bool failed; /* there was no memory */
};

uint32_t wire_text(struct wire_profiles *p, const char *text);
const char *wire_text_of(const struct wire_profiles *p, uint32_t text);
/* The number of the stack with this frame on top of stack caller (0: none). */
uint32_t wire_stack(struct wire_profiles *p, uint32_t caller, const struct wire_frame *frame);
/* service: "" or NULL if the process has none. */
uint32_t wire_process(struct wire_profiles *p, const char *service, const char *name, const char *executable, const char *host,
		      uint32_t pid);
uint32_t wire_thread(struct wire_profiles *p, const char *name, uint32_t tid);
/* The number of the profile with this process, event and begin. */
uint32_t wire_profile(struct wire_profiles *p, const struct wire_profile *profile, const char *event, const char *unit);
/* Add a sample.  Samples with the same profile, stack, thread and component are added up. */
void wire_sample(struct wire_profiles *p, const struct wire_sample *sample);
void wire_fini(struct wire_profiles *p);

#endif
