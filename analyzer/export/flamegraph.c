/* SPDX-License-Identifier: MIT */
/* Writes the format flamegraph, which is one SVG file that needs no other files. It has a box for each call that is not too narrow, as wide
 * as its share, zoom and search. It follows B. Gregg's flame graphs (The Flame Graph, CACM 59, 2016). */
#include "analyzer/export/export.h"
#include "analyzer/output/escape.h"
#include "analyzer/output/svg.h"
#include "analyzer/query/calltree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 1200.0
#define ROW 17
#define MARGIN 10
#define HEAD 56
#define LEAST 0.1 /* pixels; a narrower box is not drawn */
#define LETTER 6.6

/* The script flamegraph.js becomes a part of the program here, and of each file. */
__asm__(".pushsection .rodata\n"
	"flamegraph_script: .incbin \"analyzer/export/flamegraph.js\"\n"
	"flamegraph_script_end: .popsection\n");
extern const char flamegraph_script[] __attribute__((visibility("hidden")));
extern const char flamegraph_script_end[] __attribute__((visibility("hidden")));

static const char style[] = "text{pointer-events:none}g.f text{fill:#000;font:11px monospace}g.f{cursor:pointer}"
			    "g.f:hover rect,g.f:focus rect{stroke:#000}rect.m{fill:#d050d0}#search{cursor:pointer}#search text{fill:#000}";

static void prepare_flamegraph(struct export *e)
{
	export_ask_stacks(e);
}

/* Write the colour of a box, which is grey where the stack is truncated, blue for the kernel, green for generated code, and warm for the
 * rest. The shade depends on the name, except for grey, so that one name has the same colour in all files. */
static void write_box_colour(FILE *to, const char *name, unsigned flags)
{
	unsigned h = 2166136261u;

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 16777619u;
	if (flags & STACK_CUT)
		fputs("rgb(190,190,190)", to);
	else if (flags & STACK_KERNEL)
		fprintf(to, "rgb(%u,%u,%u)", 110 + h % 40, 150 + (h >> 8) % 40, 215 + (h >> 16) % 30);
	else if (flags & STACK_JIT)
		fprintf(to, "rgb(%u,%u,%u)", 100 + h % 50, 190 + (h >> 8) % 45, 90 + (h >> 16) % 50);
	else
		fprintf(to, "rgb(%u,%u,%u)", 215 + h % 40, 120 + (h >> 8) % 90, 60 + (h >> 16) % 40);
}

static void write_call_box(const struct export *e, const struct calltree *t, uint32_t call, double x, double width, unsigned depth,
			   unsigned rows, FILE *to)
{
	const struct call *c = &t->at[call];
	char spare[32];
	const char *name = calltree_name(e->report, t, call, spare);
	double y = HEAD + (double)(rows - 1 - depth) * ROW;

	fprintf(to, "<g class=\"f\" tabindex=\"0\" data-x=\"%.3f\" data-w=\"%.3f\" data-d=\"%u\" data-o=\"%.6g\" data-n=\"",
			x, width, depth,
		c->own_samples);
	escape_xml(to, name);
	fputs("\"><title>", to);
	escape_xml(to, name);
	fprintf(to,
			" (%.0f samples, %.2f %%; self %.2f %%)</title>"
			"<rect x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%d\" rx=\"1\" fill=\"",
		c->total_samples, 100 * c->total / t->at[0].total, 100 * c->own / t->at[0].total, MARGIN + x, y,
		width > 0.6 ? width - 0.5 : width, ROW - 1);
	write_box_colour(to, name, c->flags);
	fprintf(to, "\"/><text x=\"%.2f\" y=\"%.0f\">", MARGIN + x + 3, y + 12);
	if (width >= 3 * LETTER) {
		size_t fits = (size_t)((width - 4) / LETTER), length = strlen(name);
		char cut[256];

		snprintf(cut, sizeof(cut), "%.*s%s", (int)(length <= fits ? length : fits > 2 ? fits - 2 : 0), name,
				length <= fits ? "" : "..");
		escape_xml(to, cut);
	}
	fputs("</text></g>\n", to);
}

/* A box is the place of a call in the picture. One that is too narrow to be drawn has the width 0, and so have all boxes of its callees. */
struct box {
	double x, width;
};

/* Lay out the boxes, parents before their children, and set *rows to the number of levels that have a box. The caller frees the result.
 * Return NULL if memory runs out. */
static struct box *lay_out_boxes(const struct calltree *t, double width, unsigned *rows)
{
	struct box *box = calloc(t->nr, sizeof(*box));

	*rows = 1;
	for (uint32_t call = 0; box && call < t->nr; call++) {
		const struct call *c = &t->at[call];
		double x = box[call].x;

		if (!call)
			box[call].width = width;
		if (box[call].width > 0 && c->depth >= *rows)
			*rows = c->depth + 1;
		for (uint32_t i = 0; i < c->nr_children && box[call].width > 0 && c->total > 0; i++) {
			double part = box[call].width * t->at[c->child[i]].total / c->total;

			box[c->child[i]] = (struct box){ x, part >= LEAST ? part : 0 };
			x += part;
		}
	}
	return box;
}

static int write_flamegraph(struct export *e, FILE *to)
{
	const char *command = e->report->model->command ? e->report->model->command : "";
	const double width = WIDTH - 2 * MARGIN;
	struct calltree t;
	int ret = calltree_make(e->report, e->by_stack, e->level, false, &t) ? 0 : -ENOMEM;
	unsigned rows;
	struct box *box = ret ? NULL : lay_out_boxes(&t, width, &rows);

	ret = box ? 0 : -ENOMEM;
	if (ret == 0) {
		svg_begin(to, (int)WIDTH, (int)(HEAD + rows * ROW + MARGIN), command, style, "g.f text,#search text{fill:#000}");
		svg_text(to, MARGIN, 20, "title", command);
		fprintf(to, "<text class=\"small\" x=\"%d\" y=\"40\" id=\"note\">%.0f samples; click a box to zoom, the lowest "
			"one to reset</text>\n", MARGIN, t.at[0].total_samples);
		fprintf(to, "<g id=\"search\"><rect x=\"%.0f\" y=\"8\" width=\"60\" height=\"18\" fill=\"#ccc\"/>", WIDTH - 70);
		svg_text(to, WIDTH - 61, 21, "small", "search");
		fputs("</g>\n", to);
		for (uint32_t i = 0; t.at[0].total > 0 && i < t.nr; i++)
			if (box[i].width > 0)
				write_call_box(e, &t, i, box[i].x, box[i].width, t.at[i].depth, rows, to);
		fputs("<script><![CDATA[\n", to);
		fwrite(flamegraph_script, 1, (size_t)(flamegraph_script_end - flamegraph_script), to);
		fputs("]]></script>\n", to);
		svg_end(to);
	}
	free(box);
	calltree_fini(&t);
	return ret;
}

const struct exporter exporter_flamegraph = {
	"flamegraph", ".svg", "flame graph as one SVG file, with zoom and search",
	false, prepare_flamegraph, write_flamegraph, true,
};
