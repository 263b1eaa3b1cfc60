/* SPDX-License-Identifier: MIT */
/*
 * Finds samples without the names that a user would expect, and says how they can have names: code that a JIT generated and did not name,
 * and interpreters that this recording has not heard. The report, `top`, the page, comparisons, exports and stores all ask here. Context:
 * thread.
 */
#ifndef TAILOR_UNNAMED_H
#define TAILOR_UNNAMED_H

#include "analyzer/leading/interpreted.h"
#include "jitreg/hosts/jit_hosts.h"

/* These are shares of samples from which code without names, and an interpreter without them, are worth a first sentence. Shares of
 * functions are of the rest only. A program that only embeds an interpreter has less than half of its samples in it. In a whole machine,
 * other programs have their part, too. */
#define UNNAMED_FIRST 0.05
#define INTERPRETED_FIRST 0.5
#define INTERPRETED_FIRST_OF_MACHINE 0.2

struct unnamed {
	double code; /* share (0..1) of samples in code without names, which a JIT generated or did not register */
	/* share of samples (0..1) that ran in code without names of the JIT that has most of such code (maker) */
	double maker_share;
	const char *maker; /* path of the file of that JIT (executable or library); "": not known */
	char in_force[64]; /* the option by which that JIT names its code, if the program was started with it; "": none */
	struct jit_recording recording; /* facts of the recording that decide which way could name the code */
	/* the information of that JIT is incomplete because of its version, and the sentence about the version says what helps */
	bool is_lacking;
	const char *not_read; /* why names were not read, by the recorder's notice, or NULL */
	const struct interpreter *interpreter; /* the interpreter that most samples of such programs are in (interpreted.h), or NULL */
	double interpreted; /* share of samples in that interpreter */
	bool is_machine; /* the recording has no command */
};

/* Fill in u from the sums of a group whose column of that number has functions. u refers to texts of the report. */
void unnamed_find(const struct report *r, const struct report_group *by, uint32_t column, struct unnamed *u);

/* Is the interpreter worth a first sentence? */
bool unnamed_tells_interpreter(const struct unnamed *u);

#define UNNAMED_SENTENCE 768
/* Write the sentence about code without names, and the one about an interpreter. whole: name of what is 100 %, or NULL, and then no share
 * is named; object: name of the file u->maker, as the caller shows it, or "". */
void unnamed_write_code(const struct unnamed *u, const char *whole, const char *object, char text[UNNAMED_SENTENCE]);
void unnamed_write_interpreted(const struct unnamed *u, const char *whole, char text[UNNAMED_SENTENCE]);
/* Call each(context, sentence) for those of the two that are worth a first sentence. */
void unnamed_each_first(const struct unnamed *u, const char *whole, void (*each)(void *context, const char *sentence), void *context);

#endif
