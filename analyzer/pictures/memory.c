/* SPDX-License-Identifier: MIT */
/*
 * In the manner of figure 12 of Beischl et al., EuroSys 2021 (memory accesses of operators over time).  Dots of one component are one
 * path, so that the file stays small; of very many samples every n-th is drawn, and the picture says so.
 */
#include "analyzer/pictures/memory.h"

#include "analyzer/output/page.h"
#include "analyzer/output/svg.h"

#include <stdlib.h>
#include <string.h>

#define WIDTH 960
#define LEFT 150.0
#define RIGHT 740.0
#define TOP 64.0
#define PANEL 150.0
#define SPACE 34.0
#define LEGEND 764
#define PANELS 6
#define COLOURS 7 /* the last one is of all others */
#define DOTS_MAX 60000u

static const char style[] =
	":root{color-scheme:light dark}"
	".page{fill:#fff}text{fill:#222;font:13px system-ui,sans-serif}.title{font-size:16px;font-weight:600}.small{font-size:11px}"
	".end{text-anchor:end}.middle{text-anchor:middle}.axis{stroke:#999;fill:none}path{fill:none;stroke-width:2;stroke-linecap:round}"
	".c0{stroke:#0072b2}.c1{stroke:#c44d00}.c2{stroke:#007a5a}.c3{stroke:#a3487f}.c4{stroke:#b07400}.c5{stroke:#5b4bc4}.c6{stroke:#888}"
	"@media (prefers-color-scheme:dark){.page{fill:#16181c}text{fill:#e6e6e6}.axis{stroke:#666}"
	".c0{stroke:#56b4e9}.c1{stroke:#ff8a4c}.c2{stroke:#2fc79a}.c3{stroke:#dd8fc0}.c4{stroke:#f0b840}"
	".c5{stroke:#a89bff}.c6{stroke:#999}}";

struct count {
	uint32_t of;
	size_t nr;
};

static int by_nr(const void *a, const void *b)
{
	const struct count *x = a, *y = b;

	return x->nr != y->nr ? (x->nr > y->nr ? -1 : 1) : x->of < y->of ? -1 : x->of > y->of;
}

/* The values with most samples, at most `most` of them. */
static uint32_t count(const struct accesses *s, bool regions, uint32_t most, struct count out[])
{
	uint32_t nr = 0, n = 0;
	struct count *all;

	for (size_t i = 0; i < s->nr; i++) {
		uint32_t v = regions ? s->list[i].region : s->list[i].component;

		nr = v >= nr ? v + 1 : nr;
	}
	all = calloc((size_t)nr + 1, sizeof(*all));
	for (uint32_t i = 0; all && i < nr; i++)
		all[i].of = i;
	for (size_t i = 0; all && i < s->nr; i++)
		all[regions ? s->list[i].region : s->list[i].component].nr++;
	if (all && nr)
		qsort(all, nr, sizeof(*all), by_nr);
	for (; all && n < nr && n < most && all[n].nr; n++)
		out[n] = all[n];
	free(all);
	return n;
}

static void put_text(FILE *to, double x, double y, const char *class, const char *text)
{
	fprintf(to, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, class);
	svg_put_text(text, to);
	fputs("</text>\n", to);
}

static uint32_t colour_of(const struct count *component, uint32_t nr, uint32_t of)
{
	uint32_t c = 0;

	while (c < nr && component[c].of != of)
		c++;
	return c < nr ? c : COLOURS - 1;
}

static void put_panel(const struct report *r, const struct accesses *s, uint32_t region, double y, const struct count *component,
		      uint32_t nr_components, size_t every, FILE *to)
{
	const struct access_region *g = &s->region[region];
	double time = (double)(r->last_ns - r->first_ns) + 1, range = (double)(g->high - g->low) + 1;
	char spare[64], size[16], text[128];

	fprintf(to, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" class=\"axis\"/>\n", LEFT, y, RIGHT - LEFT, PANEL);
	put_text(to, LEFT, y - 6, "", access_region_name(g, spare));
	snprintf(text, sizeof(text), "%zu samples", g->nr);
	put_text(to, RIGHT, y - 6, "small end", text);
	snprintf(text, sizeof(text), "%#llx", (unsigned long long)g->high);
	put_text(to, LEFT - 6, y + 10, "small end", text);
	snprintf(text, sizeof(text), "%#llx", (unsigned long long)g->low);
	put_text(to, LEFT - 6, y + PANEL, "small end", text);
	snprintf(text, sizeof(text), "%sB", grid_short_number(range, size));
	put_text(to, LEFT - 6, y + PANEL / 2, "small end", text);
	for (uint32_t c = 0; c < COLOURS; c++) {
		bool begun = false;

		for (size_t i = 0; i < s->nr; i += every) {
			const struct access *x = &s->list[i];

			if (x->region != region || colour_of(component, nr_components, x->component) != c)
				continue;
			if (!begun)
				fprintf(to, "<path class=\"c%u\" d=\"", c);
			begun = true;
			fprintf(to, "M%.1f %.1fh0", LEFT + (double)(x->time_ns - r->first_ns) / time * (RIGHT - LEFT),
				y + PANEL - (double)(x->address - g->low) / range * PANEL);
		}
		if (begun)
			fputs("\"/>\n", to);
	}
}

static void put_legend(const struct report *r, const struct accesses *s, const struct count *component, uint32_t nr, FILE *to)
{
	char spare[32];
	double y = TOP + 14;

	put_text(to, LEGEND, y, "small", s->level == LEVELS_MAX ? "function" : report_level_name(r, s->level));
	for (uint32_t c = 0; c < nr; c++) {
		y += 20;
		fprintf(to, "<path class=\"c%u\" d=\"M%d %.1fh10\"/>\n", c, LEGEND, y - 4);
		put_text(to, LEGEND + 16, y, "", s->level == LEVELS_MAX ? r->a->function[component[c].of].name :
									  report_component_name(r, component[c].of, spare));
	}
	if (nr == COLOURS - 1) {
		y += 20;
		fprintf(to, "<path class=\"c%u\" d=\"M%d %.1fh10\"/>\n", COLOURS - 1, LEGEND, y - 4);
		put_text(to, LEGEND + 16, y, "", "others");
	}
}

void memory_svg(const struct report *r, const struct accesses *s, FILE *to)
{
	struct count region[PANELS], component[COLOURS - 1];
	uint32_t nr_regions = count(s, true, PANELS, region), nr_components = count(s, false, COLOURS - 1, component);
	size_t every = s->nr / DOTS_MAX + 1;
	double bottom = TOP + nr_regions * (PANEL + SPACE);
	char text[160], span[16];

	fprintf(to, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %.0f\" role=\"img\">\n<title>Memory over time</title>\n"
		"<style>%s</style>\n<rect class=\"page\" width=\"%d\" height=\"%.0f\"/>\n", WIDTH, bottom + 24, style, WIDTH, bottom + 24);
	snprintf(text, sizeof(text), "Memory that was touched: %zu samples with an address", s->nr);
	put_text(to, LEFT, 26, "title", text);
	if (every > 1) {
		snprintf(text, sizeof(text), "one of %zu is drawn", every);
		put_text(to, RIGHT, 26, "small end", text);
	}
	for (uint32_t i = 0; i < nr_regions; i++)
		put_panel(r, s, region[i].of, TOP + i * (PANEL + SPACE), component, nr_components, every, to);
	put_text(to, LEFT, bottom - SPACE + 16, "small", "0");
	put_text(to, RIGHT, bottom - SPACE + 16, "small end", grid_duration((double)(r->last_ns - r->first_ns), span));
	put_legend(r, s, component, nr_components, to);
	fputs("</svg>\n", to);
}
