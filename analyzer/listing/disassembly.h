/* SPDX-License-Identifier: MIT */
/*
 * The functions that samples are in, of generated code and of images whose code the trace has. The instructions of one function, with
 * arrows for its jumps. Context: thread.
 */
#ifndef TAILOR_DISASSEMBLY_H
#define TAILOR_DISASSEMBLY_H

#include "analyzer/query/code_bytes.h"
#include "analyzer/query/frequencies.h"
#include "analyzer/symbols/insn.h"
#include "analyzer/view/view.h"

#define DISASSEMBLY_LANES 4
#define STEP_TEXT_MAX 300
#define DISASSEMBLY_FUNCTIONS_MAX 64 /* functions that a view shows */

#define HIT_OF_FILE 0x80000000u /* flag in code: the hit is in any mapping of the file, and ip is the address in the file */

/* Add the group that hits are made of. flags: as in report_add_group(). */
struct report_group *hits_ask_group(struct report *r, unsigned flags);
/* Add the same group, also split by the component at a level. */
struct report_group *hits_ask_group_by_level(struct report *r, unsigned flags, uint32_t level);
#define HITS_EVENT 3 /* index of the key that is the event */
#define HITS_COMPONENT 4

struct hit { /* one address and one event */
	uint32_t code, event; /* code: 1 + number */
	uint64_t ip;
	const struct group_sum *sum;
};

struct hot { /* one function */
	struct code_bytes place;
	char name[256];
	const char *image; /* file name; NULL: generated code */
	double measure, samples;
	uint32_t first, nr; /* hits */
};

/* Return the sums of hits_ask_group() in the order of addresses, those of one file together. *nr: how many. *all: the sum of the event that
 * is shown. The caller frees the hits. NULL without memory. hot_find() finds the functions around them. */
struct hit *hits_make_all(const struct report *r, const struct report_group *by, uint32_t *nr, double *all);
/* Return the hits of one component as hits_make_all() does. HITS_OF_ALL: of all components. */
struct hit *hits_make_of_component(const struct report *r, const struct report_group *by, uint32_t component, uint32_t *nr, double *all);
#define HITS_OF_ALL UINT32_MAX
/* Write the function's name for a heading: "memcpy of libc.so.6". */
void hot_title(const struct hot *h, char *text, size_t bytes);
/* Find the functions around hits, which are in the order of addresses. The hottest function is first. Return how many. The caller frees
 * *out, which is NULL without memory. */
uint32_t hot_find(const struct report *r, const struct hit *hit, uint32_t nr, struct hot **out);
/* Return how many of the functions a view shows. A text without --top 0 leaves out the cold ones. */
uint32_t hot_count_shown(const struct hot *hot, uint32_t nr, double all, const struct page *p);

/* Read the bytes of the first nr functions. place.bytes is NULL if the trace has none of a function, and the caller frees it. */
void hot_read_code_bytes(struct report *r, struct hot *hot, uint32_t nr);

struct step { /* an instruction */
	uint64_t address;
	struct insn insn;
	int to; /* number of the step that it jumps to, or -1 */
	unsigned char lane; /* lane of the jump's arrow: 1 is the innermost; 0: none */
	const struct group_sum *sum[VIEW_EVENTS_MAX];
	const char *file;
	uint32_t line;
	const char *refers; /* symbol that it refers to, or function that it calls */
};

/* Disassemble a function whose bytes have been read. The caller frees the steps. NULL without memory. */
struct step *disassemble_hot_function(const struct hot *h, const struct hit *hit, int *nr_steps);
/* Return the component of the instruction's line in a text of the host, or COMPONENT_NONE. */
uint32_t step_component(const struct report *r, const struct hot *h, const struct step *s);
/* Get how often an instruction runs: as often as its line in a text of the host, unless the host counts the instruction itself. false: not
 * known. */
bool step_executions(const struct report *r, const struct frequencies *counts, const struct hot *h, const struct step *s,
		     struct frequency *out);
/* Write the instruction with the name of the symbol that it calls, jumps or refers to. Return text. */
char *step_text(const struct report *r, const struct hot *h, const struct step *s, char text[STEP_TEXT_MAX]);
/* Write the gutter of row i. between: the row of a source line in front of the instruction. */
void disassembly_arrows(const struct step *s, int nr, int i, bool between, bool utf8, char text[4 * (DISASSEMBLY_LANES + 2)]);

#endif
