/* SPDX-License-Identifier: MIT */
/*
 * This file lists hosts with a JIT. It says how each one is recognised, which JIT interface it has, and by which ways of recording, or
 * else by which option of its own, its generated code gets names. `tailor doctor` looks for these hosts in a program. Reports give advice
 * for hosts whose code has no names, which depends on how the trace was recorded. Context: any.
 */
#ifndef TAILOR_JIT_HOSTS_H
#define TAILOR_JIT_HOSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* This is the name of CPython, which mostly generates no code.  Without its JIT interface, the functions that its interpreter runs have no
 * names. */
#define JIT_HOST_OF_PYTHON "CPython"
#define JIT_NAMES_OF_PYTHON "names of Python functions"

/* These are the name and the source file of the one row for all Python functions that are too deep in the stack to have a row each. */
#define JIT_PYTHON_DEEP "calls too deep for names"
#define JIT_PYTHON_DEEP_WHERE "<deep stack>"

/* V8 runs all functions that it interprets behind this code of its own, unless it was told to give each one a copy.  So their frames have
 * no names, and this is the one row for all of them. */
#define JIT_V8_INTERPRETER "Builtin:InterpreterEntryTrampoline"
#define JIT_V8_INTERPRETED "interpreted, not named"
#define JIT_V8_INTERPRETED_WHERE "<V8>"

/* These are actions of CONTROL records that only agents send, besides those of jitreg.h.  LIST: name is the address, in 16 hexadecimal
 * digits, of a struct jit_descriptor of the GDB JIT interface whose changes the agent cannot see.  The recorder reads its list of code. */
#define JIT_CONTROL_LIST 0x100u
/* THREAD_NAME: name is the new name of the calling thread, which the recorder writes as a THREAD_NAME record. */
#define JIT_CONTROL_THREAD_NAME 0x101u
/* LACK: information of the host is missing.  host_lack_parse() (jitreg/hosts/host_versions.h) parses name. */
#define JIT_CONTROL_LACK 0x102u
/* PYTHON: the agent reports on CPython's functions.  python_note_parse() (jitreg/hosts/python_notes.h) parses name. */
#define JIT_CONTROL_PYTHON 0x103u

/* The ways to make a recording.  The HEADER record of a trace has the text of its way. */
#define JIT_WAYS(X) \
	X(RUN, "run") /* also with --dormant */ \
	X(PRELOAD, "preload") /* the agent was preloaded without `tailor run` */ \
	X(ATTACH, "attach") \
	X(INJECT, "attach --inject") \
	X(IMPORT, "import")

#define JIT_WAY_(NAME, text) JIT_WAY_##NAME,
enum jit_way { JIT_WAY_UNKNOWN, JIT_WAYS(JIT_WAY_) NR_JIT_WAYS };
#undef JIT_WAY_

/* Return the text of a way, or the way with a text.  JIT_WAY_UNKNOWN, as of traces from before 2026-11-25, has the text "", and is returned
 * for all other texts. */
const char *jit_way_text(enum jit_way way);
enum jit_way jit_way_of_text(const char *text);

/* Sets of ways of recording, as bits. */
#define JIT_BY(way) (1u << JIT_WAY_##way)
#define JIT_BY_AGENT (JIT_BY(RUN) | JIT_BY(PRELOAD))
#define JIT_BY_ALL (JIT_BY_AGENT | JIT_BY(ATTACH) | JIT_BY(INJECT))
/* A flag in the same word: the host is a library that programs of all kinds use, also other hosts. */
#define JIT_SERVES_OTHERS (1u << 31)
/* This flag in that word says that the host is CPython. */
#define JIT_IS_PYTHON (1u << 30)

struct jit_host {
	/* name of its JIT interface, which stays the same for scripts; NULL: it has none by which it could be recognised */
	const char *interface;
	const char *symbol, *word; /* dynamic symbol of the interface, or NULL; text in the program's file or in names of its libraries */
	const char *says;	  /* information that the interface gives */
	const char *name;	  /* name of the host */
	const char *objects;	  /* beginnings of the names of files that contain it or map its generated code, separated by spaces */
	/* JIT_BY(way) of the ways by which its code gets names without an option, as tested (tests/hosts/README.md), and the flags above */
	uint32_t heard;
	/* how to set the option of the host that gives its code names, "run node with --perf-basic-prof"; NULL: none */
	const char *option;
	/* texts in arguments or the environment that show that the option is set, separated by spaces; NULL: none */
	const char *in_force;
	/* advice if there is no way and no option, a sentence without its full stop; NULL: the advice to list instructions */
	const char *otherwise;
};

extern const struct jit_host jit_hosts[];
extern const size_t nr_jit_hosts;

/* Says how a recording was made in which code of a host has no names. */
struct jit_recording {
	enum jit_way way;
	bool no_adapt;	      /* the recording was made with --no-adapt */
	const char *in_force; /* the text of in_force that was found, so the host's option was set already; NULL: none */
};

/*
 * Write what to do about missing names, as sentences, the last one without its full stop.  Ways that change less in the host come first,
 * and those by which the recording was made are left out.  host: NULL if it is not in the list.
 */
#define JIT_ADVICE_BYTES 320
void jit_host_advise(const struct jit_host *host, const struct jit_recording *how, char advice[JIT_ADVICE_BYTES]);

/* List the ways to get names of the host's code, those that change less in the host first: attach, attach --inject (unless attach
 * suffices), run, then an option of the host. If there are none, write `otherwise`, or the advice to list instructions. `tailor doctor` and
 * docs/hosts.md show this text. */
void jit_host_list_ways(const struct jit_host *h, char text[JIT_ADVICE_BYTES]);

/*
 * Find options of hosts in an argument of a command, or in a NAME=VALUE of an environment.  Calls each(context, option) for each text of
 * in_force that is in it.  The option is that text, so nothing else of the argument, which may be confidential, gets into a trace.
 */
void jit_host_each_option_in(const char *argument, void (*each)(void *context, const char *option), void *context);

/* Is this the symbol of a buffer with all code that a host generates (QEMU 7.2's), so that it is not the name of a function? */
bool jit_host_is_code_buffer(const char *symbol);

/* Is the path's file one of a list of names, as in struct jit_host's objects?  Behind a name may be a version or an extension. */
bool jit_host_path_is_of_objects(const char *path, const char *objects);

/* Returns the host that a file contains or whose code it maps, by the file's name, or NULL if there is none in the list. */
const struct jit_host *jit_host_of_object(const char *path);

/* Returns the host that a library contains, or NULL.  Names that are those of programs do not count, since any module may be called
 * poly.so. */
const struct jit_host *jit_host_of_library(const char *path);

/* Is the host a library that other hosts and ordinary programs load (LLVM, PCRE2)?  A program that has it may have another host too, whose
 * code is without names. */
bool jit_host_serves_others(const struct jit_host *host);
bool jit_host_is_python(const struct jit_host *host);

#endif
