/* SPDX-License-Identifier: MIT */
#include "analyzer/leading/first_notes.h"

#include "analyzer/leading/unnamed.h"
#include "jitreg/base/message.h"
#include "jitreg/hosts/jit_hosts.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define NOTE_BYTES 2048

void first_notes_weigh(struct warnings *w, const struct report *r, const struct report_group *by, uint32_t column)
{
	const size_t beginning = sizeof(JIT_NAMES_OF_PYTHON) - 1;
	const bool is_minor = by && report_measure(r, &by->g.total) > 0 && interpreted_python_is_minor(r, by, column);

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
