/* SPDX-License-Identifier: MIT */
#include "analyzer/report/first.h"

#include "analyzer/query/warnings.h"
#include "analyzer/report/missing.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define NAME_COLUMNS 32
#define PHASE_COLUMNS 24
#define WORTH 0.005 /* share of Python functions too deep in the stack for names from which it is worth a sentence */
#define UNNAMED 0.01 /* share of generated code without names from which it is worth a sentence */
#define TRUNCATED_FIRST 0.05 /* share of samples with truncated call stacks from which it is worth a first sentence */

const char *first_whole(const struct verdict *v, struct page *p, char text[VERDICT_TEXT / 3])
{
	char phase[VERDICT_TEXT / 4];

	snprintf(text, VERDICT_TEXT / 3, v->has_run ? "the %s phase" : "all samples",
		 page_cut(p, v->phase, PHASE_COLUMNS, phase, sizeof(phase)));
	return text;
}

static void print_warnings(const struct verdict *v, enum warning_place place, const char *before, struct page *p)
{
	for (uint32_t i = 0; v->warnings && i < v->warnings->nr; i++) {
		const char *sentence = v->warnings->list[i].sentence;

		if (v->warnings->list[i].place == place && *before)
			page_text(p, before, 2, "%s", sentence);
		else if (v->warnings->list[i].place == place)
			page_text(p, "", 2, "%c%s.", toupper((unsigned char)*sentence), sentence + 1);
	}
}

static void print_nothing(const struct verdict *v, struct page *p)
{
	char why[MISSING_TEXT], phase[VERDICT_TEXT / 4];

	if (v->samples <= 0) {
		missing_samples(v, why);
		page_text(p, "", 2, "No samples: %s", why);
	} else if (v->outside) {
		page_text(p, "", 2, "No sample is in the %s phase: %.0f sample%s outside of it. `--mark all` attributes %s to components.",
			  page_cut(p, v->phase, PHASE_COLUMNS, phase, sizeof(phase)), v->samples,
			  v->samples > 1 ? "s are" : " is", v->samples > 1 ? "them" : "it");
	}
}

static void print_versions(const struct verdict *v, struct page *p)
{
	print_warnings(v, WARNING_OF_VERSION, "", p);
}

bool first_says_truncated(const struct verdict *v)
{
	return v->samples > 0 && v->truncated >= TRUNCATED_FIRST;
}

static void print_truncated(const struct verdict *v, struct page *p)
{
	char remedy[MISSING_TEXT];

	if (!first_says_truncated(v))
		return;
	missing_attribution_remedy(v, v->stack_bytes ? REASON_TRUNCATED : REASON_CHAIN_CUT, remedy);
	if (v->stack_bytes)
		page_text(p, "", 2, "%.1f %% of the call stacks are truncated at %.3g KiB, so that outer callers lack them in their totals."
			  "%s%s", grid_percent(v->truncated), v->stack_bytes / 1024.0, *remedy ? " " : "", remedy);
	else
		page_text(p, "", 2, "%.1f %% of the call stacks are truncated at 127 addresses, so that outer callers lack them in their "
			  "totals.%s%s", grid_percent(v->truncated), *remedy ? " " : "", remedy);
}

static void print_unnamed_code(const struct verdict *v, struct page *p)
{
	char object[VERDICT_TEXT / 3], phase[VERDICT_TEXT / 3], text[UNNAMED_SENTENCE];

	page_cut(p, basename(v->without.maker), NAME_COLUMNS, object, sizeof(object));
	unnamed_write_code(&v->without, first_whole(v, p, phase), object, text);
	page_text(p, "", 2, "%s", text);
}

static void print_deep_python(const struct verdict *v, struct page *p)
{
	char phase[VERDICT_TEXT / 3];

	page_text(p, "", 2, "%.1f %% of %s ran in Python functions too deep in the stack for a name each (beyond a quarter of it), and "
		  "have one row, \"" JIT_PYTHON_DEEP "\". A larger stack (ulimit -s) names more of them.",
		  grid_percent(v->deep_python), first_whole(v, p, phase));
}

static void print_v8_interpreted(const struct verdict *v, struct page *p)
{
	char phase[VERDICT_TEXT / 3];

	page_text(p, "", 2, "%.1f %% of %s ran in JavaScript functions that V8 interprets, with what these call in it: they have no names, "
		  "and one row, \"" JIT_V8_INTERPRETED "\". Record with `tailor run -- COMMAND`, or run node with "
		  "--interpreted-frames-native-stack.", grid_percent(v->v8_interpreted), first_whole(v, p, phase));
}

static void print_interpreted(const struct verdict *v, struct page *p)
{
	char phase[VERDICT_TEXT / 3], text[UNNAMED_SENTENCE];

	unnamed_write_interpreted(&v->without, first_whole(v, p, phase), text);
	page_text(p, "", 2, "%s", text);
}

static void print_unnamed(const struct verdict *v, struct page *p)
{
	print_warnings(v, WARNING_OF_NAMES, "", p);
	if (v->samples > 0 && v->without.code >= UNNAMED_FIRST)
		print_unnamed_code(v, p);
	if (v->samples > 0 && v->deep_python >= UNNAMED_FIRST)
		print_deep_python(v, p);
	if (v->samples > 0 && v->v8_interpreted >= UNNAMED_FIRST)
		print_v8_interpreted(v, p);
	if (v->samples > 0 && unnamed_tells_interpreter(&v->without))
		print_interpreted(v, p);
}

void first_print_unnamed(const struct verdict *v, struct page *p)
{
	if (v->without.code >= UNNAMED && v->without.code < UNNAMED_FIRST)
		print_unnamed_code(v, p);
	if (v->deep_python >= WORTH && v->deep_python < UNNAMED_FIRST)
		print_deep_python(v, p);
	if (v->v8_interpreted >= WORTH && v->v8_interpreted < UNNAMED_FIRST)
		print_v8_interpreted(v, p);
}

static void print_rest(const struct verdict *v, struct page *p)
{
	print_warnings(v, WARNING_OF_TAGS, "Tags ", p);
}

void first_print(const struct verdict *v, struct page *p)
{
#define PRINT_(name) print_##name,
	static void (*const print[])(const struct verdict *v, struct page *p) = { FIRST_SENTENCES(PRINT_) };
#undef PRINT_

	for (size_t i = 0; i < sizeof(print) / sizeof(print[0]); i++)
		print[i](v, p);
}
