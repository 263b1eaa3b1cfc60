/* SPDX-License-Identifier: MIT */
/*
 * The picture is like figure 12 of Beischl et al., EuroSys 2021 (memory accesses of operators over time). The dots of a colour in a
 * panel are one path, which keeps the file small. If there are DOTS_MAX samples or more, only every nth is drawn, and the picture says so.
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
#define COLOURS (SVG_GREY + 1) /* the last colour, grey, is for all other components */
#define DOTS_MAX 60000u

struct count {
	uint32_t of;
	double samples;
};

static int compare_counts(const void *a, const void *b)
{
	const struct count *x = a, *y = b;

	return x->samples != y->samples ? (x->samples > y->samples ? -1 : 1) : x->of < y->of ? -1 : x->of > y->of;
}

/* Find the regions, or else the components, with the most samples, and write at most `most` of them to out, in descending order. Returns
 * how many it has written, which is 0 if memory runs out. */
static uint32_t count_most_sampled(const struct accesses *s, bool regions, uint32_t most, struct count out[])
{
	uint32_t nr = 0, n = 0;
	struct count *all;

	for (size_t i = 0; i < s->nr; i++) {
		uint32_t v = regions ? s->at[i].region : s->at[i].component;

		nr = v >= nr ? v + 1 : nr;
	}
	all = calloc((size_t)nr + 1, sizeof(*all));
	for (uint32_t i = 0; all && i < nr; i++)
		all[i].of = i;
	for (size_t i = 0; all && i < s->nr; i++)
		all[regions ? s->at[i].region : s->at[i].component].samples += s->at[i].share;
	if (all && nr)
		qsort(all, nr, sizeof(*all), compare_counts);
	for (; all && n < nr && n < most && all[n].samples > 0; n++)
		out[n] = all[n];
	free(all);
	return n;
}

static uint32_t colour_of(const struct count *component, uint32_t nr, uint32_t of)
{
	uint32_t c = 0;

	while (c < nr && component[c].of != of)
		c++;
	return c < nr ? c : COLOURS - 1;
}

static void draw_region_panel(const struct report *r, const struct accesses *s, uint32_t region, double y, const struct count *component,
			      uint32_t nr_components, size_t every, FILE *to)
{
	const struct access_region *g = &s->regions.at[region];
	double time = (double)(r->last_ns - r->first_ns) + 1, range = (double)(g->high - g->low) + 1;
	char spare[64], size[16];

	fprintf(to, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" class=\"axis\"/>\n", LEFT, y, RIGHT - LEFT, PANEL);
	svg_text(to, LEFT, y - 6, "", access_region_name(g, spare));
	svg_textf(to, RIGHT, y - 6, "small end", "%.0f samples", g->samples);
	svg_textf(to, LEFT - 6, y + 10, "small end", "%#llx", (unsigned long long)g->high);
	svg_textf(to, LEFT - 6, y + PANEL, "small end", "%#llx", (unsigned long long)g->low);
	svg_textf(to, LEFT - 6, y + PANEL / 2, "small end", "%sB", grid_short_number(range, size));
	for (uint32_t c = 0; c < COLOURS; c++) {
		bool begun = false;

		for (size_t i = 0; i < s->nr; i += every) {
			const struct access *x = &s->at[i];

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

static void draw_legend(const struct report *r, const struct accesses *s, const struct count *component, uint32_t nr, FILE *to)
{
	char spare[32];
	double y = TOP + 14;

	svg_text(to, LEGEND, y, "small", s->level == LEVELS_MAX ? "function" : report_level_name(r, s->level));
	for (uint32_t c = 0; c < nr; c++) {
		y += 20;
		fprintf(to, "<path class=\"c%u\" d=\"M%d %.1fh10\"/>\n", c, LEGEND, y - 4);
		svg_text(to, LEGEND + 16, y, "", s->level == LEVELS_MAX ? r->a->function[component[c].of].name :
									  report_component_name(r, component[c].of, spare));
	}
	if (nr == COLOURS - 1) {
		y += 20;
		fprintf(to, "<path class=\"c%u\" d=\"M%d %.1fh10\"/>\n", COLOURS - 1, LEGEND, y - 4);
		svg_text(to, LEGEND + 16, y, "", "others");
	}
}

void memory_svg(const struct report *r, const struct accesses *s, FILE *to)
{
	struct count region[PANELS], component[COLOURS - 1];
	uint32_t nr_regions = count_most_sampled(s, true, PANELS, region),
		 nr_components = count_most_sampled(s, false, COLOURS - 1, component);
	size_t every = s->nr / DOTS_MAX + 1;
	double bottom = TOP + nr_regions * (PANEL + SPACE), samples = 0;
	char span[16];

	for (uint32_t i = 0; i < s->regions.nr; i++)
		samples += s->regions.at[i].samples;
	svg_begin(to, WIDTH, (int)bottom + 24, "Memory over time", "path{fill:none;stroke-width:2;stroke-linecap:round}", "");
	svg_textf(to, LEFT, 26, "title", "Memory accesses: %.0f samples with an address", samples);
	if (every > 1)
		svg_textf(to, RIGHT, 26, "small end", "1 of %zu samples drawn", every);
	for (uint32_t i = 0; i < nr_regions; i++)
		draw_region_panel(r, s, region[i].of, TOP + i * (PANEL + SPACE), component, nr_components, every, to);
	svg_text(to, LEFT, bottom - SPACE + 16, "small", "0");
	svg_text(to, RIGHT, bottom - SPACE + 16, "small end", grid_duration((double)(r->last_ns - r->first_ns), span));
	draw_legend(r, s, component, nr_components, to);
	svg_end(to);
}
