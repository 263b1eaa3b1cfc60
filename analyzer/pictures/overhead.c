/* SPDX-License-Identifier: MIT */
/*
 * In the manner of figure 13 of Beischl et al., EuroSys 2021: overhead over sampling frequency.  The rates stand on a logarithmic
 * axis below, the periods that they came to above; whiskers are the 95 % intervals of the medians.  Lines differ in colour, in
 * dashes and in their marks, so that they can be told apart without colour.
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

static const char style[] =
	":root{color-scheme:light dark}"
	".page{fill:#fff}text{fill:#222;font:13px system-ui,sans-serif}.title{font-size:16px;font-weight:600}.small{font-size:11px}"
	".middle{text-anchor:middle}.end{text-anchor:end}.axis{stroke:#444;fill:none}.grid{stroke:#ddd}"
	".line{fill:none;stroke-width:2}.whisker{stroke-width:1.2;opacity:.65}.mark{stroke:#fff;stroke-width:.8}"
	".s1{stroke:#7a5230}.f1{fill:#7a5230}.s2{stroke:#777}.f2{fill:#777}.s3{stroke:#007a5a}.f3{fill:#007a5a}"
	".s4{stroke:#b07400}.f4{fill:#b07400}.s5{stroke:#a3487f}.f5{fill:#a3487f}.s6{stroke:#c44d00}.f6{fill:#c44d00}"
	".s7{stroke:#0072b2}.f7{fill:#0072b2}"
	".d1{stroke-dasharray:3 6}.d2{stroke-dasharray:1 4}.d3{stroke-dasharray:7 3}.d4{stroke-dasharray:2 3}"
	".d5{stroke-dasharray:9 3 2 3}.d6{stroke-dasharray:12 4}"
	"@media (prefers-color-scheme:dark){"
	".page{fill:#16181c}text{fill:#e6e6e6}.axis{stroke:#aaa}.grid{stroke:#34373d}.mark{stroke:#16181c}"
	".s1{stroke:#c49a6c}.f1{fill:#c49a6c}.s2{stroke:#999}.f2{fill:#999}.s3{stroke:#2fc79a}.f3{fill:#2fc79a}"
	".s4{stroke:#f0b840}.f4{fill:#f0b840}.s5{stroke:#dd8fc0}.f5{fill:#dd8fc0}.s6{stroke:#ff8a4c}.f6{fill:#ff8a4c}"
	".s7{stroke:#56b4e9}.f7{fill:#56b4e9}}";

/* What a place on the page means. */
struct plot {
	const struct overhead *o;
	double low, high, step; /* of added run time, as shares */
	double log_low, log_high; /* of rates */
	FILE *to;
};

static double x_of(const struct plot *p, unsigned rate)
{
	if (p->log_high <= p->log_low)
		return (LEFT + RIGHT) / 2;
	return LEFT + 30 + (RIGHT - LEFT - 60) * (log((double)p->o->rate[rate]) - p->log_low) / (p->log_high - p->log_low);
}

static double y_of(const struct plot *p, double share)
{
	double y = BOTTOM - (BOTTOM - TOP) * (share - p->low) / (p->high - p->low);

	return fmin(fmax(y, TOP), BOTTOM);
}

/* 1, 2 or 5 times a power of ten, so that there are at most eight. */
static double nice_step(double range)
{
	double step = pow(10, floor(log10(range / 8)));

	while (range / step > 8)
		step *= range / step > 40 ? 10 : range / step > 16 ? 5 : 2;
	return step;
}

/* All medians fit; a whisker may leave the page where a machine was very noisy. */
static void scale(struct plot *p)
{
	double low = 0, high = 0.01, highest = 0.01;

	p->log_low = INFINITY;
	p->log_high = -INFINITY;
	for (unsigned rate = 0; rate < p->o->nr_rates; rate++) {
		p->log_low = fmin(p->log_low, log((double)p->o->rate[rate]));
		p->log_high = fmax(p->log_high, log((double)p->o->rate[rate]));
		for (int c = CAPTURE_BARE + 1; c < NR_CAPTURES; c++) {
			struct spread s = overhead_row(p->o, rate, (enum capture)c).added_wall;

			if (!s.nr)
				continue;
			low = fmin(low, s.low);
			high = fmax(high, s.high);
			highest = fmax(highest, fmax(s.median, -s.median));
		}
	}
	low = fmax(low, -1.5 * highest);
	high = fmin(high, 2 * highest);
	p->step = nice_step(high - low);
	p->low = p->step * floor(low / p->step);
	p->high = p->step * ceil(high / p->step);
}

/* 400000 as 400,000. */
static void put_number(double v, FILE *to)
{
	char digits[32];
	int nr = snprintf(digits, sizeof(digits), "%.0f", v);

	for (int i = 0; i < nr; i++) {
		if (i && (nr - i) % 3 == 0)
			fputc(',', to);
		fputc(digits[i], to);
	}
}

static void put_axes(const struct plot *p)
{
	FILE *to = p->to;
	int decimals = p->step < 0.0095 ? 1 : 0;
	bool periods = false;

	for (double v = p->low; v <= p->high + p->step / 2; v += p->step) {
		double percent = fabs(v) < p->step / 2 ? 0 : 100 * v;

		fprintf(to, "<line class=\"%s\" x1=\"%.0f\" y1=\"%.1f\" x2=\"%.0f\" y2=\"%.1f\"/>\n", percent == 0 ? "axis" : "grid", LEFT,
			y_of(p, v), RIGHT, y_of(p, v));
		fprintf(to, "<text class=\"end\" x=\"%.0f\" y=\"%.1f\">%.*f %%</text>\n", LEFT - 8, y_of(p, v) + 4, decimals, percent);
	}
	fprintf(to, "<path class=\"axis\" d=\"M%.0f %.0fV%.0fH%.0fV%.0f\"/>\n", LEFT, TOP, BOTTOM, RIGHT, TOP);
	for (unsigned rate = 0; rate < p->o->nr_rates; rate++) {
		double x = x_of(p, rate);

		fprintf(to, "<path class=\"axis\" d=\"M%.1f %.0fv5\"/><text class=\"middle\" x=\"%.1f\" y=\"%.0f\">", x, BOTTOM, x,
			BOTTOM + 20);
		put_number((double)p->o->rate[rate], to);
		fputs("</text>\n", to);
		if (p->o->period[rate] > 0) {
			periods = true;
			fprintf(to, "<text class=\"small middle\" x=\"%.1f\" y=\"%.0f\">", x, TOP - 6);
			put_number(p->o->period[rate], to);
			fputs("</text>\n", to);
		}
	}
	if (periods) {
		fprintf(to, "<text class=\"small\" x=\"%.0f\" y=\"%.0f\">", LEFT, TOP - 22);
		svg_put_text(p->o->unit, to);
		fputs(" from sample to sample</text>\n", to);
	}
	fprintf(to, "<text class=\"middle\" x=\"%.0f\" y=\"%.0f\">samples per second and processor</text>\n", (LEFT + RIGHT) / 2,
		BOTTOM + 44);
	fprintf(to, "<text class=\"middle\" transform=\"translate(20 %.0f) rotate(-90)\">run time added</text>\n", (TOP + BOTTOM) / 2);
}

/* A form for each way of sampling, about 9 wide. */
static void put_mark(const struct plot *p, int c, double x, double y)
{
	static const char *const forms[] = {
		"m-6 -2h12v4h-12z", "m-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0z", "m-4 -4h8v8h-8z",
		"m0 -5l5 9h-10z", "m0 5l5 -9h-10z", "m0 -5.5l5 5.5l-5 5.5l-5 -5.5z",
		"m-5 -2h3.5v-3h3v3h3.5v4h-3.5v3h-3v-3h-3.5z",
	};

	_Static_assert(sizeof(forms) / sizeof(forms[0]) == NR_CAPTURES - 1, "a form for each way");
	fprintf(p->to, "<path class=\"mark f%d\" d=\"M%.1f %.1f%s\"/>\n", c, x, y, forms[c - 1]);
}

static void put_line(const struct plot *p, int c)
{
	bool first = true;

	fprintf(p->to, "<path class=\"line s%d d%d\" d=\"", c, c);
	for (unsigned rate = 0; rate < p->o->nr_rates; rate++) {
		struct spread s = overhead_row(p->o, rate, (enum capture)c).added_wall;

		if (s.nr)
			fprintf(p->to, "%s%.1f %.1f", first ? "M" : "L", x_of(p, rate), y_of(p, s.median));
		first &= !s.nr;
	}
	fputs("\"/>\n", p->to);
	for (unsigned rate = 0; rate < p->o->nr_rates; rate++) {
		struct spread s = overhead_row(p->o, rate, (enum capture)c).added_wall;
		double x = x_of(p, rate) + 3 * (c - (NR_CAPTURES / 2)); /* whiskers beside each other */

		if (!s.nr)
			continue;
		fprintf(p->to, "<path class=\"whisker s%d\" d=\"M%.1f %.1fV%.1f\"/>\n", c, x, y_of(p, s.low), y_of(p, s.high));
		put_mark(p, c, x_of(p, rate), y_of(p, s.median));
	}
}

/* Names, and what the last rate's samples are good for. */
static void put_legend(const struct plot *p)
{
	unsigned last = 0;
	int y = (int)TOP + 12;

	for (unsigned rate = 0; rate < p->o->nr_rates; rate++)
		if (p->o->rate[rate] > p->o->rate[last])
			last = rate;
	for (int c = CAPTURE_BARE + 1; c < NR_CAPTURES; c++, y += 46) {
		struct overhead_row r = overhead_row(p->o, last, (enum capture)c);

		fprintf(p->to, "<path class=\"line s%d d%d\" d=\"M%d %dh36\"/>\n", c, c, LEGEND, y);
		put_mark(p, c, LEGEND + 18, y);
		fprintf(p->to, "<text x=\"%d\" y=\"%d\">", LEGEND + 46, y + 4);
		svg_put_text(capture_kinds[c].name, p->to);
		fprintf(p->to, "</text>\n<text class=\"small\" x=\"%d\" y=\"%d\">", LEGEND + 46, y + 19);
		if (r.bytes_per_sample.nr)
			fprintf(p->to, "%.0f bytes/sample", r.bytes_per_sample.median);
		if (p->o->has_components && r.attributed.nr)
			fprintf(p->to, "; %.1f %% attributed", 100 * r.attributed.median);
		fputs("</text>\n", p->to);
	}
	fprintf(p->to, "<text class=\"small\" x=\"%d\" y=\"%d\">(at ", LEGEND + 46, y);
	put_number((double)p->o->rate[last], p->to);
	fputs(" samples per second)</text>\n", p->to);
}

void overhead_svg(const struct overhead *o, FILE *to)
{
	struct plot p = { .o = o, .to = to };
	struct spread bare = overhead_bare(o, true);
	char *command = overhead_command(o, 84);

	scale(&p);
	fprintf(to, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\"",
		WIDTH, HEIGHT);
	fprintf(to, " width=\"%d\" height=\"%d\" role=\"img\" aria-labelledby=\"title\">\n<title id=\"title\">What sampling costs: ", WIDTH,
		HEIGHT);
	svg_put_text(command ? command : "", to);
	fprintf(to, "</title>\n<style>%s</style>\n<rect class=\"page\" width=\"%d\" height=\"%d\"/>\n", style, WIDTH, HEIGHT);
	fprintf(to, "<text class=\"title\" x=\"20\" y=\"28\">");
	svg_put_text(command ? command : "", to);
	fprintf(to, "</text>\n<text x=\"20\" y=\"48\">%.3f s without sampling; medians of %u round%s, whiskers: 95 %% intervals; event: ",
		bare.median, o->nr_rounds, o->nr_rounds == 1 ? "" : "s");
	svg_put_text(o->event_name, to);
	fputs("</text>\n", to);
	put_axes(&p);
	for (int c = CAPTURE_BARE + 1; c < NR_CAPTURES; c++)
		put_line(&p, c);
	put_legend(&p);
	fputs("</svg>\n", to);
	free(command);
}
