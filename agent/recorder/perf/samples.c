/* SPDX-License-Identifier: MIT */
#include "agent/recorder/perf/samples.h"

#include "agent/recorder/perf/record.h"
#include "jitreg/base/leb128.h"
#include "jitreg/trace/column_encoder.h"
#include "jitreg/trace/stack_delta.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NR_MAX COLUMNS_NR_MAX
#define IP_REGISTER 8 /* perf's number of the ip register */
#define FRAME_POINTER 6 /* perf's number of the bp register */
#define CHAIN_MAX (1u << 20) /* room for return addresses of the user, of all samples together */
#define KERNEL_CHAIN_MAX (2u << 20) /* bytes of the kernel's encoded return addresses, of all samples together */
#define ONE_CHAIN_MAX (65536u / 8) /* maximum number of addresses in one record */

enum { NR_PLAIN = SAMPLE_COLUMN_LATENCY + 1 };

struct samples {
	uint32_t event;
	uint64_t registers, kept; /* perf's masks of the registers that samples have, and of those that are written */
	struct record_layout layout;
	bool with_stack, with_chain, with_kernel_chain;
	bool chain_has_ip; /* the ip register is not recorded, so it is set to the user's instruction at the beginning of the call chain */
	uint64_t period; /* period of every sample, if samples do not have it in them; else 0 */
	uint32_t nr, chain_used;
	struct column_encoder *columns;
	struct stack_delta *stacks;
	uint64_t column[NR_PLAIN][NR_MAX]; /* indexed by column number */
	uint64_t reg[64][NR_MAX]; /* values of registers; pages of those that are not recorded are never touched, so take no memory */
	uint64_t chain[CHAIN_MAX];
	unsigned char encoded[COLUMNS_LIST_ROOM(CHAIN_MAX)];
	unsigned char kernel_chain[KERNEL_CHAIN_MAX]; /* encoded as in the trace */
	size_t kernel_chain_bytes;
	uint64_t nr_kernel_chain, kernel_chain_last;
};

int samples_create(uint32_t event_index, const struct perf_event_attr *attr, struct samples **out)
{
	struct samples *s;
	struct record_layout layout;

	if (record_layout(attr, &layout))
		return -EINVAL;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->layout = layout;
	s->event = event_index;
	s->registers = s->kept = attr->sample_regs_user;
	s->period = attr->sample_type & PERF_SAMPLE_PERIOD ? 0 : attr->sample_period;
	s->with_stack = attr->sample_type & PERF_SAMPLE_STACK_USER;
	s->with_chain = attr->sample_type & PERF_SAMPLE_CALLCHAIN && !attr->exclude_callchain_user;
	s->with_kernel_chain = attr->sample_type & PERF_SAMPLE_CALLCHAIN && !attr->exclude_callchain_kernel;
	s->chain_has_ip = s->with_chain && !(s->registers >> IP_REGISTER & 1);
	s->kept |= (uint64_t)s->chain_has_ip << IP_REGISTER;
	if (column_encoder_create(&s->columns) || (s->with_stack && stack_delta_create(&s->stacks))) {
		samples_destroy(s);
		return -ENOMEM;
	}
	*out = s;
	return 0;
}

void samples_destroy(struct samples *s)
{
	if (!s)
		return;
	column_encoder_destroy(s->columns);
	stack_delta_destroy(s->stacks);
	free(s);
}

void samples_keep_registers(struct samples *s, uint64_t registers)
{
	if (!s->with_stack) /* with stacks, unwinding may start from any register, so all are kept */
		s->kept = (s->registers & registers) | (uint64_t)s->chain_has_ip << IP_REGISTER;
}

void samples_convert_times(struct samples *s, const struct clock_pairs *pairs)
{
	s->layout.clock = pairs;
}

bool samples_full(const struct samples *s)
{
	return s->nr == NR_MAX || (s->stacks && stack_delta_full(s->stacks)) ||
	       CHAIN_MAX - s->chain_used < ONE_CHAIN_MAX ||
	       KERNEL_CHAIN_MAX - s->kernel_chain_bytes < (ONE_CHAIN_MAX + 1) * LEB128_MAX;
}

/* Adds the user's return addresses of a call chain. These follow the kernel's mark of the user's context, and the user's instruction. What
 * comes before any mark is the user's as well. Returns that instruction, or 0 if there is none. */
static uint64_t add_user_chain(struct samples *s, const uint64_t *at, uint64_t nr)
{
	uint32_t before = s->chain_used;
	uint64_t ip = 0;
	bool innermost = true, user = true;

	for (; nr > 0; nr--, at++) {
		if (*at >= PERF_CONTEXT_MAX) {
			user = *at == PERF_CONTEXT_USER;
			innermost = true;
			continue;
		}
		if (user && !innermost)
			s->chain[s->chain_used++] = *at;
		else if (user)
			ip = *at;
		innermost = false;
	}
	s->column[SAMPLE_COLUMN_CHAIN_LENGTH][s->nr] = s->chain_used - before;
	return ip;
}

/* Adds the kernel's return addresses of a call chain, which follow the mark of the kernel's context and the sample's own instruction.
 * Their number is encoded first, and then the differences between them. */
static void add_kernel_chain(struct samples *s, const uint64_t *at, uint64_t nr)
{
	unsigned char *to = s->kernel_chain + s->kernel_chain_bytes;
	uint64_t found = 0, i = 0;

	while (i < nr && at[i] != PERF_CONTEXT_KERNEL)
		i++;
	for (i += 2; i + found < nr && at[i + found] < PERF_CONTEXT_MAX;)
		found++;
	to = leb128_put(to, found);
	for (uint64_t n = 0; n < found; n++) {
		to = leb128_put(to, zigzag(at[i + n] - s->kernel_chain_last));
		s->kernel_chain_last = at[i + n];
	}
	s->kernel_chain_bytes = (size_t)(to - s->kernel_chain);
	s->nr_kernel_chain += found;
}

int samples_add(struct samples *s, const struct perf_event_header *h, struct sample_seen *seen)
{
	struct record_sample r;
	uint64_t chain_ip;
	uint32_t i = s->nr;
	unsigned n = 0;

	if (record_sample(&s->layout, h, &r) || r.stack_bytes > SAMPLE_STACK_MAX)
		return -EBADMSG;
	*seen = (struct sample_seen){ .time_ns = r.time_ns, .ip = r.ip, .weight = r.period + s->period,
				      .counter = r.stream_id, .pid = r.pid, .tid = r.tid,
				      .user = r.mode == PERF_RECORD_MISC_USER, .kernel = r.mode == PERF_RECORD_MISC_KERNEL,
				      .chain = r.chain, .nr_chain = r.nr_chain };
	s->column[SAMPLE_COLUMN_TIME][i] = r.time_ns;
	s->column[SAMPLE_COLUMN_PID][i] = r.pid;
	s->column[SAMPLE_COLUMN_TID][i] = r.tid;
	s->column[SAMPLE_COLUMN_CPU][i] = r.cpu;
	s->column[SAMPLE_COLUMN_IP][i] = r.ip;
	s->column[SAMPLE_COLUMN_ADDRESS][i] = r.address;
	s->column[SAMPLE_COLUMN_WEIGHT][i] = seen->weight;
	s->column[SAMPLE_COLUMN_MODE][i] = seen->user ? SAMPLE_MODE_USER :
					   seen->kernel ? SAMPLE_MODE_KERNEL : SAMPLE_MODE_OTHER;
	s->column[SAMPLE_COLUMN_REGISTERS_ABI][i] = r.registers_abi;
	for (uint64_t left = s->registers; left; left &= left - 1)
		s->reg[__builtin_ctzll(left)][i] = r.registers ? r.registers[n++] : 0;
	s->column[SAMPLE_COLUMN_STACK_BYTES][i] = r.stack_bytes;
	seen->stack_pointer = s->registers >> SAMPLE_STACK_POINTER & 1 ? s->reg[SAMPLE_STACK_POINTER][i] : 0;
	seen->frame_pointer = s->registers >> FRAME_POINTER & 1 ? s->reg[FRAME_POINTER][i] : 0;
	seen->stack = r.stack;
	seen->stack_bytes = r.stack_bytes;
	if (s->with_stack && r.stack_bytes)
		seen->nr_words = stack_delta_add(s->stacks, r.tid, s->reg[SAMPLE_STACK_POINTER][i], r.stack, r.stack_bytes,
						   &seen->words);
	chain_ip = s->with_chain ? add_user_chain(s, r.chain, r.nr_chain) : 0;
	if (s->chain_has_ip) {
		s->reg[IP_REGISTER][i] = chain_ip;
		if (!s->registers)
			s->column[SAMPLE_COLUMN_REGISTERS_ABI][i] = chain_ip ? PERF_SAMPLE_REGS_ABI_64 : PERF_SAMPLE_REGS_ABI_NONE;
	}
	seen->user_ip = seen->user ? r.ip : (s->registers | s->kept) >> IP_REGISTER & 1 ? s->reg[IP_REGISTER][i] : 0;
	if (s->with_kernel_chain)
		add_kernel_chain(s, r.chain, r.nr_chain);
	s->column[SAMPLE_COLUMN_DATA_SOURCE][i] = r.data_source;
	s->column[SAMPLE_COLUMN_LATENCY][i] = r.latency;
	s->nr = i + 1;
	return 0;
}

void samples_set_last_weight(struct samples *s, uint64_t weight)
{
	s->column[SAMPLE_COLUMN_WEIGHT][s->nr - 1] = weight;
}

static bool all_zero(const uint64_t *v, uint32_t nr)
{
	return v[0] == 0 && memcmp(v, v + 1, (nr - 1) * sizeof(*v)) == 0;
}

/* This macro lists columns whose values depend on the instruction or on each other, so that the encoder predicts them.  Values of other
 * columns are mostly close to the one before. */
#define PREDICTED (1u << SAMPLE_COLUMN_ADDRESS | 1u << SAMPLE_COLUMN_DATA_SOURCE | 1u << SAMPLE_COLUMN_LATENCY)

int samples_flush(struct samples *s, struct trace_writer *w, uint32_t *nr_samples)
{
	uint32_t nr = *nr_samples = s->nr, with = 0, nr_columns = 0;
	int ret, flushed;

	if (nr == 0)
		return 0;
	for (uint32_t c = SAMPLE_COLUMN_TIME; c < NR_PLAIN; c++)
		if (c != SAMPLE_COLUMN_STACK && c != SAMPLE_COLUMN_CHAIN && c != SAMPLE_COLUMN_IP && !all_zero(s->column[c], nr)) {
			with |= 1u << c;
			nr_columns++;
		}
	trace_samples_begin(w, s->column[SAMPLE_COLUMN_TIME][0], s->event, nr,
			    1 + nr_columns + (size_t)__builtin_popcountll(s->kept) + s->with_stack + s->with_chain +
				    (s->nr_kernel_chain > 0));
	column_encoder_begin(s->columns, s->column[SAMPLE_COLUMN_IP], nr);
	column_encoder_write_ip(s->columns, w);
	for (uint32_t c = SAMPLE_COLUMN_TIME; c < NR_PLAIN; c++)
		if (with & 1u << c)
			column_encoder_write(s->columns, w, c, s->column[c], PREDICTED & 1u << c);
	for (uint64_t left = s->kept; left; left &= left - 1) {
		uint32_t n = (uint32_t)__builtin_ctzll(left);

		column_encoder_write(s->columns, w, SAMPLE_COLUMN_REGISTER_0 + n, s->reg[n], true);
	}
	if (s->with_chain)
		column_encoder_write_list(w, SAMPLE_COLUMN_CHAIN, s->chain, s->chain_used, s->encoded);
	if (s->nr_kernel_chain)
		trace_samples_column(w, SAMPLE_COLUMN_KERNEL_CHAIN, SAMPLE_ENCODING_LISTS, s->kernel_chain, s->kernel_chain_bytes);
	if (s->with_stack)
		stack_delta_write(s->stacks, w);
	ret = trace_record_end(w); /* this writes the chunk itself if the record is large */
	flushed = trace_writer_flush(w, TRACE_CHUNK_SAMPLES);
	s->nr = s->chain_used = 0;
	s->kernel_chain_bytes = s->nr_kernel_chain = s->kernel_chain_last = 0;
	return ret ? ret : flushed;
}
