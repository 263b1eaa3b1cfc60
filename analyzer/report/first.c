/* SPDX-License-Identifier: MIT */
#include "analyzer/report/first.h"

#include "analyzer/query/warnings.h"
#include "analyzer/report/missing.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define NAME_COLUMNS 32
#define PHASE_COLUMNS 24
#define WORTH 0.005 /* share of Python functions too deep in the stack for names from which it is worth a sentence */
#define UNNAMED 0.01 /* share of generated code without names from which it is worth a sentence */
/* share without names from which it is worth a first sentence, because the shares of functions are of the rest only */
#define UNNAMED_FIRST 0.05
#define INTERPRETED_FIRST 0.5 /* share in an interpreter from which it is worth a first sentence; a program that only embeds one has less */
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

/* Write how the code can get names, or "" if the sentence about the host's version (v->is_lacking) says it already. */
static void write_advice(const struct verdict *v, const struct jit_host *host, char text[JIT_ADVICE_BYTES + 8])
{
	char advice[JIT_ADVICE_BYTES];

	*text = 0;
	if (!v->names_not_read && v->is_lacking)
		return;
	if (v->names_not_read) /* this is why the code has no names, so nothing else needs to be tried */
		snprintf(advice, sizeof(advice), "%s", v->names_not_read);
	else
		jit_host_advise(host, &v->recording, advice);
	snprintf(text, JIT_ADVICE_BYTES + 8, " %s.", advice);
}

static void print_unnamed_code(const struct verdict *v, struct page *p)
{
	const struct jit_host *host = jit_host_of_object(v->maker);
	char object[VERDICT_TEXT / 3], phase[VERDICT_TEXT / 3], advice[JIT_ADVICE_BYTES + 8], in_force[VERDICT_TEXT / 2] = "";
	const char *of = first_whole(v, p, phase);

	page_cut(p, basename(v->maker), NAME_COLUMNS, object, sizeof(object));
	write_advice(v, host, advice);
	if (v->recording.in_force)
		snprintf(in_force, sizeof(in_force), ", although it was started with %.48s", v->recording.in_force);
	if (host && strcasecmp(host->name, object) != 0)
		page_text(p, "", 2, "%.1f %% of %s ran in code that %s (%s) generated and did not name%s.%s",
			  grid_percent(v->maker_share), of, host->name, object, in_force, advice);
	else
		page_text(p, "", 2, "%.1f %% of %s ran in code that %s generated and did not name%s.%s", grid_percent(v->maker_share), of,
			  *object ? object : "a JIT", in_force, advice);
}

static void print_deep_python(const struct verdict *v, struct page *p)
{
	char phase[VERDICT_TEXT / 3];

	page_text(p, "", 2, "%.1f %% of %s ran in Python functions too deep in the stack for a name each (beyond a quarter of it), and "
		  "have one row, \"" JIT_PYTHON_DEEP "\". A larger stack (ulimit -s) names more of them.",
		  grid_percent(v->deep_python), first_whole(v, p, phase));
}

static void print_interpreted(const struct verdict *v, struct page *p)
{
	const struct interpreter *i = v->interpreter;
	char phase[VERDICT_TEXT / 3], what[64];

	if (i->silent == SILENT_WITHOUT_PLAN)
		snprintf(what, sizeof(what), "%s, whose statements and operators are not known here", i->language);
	else
		snprintf(what, sizeof(what), "%s's interpreter: %s functions have no names there", i->language, i->language);
	page_text(p, "", 2, "%.1f %% of %s ran in %s.%s%s%s", grid_percent(v->interpreted), first_whole(v, p, phase), what,
		  *i->helps ? " " : "", i->helps, *i->helps ? "." : "");
}

static void print_unnamed(const struct verdict *v, struct page *p)
{
	print_warnings(v, WARNING_OF_NAMES, "", p);
	if (v->samples > 0 && v->unnamed >= UNNAMED_FIRST)
		print_unnamed_code(v, p);
	if (v->samples > 0 && v->deep_python >= UNNAMED_FIRST)
		print_deep_python(v, p);
	if (v->samples > 0 && v->interpreter && v->interpreted >= INTERPRETED_FIRST)
		print_interpreted(v, p);
}

void first_print_unnamed(const struct verdict *v, struct page *p)
{
	if (v->unnamed >= UNNAMED && v->unnamed < UNNAMED_FIRST)
		print_unnamed_code(v, p);
	if (v->deep_python >= WORTH && v->deep_python < UNNAMED_FIRST)
		print_deep_python(v, p);
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
