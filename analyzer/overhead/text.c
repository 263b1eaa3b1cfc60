/* SPDX-License-Identifier: MIT */
#include "analyzer/overhead/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

char *overhead_command(const struct overhead *o, size_t max)
{
	size_t bytes = 4, nr = 0, at = 0;
	char *text;

	for (size_t i = 0; o->command[i]; i++)
		bytes += strlen(o->command[i]) + 1;
	text = malloc(bytes);
	if (!text)
		return NULL;
	for (size_t i = 0; o->command[i]; i++) {
		if (i)
			text[at++] = ' ';
		for (const char *c = o->command[i]; *c; c++)
			text[at++] = (unsigned char)*c < 0x20 || *c == 0x7f ? '?' : *c;
	}
	text[at] = 0;
	for (char *c = text; *c; c++) /* max counts characters; bytes 0x80 to 0xbf continue one */
		if ((*c & 0xc0) != 0x80 && nr++ == max - 1 && strlen(c) > 1) {
			strcpy(c, "…"); /* the sign takes 3 bytes and a NUL, for which text has 4 bytes more than the words need */
			break;
		}
	return text;
}

/* Print a share as "+1.2 %", right-aligned in width columns, or "-" if it is NAN.  sign: "+" to print a sign, or "". */
static void print_percent(FILE *to, int width, double share, const char *sign)
{
	char text[32];
	double p = 100 * share;

	if (isnan(share))
		snprintf(text, sizeof(text), "-");
	else if (*sign)
		snprintf(text, sizeof(text), fabs(p) < 99.95 ? "%+.1f %%" : "%+.0f %%", p);
	else
		snprintf(text, sizeof(text), fabs(p) < 99.95 ? "%.1f %%" : "%.0f %%", p);
	fprintf(to, "%*s", width, text);
}

/* Print a confidence interval in per cent, "-0.3 to +2.4", right-aligned in width columns, or "-" if there are no measurements. */
static void print_interval(FILE *to, int width, const struct spread *s)
{
	char text[64];

	if (!s->nr)
		snprintf(text, sizeof(text), "-");
	else if (fabs(s->high) < 0.9995 && fabs(s->low) < 0.9995)
		snprintf(text, sizeof(text), "%+.1f to %+.1f", 100 * s->low, 100 * s->high);
	else
		snprintf(text, sizeof(text), "%+.0f to %+.0f", 100 * s->low, 100 * s->high);
	fprintf(to, "%*s", width, text);
}

/* Print a median of nanoseconds, or "-" if there are no measurements. A "?" behind it means that the value is not significant, because the
 * confidence interval reaches down to 0. */
static void print_nanoseconds(FILE *to, int width, const struct spread *s)
{
	char text[32];

	if (!s->nr)
		snprintf(text, sizeof(text), "-");
	else
		snprintf(text, sizeof(text), s->low <= 0 ? "%.0f?" : "%.0f", s->median);
	fprintf(to, "%*s", width, text);
}

static void print_row(const struct overhead *o, unsigned rate, enum capture c, FILE *to)
{
	struct overhead_row r = overhead_make_row(o, rate, c);

	fprintf(to, "  %-17s", capture_kinds[c].name);
	print_percent(to, 8, r.added_wall.median, "+");
	print_interval(to, 15, &r.added_wall);
	print_percent(to, 8, r.added_cpu.median, "+");
	print_percent(to, 7, r.recorder_cpu.median, "");
	print_nanoseconds(to, 7, &r.ns_per_sample);
	if (r.bytes_per_sample.nr)
		fprintf(to, r.bytes_per_sample.median < 99.95 ? "%7.1f" : "%7.0f", r.bytes_per_sample.median);
	else
		fprintf(to, "%7s", "-");
	print_percent(to, 8, o->has_components ? r.attributed.median : NAN, "");
	if (r.lost.nr && r.lost.median > 0)
		fputc('*', to);
	fputc('\n', to);
}

static bool lost_any(const struct overhead *o)
{
	for (unsigned rate = 0; rate < o->nr_rates; rate++)
		for (int c = CAPTURE_BARE + 1; c < NR_CAPTURES; c++)
			if (overhead_make_row(o, rate, (enum capture)c).lost.median > 0)
				return true;
	return false;
}

static void print_losses(const struct overhead *o, FILE *to)
{
	if (!lost_any(o))
		return;
	fputs("* lost samples:", to);
	for (unsigned rate = 0, nr = 0; rate < o->nr_rates; rate++)
		for (int c = CAPTURE_BARE + 1; c < NR_CAPTURES; c++) {
			struct overhead_row r = overhead_make_row(o, rate, (enum capture)c);

			if (!(r.lost.median > 0))
				continue;
			fprintf(to, "%s%s at %llu/s ", nr++ ? ",\n  " : " ", capture_kinds[c].name, (unsigned long long)o->rate[rate]);
			print_percent(to, 0, r.lost.median / (r.lost.median + r.samples.median), "");
		}
	fputc('\n', to);
}

/* Print the command, the times of its baseline, the method and the event. */
static void print_head(const struct overhead *o, FILE *to)
{
	struct spread wall = overhead_bare_spread(o, true), cpu = overhead_bare_spread(o, false);
	char *command = overhead_command(o, 1000);

	fprintf(to, "command    %s\n", command ? command : "");
	free(command);
	fprintf(to, "baseline   %.3f s (%.3f to %.3f) run time, %.3f s CPU time\n", wall.median, wall.low, wall.high, cpu.median);
	fprintf(to, "method     %u round%s in random order; medians, 95 %% confidence intervals\n", o->nr_rounds,
		o->nr_rounds == 1 ? "" : "s");
	fprintf(to, "event      %s\n\n", o->event_name);
}

/* Print the words of text, with line breaks in front of words that would exceed 80 columns.  *column: the current column, which is
 * updated. */
static void print_words(const char *text, size_t *column, FILE *to)
{
	while (*text) {
		size_t word = strcspn(text, " ");

		if (*column + 1 + word > 80)
			*column = (size_t)fprintf(to, "\n        ") - 1;
		*column += (size_t)fprintf(to, " %.*s", (int)word, text);
		text += word + strspn(text + word, " ");
	}
}

/* Print notice i of the recorder.  If only some configurations have it, their names are printed in front of it. */
static void print_note(const struct overhead *o, unsigned i, FILE *to)
{
	size_t column = (size_t)fprintf(to, "Note:   ");
	uint32_t left = o->notice_of[i] == o->read ? 0 : o->notice_of[i];
	char name[64];

	for (int c = 0; c < NR_CAPTURES; c++) {
		if (!(left & 1u << c))
			continue;
		left &= ~(1u << c);
		snprintf(name, sizeof(name), "%s%s", capture_kinds[c].name, left ? "," : ":");
		print_words(name, &column, to);
	}
	print_words(o->notice[i], &column, to);
	fputc('\n', to);
}

static double most_outside_seconds(const struct overhead *o)
{
	double most = 0;

	for (unsigned rate = 0; rate < o->nr_rates; rate++)
		for (int c = CAPTURE_BARE + 1; c < NR_CAPTURES; c++)
			most = fmax(most, overhead_make_row(o, rate, (enum capture)c).outside_s.median);
	return most;
}

void overhead_text(const struct overhead *o, FILE *to)
{
	print_head(o, to);
	fputs("                         run-time overhead   CPU overhead    ns/ bytes/  attri-\n"
	      "  configuration      median  95 % interval program   rec. sample sample   buted\n", to);
	for (unsigned rate = 0; rate < o->nr_rates; rate++) {
		fprintf(to, "%llu samples per second", (unsigned long long)o->rate[rate]);
		if (o->period[rate] > 0)
			fprintf(to, ", one every %.0f %s", o->period[rate], o->unit);
		fputc('\n', to);
		for (int c = CAPTURE_BARE + 1; c < NR_CAPTURES; c++)
			print_row(o, rate, (enum capture)c, to);
	}
	fputc('\n', to);
	print_losses(o, to);
	if (o->has_components)
		fprintf(to, "attributed: share of the samples%s that have a component;\n"
			"            frame pointers and 8 KiB stack: by call stack alone\n", o->has_run ? " in the run phase" : "");
	else
		fputs("attributed: none; the program registers no components\n", to);
	fprintf(to, "rec.:       CPU time of the recorder during the run; before and after: %.3f s\n", most_outside_seconds(o));
	fputs("dormant:    agent loaded, but neither counting nor recording\n"
	      "ns:         CPU time of the program, beyond `agent only`; ?: not significant\n"
	      "bytes:      sample data in the trace, without symbols and code\n", to);
	for (unsigned i = 0; i < o->nr_notices; i++)
		print_note(o, i, to);
}
