/* SPDX-License-Identifier: MIT */
/* Machine code of the generated functions that have samples, the hottest ones first. */
#include "analyzer/listing/disassembly.h"
#include "analyzer/output/escape.h"
#include "analyzer/page/html_page.h"

#include <stdlib.h>

#define FUNCTIONS_MAX 400u
#define STEPS_MAX 200000 /* instructions of all */
#define ARROWS_MAX 3000 /* of a function with arrows for its jumps: what they take grows with the square */
#define STEPS_AN_ARROW 32

/* How often instructions ran: as often as components, of which frequencies are facts (html_flow.c), or as was counted at them. */
static void write_executions(struct report *r, const struct hot *h, const struct step *s, int nr, FILE *to)
{
	const struct frequencies *f = frequencies_of_report(r);
	const char *comma = "";

	if (!f || !f->nr_known)
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
	const char *file = NULL;
	char text[STEP_TEXT_MAX];
	bool arrows;
	struct step *s;
	int nr;

	s = disassemble_hot_function(h, hit, &nr);
	nr = s ? nr : 0;
	arrows = nr <= ARROWS_MAX && report_spend(r, (uint64_t)nr * (uint64_t)nr / STEPS_AN_ARROW);
	fputs("{\"name\":", to);
	escape_json_string(to, h->name);
	fprintf(to, ",\"code\":%u,\"start\":%llu,\"read_late\":%s,\"offset\":[", h->place.code->number + 1,
		(unsigned long long)h->place.start, h->place.read_ns ? "true" : "false");
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
	for (int i = 0; i < nr && !file; i++)
		file = s[i].file;
	fputs("],\"file\":", to);
	escape_json_string(to, file);
	write_executions(r, h, s, nr, to);
	fputc('}', to);
	*left -= nr;
	free(s);
}

void html_put_listings(const struct html_trace *t, FILE *to)
{
	double all;
	struct hit *hit = hits_make_sorted(t->report, t->by_place, &all);
	struct hot *hot = NULL;
	uint32_t nr = hit ? hot_find(t->report, hit, t->by_place->g.nr, &hot) : 0;
	int left = STEPS_MAX;
	const char *comma = "";

	nr = nr < FUNCTIONS_MAX ? nr : FUNCTIONS_MAX;
	hot_read_code_bytes(t->report, hot, nr);
	fputs("\"listings\":[", to);
	for (uint32_t i = 0; i < nr; i++) {
		if (hot[i].place.bytes && left > 0) {
			fputs(comma, to);
			write_function_listing(t->report, &hot[i], hit, &left, to);
			comma = ",\n";
		}
		free(hot[i].place.bytes);
	}
	fputs("],\n", to);
	free(hot);
	free(hit);
}
