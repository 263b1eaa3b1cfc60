/* SPDX-License-Identifier: MIT */
/*
 * Finds the functions that samples are in, of generated code and of images whose code the trace has, and disassembles them, with arrows for
 * jumps. Context: thread.
 */
#ifndef TAILOR_DISASSEMBLY_H
#define TAILOR_DISASSEMBLY_H

#include "analyzer/query/code_bytes.h"
#include "analyzer/query/frequencies.h"
#include "analyzer/symbols/insn.h"
#include "analyzer/view/view.h"

#define DISASSEMBLY_LANES 4
#define STEP_TEXT_MAX 300
#define DISASSEMBLY_FUNCTIONS_MAX 64 /* maximum number of functions that a view shows */

/* flag in hit.code: the hit is in a file, whichever process mapped it where, and ip is an address in the file */
#define HIT_OF_FILE 0x80000000u

/* Add the group of sums that hits are made of. flags: as of report_add_group(). */
struct report_group *hits_ask_group(struct report *r, unsigned flags);
/* Add the same group, but with the components of a level as a further key. */
struct report_group *hits_ask_group_by_level(struct report *r, unsigned flags, uint32_t level);
#define HITS_EVENT 3 /* index in the group's keys of the event */
#define HITS_COMPONENT 4

struct hit { /* A hit is the samples of one event at one address. */
	uint32_t code, event; /* code: 1 + number of the code object in the model, perhaps with HIT_OF_FILE */
	uint64_t ip;
	const struct group_sum *sum;
};

struct hot { /* A hot function is one that has hits. */
	struct code_bytes place;
	char name[256];
	const char *image; /* file name of its image; NULL: generated code, or the name contains it */
	double measure, samples;
	uint32_t first, nr; /* hits in it: first is the index, nr the number */
};

/* Return the sums of hits_ask_group() as hits, sorted by code and address, those of one file together. *nr: how many. *all: the measure of
 * the report's event in all of them. The caller frees the hits. Return NULL if memory runs out. hot_find() finds the functions around
 * them. */
struct hit *hits_make_all(const struct report *r, const struct report_group *by, uint32_t *nr, double *all);
/* Return the hits of one component (HITS_OF_ALL: of all), from a group of hits_ask_group_by_level(), as hits_make_all() does. */
struct hit *hits_make_of_component(const struct report *r, const struct report_group *by, uint32_t component, uint32_t *nr, double *all);
#define HITS_OF_ALL UINT32_MAX
/* Write the function's name and address for a heading: "memcpy of libc.so.6 at 0x9e180". */
void hot_title(const struct hot *h, char *text, size_t bytes);
/* Find the functions around hits, which are sorted as hits_make_all() does. The hottest function is first. Return how many there are. The
 * caller frees *out, which is NULL if memory runs out. */
uint32_t hot_find(const struct report *r, const struct hit *hit, uint32_t nr, struct hot **out);
/* Return how many of the functions a view shows, at most DISASSEMBLY_FUNCTIONS_MAX. Text leaves out those with less than 1 % of all
 * samples, except for the first one and with --top 0. */
uint32_t hot_count_shown(const struct hot *hot, uint32_t nr, double all, const struct page *p);

/* Read the bytes of the first nr functions. The caller frees place.bytes, which stays NULL if the trace has none of a function, or if
 * memory runs out. */
void hot_read_code_bytes(struct report *r, struct hot *hot, uint32_t nr);

struct step { /* A step is an instruction of a function. */
	uint64_t address;
	struct insn insn;
	int to; /* index of the step that it jumps to, or -1 */
	unsigned char lane; /* column of the jump's arrow, counted from the instruction, from 1 on; 0: no arrow */
	const struct group_sum *sum[VIEW_EVENTS_MAX];
	const char *file;
	uint32_t line;
	const char *refers; /* symbol that it refers to, or function that it calls, or NULL */
};

/* Disassemble a function whose bytes have been read. The caller frees the steps. Return NULL if memory runs out. */
struct step *disassemble_hot_function(const struct hot *h, const struct hit *hit, int *nr_steps);
/* Return the component of the instruction's line, if that line is of a text that the host registered with components, or COMPONENT_NONE. */
uint32_t step_component(const struct report *r, const struct hot *h, const struct step *s);
/* Get how often an instruction runs: as often as the host counted at the instruction itself, or else as its line in a text of the host.
 * Return false if it is not known. */
bool step_executions(const struct report *r, const struct frequencies *counts, const struct hot *h, const struct step *s,
		     struct frequency *out);
/* Write the instruction, with the name of the function that it calls or jumps to, or of the symbol that it refers to. Return text. */
char *step_text(const struct report *r, const struct hot *h, const struct step *s, char text[STEP_TEXT_MAX]);
/* Write the arrows beside instruction i. between: those beside a source line that stands in front of the instruction. */
void disassembly_arrows(const struct step *s, int nr, int i, bool between, bool utf8, char text[4 * (DISASSEMBLY_LANES + 2)]);

#endif
