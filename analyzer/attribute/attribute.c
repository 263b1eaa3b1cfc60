/* SPDX-License-Identifier: MIT */
#include "analyzer/attribute/attribute.h"

#include "analyzer/attribute/batch_sums.h"
#include "analyzer/attribute/fast_path.h"
#include "analyzer/attribute/locate.h"
#include "analyzer/attribute/lookup_cache.h"
#include "analyzer/attribute/rows.h"
#include "analyzer/attribute/switches.h"
#include "analyzer/attribute/walk.h"
#include "analyzer/attribute/weights.h"
#include "jitreg/trace/sample_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define METHOD_TEXT_(NAME, text, sentence) text,
const char *const method_names[] = { METHODS(METHOD_TEXT_) };
#undef METHOD_TEXT_
#define METHOD_SENTENCE_(NAME, text, sentence) sentence,
const char *const method_sentences[] = { METHODS(METHOD_SENTENCE_) };
#undef METHOD_SENTENCE_
#define REASON_TEXT_(NAME, text, sentence) text,
const char *const reason_names[] = { REASONS(REASON_TEXT_) };
#undef REASON_TEXT_
#define REASON_SENTENCE_(NAME, text, sentence) sentence,
const char *const reason_sentences[] = { REASONS(REASON_SENTENCE_) };
#undef REASON_SENTENCE_

#define BATCH_SUMS_MAX 8u

struct run {
	struct attribution *a;
	const struct attribute_options *options;
	struct locator locator;
	struct lookup_cache *recent;
	struct unwinder *unwinder;
	struct switches switches;
	struct rows rows;
	struct batch_sums *tally[BATCH_SUMS_MAX]; /* of the first events */
	struct scaled_weights weights;
	uint64_t told[NR_LOOKUP_CACHE_TOLD]; /* samples by what is told of their places */
	uint32_t cut[NR_REASONS]; /* locations of stacks' ends, by why */
};

/* One sample on its way. */
struct sample {
	const struct process *process;
	uint64_t time_ns;
	uint64_t ip; /* in user space */
	bool has_registers;
	bool has_tag_word; /* a handler in the thread could read it */
	uint64_t tag_word, tag_value; /* tag_value: the one that decided */
	struct unwind_input input;
	const uint64_t *chain; /* return addresses by frame pointers; NULL: were not recorded */
	uint32_t chain_nr;
	const uint64_t *kernel_chain; /* return addresses in the kernel */
	uint64_t kernel_nr;
	const struct tag *tag;
	/* decided */
	uint32_t low, object; /* of host_levels.h, at the instruction or the first frame that has them */
	enum method method;
	enum reason reason;
	struct deciding_components seeds;
	uint32_t expansion;   /* of rows_parent_paths(), where it is known already */
	uint32_t caller_function; /* the frame that decided */
};

/* ------------------------------------------------------------------------------------------------------ components */

static uint32_t find_component(const struct model *m, const struct process *p, uint32_t level, uint64_t id)
{
	uint32_t i = COMPONENT_NONE;

	for (int n = 0; p && !i && n < 64; n++, p = p->parent)
		i = dictionary_find(&m->dictionary, p->number, level, id);
	return i;
}

static bool take_tag(const struct run *run, struct sample *s, uint64_t value)
{
	const struct tag *t = s->tag;
	const struct lookup_cache_tag *known;

	if ((value & t->check_mask) != t->check_value)
		return false;
	s->tag_value = value;
	known = lookup_cache_tag(run->recent, s->process, value);
	if (!s->low && known->process == s->process && known->tag == t && known->value == value) {
		s->expansion = known->expansion;
		return true;
	}
	s->seeds.nr = 0;
	for (uint32_t i = 0; i < t->nr_fields && s->seeds.nr < ROWS_SEEDS_MAX; i++) {
		uint64_t id = value >> t->field[i].shift;
		uint32_t component;

		if (t->field[i].bits < 64)
			id &= (1ull << t->field[i].bits) - 1;
		component = id ? find_component(run->a->model, s->process, t->field[i].level, id) : COMPONENT_NONE;
		if (component)
			s->seeds.component[s->seeds.nr++] = component;
	}
	return s->seeds.nr > 0;
}

static bool keeps_tag(const struct tag *t, uint64_t address)
{
	for (uint32_t i = 0; i < t->nr_preserving_ranges; i++)
		if (address - t->preserving_range[i].start < t->preserving_range[i].end - t->preserving_range[i].start)
			return true;
	return false;
}

static bool take_location(const struct model *m, struct sample *s, const struct location *l)
{
	uint32_t first = l->component ? l->component : l->before ? l->before : l->after;

	if (!first || (m->dictionary.component[first].flags & JITREG_COMPONENT_SHARED))
		return false;
	s->seeds.nr = 1;
	s->seeds.component[0] = first;
	s->seeds.shared_half = !l->component && l->before && l->after && l->after != l->before ? l->after : COMPONENT_NONE;
	return true;
}

/* Where the host declared no levels of its own.  true: these decide, because there are no others to be found. */
static bool take_host_levels(struct sample *s, const struct location *l)
{
	if (s->low || !l->low)
		return false;
	s->low = l->low;
	s->object = l->object;
	s->caller_function = l->function;
	return !s->process->has_dictionary;
}

/* ------------------------------------------------------------------------------------------------------------ stacks */

struct walk {
	struct run *run;
	struct sample *sample;
	bool use_tag;
	bool decided;
};

/* The unwinder remembers a frame's location beside its rule. */
static const struct location *location_of(struct run *run, const struct sample *s, const struct unwind_frame *f)
{
	const struct location *l;

	if (*f->note)
		return &run->locator.location[*f->note - 1];
	l = locate(&run->locator, s->process, model_find_code(s->process, f->address, s->time_ns), f->address);
	*f->note = 1 + (uint32_t)(l - run->locator.location);
	return l;
}

static bool on_frame(void *context, const struct unwind_frame *f)
{
	struct walk *w = context;
	struct sample *s = w->sample;
	const struct location *l;
	uint64_t address;

	if (f->depth == 0)
		return true; /* has been asked already */
	address = f->address;
	if (w->use_tag && keeps_tag(s->tag, address) && s->tag->where < UNWIND_REGISTERS &&
	    (f->registers.known & (1u << s->tag->where)) && take_tag(w->run, s, f->registers.value[s->tag->where])) {
		s->method = METHOD_TAG_UNWOUND;
		w->decided = true;
		return false;
	}
	l = location_of(w->run, s, f);
	if (take_location(w->run->a->model, s, l)) {
		s->method = w->use_tag ? METHOD_TAG_UNWOUND : METHOD_STACK;
		s->caller_function = l->function;
		w->decided = true;
		return false;
	}
	return !take_host_levels(s, l);
}

/* What it means that a walk ended without anybody who decides. */
static enum reason reason_of(enum unwind_end end, const struct sample *s)
{
	switch (end) {
	case UNWIND_TRUNCATED:
		return s->input.stack_bytes ? REASON_TRUNCATED : REASON_NO_STACK;
	case UNWIND_NO_INFO:
		return REASON_NO_UNWIND_INFO;
	case UNWIND_BROKEN:
		return s->input.stack_bytes ? REASON_BROKEN : REASON_NO_STACK;
	default:
		return REASON_HOST;
	}
}

static void walk_stack(struct run *run, struct sample *s, bool use_tag)
{
	struct walk w = { run, s, use_tag, false };
	struct walk_place place = { s->process, s->time_ns };
	struct unwind_space space = walk_space(&place, run->options->unwinder == UNWIND_LIBUNWIND);
	enum unwind_end end;

	end = unwind_walk(run->unwinder, &space, &s->input, on_frame, &w);
	if (w.decided)
		return;
	s->method = METHOD_NONE;
	s->reason = reason_of(end, s);
}

/* ------------------------------------------------------------------------------------------------------- whole stacks */

#define KERNEL_FRAMES_MAX 128u

struct collect {
	struct walk walk;
	uint32_t nr;
	struct stack_node frame[KERNEL_FRAMES_MAX + 2 * UNWIND_FRAMES_MAX + 2]; /* innermost first */
};

static struct stack_node frame_at(const struct location *l, unsigned flags)
{
	uint32_t component = l->component ? l->component : l->before ? l->before : l->after ? l->after : l->low;

	return (struct stack_node){ 0, l->function, l->line, component, 0, (uint16_t)(flags | (l->jit ? STACK_JIT : 0)) };
}

static bool collect_frame(void *context, const struct unwind_frame *f)
{
	struct collect *c = context;
	struct run *run = c->walk.run;
	const struct sample *s = c->walk.sample;
	const struct location *l;

	l = location_of(run, s, f);
	l = l->inner ? &run->locator.location[l->inner] :
		       locate_inlined(&run->locator, s->process, model_find_code(s->process, f->address, s->time_ns), f->address);
	for (; c->nr < KERNEL_FRAMES_MAX + 2 * UNWIND_FRAMES_MAX; l = &run->locator.location[l->outer]) {
		c->frame[c->nr++] = frame_at(l, l->outer ? STACK_INLINED : 0);
		if (!l->outer)
			break;
	}
	return true;
}

/* The kernel's frames: nobody knows whether they are all. */
static enum reason collect_chain(struct collect *c, const struct sample *s)
{
	for (uint32_t i = 0; i <= s->chain_nr && i < UNWIND_FRAMES_MAX; i++) {
		uint32_t note = 0;
		struct unwind_frame f = { .depth = (int)i, .address = i ? s->chain[i - 1] - 1 : s->ip, .note = &note };

		collect_frame(c, &f);
	}
	return REASON_HOST;
}

/* The kernel's frames, from where the sample was outwards.  What has no name is one frame, however many they are. */
static void collect_kernel(struct collect *c, const struct sample *s, uint32_t location)
{
	struct locator *l = &c->walk.run->locator;
	uint32_t before = location;

	c->frame[c->nr++] = frame_at(&l->location[location], STACK_KERNEL);
	for (uint64_t i = 0; i < s->kernel_nr && c->nr < KERNEL_FRAMES_MAX; i++) {
		location = locate_kernel(l, s->kernel_chain[i] - 1);
		if (location != before || location != l->kernel)
			c->frame[c->nr++] = frame_at(&l->location[location], STACK_KERNEL);
		before = location;
	}
}

/* The node of the innermost frame.  kernel: where in the kernel the sample was, if it was there. */
static uint32_t stack_of(struct run *run, struct sample *s, uint32_t mode, uint32_t kernel)
{
	static const char *const names[NR_REASONS] = { [REASON_NO_REGISTERS] = "[no registers]", [REASON_NO_STACK] = "[no stack]",
		[REASON_TRUNCATED] = "[truncated]", [REASON_BROKEN] = "[broken]", [REASON_NO_UNWIND_INFO] = "[no unwind information]" };
	struct collect c;
	struct walk_place place = { s->process, s->time_ns };
	struct unwind_space space = walk_space(&place, run->options->unwinder == UNWIND_LIBUNWIND);
	enum reason why = REASON_NO_REGISTERS;
	uint32_t node = 0;

	c.walk = (struct walk){ run, s, false, false };
	c.nr = 0;
	if (mode != SAMPLE_MODE_USER)
		collect_kernel(&c, s, kernel);
	if (s->has_registers && s->chain && !s->input.stack_bytes)
		why = collect_chain(&c, s);
	else if (s->has_registers)
		why = reason_of(unwind_walk(run->unwinder, &space, &s->input, collect_frame, &c), s);
	if (names[why]) {
		if (!run->cut[why])
			run->cut[why] = locate_nowhere(&run->locator, names[why]);
		c.frame[c.nr++] = frame_at(&run->locator.location[run->cut[why]], STACK_CUT);
	}
	run->a->stack_ends[names[why] ? why : REASON_NONE]++;
	while (c.nr > 0)
		node = stacks_add(&run->a->stacks, node, &c.frame[--c.nr]);
	return node;
}

/* The same by return addresses alone, which tell of no register: a frame of generated code decides. */
static void walk_chain(struct run *run, struct sample *s)
{
	s->method = METHOD_NONE;
	s->reason = REASON_NO_FRAME_POINTERS;
	for (uint32_t i = 0; i < s->chain_nr; i++) {
		uint64_t address = s->chain[i] - 1;
		const struct location *l;

		l = locate(&run->locator, s->process, model_find_code(s->process, address, s->time_ns), address);
		if (take_location(run->a->model, s, l)) {
			s->method = METHOD_STACK;
			s->reason = REASON_NONE;
			s->caller_function = l->function;
			return;
		}
		if (take_host_levels(s, l))
			return;
	}
}

/* ---------------------------------------------------------------------------------------------------------- deciding */

static void decide_by_dictionary(struct run *run, struct sample *s, const struct location *l, const struct code *code,
				 bool stack_only)
{
	bool use_tag;
	uint32_t reg;

	if (!s->ip) {
		s->reason = REASON_NO_REGISTERS;
		return;
	}
	if (take_location(run->a->model, s, l)) {
		s->method = METHOD_IP;
		s->caller_function = l->function;
		return;
	}
	if (take_host_levels(s, l))
		return;
	if (!s->has_registers && !s->chain) {
		s->reason = REASON_NO_REGISTERS;
		return;
	}
	if (run->a->model->dictionary.nr_components == 1 && !run->a->model->has_host_levels) { /* nothing to find on a stack */
		s->reason = code ? REASON_NO_DICTIONARY : REASON_NO_CODE_OBJECT;
		return;
	}
	s->tag = model_find_tag(s->process, s->time_ns);
	if (s->tag && !stack_only && s->tag->where == JITREG_TAG_MEMORY && s->has_tag_word && take_tag(run, s, s->tag_word)) {
		s->method = METHOD_TAG; /* no code that it passes through can change it */
		return;
	}
	use_tag = s->tag && !stack_only && s->tag->where < UNWIND_REGISTERS;
	reg = use_tag ? s->tag->where : 0;
	if (use_tag && keeps_tag(s->tag, s->ip) && (s->input.registers.known & (1u << reg)) &&
	    take_tag(run, s, s->input.registers.value[reg])) {
		s->method = METHOD_TAG;
		return;
	}
	if (s->chain && !s->input.stack_bytes) {
		walk_chain(run, s);
		return;
	}
	walk_stack(run, s, use_tag);
	if (s->method == METHOD_NONE && s->reason == REASON_NO_UNWIND_INFO && !code)
		s->reason = REASON_NO_CODE_OBJECT;
}

static void begin_deciding(struct sample *s)
{
	s->method = METHOD_NONE;
	s->reason = REASON_NONE;
	s->seeds.nr = 0;
	s->expansion = 0;
	s->seeds.shared_half = COMPONENT_NONE;
	s->low = s->object = COMPONENT_NONE;
	s->caller_function = 0;
}

static void decide(struct run *run, struct sample *s, const struct location *l, const struct code *code, bool stack_only)
{
	begin_deciding(s);
	decide_by_dictionary(run, s, l, code, stack_only);
	if (!s->low)
		return;
	if (s->method == METHOD_NONE) {
		s->method = s->low == l->low ? METHOD_IP : METHOD_STACK;
		s->reason = REASON_NONE;
	}
	for (int i = 0; i < 2 && s->seeds.nr < ROWS_SEEDS_MAX; i++)
		s->seeds.component[s->seeds.nr++] = i ? s->object : s->low;
}

/* --------------------------------------------------------------------------------------------- one line per sample */

static void print_text(FILE *to, const char *text)
{
	for (; *text; text++)
		fputc((unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text, to);
}

static void print_header(const struct run *run)
{
	const struct dictionary *d = &run->a->model->dictionary;
	FILE *to = run->options->each;

	fputs("time_ns\tpid\ttid\tmode\tevent\tweight\tip\timage\tfunction\tline\tmethod\treason\tphase", to);
	for (uint32_t i = 0; i < d->nr_levels; i++)
		fprintf(to, "\t%s", d->level[i].name ? d->level[i].name : "?");
	if (run->options->witness) {
		fputs("\tstack_method\tstack_function", to);
		for (uint32_t i = 0; i < d->nr_levels; i++)
			fprintf(to, "\tstack_%s", d->level[i].name ? d->level[i].name : "?");
	}
	fputc('\n', to);
}

/* The ways up from what decided; false without memory. */
static bool ways_of(struct run *run, const struct sample *s, uint32_t *ways)
{
	*ways = s->expansion || !s->seeds.nr ? s->expansion : rows_parent_paths(&run->rows, &s->seeds, s->time_ns);
	return *ways || !s->seeds.nr;
}

/* Components of the largest share: name#id. */
static void print_components(struct run *run, const struct sample *s)
{
	const struct dictionary *d = &run->a->model->dictionary;
	uint32_t nr, ways;
	const struct expansion_row *way = ways_of(run, s, &ways) ? rows_of(&run->rows, ways, &nr) : NULL;

	for (uint32_t i = 0; i < d->nr_levels; i++) {
		uint32_t c = way ? way->component[i] : COMPONENT_NONE;

		fputc('\t', run->options->each);
		if (c) {
			print_text(run->options->each, d->component[c].name ? d->component[c].name : "");
			fprintf(run->options->each, "#%llu", (unsigned long long)d->component[c].id);
		}
	}
}

static void print_sample(struct run *run, struct sample *s, const struct row_facts *f, const struct code *code)
{
	static const char *const modes[] = { "user", "kernel", "other" };
	const struct attribution *a = run->a;
	const struct line *line = &a->line[f->location->line];
	FILE *to = run->options->each;

	fprintf(to, "%llu\t%u\t%u\t%s\t%u\t%llu\t%#llx\t", (unsigned long long)s->time_ns, s->process->pid,
		a->model->thread[f->thread].tid, modes[f->mode < 2 ? f->mode : 2], f->event, (unsigned long long)f->weight,
		(unsigned long long)f->ip);
	print_text(to, a->image[f->location->image].path);
	fputc('\t', to);
	print_text(to, a->function[f->location->function].name);
	fputc('\t', to);
	if (f->location->line) {
		print_text(to, line->file);
		fprintf(to, ":%u", line->number);
	}
	fprintf(to, "\t%s\t%s\t%u", method_names[s->method], reason_names[s->reason], f->phase);
	print_components(run, s);
	if (run->options->witness) {
		struct sample alone = *s;

		decide(run, &alone, f->location, code, true);
		fprintf(to, "\t%s\t", method_names[alone.method]);
		print_text(to, a->function[alone.caller_function].name);
		print_components(run, &alone);
	}
	fputc('\n', to);
}

/* ------------------------------------------------------------------------------------------------------ all samples */

static uint64_t column(const struct sample_block *b, enum sample_column c, uint32_t i)
{
	return b->column[c] ? b->column[c][i] : 0;
}

/* What the instruction, or the tag, alone decided holds for the next samples there. */
static void remember(struct run *run, struct sample *s, struct lookup_cache_place *place)
{
	if ((s->method != METHOD_IP && s->method != METHOD_TAG) || run->a->model->dictionary.has_unlinks ||
	    (s->low && s->process->has_dictionary)) /* two things at a time decided */
		return;
	if (s->method == METHOD_TAG)
		lookup_cache_set_by_tag(run->recent, place, s->process, s->time_ns);
	if (s->expansion)
		return;
	s->expansion = rows_parent_paths(&run->rows, &s->seeds, s->time_ns);
	if (s->method == METHOD_IP)
		place->ways = s->expansion <= RECENT_WAYS_MAX ? s->expansion & RECENT_WAYS_MAX : 0;
	else if (s->expansion)
		*lookup_cache_tag(run->recent, s->process, s->tag_value) =
			(struct lookup_cache_tag){ s->process, s->tag, s->tag_value, s->expansion };
}

/* A thread that leaves its processor: what counts is how long it is away, and why. */
static void take_time_away(const struct run *run, uint32_t tid, uint64_t from_ns, uint32_t *event, uint64_t *weight)
{
	enum trace_switch why;
	uint64_t until_ns;

	*weight = switches_find(&run->switches, tid, from_ns, &until_ns, &why) ? until_ns - from_ns : 0;
	if (why == TRACE_SWITCH_PREEMPTED)
		*event = run->a->model->preempted;
}

#define STACK_REACH (8u << 20) /* of a thread's stack, where nobody told of its mapping */
#define RED_ZONE 128u

/* The memory that an address is in.  Stacks of threads are anonymous mappings like others: that the stack pointer is in there tells. */
static uint32_t memory_of(const struct run *run, const struct sample *s, uint64_t address)
{
	uint64_t sp = s->has_registers ? s->input.registers.value[UNWIND_RSP] : 0;
	uint32_t i = model_find_memory(s->process, address, s->time_ns);
	const struct memory *m = i ? run->a->model->memory[i] : NULL;

	if (!sp || (m && m->kind != MEMORY_ANONYMOUS) || address < sp - RED_ZONE)
		return i;
	if (m ? address - m->address < m->bytes && sp - m->address < m->bytes : address - (sp - RED_ZONE) < STACK_REACH)
		return MODEL_MEMORY_STACKS;
	return i;
}

/* Before samples of that time are counted. */
static void add_time(struct attribution *a, uint64_t first_ns, uint64_t last_ns)
{
	if (!a->nr_samples || first_ns < a->first_ns)
		a->first_ns = first_ns;
	if (last_ns > a->last_ns)
		a->last_ns = last_ns;
}

static int add_sample(struct run *run, const struct row_facts *f, const struct lookup_cache_place *place)
{
	struct attribution *a = run->a;

	run->told[place ? place->told : 0]++;
	add_time(a, f->time_ns, f->time_ns);
	return rows_add(&run->rows, f, a->nr_samples++);
}

/* Whether the last sample is one of those to print. */
static bool is_shown(const struct run *run)
{
	const struct attribute_options *o = run->options;

	return !o->shows || o->shows(o->rows_context, run->a, &run->rows.table, run->rows.sample_row);
}

/* Of a sample that was not in user code.  Other modes are another machine's kernel. */
static uint32_t kernel_location(struct run *run, uint32_t mode, uint64_t ip)
{
	return mode == SAMPLE_MODE_KERNEL ? locate_kernel(&run->locator, ip) : run->locator.kernel;
}

/* The long way. */
static int on_sample(struct run *run, struct sample_block *b, uint32_t i)
{
	struct sample s;
	struct row_facts f = { 0 };
	const struct code *code = NULL;
	struct lookup_cache_place *place = NULL;
	const struct lookup_cache_thread *who;
	uint32_t location = run->locator.unknown, kernel;
	bool leaves, there;
	int ret;

	s.time_ns = f.time_ns = column(b, SAMPLE_COLUMN_TIME, i);
	who = lookup_cache_thread(run->recent, (uint32_t)column(b, SAMPLE_COLUMN_PID, i),
				  (uint32_t)column(b, SAMPLE_COLUMN_TID, i), s.time_ns);
	if (!who)
		return -ENOMEM;
	s.process = who->process;
	f.mode = (uint32_t)column(b, SAMPLE_COLUMN_MODE, i);
	f.ip = column(b, SAMPLE_COLUMN_IP, i);
	f.address = column(b, SAMPLE_COLUMN_ADDRESS, i);
	f.weight = column(b, SAMPLE_COLUMN_WEIGHT, i);
	f.cpu = (uint32_t)column(b, SAMPLE_COLUMN_CPU, i);
	f.event = b->event;
	leaves = run->switches.nr && f.event == run->a->model->leaving;
	if (leaves)
		take_time_away(run, (uint32_t)column(b, SAMPLE_COLUMN_TID, i), s.time_ns, &f.event, &f.weight);
	f.process = s.process->number;
	f.thread = who->thread;
	memset(&s.input.registers, 0, sizeof(s.input.registers));
	s.has_registers = walk_input(b, i, &s.input);
	s.chain = b->chain_offset ? b->chain + b->chain_offset[i] : NULL;
	s.chain_nr = b->chain_offset ? (uint32_t)(b->chain_offset[i + 1] - b->chain_offset[i]) : 0;
	s.ip = f.mode == SAMPLE_MODE_USER ? f.ip : s.input.registers.value[UNWIND_RIP];
	s.has_registers = s.has_registers && s.ip;
	s.has_tag_word = s.has_registers && b->registers[SAMPLE_TAG_WORD];
	s.tag_word = s.has_tag_word ? b->registers[SAMPLE_TAG_WORD][i] : 0;
	s.tag_value = 0;
	s.tag = NULL;
	if (s.ip) {
		place = lookup_cache_place(run->recent, s.process, s.ip, s.time_ns);
		code = lookup_cache_about(run->recent, place)->code;
		location = lookup_cache_about(run->recent, place)->location;
	}
	begin_deciding(&s);
	if (place && place->ways) {
		s.method = METHOD_IP;
		s.expansion = place->ways;
	} else {
		decide(run, &s, &run->locator.location[location], code, run->options->stack_only);
		if (place)
			remember(run, &s, place);
	}
	kernel = kernel_location(run, f.mode, f.ip);
	s.kernel_nr = 0;
	if (run->options->stacks && f.mode == SAMPLE_MODE_KERNEL)
		s.kernel_chain = sample_block_kernel_chain(b, i, &s.kernel_nr);
	f.stack = run->options->stacks ? stack_of(run, &s, f.mode, kernel) : 0;
	/* the row tells where the sample itself was; threads always leave inside of the kernel: who called it */
	there = f.mode == SAMPLE_MODE_USER || (leaves && s.ip);
	f.location = &run->locator.location[there ? location : kernel];
	f.code = f.mode == SAMPLE_MODE_USER && code ? code->number + 1 : 0;
	if (run->options->addresses && !f.address && place && f.mode == SAMPLE_MODE_USER && s.has_registers)
		f.address = lookup_cache_address(run->recent, place, &s.input.registers);
	if (run->options->addresses && f.address)
		f.memory = memory_of(run, &s, f.address);
	f.phase = lookup_cache_phase(run->recent, s.process, s.time_ns);
	f.method = s.method;
	f.reason = s.reason;
	if (!ways_of(run, &s, &f.ways))
		return -ENOMEM;
	ret = add_sample(run, &f, there ? place : NULL);
	if (run->options->each && ret == 0 && is_shown(run))
		print_sample(run, &s, &f, code);
	return ret;
}

/* The short way, for what has been decided before. */
static bool at_a_glance(struct run *run, struct fast_path *g, struct batch_sums *tally, uint32_t i, int *ret)
{
	const struct lookup_cache_place *place;
	const struct lookup_cache_thread *who;
	struct row_facts f;
	bool user;

	if (!fast_path_take(g, i, &f, &place, &who))
		return false;
	user = f.mode == SAMPLE_MODE_USER;
	f.location = &run->locator.location[run->rows.by_place ? kernel_location(run, f.mode, f.ip) : run->locator.kernel];
	f.code = 0;
	if (user && run->rows.by_place) {
		const struct lookup_cache_about *about = lookup_cache_about(run->recent, place);

		f.location = &run->locator.location[about->location];
		f.code = about->code ? about->code->number + 1 : 0;
	}
	f.phase = lookup_cache_phase(run->recent, who->process, f.time_ns);
	if (tally)
		batch_sums_learn(tally, &f, (uint32_t)(f.location - run->locator.location), place, who, user ? place->told : 0);
	*ret = add_sample(run, &f, user ? place : NULL);
	return true;
}

/* Or NULL: somebody asks for more than sums of it. */
static struct batch_sums *batch_sums_of(struct run *run, uint32_t event)
{
	const uint64_t by = run->options->sums_by;

	if (!by || by >> TABLE_THREAD & 1 || by >> TABLE_CPU & 1 || event >= BATCH_SUMS_MAX)
		return NULL;
	if (!run->tally[event])
		run->tally[event] = batch_sums_create(run->recent, run->rows.by_place,
						 run->rows.by_place && run->a->model->kernel_functions.nr);
	return run->tally[event];
}

static int hand_over(struct run *run, struct batch_sums *tally)
{
	struct attribution *a = run->a;
	struct batch_sums_sum s;
	uint32_t at = 0;
	int ret = 0;

	while (batch_sums_fold(tally, &at, &s)) {
		struct group_sum sum = { (double)s.samples, 0, s.weight, s.weight_squares, s.first_ns, s.last_ns };

		run->told[s.told] += s.is_place ? s.samples : 0;
		if (!s.is_row || ret)
			continue;
		add_time(a, s.first_ns, s.last_ns);
		a->nr_samples += s.samples;
		sum.kernel = s.facts.mode == TABLE_MODE_KERNEL ? sum.samples : 0;
		s.facts.location = &run->locator.location[s.location];
		ret = rows_add_sum(&run->rows, &s.facts, &sum);
	}
	return ret;
}

/* Nothing but where and when a sample was, and its tag, decides about what becomes of it. */
static bool glances_do(const struct run *run, const struct sample_block *b)
{
	const struct attribute_options *o = run->options;
	const struct model *m = run->a->model;

	return !o->each && !o->stacks && !o->addresses && !m->dictionary.has_unlinks &&
	       !(run->switches.nr && b->event == m->leaving);
}

static int block(struct run *run, struct sample_block *b)
{
	struct fast_path g;
	bool glances = glances_do(run, b);
	struct batch_sums *tally = glances ? batch_sums_of(run, b->event) : NULL;
	int ret = weights_scale(&run->weights, run->a->model, b);

	fast_path_begin(&g, run->recent, b);
	if (tally && !batch_sums_begin(tally, &g)) {
		ret = hand_over(run, tally);
		batch_sums_begin(tally, &g);
	}
	for (uint32_t i = 0; ret == 0 && (i = tally ? batch_sums_take(tally, i) : i) < b->nr; i++)
		if (!glances || !at_a_glance(run, &g, tally, i, &ret))
			ret = on_sample(run, b, i);
	return ret;
}

/* Without a stack, the registers that decide are those with tags; and where samples are summed up, nobody asks for all that they say. */
static struct sample_columns unwanted_columns(const struct run *run)
{
	const struct attribute_options *o = run->options;
	struct sample_columns unwanted = { { 0 } };
	uint32_t wanted = 1u << UNWIND_RIP;

	if (o->addresses || o->stacks || o->each)
		return unwanted;
	for (uint32_t i = 0; i < run->a->model->nr_processes; i++) {
		const struct process *p = run->a->model->process[i];

		for (uint32_t n = 0; n < p->nr_tags; n++)
			wanted |= p->tags[n].where < UNWIND_REGISTERS ? 1u << p->tags[n].where : 0;
	}
	unwanted.mask[1] = walk_registers((1u << UNWIND_REGISTERS) - 1) & ~walk_registers(wanted);
	unwanted.mask[0] = 1ull << SAMPLE_COLUMN_DATA_SOURCE | 1ull << SAMPLE_COLUMN_LATENCY;
	if (o->sums_by)
		unwanted.mask[0] |= 1ull << SAMPLE_COLUMN_ADDRESS;
	if (o->sums_by && !(o->sums_by >> TABLE_CPU & 1) && !weights_go_by_cpu(run->a->model))
		unwanted.mask[0] |= 1ull << SAMPLE_COLUMN_CPU;
	return unwanted;
}

static int all_samples(struct run *run, struct trace_reader *t)
{
	const struct sample_columns unwanted = unwanted_columns(run);
	struct sample_stream *s;
	struct sample_block *b;
	int ret = sample_stream_open(t, &unwanted, run->options->threads, &s), got;

	if (ret)
		return ret;
	while (ret == 0 && (got = sample_stream_next(s, &b)) != 0) {
		uint64_t at, total;

		if (got < 0) {
			run->a->bad_blocks++;
			continue;
		}
		if (b->event < run->a->model->nr_events && run->a->model->event[b->event].is_switch)
			continue;
		ret = block(run, b);
		trace_progress(t, &at, &total);
		if (run->options->progress)
			run->options->progress(run->options->progress_context, at, total);
	}
	sample_stream_close(s);
	for (uint32_t i = 0; ret == 0 && i < BATCH_SUMS_MAX; i++)
		ret = run->tally[i] ? hand_over(run, run->tally[i]) : 0;
	return ret ? ret : rows_flush(&run->rows);
}

static void count_told(const struct run *run)
{
	struct attribution *a = run->a;

	for (uint32_t i = 0; i < NR_LOOKUP_CACHE_TOLD; i++)
		if (i & RECENT_JIT) {
			a->jit_samples += run->told[i];
			a->jit_named += i & RECENT_NAMED ? run->told[i] : 0;
			a->jit_lines += i & RECENT_LINE ? run->told[i] : 0;
			a->line0_samples += i & RECENT_LINE0 ? run->told[i] : 0;
		}
}

int attribute(struct trace_reader *t, struct model *m, const struct attribute_options *o, struct attribution **out,
	      struct diag *d)
{
	struct attribution *a = calloc(1, sizeof(*a));
	struct run run = { .a = a, .options = o };
	int ret;

	if (!a)
		return diag_fail(d, ENOMEM, "no memory for samples");
	a->model = m;
	run.recent = lookup_cache_create(m, &run.locator, o->run_mark);
	ret = rows_init(&run.rows, a, o);
	if (ret == 0)
		ret = run.recent ? stacks_init(&a->stacks) : -ENOMEM;
	if (ret == 0)
		ret = locator_init(&run.locator, a);
	if (ret == 0)
		ret = unwinder_create(o->unwinder, &run.unwinder, d);
	if (ret == 0) {
		if (o->each)
			print_header(&run);
		ret = switches_read(t, m, &run.switches);
		if (ret == 0)
			ret = all_samples(&run, t);
		count_told(&run);
		switches_fini(&run.switches);
		unwinder_destroy(run.unwinder);
	}
	locator_fini(&run.locator);
	rows_fini(&run.rows);
	weights_fini(&run.weights);
	for (uint32_t i = 0; i < BATCH_SUMS_MAX; i++)
		batch_sums_destroy(run.tally[i]);
	lookup_cache_destroy(run.recent);
	if (ret) {
		attribution_destroy(a);
		return diag_fail(d, -ret, "no memory for the samples of this trace");
	}
	*out = a;
	return 0;
}

uint64_t attribute_first_ns(struct trace_reader *t)
{
	struct sample_block b = { .unwanted = { { ~(1ull << SAMPLE_COLUMN_TIME), UINT64_MAX } } };
	struct trace_record r;
	uint64_t first = UINT64_MAX;

	trace_rewind(t);
	trace_select(t, 1u << TRACE_CHUNK_SAMPLES);
	while (trace_next(t, &r) == 1)
		if (r.id == TRACE_SAMPLES && sample_block_decode(&r, &b) == 0)
			for (uint32_t i = 0; i < b.nr; i++)
				first = column(&b, SAMPLE_COLUMN_TIME, i) < first ? column(&b, SAMPLE_COLUMN_TIME, i) : first;
	sample_block_fini(&b);
	trace_select(t, ~0u);
	return first == UINT64_MAX ? 0 : first;
}

void attribution_destroy(struct attribution *a)
{
	for (uint32_t i = 0; i < a->nr_functions; i++)
		free(a->function[i].name);
	for (uint32_t i = 0; i < a->nr_lines; i++)
		free(a->line[i].file);
	for (uint32_t i = 0; i < a->nr_images; i++)
		free(a->image[i].path);
	stacks_fini(&a->stacks);
	free(a->function);
	free(a->line);
	free(a->image);
	free(a);
}
