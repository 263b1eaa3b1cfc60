/* SPDX-License-Identifier: MIT */
#include "samples.h"
#include "record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NR_MAX 8192u
#define STACK_MAX (16u << 20)
#define CHAIN_MAX (1u << 20) /* return addresses, of all samples together */
#define LEB128_MAX 10

enum { NR_PLAIN = SAMPLE_COLUMN_STACK_BYTES + 1 };

struct samples {
	uint32_t event;
	uint64_t registers; /* perf's mask */
	struct record_layout layout;
	bool with_address, with_data_source, with_latency, with_stack, with_chain;
	uint32_t nr, chain_used;
	size_t stack_used;
	uint64_t column[NR_PLAIN][NR_MAX];
	uint64_t reg[64][NR_MAX]; /* only pages of registers that are recorded are ever touched */
	uint64_t data_source[NR_MAX], latency[NR_MAX];
	uint64_t chain_length[NR_MAX];
	uint64_t chain[CHAIN_MAX];
	unsigned char encoded[CHAIN_MAX * LEB128_MAX];
	unsigned char stack[];
};

int samples_create(uint32_t event_index, const struct perf_event_attr *attr, struct samples **out)
{
	struct samples *s;
	struct record_layout layout;

	if (record_layout(attr, &layout))
		return -EINVAL;
	s = malloc(sizeof(*s) + STACK_MAX);
	if (!s)
		return -ENOMEM;
	s->layout = layout;
	s->event = event_index;
	s->registers = attr->sample_regs_user;
	s->with_address = attr->sample_type & PERF_SAMPLE_ADDR;
	s->with_data_source = attr->sample_type & PERF_SAMPLE_DATA_SRC;
	s->with_latency = attr->sample_type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT);
	s->with_stack = attr->sample_type & PERF_SAMPLE_STACK_USER;
	s->with_chain = attr->sample_type & PERF_SAMPLE_CALLCHAIN;
	s->nr = s->chain_used = 0;
	s->stack_used = 0;
	*out = s;
	return 0;
}

void samples_destroy(struct samples *s)
{
	free(s);
}

bool samples_full(const struct samples *s)
{
	return s->nr == NR_MAX || STACK_MAX - s->stack_used < 65536 || CHAIN_MAX - s->chain_used < 65536 / 8;
}

/* Behind the marks of their contexts, and behind the sampled instruction itself, stand the return addresses. */
static void take_chain(struct samples *s, const uint64_t *at, uint64_t nr)
{
	uint32_t before = s->chain_used;
	bool innermost = true;

	for (; nr > 0; nr--, at++) {
		if (*at >= PERF_CONTEXT_MAX)
			continue;
		if (!innermost)
			s->chain[s->chain_used++] = *at;
		innermost = false;
	}
	s->chain_length[s->nr] = s->chain_used - before;
}

int samples_add(struct samples *s, const struct perf_event_header *h, struct sample_seen *seen)
{
	struct record_sample r;
	uint32_t i = s->nr;
	unsigned n = 0;

	if (record_sample(&s->layout, h, &r))
		return -EBADMSG;
	*seen = (struct sample_seen){ .time_ns = r.time_ns, .ip = r.ip, .pid = r.pid, .tid = r.tid,
				      .user = r.mode == PERF_RECORD_MISC_USER, .stack = r.stack, .stack_bytes = r.stack_bytes };
	s->column[SAMPLE_COLUMN_TIME][i] = r.time_ns;
	s->column[SAMPLE_COLUMN_PID][i] = r.pid;
	s->column[SAMPLE_COLUMN_TID][i] = r.tid;
	s->column[SAMPLE_COLUMN_CPU][i] = r.cpu;
	s->column[SAMPLE_COLUMN_IP][i] = r.ip;
	s->column[SAMPLE_COLUMN_ADDRESS][i] = r.address;
	s->column[SAMPLE_COLUMN_WEIGHT][i] = r.period;
	s->column[SAMPLE_COLUMN_MODE][i] = seen->user ? SAMPLE_MODE_USER :
					   r.mode == PERF_RECORD_MISC_KERNEL ? SAMPLE_MODE_KERNEL : SAMPLE_MODE_OTHER;
	s->column[SAMPLE_COLUMN_REGISTERS_ABI][i] = r.registers_abi;
	for (uint64_t left = s->registers; left; left &= left - 1)
		s->reg[__builtin_ctzll(left)][i] = r.registers ? r.registers[n++] : 0;
	s->column[SAMPLE_COLUMN_STACK_BYTES][i] = r.stack_bytes;
	if (r.stack_bytes)
		memcpy(s->stack + s->stack_used, r.stack, r.stack_bytes);
	s->stack_used += r.stack_bytes;
	if (s->with_chain)
		take_chain(s, r.chain, r.nr_chain);
	s->data_source[i] = r.data_source;
	s->latency[i] = r.latency;
	s->nr = i + 1;
	return 0;
}

/* zigzag LEB128 of the differences */
static size_t encode(unsigned char *to, const uint64_t *v, uint32_t nr)
{
	unsigned char *at = to;
	uint64_t before = 0;

	for (uint32_t i = 0; i < nr; i++) {
		int64_t delta = (int64_t)(v[i] - before);
		uint64_t z = ((uint64_t)delta << 1) ^ (uint64_t)(delta >> 63);

		before = v[i];
		while (z >= 0x80) {
			*at++ = (unsigned char)(z | 0x80);
			z >>= 7;
		}
		*at++ = (unsigned char)z;
	}
	return (size_t)(at - to);
}

static void write_column(struct samples *s, struct trace_writer *w, uint32_t column, const uint64_t *v, uint32_t nr)
{
	size_t bytes = encode(s->encoded, v, nr);

	trace_record_array(w, 3);
	trace_record_u64(w, column);
	trace_record_u64(w, SAMPLE_ENCODING_DELTA);
	trace_record_bytes(w, s->encoded, bytes);
}

int samples_flush(struct samples *s, struct trace_writer *w, uint32_t *nr_samples)
{
	uint32_t nr = *nr_samples = s->nr;
	int ret, flushed;

	if (nr == 0)
		return 0;
	trace_record_begin(w, TRACE_CHUNK_SAMPLES, TRACE_SAMPLES, s->column[SAMPLE_COLUMN_TIME][0], 0, 0, F_COUNT(samples));
	trace_record_u64(w, s->event);
	trace_record_u64(w, nr);
	trace_record_array(w, (size_t)NR_PLAIN - 1 - !s->with_address + s->with_data_source + s->with_latency +
			      (size_t)__builtin_popcountll(s->registers) + s->with_stack + (s->with_chain ? 2 : 0));
	for (uint32_t c = SAMPLE_COLUMN_TIME; c < NR_PLAIN; c++)
		if (c != SAMPLE_COLUMN_ADDRESS || s->with_address)
			write_column(s, w, c, s->column[c], nr);
	if (s->with_data_source)
		write_column(s, w, SAMPLE_COLUMN_DATA_SOURCE, s->data_source, nr);
	if (s->with_latency)
		write_column(s, w, SAMPLE_COLUMN_LATENCY, s->latency, nr);
	for (uint64_t left = s->registers; left; left &= left - 1)
		write_column(s, w, SAMPLE_COLUMN_REGISTER_0 + (uint32_t)__builtin_ctzll(left), s->reg[__builtin_ctzll(left)], nr);
	if (s->with_chain) {
		write_column(s, w, SAMPLE_COLUMN_CHAIN_LENGTH, s->chain_length, nr);
		write_column(s, w, SAMPLE_COLUMN_CHAIN, s->chain, s->chain_used);
	}
	if (s->with_stack) {
		trace_record_array(w, 3);
		trace_record_u64(w, SAMPLE_COLUMN_STACK);
		trace_record_u64(w, SAMPLE_ENCODING_BYTES);
		trace_record_bytes(w, s->stack, s->stack_used);
	}
	ret = trace_record_end(w); /* flushes when it is large */
	flushed = trace_writer_flush(w, TRACE_CHUNK_SAMPLES);
	s->nr = s->chain_used = 0;
	s->stack_used = 0;
	return ret ? ret : flushed;
}
