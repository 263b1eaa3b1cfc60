/* SPDX-License-Identifier: MIT */
#include "agent/recorder/doctor/doctor.h"

#include "agent/recorder/process/proc_file.h"
#include "jitreg/base/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_COLUMNS 27
#define COLUMNS 80

struct doctor_finding *
doctor_add_finding(struct doctor *d, const char *section, const char *name, enum doctor_state state, const char *says, ...)
{
	static struct doctor_finding spare; /* findings beyond the maximum are not shown */
	struct doctor_finding *f = d->nr < DOCTOR_FINDINGS_MAX ? &d->finding[d->nr++] : &spare;
	va_list list;

	*f = (struct doctor_finding){ .section = section, .state = state };
	snprintf(f->name, sizeof(f->name), "%s", name);
	va_start(list, says);
	vsnprintf(f->says, sizeof(f->says), says, list);
	va_end(list);
	return f;
}

void doctor_set_remedy(struct doctor_finding *f, const char *remedy, ...)
{
	va_list list;

	static const char outside[] = "outside of this user namespace: "; /* the machine's root is not in it */
	char text[sizeof(f->remedy) - sizeof(outside)];
	bool needs_root;

	va_start(list, remedy);
	vsnprintf(text, sizeof(text), remedy, list);
	va_end(list);
	needs_root = strstr(text, "sudo ") || strstr(text, "as root");
	snprintf(f->remedy, sizeof(f->remedy), "%s%s",
		 needs_root && !proc_is_first_namespace(PROC_NAMESPACE_USER) ? outside : "", text);
}

#define TEXT_(NAME, text) text,
const char *const doctor_containers[NR_DOCTOR_CONTAINERS] = { DOCTOR_CONTAINERS(TEXT_) };
#undef TEXT_

bool doctor_can_record(const struct doctor *d)
{
	return d->can_sample;
}

static const char *const states[] = { "yes", "less", "no", "fact" }; /* words in JSON, which are stable */
static const char *const marks[] = { "[ok]", "[warn]", "[no]", "" };

/* Returns the heading that the text shows for the name of a section or finding. The name itself is stable, because JSON has it. */
static const char *heading_of_finding(const char *name)
{
	static const char *const headings[][2] = {
		{ "versions", "Versions" }, { "build", "Build" }, { "machine", "Machine" },
		{ "limits", "Limits" }, { "sampling", "Sampling methods, best first" },
		{ "process", "Process" }, { "jit interfaces", "JIT interfaces" }, { "memory for rings", "locked memory" },
		{ "symbols", "Symbols" },
		{ "memory of others", "process memory" }, { "precise 3", "precise level 3" }, { "precise 2", "precise level 2" },
		{ "precise 1", "precise level 1" }, { "samples in batches", "PEBS in batches" },
	};

	for (size_t i = 0; i < sizeof(headings) / sizeof(headings[0]); i++)
		if (strcmp(headings[i][0], name) == 0)
			return headings[i][1];
	return name;
}

/* Prints a text from column at on, with continuation lines at the same column.  A word that is too long has a line of its own.  The text is
 * escaped, because it may contain names of processes and paths. */
static void print_wrapped_text(FILE *to, const char *foreign, size_t at)
{
	char *text = message_escape(foreign);
	size_t column = at, bytes;

	for (const char *word = text ? text : "out of memory"; *word; word += bytes + (word[bytes] == ' ')) {
		bytes = strcspn(word, " ");
		if (column > at && column + 1 + bytes > COLUMNS) {
			fprintf(to, "\n%*s", (int)at, "");
			column = at;
		}
		column += (size_t)fprintf(to, "%s%.*s", column > at ? " " : "", (int)bytes, word);
	}
	fputc('\n', to);
	free(text);
}

void doctor_print_text(const struct doctor *d, FILE *to)
{
	const char *section = "";

	for (int i = 0; i < d->nr; i++) {
		const struct doctor_finding *f = &d->finding[i];

		if (strcmp(section, f->section) != 0)
			fprintf(to, "%s%s\n", i ? "\n" : "", heading_of_finding(f->section));
		section = f->section;
		fprintf(to, "  %-6s %-*s", marks[f->state], NAME_COLUMNS, heading_of_finding(f->name));
		print_wrapped_text(to, f->says, 9 + NAME_COLUMNS);
		if (*f->remedy) { /* remedies begin further left than texts, so that a command, which users copy, mostly fits in a line */
			fputs("         remedy: ", to);
			print_wrapped_text(to, f->remedy, 17);
		}
	}
}

static void print_quoted_json_text(FILE *to, const char *text)
{
	fputc('"', to);
	for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
		if (*c == '"' || *c == '\\')
			fprintf(to, "\\%c", *c);
		else if (*c < 0x20 || *c == 0x7f)
			fprintf(to, "\\u%04x", *c);
		else
			fputc(*c, to);
	}
	fputc('"', to);
}

void doctor_print_json(const struct doctor *d, FILE *to)
{
	fprintf(to, "{\"can_record\": %s, \"findings\": [", doctor_can_record(d) ? "true" : "false");
	for (int i = 0; i < d->nr; i++) {
		const struct doctor_finding *f = &d->finding[i];

		fprintf(to, "%s\n  {\"section\": \"%s\", \"name\": ", i ? "," : "", f->section);
		print_quoted_json_text(to, f->name);
		fprintf(to, ", \"state\": \"%s\", \"says\": ", states[f->state]);
		print_quoted_json_text(to, f->says);
		fprintf(to, ", \"remedy\": ");
		print_quoted_json_text(to, f->remedy);
		fputc('}', to);
	}
	fprintf(to, "\n]}\n");
}
