/* SPDX-License-Identifier: MIT */
#include "analyzer/output/svg.h"

#include "analyzer/output/escape.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>

static const char *const colours[NR_SVG_COLOURS][2] = { /* on a light page, on a dark one */
	[SVG_BLUE] = { "#0072b2", "#56b4e9" },	[SVG_ORANGE] = { "#c44d00", "#ff8a4c" }, [SVG_GREEN] = { "#007a5a", "#2fc79a" },
	[SVG_PINK] = { "#a3487f", "#dd8fc0" },	[SVG_AMBER] = { "#b07400", "#f0b840" },	 [SVG_VIOLET] = { "#5b4bc4", "#a89bff" },
	[SVG_GREY] = { "#777", "#999" },	[SVG_BROWN] = { "#7a5230", "#c49a6c" },
};

static void put_colours(FILE *to, bool dark)
{
	for (int i = 0; i < NR_SVG_COLOURS; i++)
		fprintf(to, ".c%d{stroke:%s}.f%d{fill:%s}", i, colours[i][dark], i, colours[i][dark]);
}

#define FIRST_RULES "<style>:root{color-scheme:light dark}.page{fill:#fff}text{fill:#222;font:13px system-ui,sans-serif}"

const struct output_form svg_output_form = { "a picture", FIRST_RULES, sizeof(FIRST_RULES) - 1, 0, 1 << 16 };

void svg_begin(FILE *to, int width, int height, const char *title, const char *style, const char *dark)
{
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", to);
	fprintf(to, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" ", width, height, width,
		height);
	fputs("role=\"img\" aria-labelledby=\"title\">\n<title id=\"title\">", to);
	escape_xml(to, title);
	fputs("</title>\n" FIRST_RULES
	      ".title{font-size:16px;font-weight:600}.small{font-size:11px}.middle{text-anchor:middle}.end{text-anchor:end}"
	      ".axis{stroke:#777;fill:none}", to);
	put_colours(to, false);
	fprintf(to, "%s@media (prefers-color-scheme:dark){.page{fill:#16181c}text{fill:#e6e6e6}.axis{stroke:#888}", style);
	put_colours(to, true);
	fprintf(to, "%s}</style>\n<rect class=\"page\" width=\"%d\" height=\"%d\"/>\n", dark, width, height);
}

void svg_end(FILE *to)
{
	fputs("</svg>\n", to);
}

double svg_step(double range)
{
	double step = pow(10, floor(log10(range / 8)));

	while (range / step > 8)
		step *= range / step > 40 ? 10 : range / step > 16 ? 5 : 2;
	return step;
}

void svg_text(FILE *to, double x, double y, const char *classes, const char *text)
{
	fprintf(to, *classes ? "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">" : "<text x=\"%.1f\" y=\"%.1f\">", x, y, classes);
	escape_xml(to, text);
	fputs("</text>\n", to);
}

void svg_textf(FILE *to, double x, double y, const char *classes, const char *format, ...)
{
	char *text = NULL;
	va_list list;

	va_start(list, format);
	if (vasprintf(&text, format, list) < 0)
		text = NULL;
	va_end(list);
	if (text)
		svg_text(to, x, y, classes, text);
	free(text);
}
