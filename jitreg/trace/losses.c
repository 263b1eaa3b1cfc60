/* SPDX-License-Identifier: MIT */
/* This file has the tables of LOSS_REASONS and NOTICE_KINDS, and functions that find the reason or kind of a record in them by its text. */
#include "jitreg/trace/reader.h"
#include "jitreg/trace/schema.h"
#include "jitreg/trace/trace.h"

#include <string.h>

#define LOSS_MEANING_(NAME, text, CLASS, sentence) { text, LOSS_OF_##CLASS, sentence },
const struct loss_meaning trace_losses[NR_LOSSES] = { LOSS_REASONS(LOSS_MEANING_) };
#undef LOSS_MEANING_

#define NOTICE_TEXT_(NAME, text) text,
const char *const trace_notices[NR_NOTICES + 1] = { NOTICE_KINDS(NOTICE_TEXT_) "unknown" };
#undef NOTICE_TEXT_

/* These kinds came after 1.0.0. In older traces, their notices have a more general kind, and a sentence that begins so. */
static const struct {
	enum notice_kind kind, older;
	const char *beginning;
} later[] = {
	{ NOTICE_NAMES, NOTICE_HOST, "names of Python functions unavailable" },
	{ NOTICE_NO_SAMPLES, NOTICE_REFUSED, TRACE_NO_SAMPLES_OF },
	{ NOTICE_NAMES_NOT_READ, NOTICE_REFUSED, TRACE_NAMES_NOT_READ },
	{ NOTICE_DISK_FULL, NOTICE_LOSS, TRACE_WRITE_FAILED "No space left on device" },
	{ NOTICE_DISK_FULL, NOTICE_LOSS, TRACE_WRITE_FAILED "Disk quota exceeded" },
};

static bool sentence_begins_with(const struct trace_record *r, const char *beginning)
{
	size_t bytes;
	const char *sentence = trace_bytes(r, F(notice, sentence), &bytes);

	return bytes >= strlen(beginning) && memcmp(sentence, beginning, strlen(beginning)) == 0;
}

enum notice_kind trace_notice_kind(const struct trace_record *r)
{
	int kind = 0;

	while (kind < NR_NOTICES && !trace_text_is(r, F(notice, kind), trace_notices[kind]))
		kind++;
	for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++)
		if (kind == (int)later[i].older && sentence_begins_with(r, later[i].beginning))
			return later[i].kind;
	return (enum notice_kind)kind;
}

enum loss_reason trace_loss_reason(const struct trace_record *r)
{
	for (int i = 0; i < NR_LOSSES; i++)
		if (trace_text_is(r, F(loss, reason), trace_losses[i].text))
			return (enum loss_reason)i;
	return NR_LOSSES;
}
