/* SPDX-License-Identifier: MIT */
/* LOSS_REASONS as a table, and which of them a LOSS record has. */
#include "jitreg/trace/reader.h"
#include "jitreg/trace/schema.h"
#include "jitreg/trace/trace.h"

#define LOSS_MEANING_(NAME, text, CLASS, sentence) { text, LOSS_OF_##CLASS, sentence },
const struct loss_meaning trace_losses[NR_LOSSES] = { LOSS_REASONS(LOSS_MEANING_) };
#undef LOSS_MEANING_

enum loss_reason trace_loss_reason(const struct trace_record *r)
{
	for (int i = 0; i < NR_LOSSES; i++)
		if (trace_text_is(r, F(loss, reason), trace_losses[i].text))
			return (enum loss_reason)i;
	return NR_LOSSES;
}
