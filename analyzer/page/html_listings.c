/* SPDX-License-Identifier: MIT */
/* Machine code of the generated functions that have samples, the hottest ones first. */
#include "analyzer/listing/disassembly.h"
#include "analyzer/page/html_page.h"

#include <stdlib.h>
#include <string.h>

#define FUNCTIONS_MAX 400u
#define STEPS_MAX 200000 /* instructions of all */
#define ARROWS_MAX 3000 /* of a function with arrows for its jumps: what they take grows with the square */
#define STEPS_AN_ARROW 32

static int by_address(const void *a, const void *b)
{
	const struct hit *x = a, *y = b;

	if (x->code != y->code)
		return x->code < y->code ? -1 : 1;
	if (x->ip != y->ip)
		return x->ip < y->ip ? -1 : 1;
	return x->event < y->event ? -1 : x->event > y->event;
}

static struct hit *find_hits(const struct report_group *by)
{
	struct hit *hit = calloc((size_t)by->g.nr + 1, sizeof(*hit));

	for (uint32_t i = 0; hit && i < by->g.nr; i++)
		hit[i] = (struct hit){ report_value(by, i, 0), report_value(by, i, 3),
				       (uint64_t)report_value(by, i, 1) << 32 | report_value(by, i, 2), &by->g.sum[i] };
	if (hit && by->g.nr)
		qsort(hit, by->g.nr, sizeof(*hit), by_address);
	return hit;
}

/* A call's or jump's target by name, as `--view asm` has it. */
static void put_instruction(const struct report *r, const struct step *s, const struct hot *h, FILE *to)
{
	char *refers = s->refers ? attribution_name(r->a, s->refers) : NULL;
	char text[300];

	if (refers && (s->insn.kind == INSN_CALL || s->insn.kind == INSN_JUMP))
		snprintf(text, sizeof(text), "%.*s %s", (int)strcspn(s->insn.text, " "), s->insn.text, refers);
	else if (s->to >= 0)
		snprintf(text, sizeof(text), "%.*s +%#llx", (int)strcspn(s->insn.text, " "), s->insn.text,
			 (unsigned long long)(s->insn.target - h->place.start));
	else
		snprintf(text, sizeof(text), "%s%s%s", s->insn.text, refers ? "  ; " : "", refers ? refers : "");
	html_put_text(to, text);
	free(refers);
}

static void put_function(const struct report *r, const struct hot *h, const struct hit *hit, int *left, FILE *to)
{
	const char *file = NULL;
	bool arrows;
	struct step *s;
	int nr;

	s = disassemble(h, hit, &nr);
	nr = s ? nr : 0;
	arrows = nr <= ARROWS_MAX && report_spend(r, (uint64_t)nr * (uint64_t)nr / STEPS_AN_ARROW);
	fputs("{\"name\":", to);
	html_put_text(to, h->name);
	fprintf(to, ",\"code\":%u,\"start\":%llu,\"read_late\":%s,\"offset\":[", h->place.code->number + 1,
		(unsigned long long)h->place.start, h->place.read_ns ? "true" : "false");
	for (int i = 0; i < nr; i++)
		fprintf(to, "%s%llu", i ? "," : "", (unsigned long long)(s[i].address - h->place.start));
	fputs("],\"text\":[", to);
	for (int i = 0; i < nr; i++) {
		if (i)
			fputc(',', to);
		put_instruction(r, &s[i], h, to);
	}
	fputs("],\"arrows\":[", to);
	for (int i = 0; i < nr && arrows; i++) {
		char text[4 * (DISASSEMBLY_LANES + 2)];

		disassembly_arrows(s, nr, i, false, true, text);
		fputs(i ? "," : "", to);
		html_put_text(to, text);
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
	html_put_text(to, file);
	fputc('}', to);
	*left -= nr;
	free(s);
}

void html_put_listings(const struct html_trace *t, FILE *to)
{
	struct hit *hit = find_hits(t->by_place);
	struct hot *hot = NULL;
	uint32_t nr = hit ? hot_find(t->report, hit, t->by_place->g.nr, &hot) : 0;
	int left = STEPS_MAX;
	const char *comma = "";
	struct code_bytes *places;

	nr = nr < FUNCTIONS_MAX ? nr : FUNCTIONS_MAX;
	places = calloc((size_t)nr + 1, sizeof(*places));
	for (uint32_t i = 0; places && i < nr; i++)
		places[i] = hot[i].place;
	if (places && nr)
		code_bytes_read(t->report, places, nr);
	fputs("\"listings\":[", to);
	for (uint32_t i = 0; places && i < nr; i++) {
		hot[i].place = places[i];
		if (places[i].bytes && left > 0) {
			fputs(comma, to);
			put_function(t->report, &hot[i], hit, &left, to);
			comma = ",\n";
		}
		free(places[i].bytes);
	}
	fputs("],\n", to);
	free(places);
	free(hot);
	free(hit);
}
