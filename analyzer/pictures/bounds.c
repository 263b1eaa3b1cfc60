/* SPDX-License-Identifier: MIT */
#include "analyzer/pictures/bounds.h"

#include "analyzer/output/svg.h"

#define WIDTH 720
#define LEFT 190.0
#define RIGHT 600.0
#define TOP 56.0
#define ROW 26.0
#define BAR 16.0

static double x_of_share(double share)
{
	return LEFT + (RIGHT - LEFT) * (share < 0 ? 0 : share > 1 ? 1 : share);
}

void bounds_svg(const char *title, const struct bounds_row *row, int nr, FILE *to)
{
	const double bottom = TOP + nr * ROW;

	svg_begin(to, WIDTH, (int)bottom + 40, title, ".most{opacity:.35}", "");
	svg_text(to, 16, 28, "title", title);
	for (int i = 0; i < nr; i++) {
		double y = TOP + i * ROW;

		svg_text(to, LEFT - 8, y + BAR - 3, "end", row[i].name);
		fprintf(to, "<rect class=\"f%d most\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n", SVG_ORANGE, LEFT, y,
			x_of_share(row[i].high) - LEFT, BAR);
		fprintf(to, "<rect class=\"f%d\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n", SVG_ORANGE, LEFT, y,
			x_of_share(row[i].low) - LEFT, BAR);
		if (row[i].high - row[i].low < 0.0005)
			svg_textf(to, RIGHT + 8, y + BAR - 3, "", "%.1f %%", 100 * row[i].low);
		else
			svg_textf(to, RIGHT + 8, y + BAR - 3, "", "%.1f-%.1f %%", 100 * row[i].low, 100 * row[i].high);
	}
	fprintf(to, "<path class=\"axis\" d=\"M%.1f %.1fV%.1fH%.1f\"/>\n", LEFT, TOP - 6, bottom, RIGHT);
	for (int percent = 0; percent <= 100; percent += 25)
		svg_textf(to, x_of_share(percent / 100.0), bottom + 18, "small middle", "%d %%", percent);
	svg_end(to);
}
