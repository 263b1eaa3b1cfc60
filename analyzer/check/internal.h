/* SPDX-License-Identifier: MIT */
/* The common part of the checks. Each check examines one part of the model, and notes its findings. Context: thread. */
#ifndef TAILOR_CHECK_INTERNAL_H
#define TAILOR_CHECK_INTERNAL_H

#include "analyzer/check/check.h"

struct check {
	struct findings *findings;
	const struct model *m;
	const struct check_sums *sums;
	bool complete; /* the trace has its end, and no record of the host was lost */
	bool heard_all; /* the trace has its end, and only refused records were lost */
	/* For each component: it was announced, or it is a line of a text, in its process or in one that this was forked from. */
	unsigned char *known;
	bool names[LEVELS_MAX]; /* components of the level are announced, so that one without an announcement is a mistake */
};

/* Count a finding. Return true if it is the first of its kind, which needs an example. */
bool check_count_finding(struct check *c, enum finding_kind kind, uint64_t count, double samples);
void check_set_example(struct check *c, enum finding_kind kind, const char *format, ...) __attribute__((format(printf, 3, 4)));
#define FOUND(c, kind, samples, ...) \
	do { \
		if (check_count_finding(c, kind, 1, samples)) \
			check_set_example(c, kind, __VA_ARGS__); \
	} while (0)

/* Write a component for an example: "operator 7 'hash join'". text has room for CHECK_NAME. */
#define CHECK_NAME 100
const char *check_component_name(const struct check *c, uint32_t component, char text[CHECK_NAME]);
const char *check_level_name(const struct check *c, uint32_t level);
bool check_is_text(const char *text); /* not empty, and UTF-8 */
bool check_is_utf8(const char *text);
/* check_has_host_data() asks whether the process, or one that it was forked from, has a dictionary. check_saw_process_start() asks whether
 * it was recorded from its start. */
bool check_has_host_data(const struct process *p);
bool check_saw_process_start(const struct process *p);
static inline uint32_t check_pid(const struct check *c, uint32_t process)
{
	return c->m->numbered.at[process]->pid;
}

/* Return 0 or -ENOMEM. */
int check_dictionary(struct check *c);
int check_plans(struct check *c);
int check_code(struct check *c);
void check_code_overlaps(struct check *c);
void check_tags(struct check *c);
/* Is the tag declared without a mistake, so that its values in samples can be judged? */
bool check_is_sound_tag(const struct check *c, const struct tag *t);
int check_marks(struct check *c);
void check_records(struct check *c);
int check_samples(struct check *c, const struct report *r);
void check_code_bytes(struct check *c, const struct report *r);

#endif
