/* SPDX-License-Identifier: MIT */
#include "analyzer/pictures/predictions.h"

#include "analyzer/output/page.h"
#include "analyzer/output/svg.h"

#include <math.h>
#include <string.h>

#define WIDTH 860
#define LEFT 330.0
#define RIGHT 770.0
#define TOP 66.0
#define ROW 24.0
#define NAME_COLUMNS 40

static double x_of_time(double ns, double most)
{
	return LEFT + (RIGHT - LEFT) * ns / most;
}

static void draw_axis(double most, double bottom, FILE *to)
{
	const double step = svg_step(most);
	char text[16];

	for (double ns = 0; ns <= most; ns += step) {
		fprintf(to, "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/>\n", x_of_time(ns, most), TOP - 4, bottom);
		svg_textf(to, x_of_time(ns, most), bottom + 18, "small middle", "%s", grid_duration(ns, text));
	}
	fprintf(to, "<path class=\"axis\" d=\"M%.1f %.1fH%.1f\"/>\n", LEFT, bottom, RIGHT);
}

static void draw_row(const struct predictions_row *row, double most, double y, FILE *to)
{
	const double low = x_of_time(row->low, most), high = x_of_time(row->high, most);
	struct page p = { .utf8 = true, .columns = NAME_COLUMNS };
	const char *whole = strncmp(row->name, "component=", 10) == 0 ? row->name + 10 : row->name;
	char name[256], text[16];

	svg_text(to, LEFT - 10, y + 4, "end", page_cut_name(&p, whole, NAME_COLUMNS, name, sizeof(name)));
	fprintf(to, "<path class=\"c%d whisker\" d=\"M%.1f %.1fH%.1fM%.1f %.1fv8M%.1f %.1fv8\"/>\n", SVG_BLUE, low, y, high, low, y - 4,
		high, y - 4);
	fprintf(to, "<circle class=\"f%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"4.5\"/>\n", SVG_BLUE, x_of_time(row->completion, most), y);
	svg_textf(to, RIGHT + 12, y + 4, "", "%s", grid_duration(row->completion, text));
}

void predictions_svg(double now_ns, const struct predictions_row *row, uint32_t nr, FILE *to)
{
	const double bottom = TOP + nr * ROW + 4;
	double most = now_ns > 0 ? now_ns : 1;
	char text[16];

	for (uint32_t i = 0; i < nr; i++)
		most = fmax(most, row[i].high);
	most *= 1.02;
	svg_begin(to, WIDTH, (int)bottom + 32, "Predicted completion times", ".grid{stroke:#ddd}.whisker{fill:none;stroke-width:1.6}"
		  ".now{stroke-width:1.6;stroke-dasharray:5 3}", ".grid{stroke:#34373d}");
	svg_text(to, 16, 28, "title", "Predicted completion times, with intervals of 95 %");
	draw_axis(most, bottom, to);
	for (uint32_t i = 0; i < nr; i++)
		draw_row(&row[i], most, TOP + i * ROW + ROW / 2, to);
	fprintf(to, "<path class=\"c%d now\" d=\"M%.1f %.1fV%.1f\"/>\n", SVG_ORANGE, x_of_time(now_ns, most), TOP - 4, bottom);
	svg_textf(to, x_of_time(now_ns, most), TOP - 10, "small middle", "recorded: %s", grid_duration(now_ns, text));
	svg_end(to);
}
