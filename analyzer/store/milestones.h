/* SPDX-License-Identifier: MIT */
/*
 * A mark is a time from which a store's machine may behave differently: `tailor db deploy`, a program that started, another build of a
 * program.  `tailor db changes` compares what was before it with what came after it.  Marks are in the store's table meta (epochs.c).
 * Context: thread.
 */
#ifndef TAILOR_STORE_MILESTONES_H
#define TAILOR_STORE_MILESTONES_H

#include "analyzer/store/store.h"

#define MILESTONES_MAX 64u /* maximum number of marks that milestones_read() returns; a store keeps four times as many, the newest ones */
#define MILESTONE_BYTES 160
#define MILESTONE_PROGRAM_BYTES 256 /* longer paths are left out */

/* Stores have these letters before a mark's text. */
enum milestone_kind {
	MILESTONE_START = 's',
	MILESTONE_BUILD = 'b',
	MILESTONE_DEPLOYMENT = 'd',
};

struct milestones {
	struct milestone {
		int64_t at_ns; /* UTC */
		enum milestone_kind kind;
		char program[MILESTONE_PROGRAM_BYTES]; /* path of the program that started or has another build; "": none */
		char text[MILESTONE_BYTES];
	} mark[MILESTONES_MAX]; /* by time */
	uint32_t nr;
};

/* Adds a mark, whose text is cut to MILESTONE_BYTES - 1 bytes, and drops the oldest marks beyond 4 * MILESTONES_MAX. program is
 * the path of the program that started or has another build, or "" for a deployment. Call inside a transaction. */
void milestones_add(struct store *s, int64_t at_ns, enum milestone_kind kind, const char *program, const char *text);
/* Notes that a program ran with this build id ("": unknown), and adds a mark if the program had another one before. Programs with long
 * paths, and new ones beyond a limit, are not noted.  Returns whether the store knew the program.  Call inside a transaction. */
bool milestones_program(struct store *s, const char *executable, const char *build_id, int64_t at_ns);
/* Reads the marks at [from_ns, to_ns), the newest if there are more than MILESTONES_MAX. There are none if the store has failed. */
void milestones_read(struct store *s, int64_t from_ns, int64_t to_ns, struct milestones *m);
/* Adds the mark of a deployment, in a transaction of its own. Returns 0, or -errno with the reason in d. */
int milestones_deploy(struct store *s, int64_t at_ns, const char *name, struct diag *d);

#endif
