/* SPDX-License-Identifier: MIT */
/* Declares the reading of profiles, which `diff` and `stat` share, and both commands, which `tailor db` runs as well. Context: thread. */
#ifndef TAILOR_CMD_COMPARE_H
#define TAILOR_CMD_COMPARE_H

#include "analyzer/compare/match.h"
#include "analyzer/output/page.h"
#include "analyzer/reading/reading_arguments.h"

/*
 * Reads the profiles of nr traces, or windows of stores if a source names one (asked_is_store()) or if `tailor db` has set
 * arguments->asked. arguments->level and with_inlined are those of profile_ask(), for traces only. If the user chose no level,
 * leading_choose() chooses what leads in all traces together, each trace's profile is made of that, and *are_programs says whether these
 * are programs. If a trace is damaged or its budget is exceeded, the part that was read is kept, a message goes to stderr, and *whole
 * becomes false, so that the command shows that part and fails. Returns CMD_DONE, or another exit status after a message. The caller has
 * set p to 0, and calls profile_fini() for each in any case.
 */
int compare_read_profiles(const char *const *source, uint32_t nr, const struct reading_arguments *arguments, bool with_inlined,
			  struct profile *p, bool *whole, bool *are_programs);
/* Add the sentence that says so and how functions are compared, if programs are. */
void compare_show_leading(bool are_programs, struct page *page);

/* Set arguments->level to the name of the view that leads in all sources together if they are stores and the user chose none, so that all
 * sides of a comparison have the same. Return CMD_DONE, or another exit status after a message. */
int compare_choose_view(struct reading_arguments *arguments, const char *const *source, uint32_t nr);

/*
 * Match the entries of profiles that compare_read_profiles() read, after it is decided which functions of machine code have entries
 * (inlined_settle(), native_settle()). Returns CMD_DONE, or CMD_FAILED after a message, after which there is no match to free.
 */
int compare_match_profiles(struct profile *p, uint32_t nr, struct match *m);

/* Adds sentences about queries that have another plan in the second of two windows of stores.  Adds none of traces, of several windows on a
 * side, or if the question is not about components or queries. */
void compare_show_plans(char *const side[2], const struct reading_arguments *arguments, struct page *page);

/*
 * Run `tailor diff` and `tailor stat`, or, with is_db, `tailor db diff` and `tailor db stat`, which have other filters. Return the exit
 * status.
 */
int compare_run_diff(int argc, char **argv, bool is_db);
int compare_run_stat(int argc, char **argv, bool is_db);

#endif
