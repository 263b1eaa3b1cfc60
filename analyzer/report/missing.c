/* SPDX-License-Identifier: MIT */
#include "analyzer/report/missing.h"

#include "analyzer/query/warnings.h"

#include <stdio.h>
#include <string.h>

#define PERIODS_FEW 4 /* periods that may pass without a sample, because periods vary, and a thread's first one begins anywhere */
#define SLACK_NS 20e6 /* processor time (ns) of the command that its counters may not see: the recorder's part of the fork, and the exec */

/* --------------------------------------------------------------------------------------------------------- no samples */

struct row {
	const char *key;
	bool (*is_seen)(const struct verdict *v); /* is there evidence for this reason? */
	void (*say)(const struct verdict *v, char text[MISSING_TEXT]);
};

/* Return the subject for a sentence about the processes whose counters these are. */
static const char *who(const struct verdict *v)
{
	return v->way == JIT_WAY_RUN ? "the command" : "the recorded processes";
}

static bool none_passes(const struct verdict *v)
{
	return v->recorded > 0;
}

static void say_none_passes(const struct verdict *v, char text[MISSING_TEXT])
{
	char none[64] = "the one recorded sample";

	if (v->recorded > 1)
		snprintf(none, sizeof(none), "none of the %llu recorded samples", (unsigned long long)v->recorded);
	if (v->unfiltered)
		snprintf(text, MISSING_TEXT, "%s is %sof %.100s (--event takes another).", none, v->recorded > 1 ? "" : "not ",
			 v->event_name);
	else
		snprintf(text, MISSING_TEXT, "%s %s the filter.%s", none, v->recorded > 1 ? "passes" : "does not pass",
			 v->of_components ? " Calls of a component are not its own samples: --below takes them, too." : "");
}

static bool none_is_decoded(const struct verdict *v)
{
	return v->bad_blocks > 0;
}

static void say_none_is_decoded(const struct verdict *v, char text[MISSING_TEXT])
{
	snprintf(text, MISSING_TEXT, "none of the %llu blocks of samples could be decoded.", (unsigned long long)v->bad_blocks);
}

static bool all_were_lost(const struct verdict *v)
{
	return v->lost > 0;
}

static void say_all_were_lost(const struct verdict *v, char text[MISSING_TEXT])
{
	(void)v;
	snprintf(text, MISSING_TEXT, "all were lost.");
}

static bool trace_has_no_end(const struct verdict *v)
{
	return v->recording_s <= 0;
}

static void say_trace_has_no_end(const struct verdict *v, char text[MISSING_TEXT])
{
	(void)v;
	snprintf(text, MISSING_TEXT, "the trace has no end, so the recording was cut off before the first one was written.");
}

/* Is the kernel's count of the command's processor time far above that of its counters? */
static bool counters_saw_less(const struct verdict *v)
{
	return v->has_count && v->command_cpu_ns > 2 * v->counters_ns + SLACK_NS;
}

static bool counters_were_refused(const struct verdict *v)
{
	return v->no_samples_of && counters_saw_less(v);
}

static void say_counters_saw_less(const struct verdict *v, char text[MISSING_TEXT])
{
	char used[16], seen[16];

	snprintf(text, MISSING_TEXT, "the command used %s of processor time, of which its counters ran for %s: %.300s.",
		 grid_duration(v->command_cpu_ns, used), grid_duration(v->counters_ns, seen),
		 v->no_samples_of ? v->no_samples_of : "the reason is unknown");
}

/* Return the processor time (ns) that was used during the recording. It is what the counters say, or else what the kernel counted until the
 * command ended. Return a number below 0 if neither is known. */
static double cpu_ns(const struct verdict *v)
{
	return v->has_count ? v->counters_ns : v->command_cpu_ns > 0 ? v->command_cpu_ns : -1;
}

static bool nothing_ran(const struct verdict *v)
{
	return v->has_count && v->counters_ns <= 0 && v->counted <= 0;
}

static void say_nothing_ran(const struct verdict *v, char text[MISSING_TEXT])
{
	snprintf(text, MISSING_TEXT, "in the %.3f s of the recording %s used no processor time.", v->recording_s, who(v));
}

static bool ran_for_less_than_a_period(const struct verdict *v)
{
	return v->period_ns > 0 && cpu_ns(v) >= 0 && cpu_ns(v) < PERIODS_FEW * v->period_ns;
}

static void say_ran_for_less_than_a_period(const struct verdict *v, char text[MISSING_TEXT])
{
	char used[16], period[16];

	snprintf(text, MISSING_TEXT, "in the %.3f s of the recording %s used %s of processor time, and samples are %s apart. Lower the "
		 "period (--period) or raise the rate (-r).", v->recording_s, who(v), grid_duration(cpu_ns(v), used),
		 grid_duration(v->period_ns, period));
}

static bool happened_less_often_than_a_period(const struct verdict *v)
{
	return v->has_count && v->period > 0 && v->period_ns <= 0 && v->counted < PERIODS_FEW * v->period;
}

static void say_happened_less_often_than_a_period(const struct verdict *v, char text[MISSING_TEXT])
{
	snprintf(text, MISSING_TEXT, "%.100s was counted %.0f time%s, and a sample is taken every %.0f. Lower the period (--period).",
		 v->event_name, v->counted, v->counted > 1 || v->counted < 1 ? "s" : "", v->period);
}

static bool only_the_kernel_ran(const struct verdict *v)
{
	return v->user_only && v->has_count && v->period_ns > 0;
}

static void say_only_the_kernel_ran(const struct verdict *v, char text[MISSING_TEXT])
{
	char used[16];

	snprintf(text, MISSING_TEXT, "only user code is sampled, and none of the %s of processor time that %s used was seen there.",
		 grid_duration(cpu_ns(v), used), who(v));
}

static bool anything(const struct verdict *v)
{
	(void)v;
	return true;
}

static void say_unknown(const struct verdict *v, char text[MISSING_TEXT])
{
	char used[16];
	int n = snprintf(text, MISSING_TEXT, "the reason is unknown. Seen: the recording was %.3f s long", v->recording_s);

	if (v->has_count)
		snprintf(text + n, MISSING_TEXT - (size_t)n, "; counters ran for %s, and counted %.0f.",
			 grid_duration(v->counters_ns, used), v->counted);
	else if (v->command_cpu_ns > 0)
		snprintf(text + n, MISSING_TEXT - (size_t)n, "; the command used %s of processor time; no counter said what it counted.",
			 grid_duration(v->command_cpu_ns, used));
	else
		snprintf(text + n, MISSING_TEXT - (size_t)n, "; no counter said what it counted.");
}

static const struct row rows[] = {
	{ "filter", none_passes, say_none_passes },
	{ "undecodable", none_is_decoded, say_none_is_decoded },
	{ "lost", all_were_lost, say_all_were_lost },
	{ "no end", trace_has_no_end, say_trace_has_no_end },
	{ "counters refused", counters_were_refused, say_counters_saw_less },
	{ "counters ended", counters_saw_less, say_counters_saw_less },
	{ "nothing ran", nothing_ran, say_nothing_ran },
	{ "less than a period", ran_for_less_than_a_period, say_ran_for_less_than_a_period },
	{ "too few events", happened_less_often_than_a_period, say_happened_less_often_than_a_period },
	{ "kernel only", only_the_kernel_ran, say_only_the_kernel_ran },
	{ "unknown", anything, say_unknown },
};

const char *missing_samples(const struct verdict *v, char text[MISSING_TEXT])
{
	const struct row *r = rows;

	while (!r->is_seen(v))
		r++;
	r->say(v, text);
	return r->key;
}

/* ------------------------------------------------------------------------------------------------- without a component */

const char *missing_attribution(const struct verdict *v, enum reason why, char text[MISSING_TEXT])
{
	if (why == REASON_TRUNCATED && v->stack_bytes)
		snprintf(text, MISSING_TEXT, "the call stack is longer than the %.3g KiB that were recorded", v->stack_bytes / 1024.0);
	else if (why == REASON_NO_STACK && v->stack_bytes)
		snprintf(text, MISSING_TEXT, "the kernel copied no stack bytes, though %.3g KiB were asked for, and there is no valid tag",
			 v->stack_bytes / 1024.0);
	else if (why == REASON_NO_REGISTERS && v->has_registers)
		snprintf(text, MISSING_TEXT, "the kernel gave no user registers: a thread of its own, or one that was ending");
	else if (why == REASON_NO_REGISTERS)
		snprintf(text, MISSING_TEXT, "no user registers were recorded");
	else
		snprintf(text, MISSING_TEXT, "%s", reason_sentences[why]);
	return text;
}

const char *missing_attribution_remedy(const struct verdict *v, enum reason why, char text[MISSING_TEXT])
{
	const enum jit_way way = v->way;
	char how[STACK_REMEDY_TEXT];

	*text = 0;
	switch (why) {
	case REASON_NO_CODE_OBJECT:
		snprintf(text, MISSING_TEXT, "`tailor doctor COMMAND` lists the JIT interfaces that would register it.");
		break;
	case REASON_NO_COMPONENT:
		snprintf(text, MISSING_TEXT, "Let the host register lines or a CODE_MAP for it.");
		break;
	case REASON_NO_UNWIND_INFO:
		snprintf(text, MISSING_TEXT, "Generate unwind tables for that code (LLVM: uwtable).");
		break;
	case REASON_BROKEN:
		snprintf(text, MISSING_TEXT, "`tailor unwind` shows such a stack frame by frame.");
		break;
	case REASON_TRUNCATED:
		if (v->stack_bytes && *stack_remedy(v->stack_bytes, way, how))
			snprintf(text, MISSING_TEXT, "Record more of the stack (%s).", how);
		break;
	case REASON_NO_STACK:
		if (!v->stack_bytes)
			snprintf(text, MISSING_TEXT, "Record stack bytes (%s).", stack_remedy(0, way, how));
		break;
	case REASON_NO_FRAME_POINTERS:
	case REASON_CHAIN_CUT:
		/* with stack bytes, the stack was copied, and the copy was removed from the trace later, so recording it again does not
		 * help */
		if (!v->stack_bytes)
			snprintf(text, MISSING_TEXT, "Record stack bytes (%s) in place of frame pointers.", stack_remedy(0, way, how));
		break;
	default:
		break;
	}
	return text;
}

/* -------------------------------------------------------------------------------------------------------------- losses */

const char *missing_loss_remedy(const struct verdict *v, enum loss_reason why)
{
	switch (why) {
	case LOSS_RING_FULL:
		return v->stack_bytes ? "Lower the rate (-r) or record fewer stack bytes (--stack)." : "Lower the rate (-r).";
	case LOSS_SAMPLE_LOG_FULL:
		return "Lower the rate (-r).";
	case LOSS_WRITE:
		return v->disk_full ? "Write the trace to a disk with more room (-o)." : "";
	default:
		return "";
	}
}
