/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_PERIOD = 0x100, KEY_SCOPE, KEY_STACK };

static const struct argp_option options[] = {
	{ "output", 'o', "FILE", 0, "trace to write (tailor.tlr)", 0 },
	{ "event", 'e', "EVENT", 0, "what to sample: auto (the best that this machine has), cycles, task-clock, or any name "
				    "that libpfm4 knows (auto)", 0 },
	{ "rate", 'r', "N", 0, "samples per second and CPU (10000)", 0 },
	{ "period", KEY_PERIOD, "N", 0, "one sample every N events (or ns of a clock), instead of a rate", 0 },
	{ "scope", KEY_SCOPE, "cpu|thread", 0, "one inherited counter per CPU, or each thread opens its own (cpu)", 0 },
	{ "stack", KEY_STACK, "BYTES", 0, "stack bytes to keep with each sample, 0 to 65528 (2048)", 0 },
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
		o->event.period = number(state, "period", arg, 1000, 1ull << 50);
		break;
	case KEY_STACK:
		o->event.stack_bytes = (uint32_t)number(state, "stack", arg, 0, 65528) & ~7u;
		break;
	case KEY_SCOPE:
		if (strcmp(arg, "cpu") != 0 && strcmp(arg, "thread") != 0)
			argp_error(state, "--scope is cpu or thread, not '%s'", arg);
		o->scope_thread = arg[0] == 't';
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

const struct argp sampling_argp = { options, parse, NULL, NULL, NULL, NULL, NULL };
