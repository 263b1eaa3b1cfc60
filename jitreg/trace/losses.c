/* SPDX-License-Identifier: MIT */
/* The tables of LOSS_REASONS and NOTICE_KINDS, and functions that find the reason or kind of a record in them by its text. */
#include "jitreg/trace/reader.h"
#include "jitreg/trace/schema.h"
#include "jitreg/trace/trace.h"

#define LOSS_MEANING_(NAME, text, CLASS, sentence) { text, LOSS_OF_##CLASS, sentence },
const struct loss_meaning trace_losses[NR_LOSSES] = { LOSS_REASONS(LOSS_MEANING_) };
#undef LOSS_MEANING_

#define NOTICE_TEXT_(NAME, text) text,
const char *const trace_notices[NR_NOTICES + 1] = { NOTICE_KINDS(NOTICE_TEXT_) "unknown" };
#undef NOTICE_TEXT_

enum notice_kind trace_notice_kind(const struct trace_record *r)
{
	for (int i = 0; i < NR_NOTICES; i++)
		if (trace_text_is(r, F(notice, kind), trace_notices[i]))
			return (enum notice_kind)i;
	return NR_NOTICES;
}

enum loss_reason trace_loss_reason(const struct trace_record *r)
{
	for (int i = 0; i < NR_LOSSES; i++)
		if (trace_text_is(r, F(loss, reason), trace_losses[i].text))
			return (enum loss_reason)i;
	return NR_LOSSES;
}
