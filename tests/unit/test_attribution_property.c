/* SPDX-License-Identifier: MIT */
/*
 * Random worlds (dictionaries, code that comes and goes, tags, marks, objects, processes), a million samples in them, and every way from
 * samples to rows against attribute_sample()'s answers, one by one or added up.  The worlds are the same each time; one that fails prints
 * its seed:
 *	test_attribution_property SEED [WORLDS]
 */
#include "tests/unit/small_trace.h"

#include "analyzer/attribute/lookup_cache.h"
#include "analyzer/attribute/weights.h"
#include "analyzer/table/group.h"
#define event recorder_event /* both sides of the trace have one, and meet here only */
#include "agent/recorder/perf/samples.h"
#undef event

#include <math.h>
#include <time.h>

enum { OPERATOR = 1, PIPELINE, TASK, IR, NR_LEVELS = 4 };
enum { PID = 1000, CODE_STEP = 256, SLOTS = 24, END_NS = 1000000, NR_THREADS = 5, HOT = 64 };
enum { OBJECTS = 12, FUNCTIONS = 12, FUNCTION_BYTES = 256 }; /* of the runtime */
enum { PLAIN, STACKS, CHAINS, BARE, NR_EVENTS, MIXED = NR_EVENTS, NR_KINDS }; /* MIXED: blocks with stacks, of the first event */

#define WORLDS 64u
#define SAMPLES_WANTED 1000000u
#define CODE 0x7f1000000000ull
#define RUNTIME 0x555500000000ull
#define RUNTIME_BYTES 65536u
#define KERNEL 0xffffffff81000000ull
#define STACK 0x7ffc00000000ull
#define R12 20 /* perf's numbers */
#define R13 21
#define REGISTERS (1ull << 6 | 1ull << 7 | 1ull << 8 | 1ull << R12 | 1ull << R13 | 1ull << SAMPLE_TAG_WORD)

static uint64_t state; /* next_random() goes on from world to world: a world is to be had by its seed alone */

static uint64_t any(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	return (state ^= state << 17) * 0x9e3779b97f4a7c15ull >> 16;
}

static uint64_t below(uint64_t n)
{
	return any() % n;
}

static bool chance(unsigned percent)
{
	return below(100) < percent;
}

/* ----------------------------------------------------------------------------------------------------------- a world */

static struct {
	uint64_t seed;
	uint64_t nr_of[NR_LEVELS + 1]; /* components, by level */
	uint64_t address[HOT], kernel[16], tag[24];
	uint32_t pid[3];
	unsigned nr_pids, nr_tags;
	bool has_dictionary, has_objects, stack_only, one_weight;
	bool alike; /* of one process, and all that may have registers do */
	uint64_t check[4]; /* of the tags that there were */
} the;

/* Names, links and their ends, in the midst of it: the same ids mean other components. */
static void draw_dictionary_later(uint64_t time_ns)
{
	uint32_t level = 1 + (uint32_t)below(NR_LEVELS), upper = level > 1 ? 1 + (uint32_t)below(level - 1) : 1;
	uint64_t id = 1 + below(the.nr_of[level]);
	char name[32];

	switch (below(level > 1 ? 4 : 1)) {
	case 0:
		snprintf(name, sizeof(name), "later %d", (int)below(3));
		put_component_at(PID, time_ns, level, id, chance(10) ? JITREG_COMPONENT_SHARED : 0, name);
		break;
	case 1:
		put_unlink(PID, time_ns, level, id, upper, chance(50) ? 0 : 1 + below(the.nr_of[upper]));
		break;
	default:
		put_link_at(PID, time_ns, level, id, upper, 1 + below(the.nr_of[upper]), (uint32_t)below(4));
	}
}

static void draw_dictionary(void)
{
	static const char *const names[] = { "", "operator", "pipeline", "task", "ir" };
	char name[32];

	for (uint32_t level = 1; level <= NR_LEVELS; level++) {
		put_level(PID, level, names[level]);
		the.nr_of[level] = 1 + below(level == IR ? 40 : 8);
		for (uint64_t i = 1; i <= the.nr_of[level]; i++) {
			snprintf(name, sizeof(name), "%s %d", names[level], (int)i);
			put_component(PID, level, i, chance(10) ? JITREG_COMPONENT_SHARED : 0, name);
		}
	}
	for (uint32_t level = 2; level <= NR_LEVELS; level++)
		for (uint64_t i = 1; i <= the.nr_of[level]; i++)
			for (uint64_t n = below(4); n > 0; n--) {
				uint32_t upper = level == IR ? TASK : 1 + (uint32_t)below(level - 1);

				put_link(PID, level, i, upper, 1 + below(the.nr_of[upper]), (uint32_t)below(4));
			}
	for (uint32_t i = 1; i < the.nr_pids; i++) /* its own, under the same numbers */
		if (chance(30))
			put_component(the.pid[i], TASK, 1 + below(the.nr_of[TASK]), 0, "the child's");
	if (chance(15))
		for (uint64_t n = 1 + below(6); n > 0; n--)
			put_unlink(PID, below(END_NS), TASK, 1 + below(the.nr_of[TASK]), OPERATOR, 1 + below(the.nr_of[OPERATOR]));
}

/* Code in the same few places again and again. */
static void draw_code(uint32_t pid, uint64_t time_ns, uint64_t slot)
{
	const uint64_t address = CODE + slot * CODE_STEP + below(3) * 64;
	struct jitreg_code_map_entry entry[8];
	size_t nr = below(8);
	char name[32];

	if (chance(time_ns > 3 ? 20 : 5)) {
		put_unload(pid, time_ns, address, chance(50) ? 0 : 64 + below(512));
		return;
	}
	for (size_t i = 0; i < nr; i++) {
		uint64_t level = chance(70) ? IR : TASK;

		entry[i] = (struct jitreg_code_map_entry){ i * 32, level, chance(15) ? 0 : 1 + below(the.nr_of[level] + 2) };
	}
	snprintf(name, sizeof(name), "function_%d", (int)below(50));
	put_load(pid, time_ns, address, 64 + below(400), chance(40) ? "" : name);
	if (nr && the.has_dictionary)
		put_code_map(pid, time_ns, address, nr, entry);
}

static void draw_tag(uint64_t time_ns)
{
	static const uint32_t where[] = { 13, 12, JITREG_TAG_MEMORY, 13, 12, 14 };
	struct small_tag t = { .where = where[time_ns > 2 ? below(6) : 0], .nr_fields = below(3), .nr_ranges = 1 + below(5) };

	t.nr_fields = t.nr_fields ? t.nr_fields : 1;
	t.mask = chance(70) ? 0xfff00000u : 0;
	t.value = t.mask ? (0x7a6ull + below(2)) << 20 : 0;
	for (size_t i = 0; i < t.nr_fields; i++) {
		t.field[i].level = i ? OPERATOR : TASK;
		t.field[i].shift = i * 8;
		t.field[i].bits = i ? 4 : t.mask ? 5 + below(4) : 2;
	}
	for (size_t i = 0; i < t.nr_ranges; i++) {
		uint64_t start = i ? CODE + below(SLOTS * CODE_STEP) : RUNTIME;

		t.range[i] = (struct jitreg_range){ start, start + (i ? below(4096) : chance(80) ? RUNTIME_BYTES : 2048) };
	}
	put_tag(the.pid[below(the.nr_pids)], time_ns, &t);
	the.check[the.nr_tags++ % 4] = t.value;
}

static void draw_mark(uint64_t time_ns)
{
	put_mark(the.pid[below(the.nr_pids)], time_ns, chance(50) ? JITREG_MARK_BEGIN : JITREG_MARK_END,
		 chance(80) ? "run" : "compile", below(3));
}

/* Marks of threads and tasks, some with parents, which end on any thread. */
static void draw_mark_of_thread(uint64_t time_ns)
{
	static const uint32_t covers[] = { JITREG_COVERS_THREAD, JITREG_COVERS_TASK, JITREG_COVERS_PROCESS };
	const uint32_t tid = PID + (uint32_t)below(NR_THREADS);

	put_mark_of(PID, tid, time_ns, 1 + (uint32_t)below(4), chance(50) ? "run" : "morsel", 1 + below(12), below(12), covers[below(3)]);
}

static uint64_t object_address(void)
{
	return 0x10000 + 64 * below(OBJECTS);
}

/* Some below others, some that replace others, some classes. */
static void draw_object(uint64_t time_ns)
{
	const uint32_t pid = the.pid[below(the.nr_pids)];
	const uint64_t early_ns = chance(70) ? time_ns : time_ns / 2;
	uint64_t function[3], component[2][2];
	const size_t nr = 1 + below(3), of = below(3);

	if (chance(25)) {
		put_object_end(pid, time_ns, object_address());
		return;
	}
	for (size_t i = 0; i < nr; i++)
		function[i] = RUNTIME + below(FUNCTIONS) * FUNCTION_BYTES;
	for (size_t i = 0; i < of; i++) {
		component[i][0] = chance(80) ? (i ? OPERATOR : TASK) : PIPELINE;
		component[i][1] = below(the.nr_of[component[i][0]] + 2);
	}
	put_object(pid, early_ns, object_address(), chance(60) ? object_address() : 0,
		   chance(10) ? JITREG_OBJECT_CLASS : chance(30) ? JITREG_OBJECT_ALONE : 0, nr, function, of,
		   (const uint64_t(*)[2])component);
}

/* A process, and objects in all of its time. */
static void draw_objects(void)
{
	the.has_objects = true;
	for (uint64_t i = 0; i < FUNCTIONS; i++)
		put_eh_frame(PID, 3, 0x610000 + i * 4096, RUNTIME + i * FUNCTION_BYTES, FUNCTION_BYTES, UNWIND_RSP);
	for (uint64_t i = 0; i < 2 * OBJECTS; i++)
		draw_object(3);
	if (chance(50))
		put_component(PID, TASK, 1, JITREG_COMPONENT_COMMON, "common");
	if (chance(30))
		put_component(PID + 1, OPERATOR, 2, JITREG_COMPONENT_COMMON, "common too");
}

static void draw_process(uint64_t time_ns)
{
	uint32_t pid = the.pid[below(the.nr_pids)];

	if (chance(40))
		put_exec(pid, time_ns, "again");
	else
		put_fork(PID + 1 + (uint32_t)below(2), time_ns, PID);
}

static void draw_history(void)
{
	uint64_t time_ns = 3;
	const unsigned changes = 10 + (unsigned)below(150), processes = chance(40) ? 4 : 0, marks = chance(80) ? 15 : 0;
	const unsigned of_threads = chance(30) ? 20 : 0;
	const unsigned later = the.has_dictionary && chance(50) ? 12 : 0;
	const unsigned objects = the.has_objects && chance(80) ? 20 : 0;

	for (uint64_t slot = 0; slot < SLOTS; slot++)
		if (chance(85))
			draw_code(PID, time_ns, slot);
	for (uint32_t i = 1; i < the.nr_pids; i++)
		if (chance(90))
			put_fork(the.pid[i], chance(50) ? 3 : below(END_NS / 2), PID);
	for (unsigned i = 0; i < changes; i++) {
		unsigned what = (unsigned)below(100);

		time_ns += below(2 * END_NS / changes);
		if (what < processes)
			draw_process(time_ns);
		else if (what < processes + marks)
			draw_mark(time_ns);
		else if (the.has_dictionary && the.nr_tags < 12 && what < processes + marks + 8)
			draw_tag(time_ns);
		else if (what >= 100 - later - of_threads && what < 100 - later)
			draw_mark_of_thread(time_ns);
		else if (what >= 100 - later)
			draw_dictionary_later(time_ns);
		else if (chance(objects))
			draw_object(time_ns);
		else
			draw_code(the.pid[below(the.nr_pids)], time_ns, below(SLOTS));
	}
}

static void draw_world(void)
{
	static const char *const names[NR_EVENTS] = { "cycles", "instructions", "branches", "faults" };

	the.has_dictionary = chance(85);
	the.stack_only = chance(5);
	the.one_weight = chance(60);
	the.alike = chance(50);
	the.nr_pids = the.alike ? 1 : 1 + (unsigned)below(3);
	for (unsigned i = 0; i < 3; i++)
		the.pid[i] = PID + i;
	for (uint64_t e = 0; e < NR_EVENTS; e++)
		put_event(e, names[e]);
	put_process(PID, 1, "host");
	put_mmap(PID, 1, RUNTIME, RUNTIME_BYTES, "/host/runtime");
	for (uint32_t level = 1; level <= NR_LEVELS; level++)
		the.nr_of[level] = 1;
	if (the.has_dictionary)
		draw_dictionary();
	if (the.has_dictionary && chance(90))
		draw_tag(chance(90) ? 2 : END_NS / 2);
	if (chance(50))
		put_kernel_functions(KERNEL, 256, 8);
	if (chance(50))
		put_eh_frame(PID, chance(50) ? 3 : END_NS / 3, 0x600000, chance(50) ? CODE + 2 * CODE_STEP : RUNTIME, 4 * CODE_STEP,
			     UNWIND_RSP);
	if (the.seed % 3 == 0)
		draw_objects();
	draw_history();
}

/* --------------------------------------------------------------------------------------------------------- its samples */

/* Another tag that caches keep where they keep this one. */
static uint64_t at_the_same_place(uint64_t tag)
{
	for (;;) {
		const uint64_t other = (any() << 32 | (tag & 0xfff00000u)) + 1 + below(the.nr_of[TASK]);

		if (lookup_cache_hash(other, 16384) == lookup_cache_hash(tag, 16384))
			return other;
	}
}

/* What samples are about comes from a few values, so that it comes again. */
static void draw_hot(void)
{
	for (unsigned i = 0; i < HOT; i++)
		the.address[i] = chance(55) ? CODE + below(SLOTS * CODE_STEP / 16) * 16 : chance(95) ? RUNTIME + below(64) * 64 : any();
	for (unsigned i = 0; i < 16; i++)
		the.kernel[i] = KERNEL + below(3000);
	for (unsigned i = 0; i < 24; i++)
		the.tag[i] = i == 9 ? UINT64_MAX : chance(10) ? any() :
			     i % 4 == 3 ? at_the_same_place(the.tag[i - 1]) :
			     the.check[below(the.nr_tags < 4 ? the.nr_tags + !the.nr_tags : 4)] | (1 + below(the.nr_of[TASK] + 1)) |
				     below(the.nr_of[OPERATOR] + 1) << 8;
}

static uint64_t hot_address(void)
{
	return the.address[chance(70) ? below(8) : below(HOT)];
}

static uint64_t hot_tag(void)
{
	if (the.has_objects && chance(40))
		return object_address();
	return the.tag[chance(70) ? below(6) : below(24)];
}

/* Words of a stack from rsp on: a chain of frame pointers, or nothing of the kind. */
static void draw_stack(uint64_t *words, unsigned nr, uint64_t sp)
{
	for (unsigned i = 0; i < nr; i++)
		words[i] = chance(60) ? hot_address() + 1 : any();
	for (unsigned at = 2; at + 1 < nr && chance(85); at += 3) {
		words[at] = chance(80) ? sp + 8 * (at + 3) : 0;
		words[at + 1] = chance(90) ? hot_address() + 1 : 0;
	}
}

static size_t make_sample(uint64_t *record, unsigned event, uint64_t time_ns)
{
	struct perf_event_header *h = (void *)record;
	const unsigned mode = chance(75) ? 0 : chance(90) ? 1 : 2;
	const uint64_t ip = hot_address(), tid = PID + below(NR_THREADS), sp = STACK + below(4) * 4096;
	const bool registers = event != BARE && (the.alike || chance(95)), unknown = mode && chance(10);
	uint64_t *at = record + 1;

	*at++ = mode == 1 ? the.kernel[below(16)] : ip;
	*at++ = the.pid[tid % the.nr_pids] | tid << 32;
	*at++ = time_ns;
	*at++ = below(2); /* cpu */
	*at++ = the.one_weight ? 1000 + event % NR_EVENTS : 1 + below(3000);
	if (event == CHAINS) {
		uint64_t nr = below(4);

		*at++ = nr + 2;
		*at++ = PERF_CONTEXT_USER;
		*at++ = ip;
		while (nr--)
			*at++ = hot_address() + 1;
	}
	if (event != BARE) {
		*at++ = registers ? PERF_SAMPLE_REGS_ABI_64 : PERF_SAMPLE_REGS_ABI_NONE;
		if (registers) {
			*at++ = chance(90) ? sp + 16 : any(); /* bp, sp, ip, r12, r13, the tag's word */
			*at++ = sp;
			*at++ = chance(98) ? ip : 0;
			*at++ = unknown ? UINT64_MAX : hot_tag();
			*at++ = unknown ? UINT64_MAX : hot_tag();
			*at++ = hot_tag();
		}
	}
	if (event == STACKS || event == MIXED) {
		const unsigned nr = registers ? 16 : 0;

		*at++ = nr * 8;
		if (nr) {
			draw_stack(at, nr, sp);
			at += nr;
			*at++ = 8 * (chance(80) ? nr : below(nr));
		}
	}
	*h = (struct perf_event_header){ .type = PERF_RECORD_SAMPLE, .size = (uint16_t)((char *)at - (char *)record),
		.misc = mode == 0 ? PERF_RECORD_MISC_USER : mode == 1 ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_GUEST_KERNEL };
	return h->size;
}

static struct perf_event_attr attr_of(unsigned event)
{
	struct perf_event_attr attr = { .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
						       PERF_SAMPLE_PERIOD };

	if (event != BARE) {
		attr.sample_type |= PERF_SAMPLE_REGS_USER;
		attr.sample_regs_user = REGISTERS;
	}
	if (event == CHAINS)
		attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
	if (event == STACKS || event == MIXED) {
		attr.sample_type |= PERF_SAMPLE_STACK_USER;
		attr.sample_stack_user = 128;
	}
	return attr;
}

static void draw_samples(unsigned nr)
{
	struct samples *of[NR_KINDS];
	uint64_t record[64];
	uint32_t written;

	draw_hot();
	for (uint32_t e = 0; e < NR_KINDS; e++) {
		struct perf_event_attr attr = attr_of(e);

		assert_int_equal(samples_create(e % NR_EVENTS, &attr, &of[e]), 0);
	}
	for (unsigned i = 0; i < nr; i++) {
		const unsigned kind = (unsigned)below(100);
		const unsigned event = kind < 80 ? PLAIN : kind < 90 ? STACKS : kind < 96 ? CHAINS : kind < 98 ? BARE : MIXED;
		const uint64_t late = chance(5) ? below(END_NS / 10) : 0, now = 10 + (uint64_t)i * END_NS / nr;
		struct sample_seen seen;

		make_sample(record, event, now > late ? now - late : now);
		assert_int_equal(samples_add(of[event], (void *)record, &seen), 0);
		if (samples_full(of[event]) || chance(event == PLAIN ? 0 : 1) || below(2000) == 0)
			assert_int_equal(samples_flush(of[event], small, &written), 0);
	}
	for (unsigned e = 0; e < NR_KINDS; e++) {
		assert_int_equal(samples_flush(of[e], small, &written), 0);
		samples_destroy(of[e]);
	}
}

/* ------------------------------------------------------------------------------------- rows that can be compared */

/* What a row says, whatever numbers things have: names instead. */
struct plain_row {
	uint64_t column[TABLE_COLUMNS];
	double share;
	uint64_t time_ns, weight;
	uint32_t sample;
};

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0xff51afd7ed558ccdull;
	return h ^ h >> 32;
}

static uint64_t mix_text(uint64_t h, const char *t)
{
	for (; t && *t; t++)
		h = (h ^ (unsigned char)*t) * 0x100000001b3ull;
	return mix(h, 1);
}

/* Callers are numbered as samples ask for them, and call stacks ask for more of them. Components have their names. */
static uint64_t name_of(const struct attribution *a, unsigned column, uint32_t value);
static uint64_t name_of_caller(const struct attribution *a, uint32_t value)
{
	uint64_t name = 11;

	for (; value; value = a->model->callers.at[value].outer)
		name = mix(mix(name, name_of(a, TABLE_LEVEL_0, a->model->callers.at[value].component)),
			   name_of(a, TABLE_LEVEL_0, a->model->callers.at[value].query));
	return name;
}

static uint64_t name_of(const struct attribution *a, unsigned column, uint32_t value)
{
	const struct dictionary *d = &a->model->dictionary;

	if (column == TABLE_FUNCTION)
		return mix(mix_text(mix_text(7, a->function[value].name), a->image[a->function[value].image].path),
			   a->function[value].symbol);
	if (column == TABLE_LINE)
		return mix(mix_text(8, a->line[value].file), a->line[value].number);
	if (column == TABLE_IMAGE)
		return mix_text(9, a->image[value].path);
	if (column == TABLE_CALLER)
		return name_of_caller(a, value);
	if (column < TABLE_LEVEL_0 || !value)
		return value;

	const struct component *c = &d->components.at[value];

	return mix(mix(mix_text(mix_text(10, c->name), c->detail), c->process), c->announced ? c->id : 0);
}

/* ------------------------------------------------------------------------------------------------- the plain answers */

static struct plain_row *row;
static uint32_t *first_row; /* of each sample; and behind the last */
static uint32_t nr_rows, nr_samples, rows_capacity, samples_capacity;
static uint64_t answered_by[NR_METHODS], given_reason[NR_REASONS];

static struct plain_row *add_row(void)
{
	if (nr_rows == rows_capacity) {
		rows_capacity = 2 * rows_capacity + 4096;
		row = realloc(row, rows_capacity * sizeof(*row));
		assert_non_null(row);
	}
	return &row[nr_rows++];
}

static void add_answer(const struct small_world *w, const struct sample *s, const struct sample_attribution *x, uint32_t event,
		       uint64_t cpu, uint64_t weight)
{
	const struct location *l = &w->locator.location[x->location];

	if (nr_samples + 2 > samples_capacity) {
		samples_capacity = 2 * samples_capacity + 4096;
		first_row = realloc(first_row, samples_capacity * sizeof(*first_row));
		assert_non_null(first_row);
	}
	for (uint32_t i = 0; i < x->paths.nr; i++) {
		struct plain_row *r = add_row();

		*r = (struct plain_row){ .share = x->paths.row[i].share, .time_ns = s->time_ns, .weight = weight, .sample = nr_samples };
		r->column[TABLE_PROCESS] = x->process->number;
		r->column[TABLE_THREAD] = x->thread;
		r->column[TABLE_CPU] = cpu;
		r->column[TABLE_EVENT] = event;
		r->column[TABLE_MODE] = s->mode;
		r->column[TABLE_CODE] = x->code ? x->code->number + 1 : 0;
		r->column[TABLE_FUNCTION] = name_of(&w->a, TABLE_FUNCTION, l->function);
		r->column[TABLE_LINE] = name_of(&w->a, TABLE_LINE, l->line);
		r->column[TABLE_IMAGE] = name_of(&w->a, TABLE_IMAGE, l->image);
		r->column[TABLE_METHOD] = x->answer.method;
		r->column[TABLE_REASON] = x->answer.reason;
		r->column[TABLE_PHASE] = x->phase;
		r->column[TABLE_CALLER] = name_of(&w->a, TABLE_CALLER, x->answer.caller);
		for (uint32_t n = 0; n < w->a.model->dictionary.nr_levels; n++)
			r->column[TABLE_LEVEL_0 + n] = name_of(&w->a, TABLE_LEVEL_0 + n, x->paths.row[i].component[n]);
	}
	answered_by[x->answer.method]++;
	given_reason[x->answer.reason]++;
	nr_samples++;
	first_row[nr_samples] = nr_rows;
}

/* Each sample on its own: an unwinder that has seen nothing before, wherever there is a stack to walk. */
static void ask_plainly(struct trace_reader *t)
{
	struct scaled_weights weights = { 0 };
	struct sample_block b = { 0 };
	struct trace_record record;
	struct small_world w;
	struct model *m = small_model(t);

	small_world_init(&w, m);
	w.world.stack_only = the.stack_only;
	nr_rows = nr_samples = 0;
	trace_rewind(t);
	trace_select_chunks(t, 1u << TRACE_CHUNK_SAMPLES);
	while (trace_next(t, &record) == 1) {
		if (record.id != TRACE_SAMPLES)
			continue;
		assert_int_equal(sample_block_decode(&record, &b), 0);
		assert_int_equal(weights_scale(&weights, m, &b), 0);
		for (uint32_t i = 0; i < b.nr; i++) {
			struct sample_attribution x;
			struct sample s;

			sample_read(&b, i, &s);
			if (s.input.stack_bytes) {
				unwinder_destroy(w.world.unwinder);
				assert_int_equal(unwinder_create(UNWIND_MEMO, &w.world.unwinder, NULL), 0);
			}
			assert_true(attribute_sample(&w.world, &s, &x));
			add_answer(&w, &s, &x, b.event, b.column[SAMPLE_COLUMN_CPU] ? b.column[SAMPLE_COLUMN_CPU][i] : 0,
				   b.column[SAMPLE_COLUMN_WEIGHT] ? b.column[SAMPLE_COLUMN_WEIGHT][i] : 0);
		}
	}
	weights_fini(&weights);
	sample_block_fini(&b);
	small_world_fini(&w);
	model_destroy(m);
}

/* --------------------------------------------------------------------------------------------------- rows one by one */

struct seen {
	const char *path;
	uint64_t by; /* columns */
	uint32_t at; /* rows so far */
	uint64_t failures;
};

static void fail_row(struct seen *s, const char *what, uint32_t sample, uint64_t plain, uint64_t got)
{
	if (s->failures++ < 3)
		print_error("seed %llu, %s, sample %u: %s is %#llx, attribute_sample() says %#llx\n", (unsigned long long)the.seed,
			    s->path, sample, what, (unsigned long long)got, (unsigned long long)plain);
}

static int on_rows(void *context, const struct attribution *a, const struct table *t)
{
	static const char *const names[TABLE_COLUMNS] = { "sample", "process", "thread", "cpu", "event", "mode", "code", "function", "line",
		"image", "method", "reason", "phase", "stack", "memory", "caller" };
	struct seen *s = context;

	for (uint32_t i = 0; i < t->nr; i++, s->at++) {
		const struct plain_row *r = &row[s->at];

		if (s->at >= nr_rows || t->column[TABLE_SAMPLE][i] != r->sample) {
			fail_row(s, "the number", s->at, s->at < nr_rows ? r->sample : nr_samples, t->column[TABLE_SAMPLE][i]);
			return -EBADMSG;
		}
		for (unsigned c = TABLE_PROCESS; c < TABLE_LEVEL_0 + t->nr_levels; c++)
			if (c != TABLE_STACK && c != TABLE_MEMORY && name_of(a, c, t->column[c][i]) != r->column[c])
				fail_row(s, c < TABLE_LEVEL_0 ? names[c] : "a component", r->sample, r->column[c],
					 name_of(a, c, t->column[c][i]));
		if (fabs(t->share[i] - r->share) > 1e-12 || t->weight[i] != r->weight || t->time_ns[i] != r->time_ns)
			fail_row(s, "share, weight or time", r->sample, r->weight, t->weight[i]);
	}
	return s->failures ? -EBADMSG : 0;
}

static uint64_t run(struct trace_reader *t, struct seen *s, int (*rows)(void *, const struct attribution *, const struct table *),
		    uint64_t sums_by, bool stacks)
{
	const struct attribute_options o = { .stack_only = the.stack_only, .sums_by = sums_by, .stacks = stacks, .addresses = stacks,
					     .threads = 1, .run_mark = "run", .rows = rows, .rows_context = s };
	struct attribution *a = NULL;
	struct model *m = small_model(t);
	struct diag d;
	int ret = attribute_trace(t, m, &o, &a, &d);

	if (ret == 0 && a->nr_samples != nr_samples)
		fail_row(s, "number of samples", 0, nr_samples, a->nr_samples);
	if (ret && !s->failures)
		fail_row(s, "the error", 0, 0, (uint64_t)-ret);
	if (a)
		attribution_destroy(a);
	model_destroy(m);
	return s->failures;
}

static uint64_t compare_rows(struct trace_reader *t, bool stacks)
{
	struct seen s = { .path = stacks ? "rows with stacks" : "rows" };

	run(t, &s, on_rows, 0, stacks);
	if (!s.failures && s.at != nr_rows)
		fail_row(&s, "number of rows", 0, nr_rows, s.at);
	return s.failures;
}

/* ------------------------------------------------------------------------------------------------------ rows added up */

#define SUMS 16384u /* a power of two, more than twice as many as there are */

static struct sum {
	uint64_t key;
	struct group_sum plain, got;
	uint32_t of; /* a row that is in there */
} sums[SUMS];
static uint32_t nr_sums;

static struct sum *sum_of(uint64_t key)
{
	uint32_t at = (uint32_t)(key >> 40) % SUMS;

	key |= 1;
	while (sums[at].key && sums[at].key != key)
		at = (at + 1) % SUMS;
	nr_sums += !sums[at].key;
	assert_uint_in_range(nr_sums, 1, SUMS / 2);
	sums[at].key = key;
	return &sums[at];
}

static int on_sums(void *context, const struct attribution *a, const struct table *t)
{
	struct seen *s = context;

	for (uint32_t i = 0; i < t->nr; i++) {
		uint64_t key = 1;

		for (unsigned c = TABLE_PROCESS; c < TABLE_LEVEL_0 + t->nr_levels; c++)
			if (s->by >> c & 1)
				key = mix(key, name_of(a, c, t->column[c][i]));
		group_sum_add(&sum_of(key)->got, &t->sum[i]);
	}
	return 0;
}

static bool is_near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * (1 + fabs(a) + fabs(b));
}

static void compare_sum(struct seen *s, const struct sum *x)
{
	const struct group_sum *p = &x->plain, *g = &x->got;

	if (!is_near(p->samples, g->samples))
		fail_row(s, "samples in millionths", row[x->of].sample, (uint64_t)(p->samples * 1e6), (uint64_t)(g->samples * 1e6));
	else if (!is_near(p->kernel, g->kernel))
		fail_row(s, "the kernel's part in millionths", row[x->of].sample, (uint64_t)(p->kernel * 1e6), (uint64_t)(g->kernel * 1e6));
	else if (!is_near(p->weight, g->weight) || !is_near(p->weight_squares, g->weight_squares))
		fail_row(s, "weight", row[x->of].sample, (uint64_t)p->weight, (uint64_t)g->weight);
	else if (p->samples > 0 && p->first_ns != g->first_ns)
		fail_row(s, "first", row[x->of].sample, p->first_ns, g->first_ns);
	else if (p->samples > 0 && p->last_ns != g->last_ns)
		fail_row(s, "last", row[x->of].sample, p->last_ns, g->last_ns);
}

static uint64_t compare_sums(struct trace_reader *t, uint64_t by, const char *name)
{
	struct seen s = { .path = name, .by = by | 1ull << TABLE_MODE };

	memset(sums, 0, sizeof(sums));
	nr_sums = 0;
	for (uint32_t i = 0; i < nr_rows; i++) {
		const struct plain_row *r = &row[i];
		const double weight = r->share * (double)r->weight;
		const struct group_sum one = { r->share, r->column[TABLE_MODE] == TABLE_MODE_KERNEL ? r->share : 0, weight, weight * weight,
					       r->time_ns, r->time_ns };
		uint64_t key = 1;
		struct sum *x;

		for (unsigned c = TABLE_PROCESS; c < TABLE_COLUMNS; c++)
			if (s.by >> c & 1 && c < TABLE_LEVEL_0 + NR_LEVELS)
				key = mix(key, r->column[c]);
		x = sum_of(key);
		x->of = i;
		group_sum_add(&x->plain, &one);
	}
	run(t, &s, on_sums, by, false);
	for (uint32_t i = 0; i < SUMS && !s.failures; i++)
		if (sums[i].key)
			compare_sum(&s, &sums[i]);
	return s.failures;
}

/* What views ask for (report_sums_by()), and what no view does yet. */
static uint64_t compare_all_sums(struct trace_reader *t)
{
#define BY(c) (1ull << TABLE_##c)
#define LEVEL(n) (1ull << (TABLE_LEVEL_0 + (n)))
	static const struct {
		uint64_t by;
		const char *name;
	} all[] = {
		{ BY(EVENT), "sums by event" },
		{ BY(EVENT) | BY(METHOD) | BY(REASON), "sums by method and reason" },
		{ BY(EVENT) | BY(PHASE) | LEVEL(0) | BY(PROCESS) | BY(METHOD) | BY(REASON), "sums of a plan" },
		{ BY(EVENT) | BY(PHASE) | LEVEL(0) | LEVEL(1) | LEVEL(2), "sums by levels" },
		{ BY(EVENT) | LEVEL(3) | BY(PROCESS), "sums by the lowest level" },
		{ BY(EVENT) | BY(FUNCTION) | BY(IMAGE), "sums by function" },
		{ BY(EVENT) | BY(LINE) | BY(CODE), "sums by line and code" },
		{ BY(EVENT) | BY(IMAGE) | BY(METHOD) | BY(REASON) | BY(PHASE) | LEVEL(0) | LEVEL(3), "sums of a default report" },
		{ BY(EVENT) | BY(THREAD) | BY(PROCESS), "sums by thread" },
		{ BY(EVENT) | BY(CPU) | LEVEL(1), "sums by processor" },
		{ BY(EVENT) | BY(PHASE) | BY(PROCESS), "sums by mark" },
	};
	const uint64_t possible = (1ull << (TABLE_LEVEL_0 + NR_LEVELS)) - 1;
	uint64_t failures = 0;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		failures += compare_sums(t, all[i].by, all[i].name);
	failures += compare_sums(t, ((any() & any() & possible) | BY(EVENT)) & ~(BY(SAMPLE) | BY(STACK) | BY(MEMORY)),
				 "sums by any columns");
	return failures;
#undef BY
#undef LEVEL
}

/* ----------------------------------------------------------------------------------------------------------- the property */

static uint64_t first_seed = 1;
static uint32_t nr_worlds = WORLDS;

static uint64_t try_world(uint64_t seed)
{
	struct trace_reader *t;
	uint64_t failures;

	memset(&the, 0, sizeof(the));
	the.seed = seed;
	state = (seed + 1) * 0x9e3779b97f4a7c15ull;
	any();
	small_begin();
	draw_world();
	draw_samples(15000 + (unsigned)below(3000));
	t = small_end();
	ask_plainly(t);
	failures = compare_rows(t, false);
	if (seed % 4 == 0)
		failures += compare_rows(t, true);
	failures += compare_all_sums(t);
	trace_close(t);
	return failures;
}

static void every_path_says_what_the_plain_function_says(void **none)
{
	uint64_t samples = 0, failed = 0;

	(void)none;
	for (uint64_t seed = first_seed; seed < first_seed + nr_worlds && failed < 3; seed++) {
		failed += try_world(seed) != 0;
		samples += nr_samples;
	}
	print_message("worlds of seeds %llu to %llu, %llu samples:", (unsigned long long)first_seed,
		      (unsigned long long)(first_seed + nr_worlds - 1), (unsigned long long)samples);
	for (int i = 0; i < NR_METHODS; i++)
		print_message(" %s %.1f %%", method_names[i], 100.0 * (double)answered_by[i] / (double)samples);
	for (int i = 1; i < NR_REASONS; i++)
		print_message(", %s %.1f %%", reason_names[i], 100.0 * (double)given_reason[i] / (double)samples);
	print_message("\n");
	free(row);
	free(first_row);
	assert_int_equal(failed, 0);
	if (nr_worlds == WORLDS) {
		assert_true(samples >= SAMPLES_WANTED);
		for (int i = 0; i < NR_METHODS; i++)
			assert_true(answered_by[i] > samples / 1000);
	}
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_path_says_what_the_plain_function_says),
	};

	if (argc > 1) {
		first_seed = strtoull(argv[1], NULL, 10);
		nr_worlds = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 1;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
