/* SPDX-License-Identifier: MIT */
/* Declares what the checks share. Each check examines one part of the model, and counts its findings. Context: thread. */
#ifndef TAILOR_CHECK_INTERNAL_H
#define TAILOR_CHECK_INTERNAL_H

#include "analyzer/check/check.h"

struct check {
	struct findings *findings;
	const struct model *m;
	const struct check_sums *sums;
	bool complete; /* the trace has its end, and no record of the host was lost, so what is not there was not announced */
	bool heard_all; /* the same, but records that were refused as malformed may be missing */
	/* for each component: it was announced, or is a line of a text, in its process or in one that this was forked from; also true if
	 * its level has neither announced components nor lines of texts; NULL: not computed */
	unsigned char *known;
	bool names[LEVELS_MAX]; /* levels with components that are announced or lines of a text, where one that is neither is a mistake */
};

/* Count a finding `count` times, which may be 0. samples: how many samples the finding concerns, in all. Return true if it is the first of
 * its kind, for which the caller sets an example. */
bool check_count_finding(struct check *c, enum finding_kind kind, uint64_t count, double samples);
void check_set_example(struct check *c, enum finding_kind kind, const char *format, ...) __attribute__((format(printf, 3, 4)));
#define FOUND(c, kind, samples, ...) \
	do { \
		if (check_count_finding(c, kind, 1, samples)) \
			check_set_example(c, kind, __VA_ARGS__); \
	} while (0)

#define CHECK_NAME 100
/* Write a component for an example: "operator 7 'hash join'". Return text. */
const char *check_component_name(const struct check *c, uint32_t component, char text[CHECK_NAME]);
/* Return the level's name, or "component" if it has none. */
const char *check_level_name(const struct check *c, uint32_t level);
/* check_is_text() returns whether the text is not NULL, not empty and UTF-8. For check_is_utf8(), NULL and "" are UTF-8. */
bool check_is_text(const char *text);
bool check_is_utf8(const char *text);
/* check_has_host_data() tells whether the process, or one that it was forked from, has a dictionary or a tag. check_saw_process_start()
 * tells whether the exec of one of these was recorded, so that all registrations of the program were. */
bool check_has_host_data(const struct process *p);
bool check_saw_process_start(const struct process *p);
static inline uint32_t check_pid(const struct check *c, uint32_t process)
{
	return c->m->numbered.at[process]->pid;
}

/* Each function below makes one check or several. Those that return a number return 0 or -ENOMEM. check_samples() may also return another
 * -errno of reading the trace. */
int check_dictionary(struct check *c);
int check_plans(struct check *c);
int check_code(struct check *c);
void check_code_overlaps(struct check *c);
void check_tags(struct check *c);
/* Return whether the tag is declared without a mistake in its place and bits, so that its values in samples can be judged. */
bool check_is_sound_tag(const struct check *c, const struct tag *t);
int check_marks(struct check *c);
void check_records(struct check *c);
int check_samples(struct check *c, const struct report *r);
void check_code_bytes(struct check *c, const struct report *r);

#endif
