/* SPDX-License-Identifier: MIT */
/*
 * Lists programs and command lines, each with the sum of its processes. A build has hundreds of processes, but few programs. Context:
 * thread.
 */
#ifndef TAILOR_PROGRAMS_H
#define TAILOR_PROGRAMS_H

#include "analyzer/query/report.h"

struct program {
	char *name; /* path of the executable or name of the process, or label of the command line; on the heap */
	uint32_t processes; /* number of its processes that have samples */
	struct group_sum sum;
};

/* List the programs, or command lines, that have samples, the largest first. Return how many there are. by_process: a group by
 * TABLE_PROCESS. utf8: labels of command lines may have characters beyond ASCII. The caller frees *list with programs_free(). If memory
 * runs out, some are missing. */
uint32_t programs_list(const struct report *r, const struct report_group *by_process, struct program **list);
uint32_t programs_list_command_lines(const struct report *r, const struct report_group *by_process, bool utf8, struct program **list);
void programs_free(struct program *list, uint32_t nr);
/* Return how many programs have samples. */
uint32_t programs_count(const struct report *r, const struct report_group *by_process);

#endif
