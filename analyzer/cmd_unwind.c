/* SPDX-License-Identifier: MIT */
/*
 * tailor unwind unwinds the call stack of every sample that has stack bytes, and prints statistics or the frames. It can compare both
 * unwinders (unwind.h).
 */
#include "analyzer/attribute/walk.h"
#include "analyzer/fleet/rights.h"
#include "analyzer/model/model.h"
#include "analyzer/reading/one_trace.h"
#include "analyzer/reading/reading_arguments.h"
#include "jitreg/base/command.h"
#include "jitreg/base/grow.h"
#include "jitreg/base/message.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { KEY_UNWINDER = 0x100, KEY_FRAMES, KEY_CHECK };

static const char *const end_names[] = { "complete", "stopped", "truncated", "no unwind information", "broken" };
enum { NR_ENDS = sizeof(end_names) / sizeof(end_names[0]) };

struct arguments {
	const char *path;
	enum unwind_way way;
	bool frames, check;
};

static const struct argp_option options[] = {
	{ "unwinder", KEY_UNWINDER, "memo|libunwind", 0, "call-stack unwinder (default: memo)", 0 },
	{ "frames", KEY_FRAMES, NULL, 0, "print the frames of each sample: time, PID, TID, and one address per line", 0 },
	{ "check", KEY_CHECK, NULL, 0,
	  "unwind each stack with both unwinders and print the differences; exit status 1 if stacks differ that both unwound "
	  "completely", 0 },
	{ 0 },
};

static error_t parse_unwind_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->path;
		break;
	case KEY_UNWINDER:
		a->way = reading_parse_unwinder(state, arg);
		break;
	case KEY_FRAMES:
		a->frames = true;
		break;
	case KEY_CHECK:
		a->check = true;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

struct walked_frame {
	uint64_t ip;
	uint64_t sp, saved[6]; /* values of saved_register[] */
	uint32_t known;
};

/* This is a call stack as one unwinder found it. The next sample's stack overwrites it. */
struct walked {
	ARRAY_OF(struct walked_frame);
	uint32_t found[UNWIND_BY_FRAME_POINTER + 1];
	enum unwind_end end;
	bool failed; /* memory ran out */
};

static const unsigned char saved_register[] = { 3, 6, 12, 13, 14, 15 };

static bool keep_frame_ip(void *context, const struct unwind_frame *f)
{
	struct walked *w = context;

	if (!ARRAY_GROW(*w)) {
		w->failed = true;
		return false;
	}
	w->at[w->nr++].ip = f->ip;
	w->found[f->found]++;
	return true;
}

static bool keep_frame_registers(void *context, const struct unwind_frame *f)
{
	struct walked *w = context;
	struct walked_frame *to;

	if (!keep_frame_ip(context, f))
		return false;
	to = &w->at[w->nr - 1];
	to->sp = f->registers.value[UNWIND_RSP];
	to->known = f->registers.known;
	for (size_t i = 0; i < sizeof(saved_register); i++)
		to->saved[i] = f->registers.value[saved_register[i]];
	return true;
}

/* ---------------------------------------------------------------------------------------------------------- comparing */

#define DIFFERENCES(X) \
	X(SAME, "same frames") \
	X(IP, "different return address") \
	X(SP, "different stack pointer") \
	X(REGISTER, "different saved register") \
	X(SHORTER, "fewer frames by memo") \
	X(LONGER, "more frames by memo")
#define DIFFERENCE_(NAME, text) DIFFERENCE_##NAME,
enum difference { DIFFERENCES(DIFFERENCE_) NR_DIFFERENCES };
#undef DIFFERENCE_
#define DIFFERENCE_(NAME, text) text,
static const char *const difference_names[] = { DIFFERENCES(DIFFERENCE_) };
#undef DIFFERENCE_

struct comparison {
	struct kind {
		uint64_t samples;
		uint64_t time_ns; /* time of the first of these samples */
		uint32_t tid, depth;
		uint64_t memo_ip, libunwind_ip;
	} kind[NR_ENDS][NR_ENDS][NR_DIFFERENCES];
	uint64_t both, differing; /* stacks that both unwinders unwound completely, and those of them that differ */
	uint64_t samples, same;	  /* compared stacks, and those of them with the same frames and the same end */
};

static enum difference compare_walked_stacks(const struct walked *a, const struct walked *b, uint32_t *at)
{
	for (*at = 0; *at < a->nr && *at < b->nr; ++*at) {
		const struct walked_frame *x = &a->at[*at], *y = &b->at[*at];

		if (x->ip != y->ip)
			return DIFFERENCE_IP;
		if (x->sp != y->sp)
			return DIFFERENCE_SP;
		for (size_t i = 0; i < sizeof(saved_register); i++)
			if (x->known & y->known & 1u << saved_register[i] && x->saved[i] != y->saved[i])
				return DIFFERENCE_REGISTER;
	}
	return a->nr < b->nr ? DIFFERENCE_SHORTER : a->nr > b->nr ? DIFFERENCE_LONGER : DIFFERENCE_SAME;
}

static void add_comparison(struct comparison *c, const struct walked *memo, const struct walked *lib, uint64_t time_ns, uint32_t tid)
{
	uint32_t at;
	enum difference d = compare_walked_stacks(memo, lib, &at);
	struct kind *k = &c->kind[memo->end][lib->end][d];

	c->samples++;
	c->same += d == DIFFERENCE_SAME && memo->end == lib->end;
	if (k->samples++ == 0)
		*k = (struct kind){ 1, time_ns, tid, at, at < memo->nr ? memo->at[at].ip : 0,
				     at < lib->nr ? lib->at[at].ip : 0 };
	if (memo->end == UNWIND_COMPLETE && lib->end == UNWIND_COMPLETE) {
		c->both++;
		c->differing += d != DIFFERENCE_SAME;
	}
}

static void print_comparison(const struct comparison *c)
{
	printf("complete by both unwinders: %" PRIu64 " stacks, same frames in %" PRIu64 "\n", c->both, c->both - c->differing);
	printf("all: %" PRIu64 " stacks, same frames and same end in %" PRIu64 "\n", c->samples, c->same);
	for (int m = 0; m < NR_ENDS; m++)
		for (int l = 0; l < NR_ENDS; l++)
			for (int d = 0; d < NR_DIFFERENCES; d++) {
				const struct kind *k = &c->kind[m][l][d];

				if (!k->samples || (m == l && d == DIFFERENCE_SAME))
					continue;
				printf("memo %s, libunwind %s: %s: %" PRIu64 " stacks, first at time %" PRIu64 " of thread %u, depth %u: ",
				       end_names[m], end_names[l], difference_names[d], k->samples, k->time_ns, k->tid, k->depth);
				printf("%#" PRIx64 " %#" PRIx64 "\n", k->memo_ip, k->libunwind_ip);
			}
}

/* ----------------------------------------------------------------------------------------------------------- printing */

/* Writes a tab, the address as hexadecimal digits, and "\n" to `to`. Returns the end of what it wrote. */
static char *put_address(char *to, uint64_t address)
{
	int digits = address ? (67 - __builtin_clzll(address)) / 4 : 1;

	*to++ = '\t';
	for (int i = digits - 1; i >= 0; i--)
		*to++ = "0123456789abcdef"[address >> 4 * i & 15];
	*to++ = '\n';
	return to;
}

static void print_frames(const struct walked *w, uint64_t time_ns, uint32_t pid, uint32_t tid)
{
	char text[32];

	printf("%" PRIu64 " %u %u\n", time_ns, pid, tid);
	for (uint32_t i = 0; i < w->nr; i++)
		fwrite(text, 1, (size_t)(put_address(text, w->at[i].ip) - text), stdout);
	if (w->end != UNWIND_COMPLETE)
		printf("\t[%s]\n", end_names[w->end]);
	putchar('\n');
}

/* ------------------------------------------------------------------------------------------------------------ walking */

struct run {
	const struct arguments *args;
	struct model *model;
	struct unwinder *memo, *libunwind; /* NULL: that unwinder is not used */
	struct comparison *comparison;
	struct walked walked, other; /* stack of the current sample; other: by libunwind, if both are compared */
	uint64_t samples, stacks, frames, found[UNWIND_BY_FRAME_POINTER + 1], ends[NR_ENDS], libunwind_ends[NR_ENDS];
};

static uint64_t column_value_or_zero(const struct sample_block *b, enum sample_column c, uint32_t i)
{
	return b->column[c] ? b->column[c][i] : 0;
}

static void walk_one_stack(const struct run *run, struct unwinder *u, const struct walk_place *at, const struct unwind_input *in,
			   struct walked *out)
{
	struct unwind_space space = walk_unwind_space(at, u == run->libunwind);

	out->nr = 0;
	memset(out->found, 0, sizeof(out->found));
	out->end = unwind_walk(u, &space, in, run->comparison ? keep_frame_registers : keep_frame_ip, out);
}

static void unwind_one_sample(struct run *run, struct sample_block *b, uint32_t i)
{
	struct walked *walked = &run->walked, *other = &run->other;
	struct walk_place at = { NULL, column_value_or_zero(b, SAMPLE_COLUMN_TIME, i) };
	uint32_t tid = (uint32_t)column_value_or_zero(b, SAMPLE_COLUMN_TID, i);
	struct unwind_input in;

	run->samples++;
	at.process = model_get_process(run->model, (uint32_t)column_value_or_zero(b, SAMPLE_COLUMN_PID, i), at.time_ns);
	if (!walk_input_of_sample(b, i, &in) || !at.process || !in.stack_bytes)
		return;
	run->stacks++;
	walk_one_stack(run, run->memo ? run->memo : run->libunwind, &at, &in, walked);
	run->ends[walked->end]++;
	run->frames += walked->nr;
	for (size_t n = 0; n < sizeof(run->found) / sizeof(run->found[0]); n++)
		run->found[n] += walked->found[n];
	if (run->comparison) {
		walk_one_stack(run, run->libunwind, &at, &in, other);
		run->libunwind_ends[other->end]++;
		add_comparison(run->comparison, walked, other, at.time_ns, tid);
	}
	if (run->args->frames)
		print_frames(walked, at.time_ns, at.process->pid, tid);
}

static void unwind_all_samples(struct run *run, struct trace_reader *t)
{
	struct sample_block b = { 0 };
	struct trace_record r;

	trace_rewind(t);
	trace_select_chunks(t, 1u << TRACE_CHUNK_SAMPLES);
	while (trace_next(t, &r) == 1)
		if (r.id == TRACE_SAMPLES && sample_block_decode(&r, &b) == 0)
			for (uint32_t i = 0; i < b.nr; i++)
				unwind_one_sample(run, &b, i);
	sample_block_fini(&b);
}

static void print_ends(const char *who, const uint64_t *ends)
{
	printf("%s:", who);
	for (int i = 0; i < NR_ENDS; i++)
		if (ends[i])
			printf(" %" PRIu64 " %s", ends[i], end_names[i]);
	putchar('\n');
}

static void print_summary(const struct run *run, double seconds)
{
	printf("%" PRIu64 " samples, %" PRIu64 " with stack bytes, %" PRIu64 " frames, %.1f per stack; %.0f stacks/s\n", run->samples,
	       run->stacks, run->frames, run->stacks ? (double)run->frames / (double)run->stacks : 0,
	       seconds > 0 ? (double)run->stacks / seconds : 0);
	print_ends(run->memo ? "memo" : "libunwind", run->ends);
	if (run->found[UNWIND_BY_CODE])
		printf("frames by analysis of function prologues: %" PRIu64 "\n", run->found[UNWIND_BY_CODE]);
	if (run->found[UNWIND_BY_FRAME_POINTER])
		printf("frames by frame pointer: %" PRIu64 "\n", run->found[UNWIND_BY_FRAME_POINTER]);
	if (run->memo) {
		struct unwind_counts c = unwinder_counts(run->memo);

		printf("rules: %" PRIu64 "; frames without a rule, unwound by libunwind: %" PRIu64 " of %" PRIu64 "\n", c.rules, c.steps,
		       c.frames);
	}
	if (run->comparison) {
		print_ends("libunwind", run->libunwind_ends);
		print_comparison(run->comparison);
	}
}

static double now_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int unwind_and_print(struct run *run, struct trace_reader *t, struct diag *d)
{
	double begin = now_seconds();
	int ret = 0;

	if (run->args->check || run->args->way == UNWIND_MEMO)
		ret = unwinder_create(UNWIND_MEMO, &run->memo, d);
	if (ret == 0 && (run->args->check || run->args->way == UNWIND_LIBUNWIND))
		ret = unwinder_create(UNWIND_LIBUNWIND, &run->libunwind, d);
	if (ret == 0 && run->args->check) {
		run->comparison = calloc(1, sizeof(*run->comparison));
		if (!run->comparison)
			ret = diag_fail(d, ENOMEM, "out of memory");
	}
	if (ret == 0) {
		unwind_all_samples(run, t);
		if (run->walked.failed || run->other.failed)
			ret = diag_fail(d, ENOMEM, "out of memory for call stacks");
		else if (!run->args->frames)
			print_summary(run, now_seconds() - begin);
		if (ret == 0 && run->comparison && run->comparison->differing)
			ret = diag_fail(d, EPROTO, "%" PRIu64 " of %" PRIu64 " stacks differ", run->comparison->differing,
					run->comparison->both);
	}
	if (run->memo)
		unwinder_destroy(run->memo);
	if (run->libunwind)
		unwinder_destroy(run->libunwind);
	free(run->comparison);
	free(run->walked.at);
	free(run->other.at);
	return ret;
}

static int run_unwind(int argc, char **argv)
{
	static const struct argp_child children[] = { { &one_trace_argp, 0, NULL, 0 }, { &confine_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		options, parse_unwind_option,
		"[TRACE]", "Unwind the call stack of every sample and print how many stacks are complete, and why the others ended.",
		children, NULL,
		NULL
	};
	struct arguments args = { .way = UNWIND_MEMO };
	struct run run = { .args = &args };
	struct trace_reader *t;
	struct diag d = { "" };
	char damage[1024];
	int status = CMD_FAILED;

	argp_parse(&argp, argc, argv, 0, NULL, &args);
	rights_keep(CONFINE_READER, argc, argv, RIGHTS_OUTPUTS());
	if (trace_open(args.path, &t, &d)) {
		message_print("%s", d.text);
		return CMD_FAILED;
	}
	if (model_create(t, &run.model, &d) == 0) {
		if (unwind_and_print(&run, t, &d) == 0)
			status = CMD_DONE;
		model_destroy(run.model);
	}
	if (status == CMD_DONE && trace_describe_damage(t, damage, sizeof(damage))) {
		diag_fail(&d, EBADMSG, "%s", damage);
		status = CMD_FAILED;
	}
	if (status == CMD_FAILED)
		message_print("%s", d.text);
	trace_close(t);
	return status;
}

const struct cmd cmd_unwind = { "unwind", "unwind the call stacks of a trace, and check the unwinder", run_unwind };
