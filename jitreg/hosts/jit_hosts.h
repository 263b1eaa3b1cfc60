/* SPDX-License-Identifier: MIT */
/*
 * Hosts with a JIT: how each one is recognised, which JIT interface it has, and how to get names of generated code that has none, which
 * depends on how the host was recorded.  `tailor doctor` looks for these hosts in a program, and reports give advice for those whose code
 * has no names.  Context: any.
 */
#ifndef TAILOR_JIT_HOSTS_H
#define TAILOR_JIT_HOSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The interface of CPython.  It generates no code, and the functions that its interpreter runs are those without names. */
#define JIT_HOST_OF_PYTHON "CPython"
#define JIT_HOST_PYTHON "frame evaluation (PEP 523)"
#define JIT_NAMES_OF_PYTHON "names of Python functions" /* begins the notice that these are unavailable, which reports show first */

/* The row of Python functions that are too deep in the stack to have a name each, and its place. */
#define JIT_PYTHON_DEEP "calls too deep for names"
#define JIT_PYTHON_DEEP_WHERE "<deep stack>"

/* The beginning of the note that the agent in a running CPython sends when it has tried to register functions, whether it failed or not. */
#define JIT_NOTE_OF_PYTHON "Python: functions "

/* An action of CONTROL records that only agents send: name is the address of a list of the GDB JIT interface that the agent cannot hook, as
 * 16 hexadecimal digits.  The recorder reads the list. */
#define JIT_CONTROL_LIST 0x100u
/* An action of agents: name is the new name of the calling thread, which the recorder writes as a THREAD_NAME. */
#define JIT_CONTROL_THREAD_NAME 0x101u
/* An action of agents: something of the host is missing.  host_lack_parse() (jitreg/hosts/host_versions.h) parses name. */
#define JIT_CONTROL_LACK 0x102u

/* The ways to make a recording.  HEADER of the trace has the text. */
#define JIT_WAYS(X) \
	X(RUN, "run") /* including dormant */ \
	X(PRELOAD, "preload") /* the agent was preloaded without `tailor run` */ \
	X(ATTACH, "attach") \
	X(INJECT, "attach --inject") \
	X(IMPORT, "import")

#define JIT_WAY_(NAME, text) JIT_WAY_##NAME,
enum jit_way { JIT_WAY_UNKNOWN, JIT_WAYS(JIT_WAY_) NR_JIT_WAYS };
#undef JIT_WAY_

/* The text of a way, and the way of a text.  JIT_WAY_UNKNOWN has the text "" (traces before 2026-11-25). */
const char *jit_way_text(enum jit_way way);
enum jit_way jit_way_of_text(const char *text);

/* Sets of ways that name code of a host without an option of the host. */
#define JIT_BY(way) (1u << JIT_WAY_##way)
#define JIT_BY_AGENT (JIT_BY(RUN) | JIT_BY(PRELOAD))
#define JIT_BY_ALL (JIT_BY_AGENT | JIT_BY(ATTACH) | JIT_BY(INJECT))
/* A flag beside the ways: the host is a library that any program may use, also another host. */
#define JIT_SERVES_OTHERS (1u << 31)

struct jit_host {
	const char *interface;	  /* name of its JIT interface, stable for scripts; NULL: none that can be searched for */
	const char *symbol, *word; /* dynamic symbol of the interface, or NULL; word in the program or in names of its libraries */
	const char *says;	  /* information from the interface; jit_host_list_ways() has the ways to get it */
	const char *name;	  /* name of the host; NULL: any host may have the interface */
	const char *objects;	  /* names of files that map or hold its code, without versions; separated by spaces */
	uint32_t heard;		  /* JIT_BY(way), as measured (tests/hosts/README.md) */
	const char *option;	  /* option of the host that names its code, "run node with --perf-basic-prof"; NULL: none */
	const char *in_force;	  /* texts in arguments or the environment that show that option is set; separated by spaces */
	const char *otherwise;	  /* advice if neither helps, a sentence without its full stop; NULL: list its instructions */
};

extern const struct jit_host jit_hosts[];
extern const size_t nr_jit_hosts;

/* The properties of a recording in which code of a host has no names. */
struct jit_recording {
	enum jit_way way;
	bool no_adapt;	      /* --no-adapt: host adapters were disabled */
	const char *in_force; /* text of the host's option that was set, or NULL */
};

/*
 * Write what to do about the missing names, as sentences, the last one without its full stop.  The advice that changes least in the host
 * comes first, and steps that were already taken are omitted.  host: NULL if it is not in the list.
 */
#define JIT_ADVICE_BYTES 320
void jit_host_advise(const struct jit_host *host, const struct jit_recording *how, char advice[JIT_ADVICE_BYTES]);

/* List all ways to get names of its code, those that change least in the host first: attach, attach --inject, run, then an option of the
 * host.  doctor and docs/hosts.md show this text.  jit_host_advise() uses the same order. */
void jit_host_list_ways(const struct jit_host *h, char text[JIT_ADVICE_BYTES]);

/*
 * Find options of hosts in an argument of a command, or in a NAME=VALUE of an environment.  Calls each(context, text of the list above) for
 * each host that has the option.  No other part of the argument is passed on.
 */
void jit_host_each_option_in(const char *argument, void (*each)(void *context, const char *option), void *context);

/* Does a symbol stand for all code that a host generates (QEMU 7.2's buffer), so that it names no part of it? */
bool jit_host_is_code_buffer(const char *symbol);

/* The host whose code an object maps or holds, by the path of the object, or NULL if unknown. */
const struct jit_host *jit_host_of_object(const char *path);

/* The host of a library that a program has loaded.  Names of programs are not accepted, since any module may be called poly.so. */
const struct jit_host *jit_host_of_library(const char *path);

/* Is the host a library with a JIT that other hosts and ordinary programs load (LLVM, PCRE2), so that the code may be another host's? */
bool jit_host_serves_others(const struct jit_host *host);

#endif
