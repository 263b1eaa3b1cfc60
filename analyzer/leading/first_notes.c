/* SPDX-License-Identifier: MIT */
#include "analyzer/leading/first_notes.h"

#include "analyzer/leading/own_code.h"
#include "analyzer/leading/unnamed.h"
#include "jitreg/base/message.h"
#include "jitreg/hosts/jit_hosts.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOTE_BYTES 2048

#define OTHER_PROGRAM 1
#define RUNS_PYTHON 2 /* also a program that CPython is linked into */

/* Is more than half of the samples in code of programs that do not run Python? Samples in libraries count for no program. */
static bool most_are_no_python(const struct report *r, const struct report_group *by, uint32_t column)
{
	const struct attribution *a = r->a;
	unsigned char *image = calloc((size_t)a->nr_images + 1, 1);
	double others = 0;

	for (uint32_t i = 0; image && i < a->nr_images; i++)
		if (*a->image[i].path == '/' && own_code_is_program(r->model, a->image[i].path))
			image[i] = interpreted_is_python(a->image[i].path) ? RUNS_PYTHON : OTHER_PROGRAM;
	for (uint32_t i = 0; image && i < a->nr_functions; i++)
		if (a->function[i].symbol && strncmp(a->function[i].name, "_PyEval_", 8) == 0)
			image[a->function[i].image] = RUNS_PYTHON;
	for (uint32_t i = 0; image && i < by->g.nr; i++) {
		const struct function *f = &a->function[report_value(by, i, column)];

		if (image[f->image] == OTHER_PROGRAM && !f->unknown)
			others += report_measure(r, &by->g.sum[i]);
	}
	free(image);
	return others > 0.5 * report_measure(r, &by->g.total);
}

void first_notes_weigh(struct warnings *w, const struct report *r, const struct report_group *by, uint32_t column)
{
	const size_t beginning = sizeof(JIT_NAMES_OF_PYTHON) - 1;
	const bool is_minor = by && report_measure(r, &by->g.total) > 0 && most_are_no_python(r, by, column);

	for (uint32_t i = 0; is_minor && i < w->nr; i++)
		if (w->list[i].place == WARNING_OF_NAMES && strncmp(w->list[i].sentence, JIT_NAMES_OF_PYTHON, beginning) == 0)
			w->list[i].place = WARNING_BEHIND;
}

static void tell_warnings(const struct report *r, const struct report_group *by, uint32_t column,
			  void (*each)(void *context, const char *sentence), void *context)
{
	const struct warning *first;
	char text[NOTE_BYTES];
	struct warnings w;

	warnings_make(r, &w);
	first_notes_weigh(&w, r, by, column);
	for (uint32_t i = 0; (first = warnings_first(&w, i)); i++) {
		snprintf(text, sizeof(text), "%s%s.", first->place == WARNING_OF_TAGS ? "Tags " : "", first->sentence);
		text[0] = (char)toupper((unsigned char)text[0]);
		each(context, text);
	}
	warnings_fini(&w);
}

void first_notes_each(const struct report *r, const struct report_group *by, uint32_t column, bool shares,
		      void (*each)(void *context, const char *sentence), void *context)
{
	struct unnamed u;

	tell_warnings(r, by, column, each, context);
	if (!by || !(report_measure(r, &by->g.total) > 0))
		return;
	unnamed_find(r, by, column, &u);
	unnamed_each_first(&u, shares ? "all samples" : NULL, each, context);
}

static void print_note(void *unused, const char *sentence)
{
	(void)unused;
	message_print("%s", sentence);
}

void first_notes_print(const struct report *r, const struct report_group *by, uint32_t column)
{
	first_notes_each(r, by, column, true, print_note, NULL);
}
