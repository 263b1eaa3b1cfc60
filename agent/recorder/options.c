/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_PERIOD = 0x100, KEY_SCOPE, KEY_SAMPLER, KEY_STACK, KEY_REGISTERS, KEY_FRAME_POINTERS, KEY_NO_COMPRESS };

static const struct argp_option options[] = {
	{ "output", 'o', "FILE", 0, "trace to write (tailor.tlr)", 0 },
	{ "event", 'e', "LIST", 0,
	  "what to sample, NAME[:MODIFIER][@PERIOD] and more of them behind commas: auto (the best that this machine has), cycles, "
	  "task-clock, page-faults, context-switches, any event that libpfm4 knows (MEM_LOAD_RETIRED:L3_MISS), a code (r01c2), or "
	  "a PMU's fields (cpu/event=0xc2/); modifiers: u or k (count user or kernel only), p to ppp (so precise or not at all); "
	  "period: one sample every so many events, k M G (auto)", 0 },
	{ "rate", 'r', "N", 0, "samples per second and CPU, of events that have no period of their own (10000)", 0 },
	{ "period", KEY_PERIOD, "N", 0, "one sample every N events (or ns of a clock), instead of a rate", 0 },
	{ "scope", KEY_SCOPE, "cpu|thread", 0, "one inherited counter per CPU, or each thread opens its own (cpu)", 0 },
	{ "sampler", KEY_SAMPLER, "auto|signal|timer", 0,
	  "who takes the samples: the kernel where it may (auto), a signal handler in the host at each overflow of the event (it can "
	  "read a tag in a thread-local word), or one that a timer on each thread's processor time calls", 0 },
	{ "stack", KEY_STACK, "BYTES", 0, "stack bytes to keep with each sample, 0 to 65528 (2048)", 0 },
	{ "registers", KEY_REGISTERS, "LIST", 0,
	  "user registers to keep with each sample: all, none, or some of ax bx cx dx si di bp sp ip flags r8 to r15 "
	  "(bx,bp,sp,ip,r12,r13,r14,r15)", 0 },
	{ "frame-pointers", KEY_FRAME_POINTERS, NULL, 0,
	  "keep the callers that the kernel finds by frame pointers; used where there are no stack bytes (--stack 0)", 0 },
	{ "no-compress", KEY_NO_COMPRESS, NULL, 0, "write the trace's chunks as plain msgpack, for readers without zstd", 0 },
	{ 0 },
};

static uint64_t number(struct argp_state *state, const char *name, const char *text, uint64_t least, uint64_t most)
{
	char *end;
	uint64_t n;

	errno = 0;
	n = strtoull(text, &end, 10);
	if (errno || end == text || *end || *text == '-' || n < least || n > most)
		argp_error(state, "--%s is a number from %llu to %llu, not '%s'", name, (unsigned long long)least,
			   (unsigned long long)most, text);
	return n;
}

/* perf's numbers (asm/perf_regs.h); segment registers cannot be sampled on x86-64. */
static const struct {
	const char *name;
	int number;
} registers[] = {
	{ "ax", 0 },   { "bx", 1 },   { "cx", 2 },   { "dx", 3 },    { "si", 4 },   { "di", 5 },
	{ "bp", 6 },   { "sp", 7 },   { "ip", 8 },   { "flags", 9 }, { "r8", 16 },  { "r9", 17 },
	{ "r10", 18 }, { "r11", 19 }, { "r12", 20 }, { "r13", 21 },  { "r14", 22 }, { "r15", 23 },
};

static uint64_t register_mask(struct argp_state *state, const char *list)
{
	uint64_t mask = 0;

	if (strcmp(list, "none") == 0)
		return EVENT_REGISTERS_NONE;
	for (size_t bytes; *list; list += bytes + (list[bytes] == ',')) {
		size_t i, nr = sizeof(registers) / sizeof(registers[0]);
		bool all;

		bytes = strcspn(list, ",");
		all = bytes == 3 && memcmp(list, "all", 3) == 0;
		for (i = 0; i < nr; i++)
			if (all || (strlen(registers[i].name) == bytes && memcmp(registers[i].name, list, bytes) == 0)) {
				mask |= 1ull << registers[i].number;
				if (!all)
					break;
			}
		if (i == nr && !all)
			argp_error(state, "there is no register '%.*s'", (int)bytes, list);
	}
	/* without these two nothing can be unwound, and the cost is 16 bytes */
	return mask | 1ull << 7 | 1ull << 8;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct session_options *o = state->input;

	switch (key) {
	case 'o':
		o->output = arg;
		break;
	case 'e':
		o->event.name = arg;
		break;
	case 'r':
		o->event.rate = number(state, "rate", arg, 1, 1000000);
		o->event.period = 0;
		break;
	case KEY_PERIOD:
		o->event.period = number(state, "period", arg, 1, 1ull << 50);
		break;
	case KEY_STACK:
		o->event.stack_bytes = (uint32_t)number(state, "stack", arg, 0, 65528) & ~7u;
		break;
	case KEY_SCOPE:
		if (strcmp(arg, "cpu") != 0 && strcmp(arg, "thread") != 0)
			argp_error(state, "--scope is cpu or thread, not '%s'", arg);
		o->scope_thread = arg[0] == 't';
		break;
	case KEY_SAMPLER:
		if (strcmp(arg, "auto") != 0 && strcmp(arg, "signal") != 0 && strcmp(arg, "timer") != 0)
			argp_error(state, "--sampler is auto, signal or timer, not '%s'", arg);
		o->sampler = arg[0] == 'a' ? SAMPLER_AUTO : arg[0] == 's' ? SAMPLER_SIGNAL : SAMPLER_TIMER;
		break;
	case KEY_REGISTERS:
		o->event.registers = register_mask(state, arg);
		break;
	case KEY_FRAME_POINTERS:
		o->event.frame_pointers = true;
		break;
	case KEY_NO_COMPRESS:
		o->uncompressed = true;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

const struct argp sampling_argp = { options, parse, NULL, NULL, NULL, NULL, NULL };
