/* SPDX-License-Identifier: MIT */
/*
 * The functions that samples are in, of generated code and of images whose code the trace has, and the instructions of one, with arrows
 * for its jumps.  Context: thread.
 */
#ifndef TAILOR_DISASSEMBLY_H
#define TAILOR_DISASSEMBLY_H

#include "analyzer/query/code_bytes.h"
#include "analyzer/query/frequencies.h"
#include "analyzer/symbols/insn.h"
#include "analyzer/view/view.h"

#define DISASSEMBLY_LANES 4
#define STEP_TEXT_MAX 300
#define DISASSEMBLY_FUNCTIONS_MAX 64 /* that a view shows */

#define HIT_OF_FILE 0x80000000u /* in code: it stands for all mappings of its file, and ip is the file's own address */

/* The group that hits are made of; flags as of report_add_group(). */
struct report_group *hits_ask_group(struct report *r, unsigned flags);
/* The same split by the component at a level. */
struct report_group *hits_ask_group_by_level(struct report *r, unsigned flags, uint32_t level);
#define HITS_EVENT 3 /* the key that is the event */
#define HITS_COMPONENT 4

struct hit { /* one address, one event */
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

/* The sums of hits_ask_group(), in the order of addresses, those of one file together; *nr: how many, *all: of the event shown.
 * malloc()ed, the caller's; NULL without memory.  hot_find() finds functions in them. */
struct hit *hits_make_all(const struct report *r, const struct report_group *by, uint32_t *nr, double *all);
/* Likewise, only hits of one component, or HITS_OF_ALL. */
struct hit *hits_make_of_component(const struct report *r, const struct report_group *by, uint32_t component, uint32_t *nr, double *all);
#define HITS_OF_ALL UINT32_MAX
/* What a heading calls it: "memcpy of libc.so.6". */
void hot_title(const struct hot *h, char *text, size_t bytes);
/* Functions around hits, which are in the order of addresses: the hottest first.  Returns how many; *out is the caller's, or NULL without
 * memory. */
uint32_t hot_find(const struct report *r, const struct hit *hit, uint32_t nr, struct hot **out);
/* How many of them a view shows: in a text without --top 0 not the cold ones. */
uint32_t hot_count_shown(const struct hot *hot, uint32_t nr, double all, const struct page *p);

/* The bytes of the first nr of them, NULL of those that the trace has none of; the caller frees place.bytes. */
void hot_read_code_bytes(struct report *r, struct hot *hot, uint32_t nr);

struct step { /* an instruction */
	uint64_t address;
	struct insn insn;
	int to; /* step that it jumps to, or -1 */
	unsigned char lane; /* of the jump: 1 is the innermost; 0: none */
	const struct group_sum *sum[VIEW_EVENTS_MAX];
	const char *file;
	uint32_t line;
	const char *refers; /* symbol in it, or function that it calls */
};

/* malloc()ed, the caller's; NULL without memory.  The function's bytes have been read. */
struct step *disassemble_hot_function(const struct hot *h, const struct hit *hit, int *nr_steps);
/* The component that the line of a host's text is which the instruction is of, or COMPONENT_NONE. */
uint32_t step_component(const struct report *r, const struct hot *h, const struct step *s);
/* An instruction runs as often as the line of a host's text that it is of, unless the host counts it itself.  false: not known. */
bool step_executions(const struct report *r, const struct frequencies *counts, const struct hot *h, const struct step *s,
		     struct frequency *out);
/* The instruction with the name of what it calls, jumps or refers to.  Returns text. */
char *step_text(const struct report *r, const struct hot *h, const struct step *s, char text[STEP_TEXT_MAX]);
/* The gutter of row i; between: the row of a source line in front of it. */
void disassembly_arrows(const struct step *s, int nr, int i, bool between, bool utf8, char text[4 * (DISASSEMBLY_LANES + 2)]);

#endif
