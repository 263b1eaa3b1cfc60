/* SPDX-License-Identifier: MIT */
/* Writes the machine code of the functions that have samples, the hottest ones first, as far as the limits below allow. */
#include "analyzer/listing/disassembly.h"
#include "analyzer/output/escape.h"
#include "analyzer/page/html_page.h"

#include <stdlib.h>
#include <string.h>

#define FUNCTIONS_MAX 400u
#define STEPS_MAX 200000 /* limit of the instructions of all generated functions together; the function that reaches it is the last */
#define FILE_STEPS_MAX 8000 /* limit of the instructions of all functions of files together, by the estimate below */
#define FILE_PART 0.002 /* share of the total weight that a function of a file must have, because there are many such functions */
#define STEP_BYTES 4u /* typical bytes of an instruction, by which the number of instructions is estimated */
#define FILES_MAX 64 /* maximum number of source files of one function's lines; instructions of others have none */
/* maximum number of instructions of a function whose jumps have arrows, because the time for these grows with the square of the number */
#define ARROWS_MAX 3000
#define STEPS_AN_ARROW 32

/* Writes the source file of each instruction, as an index in the list of files that follows, or -1 if it is unknown or beyond FILES_MAX.
 * Instructions of inlined functions come from other files than the function. */
static void put_files_of_steps(const struct step *s, int nr, FILE *to)
{
	const char *file[FILES_MAX];
	int nr_files = 0;

	fputs("],\"of\":[", to);
	for (int i = 0; i < nr; i++) {
		int f = 0;

		while (s[i].file && f < nr_files && strcmp(file[f], s[i].file) != 0)
			f++;
		if (s[i].file && f == nr_files && nr_files < FILES_MAX)
			file[nr_files++] = s[i].file;
		fprintf(to, "%s%d", i ? "," : "", s[i].file && f < nr_files ? f : -1);
	}
	fputs("],\"files\":[", to);
	for (int f = 0; f < nr_files; f++) {
		fputs(f ? "," : "", to);
		escape_json_string(to, file[f]);
	}
	fputc(']', to);
}

/* Writes how often instructions ran, as the component of each instruction, whose frequency html_put_flow() writes, and as the counts that
 * the host made at instructions themselves. Writes nothing if no executions are known. */
static void write_executions(struct report *r, const struct hot *h, const struct step *s, int nr, FILE *to)
{
	const struct frequencies *f = frequencies_of_report(r);
	const char *comma = "";

	if (!f || !f->nr_known || !h->place.code)
		return;
	fputs(",\"runs\":[", to);
	for (int i = 0; i < nr; i++)
		fprintf(to, "%s%u", i ? "," : "", step_component(r, h, &s[i]));
	fputs("],\"counted\":{", to);
	for (int i = 0; i < nr; i++) {
		const uint64_t *count = frequencies_count_at_address(f, h->place.code->process, s[i].address);

		if (!count)
			continue;
		fprintf(to, "%s\"%d\":%.17g", comma, i, (double)*count);
		comma = ",";
	}
	fputc('}', to);
}

static void write_function_listing(struct report *r, const struct hot *h, const struct hit *hit, int *left, FILE *to)
{
	char text[STEP_TEXT_MAX], title[400];
	bool arrows;
	struct step *s;
	int nr;

	s = disassemble_hot_function(h, hit, &nr);
	nr = s ? nr : 0;
	arrows = nr <= ARROWS_MAX && report_spend(r, (uint64_t)nr * (uint64_t)nr / STEPS_AN_ARROW);
	fputs("{\"name\":", to);
	if (h->image)
		snprintf(title, sizeof(title), "%s  %s", h->name, basename(h->image));
	escape_json_string(to, h->image ? title : h->name);
	fprintf(to, ",\"code\":%u,\"image\":%u,\"start\":%llu,\"read_late\":%s,\"offset\":[", h->place.code->number + 1,
		h->image && h->place.code->file ? h->place.code->file->number + 1 : 0, (unsigned long long)h->place.start,
		h->place.read_ns ? "true" : "false");
	for (int i = 0; i < nr; i++)
		fprintf(to, "%s%llu", i ? "," : "", (unsigned long long)(s[i].address - h->place.start));
	fputs("],\"text\":[", to);
	for (int i = 0; i < nr; i++) {
		if (i)
			fputc(',', to);
		escape_json_string(to, step_text(r, h, &s[i], text));
	}
	fputs("],\"arrows\":[", to);
	for (int i = 0; i < nr && arrows; i++) {
		char row[4 * (DISASSEMBLY_LANES + 2)];

		disassembly_arrows(s, nr, i, false, true, row);
		fputs(i ? "," : "", to);
		escape_json_string(to, row);
	}
	fputs("],\"to\":[", to);
	for (int i = 0; i < nr; i++)
		fprintf(to, "%s%d", i ? "," : "", s[i].to);
	fputs("],\"line\":[", to);
	for (int i = 0; i < nr; i++)
		fprintf(to, "%s%u", i ? "," : "", s[i].file ? s[i].line : 0);
	put_files_of_steps(s, nr, to);
	write_executions(r, h, s, nr, to);
	fputc('}', to);
	*left -= nr;
	free(s);
}

static bool has_room(const struct hot *h, const int left[2], double all)
{
	uint64_t steps = (h->place.end - h->place.start) / STEP_BYTES;

	return h->image ? h->measure >= FILE_PART * all && steps <= (uint64_t)(left[1] > 0 ? left[1] : 0) : left[0] > 0;
}

void html_put_listings(const struct html_trace *t, FILE *to)
{
	double all;
	uint32_t nr_hits, nr;
	struct hit *hit = hits_make_all(t->report, t->by_place, &nr_hits, &all);
	struct hot *hot = NULL;
	int left[] = { STEPS_MAX, FILE_STEPS_MAX };
	const char *comma = "";

	nr = hit && nr_hits ? hot_find(t->report, hit, nr_hits, &hot) : 0;
	nr = nr < FUNCTIONS_MAX ? nr : FUNCTIONS_MAX;
	hot_read_code_bytes(t->report, hot, nr);
	fputs("\"listings\":[", to);
	for (uint32_t i = 0; i < nr; i++) {
		if (hot[i].place.bytes && has_room(&hot[i], left, all)) {
			fputs(comma, to);
			write_function_listing(t->report, &hot[i], hit, &left[hot[i].image != NULL], to);
			comma = ",\n";
		}
		free(hot[i].place.bytes);
	}
	fputs("],\n", to);
	free(hot);
	free(hit);
}
