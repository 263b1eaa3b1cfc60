/* SPDX-License-Identifier: MIT */
/*
 * Hosts with a JIT: how each one is recognised, which JIT interface it has, and what names code that it generated and did not name, which
 * depends on how it was recorded.  `tailor doctor` looks for them in a program; a report says for which of them something is to be done.
 * Context: any.
 */
#ifndef TAILOR_JIT_HOSTS_H
#define TAILOR_JIT_HOSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* CPython's interface.  No code is generated: what has no names are the functions that its interpreter runs. */
#define JIT_HOST_OF_PYTHON "CPython"
#define JIT_HOST_PYTHON "frame evaluation (PEP 523)"
#define JIT_NAMES_OF_PYTHON "names of Python functions" /* so begins the notice where they are unavailable; reports begin with it */

/* Python functions too deep in the stack to have names each, as a function of CPython's for perf. */
#define JIT_PYTHON_DEEP "calls too deep for names"
#define JIT_PYTHON_DEEP_WHERE "<deep stack>"

/* So begin what a running CPython's agent notes once it was asked, whatever came of it. */
#define JIT_NOTE_OF_PYTHON "Python: functions "

/* In a CONTROL record's action, of an agent alone: name is the address of a list of the GDB JIT interface that it cannot hook, as 16
 * hexadecimal digits.  The recorder reads the list. */
#define JIT_CONTROL_LIST 0x100u
/* Likewise: name is the calling thread's from now on.  The recorder writes it as a THREAD_NAME. */
#define JIT_CONTROL_THREAD_NAME 0x101u
/* Likewise: something of the host is missing; name is host_lack_parse()'s (jitreg/hosts/host_versions.h). */
#define JIT_CONTROL_LACK 0x102u

/* How a recording is made: HEADER of the trace has the text. */
#define JIT_WAYS(X) \
	X(RUN, "run") /* also dormant */ \
	X(PRELOAD, "preload") /* the agent was preloaded without `tailor run` */ \
	X(ATTACH, "attach") \
	X(INJECT, "attach --inject") \
	X(IMPORT, "import")

#define JIT_WAY_(NAME, text) JIT_WAY_##NAME,
enum jit_way { JIT_WAY_UNKNOWN, JIT_WAYS(JIT_WAY_) NR_JIT_WAYS };
#undef JIT_WAY_

/* The text of one, and the one of a text: "", JIT_WAY_UNKNOWN where there is none (traces before 2026-11-25). */
const char *jit_way_text(enum jit_way way);
enum jit_way jit_way_of_text(const char *text);

/* Ways that name a host's code without an option of the host's. */
#define JIT_BY(way) (1u << JIT_WAY_##way)
#define JIT_BY_AGENT (JIT_BY(RUN) | JIT_BY(PRELOAD))
#define JIT_BY_ALL (JIT_BY_AGENT | JIT_BY(ATTACH) | JIT_BY(INJECT))
/* Beside these: it is a library that any program may use, also a host of its own. */
#define JIT_SERVES_OTHERS (1u << 31)

struct jit_host {
	const char *interface;	  /* its JIT interface; stable, for scripts.  NULL: it has none that could be looked for */
	const char *symbol, *word; /* of the interface: a dynamic symbol, or NULL; a word in the program or the names of its libraries */
	const char *says;	  /* what the interface gives; by which ways, jit_host_list_ways() says */
	const char *name;	  /* of the host; NULL: any may have the interface */
	const char *objects;	  /* file names of what maps or holds its code, up to a version; separated by spaces */
	uint32_t heard;		  /* JIT_BY(way): measured, tests/hosts/README.md */
	const char *option;	  /* the host's own way to name its code: "run node with --perf-basic-prof"; NULL: it has none */
	const char *in_force;	  /* texts in an argument or an environment that show that it is in force; separated by spaces */
	const char *otherwise;	  /* what helps where neither does: a sentence without its full stop; NULL: the list of its instructions */
};

extern const struct jit_host jit_hosts[];
extern const size_t nr_jit_hosts;

/* What is known of a recording in which code of a host has no names. */
struct jit_recording {
	enum jit_way way;
	bool no_adapt;	      /* --no-adapt: hosts were not asked for more than they tell by themselves */
	const char *in_force; /* the text of the host's option that was found in force, or NULL */
};

/*
 * What to do about it: sentences, the last one without its full stop; that which changes least in the host comes first, and what was
 * done already does not come.  host: NULL: it is in no line of the list.
 */
#define JIT_ADVICE_BYTES 320
void jit_host_advise(const struct jit_host *host, const struct jit_recording *how, char advice[JIT_ADVICE_BYTES]);

/* All ways to names of its code, the one that changes least in the host first: attach, attach --inject, run, then an option of the host's;
 * what doctor and docs/hosts.md say of it, and by the same order the advice above. */
void jit_host_list_ways(const struct jit_host *h, char text[JIT_ADVICE_BYTES]);

/*
 * Options of hosts that an argument of a command, or a NAME=VALUE of an environment, has in it: each(context, text of the list above),
 * once for each host that has it.  Nothing else of what stands there leaves this function.
 */
void jit_host_each_option_in(const char *argument, void (*each)(void *context, const char *option), void *context);

/* Does a symbol stand for all code that a host generates (QEMU 7.2's buffer)?  Then it names none of it. */
bool jit_host_is_code_buffer(const char *symbol);

/* The host whose code an object maps or holds, by the object's path; NULL: unknown. */
const struct jit_host *jit_host_of_object(const char *path);

/* The host of a library that a program has loaded: any module of an interpreter may be called poly.so. */
const struct jit_host *jit_host_of_library(const char *path);

/* Is it a library with a JIT that other hosts and ordinary programs load (LLVM, PCRE2), so that it need not be the one that generated
 * code? */
bool jit_host_serves_others(const struct jit_host *host);

#endif
