/* SPDX-License-Identifier: MIT */
/*
 * Draws two plots of the added run time by sampling rate, one below the other. The first has all configurations. The second has, on a scale
 * of its own, those that attribute samples in shared code only by a tag register, or only by call stacks (as in figure 13 of Beischl et
 * al., EuroSys 2021). The rates are on the logarithmic lower axis, and the resulting periods above. Whiskers are the 95 % confidence
 * intervals of the medians. Lines differ in dashes and marks as well as in colour, so that they can be told apart without colours.
 */
#include "analyzer/pictures/overhead.h"

#include "analyzer/output/svg.h"
#include "analyzer/overhead/view.h"

#include <math.h>
#include <stdlib.h>

#define WIDTH 900
#define HEIGHT 500
#define LEFT 76.0
#define RIGHT 610.0
#define TOP 96.0
#define BOTTOM 428.0
#define LEGEND 634
#define ALL_CAPTURES (~0u)
#define TAG_AGAINST_STACKS (1u << CAPTURE_TAG | 1u << CAPTURE_FRAMES | 1u << CAPTURE_STACK_8K)

static const char style[] =
	".grid{stroke:#ddd}.line{fill:none;stroke-width:2}.whisker{stroke-width:1.2;opacity:.65}.mark{stroke:#fff;stroke-width:.8}"
	".d1{stroke-dasharray:3 6}.d2{stroke-dasharray:1 4}.d3{stroke-dasharray:7 3}.d4{stroke-dasharray:2 3}"
	".d5{stroke-dasharray:9 3 2 3}.d6{stroke-dasharray:12 4}.d9{stroke-dasharray:5 2}";
static const char dark[] = ".grid{stroke:#34373d}.mark{stroke:#16181c}";

static const enum svg_colour colour_of[NR_CAPTURES] = { SVG_GREY, SVG_BROWN, SVG_GREY, SVG_GREEN, SVG_AMBER, SVG_PINK, SVG_ORANGE,
							SVG_BLUE, SVG_VIOLET, SVG_BROWN };

/* A plot has the data that it shows, its axes, and the stream that it is written to. */
struct plot {
	const struct overhead *o;
	unsigned captures; /* bit C: capture C is drawn */
	double low, high, step; /* y axis: added run time at its ends and between two grid lines, as shares of the baseline's */
	double log_low, log_high; /* x axis: logarithms of the rates */
	FILE *to;
};

static bool is_in_plot(const struct plot *p, int c)
{
	return c > CAPTURE_BARE && p->captures & 1u << c;
}

static double x_of_rate(const struct plot *p, unsigned rate)
{
	if (p->log_high <= p->log_low)
		return (LEFT + RIGHT) / 2;
	return LEFT + 30 + (RIGHT - LEFT - 60) * (log((double)p->o->rate[rate]) - p->log_low) / (p->log_high - p->log_low);
}

static double y_of_share(const struct plot *p, double share)
{
	double y = BOTTOM - (BOTTOM - TOP) * (share - p->low) / (p->high - p->low);

	return fmin(fmax(y, TOP), BOTTOM);
}

/* Scale the axes so that all medians fit. On a very noisy machine an interval may be far larger than the medians, and then its whisker is
 * cut at the border of the plot. */
static void set_axis_scales(struct plot *p)
{
	double low = 0, high = 0.01, highest = 0.01;

	p->log_low = INFINITY;
	p->log_high = -INFINITY;
	for (unsigned rate = 0; rate < p->o->nr_rates; rate++) {
		p->log_low = fmin(p->log_low, log((double)p->o->rate[rate]));
		p->log_high = fmax(p->log_high, log((double)p->o->rate[rate]));
		for (int c = 0; c < NR_CAPTURES; c++) {
			struct spread s = overhead_make_row(p->o, rate, (enum capture)c).added_wall;

			if (!is_in_plot(p, c) || !s.nr)
				continue;
			low = fmin(low, s.low);
			high = fmax(high, s.high);
			highest = fmax(highest, fmax(s.median, -s.median));
		}
	}
	low = fmax(low, -1.5 * highest);
	high = fmin(high, 2 * highest);
	p->step = svg_step(high - low);
	p->low = p->step * floor(low / p->step);
	p->high = p->step * ceil(high / p->step);
}

/* Formats a number with commas between groups of three digits, 400000 as 400,000.  Returns text. */
static const char *with_commas(double v, char text[48])
{
	char digits[32];
	int nr = snprintf(digits, sizeof(digits), "%.0f", v), at = 0;

	for (int i = 0; i < nr && i < (int)sizeof(digits) - 1; i++) {
		if (i && (nr - i) % 3 == 0)
			text[at++] = ',';
		text[at++] = digits[i];
	}
	text[at] = 0;
	return text;
}

static void draw_axes(const struct plot *p)
{
	FILE *to = p->to;
	int decimals = p->step < 0.0095 ? 1 : 0;
	bool periods = false;
	char number[48];

	for (int n = 0; p->low + n * p->step <= p->high + p->step / 2; n++) {
		double v = p->low + n * p->step;
		double percent = fabs(v) < p->step / 2 ? 0 : 100 * v;

		fprintf(to, "<line class=\"%s\" x1=\"%.0f\" y1=\"%.1f\" x2=\"%.0f\" y2=\"%.1f\"/>\n", percent == 0 ? "axis" : "grid", LEFT,
			y_of_share(p, v), RIGHT, y_of_share(p, v));
		svg_textf(to, LEFT - 8, y_of_share(p, v) + 4, "end", "%.*f %%", decimals, percent);
	}
	fprintf(to, "<path class=\"axis\" d=\"M%.0f %.0fV%.0fH%.0fV%.0f\"/>\n", LEFT, TOP, BOTTOM, RIGHT, TOP);
	for (unsigned rate = 0; rate < p->o->nr_rates; rate++) {
		double x = x_of_rate(p, rate);

		fprintf(to, "<path class=\"axis\" d=\"M%.1f %.0fv5\"/>\n", x, BOTTOM);
		svg_text(to, x, BOTTOM + 20, "middle", with_commas((double)p->o->rate[rate], number));
		if (p->o->period[rate] > 0) {
			periods = true;
			svg_text(to, x, TOP - 6, "small middle", with_commas(p->o->period[rate], number));
		}
	}
	if (periods)
		svg_textf(to, LEFT, TOP - 22, "small", "sampling period in %s", p->o->unit);
	svg_text(to, (LEFT + RIGHT) / 2, BOTTOM + 44, "middle", "samples per second and CPU");
	fprintf(to, "<text class=\"middle\" transform=\"translate(20 %.0f) rotate(-90)\">run-time overhead</text>\n", (TOP + BOTTOM) / 2);
}

/* Draw the mark of a configuration, which is about 10 pixels wide or high, at a point. */
static void draw_capture_mark(const struct plot *p, int c, double x, double y)
{
	static const char *const forms[] = {
		"m-6 -2h12v4h-12z", "m-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0z", "m-4 -4h8v8h-8z",
		"m0 -5l5 9h-10z", "m0 5l5 -9h-10z", "m0 -5.5l5 5.5l-5 5.5l-5 -5.5z",
		"m-5 -2h3.5v-3h3v3h3.5v4h-3.5v3h-3v-3h-3.5z",
		"m-5 0l2.5 -4.5h5l2.5 4.5l-2.5 4.5h-5z", "m-2 -6h4v12h-4z",
	};

	_Static_assert(sizeof(forms) / sizeof(forms[0]) == NR_CAPTURES - 1, "a mark for each configuration");
	fprintf(p->to, "<path class=\"mark f%d\" d=\"M%.1f %.1f%s\"/>\n", colour_of[c], x, y, forms[c - 1]);
}

static void draw_capture_line(const struct plot *p, int c)
{
	bool first = true;

	fprintf(p->to, "<path class=\"line c%d d%d\" d=\"", colour_of[c], c);
	for (unsigned rate = 0; rate < p->o->nr_rates; rate++) {
		struct spread s = overhead_make_row(p->o, rate, (enum capture)c).added_wall;

		if (s.nr)
			fprintf(p->to, "%s%.1f %.1f", first ? "M" : "L", x_of_rate(p, rate), y_of_share(p, s.median));
		first &= !s.nr;
	}
	fputs("\"/>\n", p->to);
	for (unsigned rate = 0; rate < p->o->nr_rates; rate++) {
		struct spread s = overhead_make_row(p->o, rate, (enum capture)c).added_wall;
		int beside = (int)c - NR_CAPTURES / 2; /* shifts the whiskers of the configurations at one rate apart */
		double x = x_of_rate(p, rate) + 3 * beside;

		if (!s.nr)
			continue;
		fprintf(p->to, "<path class=\"whisker c%d\" d=\"M%.1f %.1fV%.1f\"/>\n", colour_of[c], x, y_of_share(p, s.low),
			y_of_share(p, s.high));
		draw_capture_mark(p, c, x_of_rate(p, rate), y_of_share(p, s.median));
	}
}

/* Draw the names of the plot's configurations, and below each its bytes per sample and its share of attributed samples, both at the highest
 * rate. */
static void draw_legend(const struct plot *p)
{
	unsigned last = 0;
	int y = (int)TOP + 12;
	char text[96];

	for (unsigned rate = 0; rate < p->o->nr_rates; rate++)
		if (p->o->rate[rate] > p->o->rate[last])
			last = rate;
	for (int c = 0; c < NR_CAPTURES; c++) {
		struct overhead_row r = overhead_make_row(p->o, last, (enum capture)c);
		int n = 0;

		if (!is_in_plot(p, c))
			continue;
		fprintf(p->to, "<path class=\"line c%d d%d\" d=\"M%d %dh36\"/>\n", colour_of[c], c, LEGEND, y);
		draw_capture_mark(p, c, LEGEND + 18, y);
		svg_text(p->to, LEGEND + 46, y + 4, "", capture_kinds[c].name);
		text[0] = 0;
		if (r.bytes_per_sample.nr)
			n = snprintf(text, sizeof(text), "%.0f bytes/sample", r.bytes_per_sample.median);
		if (p->o->has_components && r.attributed.nr)
			snprintf(text + n, sizeof(text) - (size_t)n, "; %.1f %% attributed", 100 * r.attributed.median);
		svg_text(p->to, LEGEND + 46, y + 19, "small", text);
		y += 40;
	}
	svg_textf(p->to, LEGEND + 46, y, "small", "(at %s samples per second)", with_commas((double)p->o->rate[last], text));
}

static void draw_plot(FILE *to, const struct overhead *o, unsigned captures)
{
	struct plot p = { .o = o, .captures = captures, .to = to };

	set_axis_scales(&p);
	draw_axes(&p);
	for (int c = 0; c < NR_CAPTURES; c++)
		if (is_in_plot(&p, c))
			draw_capture_line(&p, c);
	draw_legend(&p);
}

void overhead_svg(const struct overhead *o, FILE *to)
{
	struct spread bare = overhead_bare_spread(o, true);
	char *command = overhead_command(o, 84), title[512];

	snprintf(title, sizeof(title), "Overhead of sampling: %s", command ? command : "");
	svg_begin(to, WIDTH, 2 * HEIGHT, title, style, dark);
	svg_text(to, 20, 28, "title", command ? command : "");
	svg_textf(to, 20, 48, "", "baseline %.3f s; medians of %u round%s, whiskers: 95 %% confidence intervals; event: %s", bare.median,
		  o->nr_rounds, o->nr_rounds == 1 ? "" : "s", o->event_name);
	draw_plot(to, o, ALL_CAPTURES);
	fprintf(to, "<g transform=\"translate(0 %d)\">\n", HEIGHT);
	svg_text(to, 20, 48, "title", "Tag register against call stacks");
	draw_plot(to, o, TAG_AGAINST_STACKS);
	fputs("</g>\n", to);
	svg_end(to);
	free(command);
}
