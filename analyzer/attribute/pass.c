/* SPDX-License-Identifier: MIT */
#include "analyzer/attribute/pass.h"

#include "analyzer/attribute/fast_path.h"

#include <errno.h>
#include <string.h>

int pass_init(struct pass *run, struct attribution *a, const struct attribute_options *o, struct trace_reader *t, struct diag *d)
{
	int ret;

	memset(run, 0, sizeof(*run));
	run->a = a;
	run->options = o;
	run->trace = t;
	ret = locator_init(&run->locator, a);
	if (ret == 0)
		ret = rows_init(&run->rows, a, o);
	a->no_demangle = o->no_demangle;
	run->locator.without_lines = o->without_lines;
	run->locator.declarations = o->declarations;
	run->locator.without_names = !run->rows.by_place && !o->stacks && !o->each && !(o->sums_by >> TABLE_REASON & 1) &&
				     !a->model->plan_codes.codes.nr; /* PLAN_CODE records are matched by names of functions */
	if (ret == 0)
		ret = stacks_init(&a->stacks);
	run->world = (struct sample_world){ a->model, &run->locator, NULL, o->unwinder, o->run_mark, o->stack_only };
	run->cache = ret ? NULL : lookup_cache_create(&run->world);
	if (ret == 0 && run->cache)
		ret = switches_read(t, a->model, &run->switches);
	if (ret || !run->cache)
		return diag_fail(d, ENOMEM, "out of memory for samples");
	run->lines = (struct sample_lines){ o->each, &run->rows, o->also_by_stack };
	return unwinder_create(o->unwinder, &run->world.unwinder, d);
}

void pass_fini(struct pass *run)
{
	if (run->world.unwinder)
		unwinder_destroy(run->world.unwinder);
	switches_fini(&run->switches);
	locator_fini(&run->locator);
	rows_fini(&run->rows);
	weights_fini(&run->weights);
	sample_stack_memory_fini(&run->stack);
	for (uint32_t i = 0; i < PASS_SUMS_MAX; i++)
		batch_sums_destroy(run->sums[i]);
	lookup_cache_destroy(run->cache);
}

/* Sets the weight of a sample of a thread that leaves its processor to how long it is then away, in ns, not counting the time after it was
 * woken. If it was preempted, sets the event to model.preempted. Returns how long it waits for a processor after it was woken, in ns. */
static uint64_t read_off_cpu_time(const struct pass *run, uint32_t tid, uint64_t from_ns, uint32_t *event, uint64_t *weight)
{
	const struct absence away = switches_find(&run->switches, tid, from_ns);

	*weight = away.woken_ns - from_ns;
	if (away.why == TRACE_SWITCH_PREEMPTED)
		*event = run->a->model->preempted;
	return away.until_ns - away.woken_ns;
}

#define STACK_REACH (8u << 20) /* size of a thread's stack that is assumed if its mapping is not in the trace */
#define RED_ZONE 128u

/* Returns the index in model.areas of the memory that an address is in, or 0 if that is unknown. The stacks of threads are anonymous
 * mappings like others, so an anonymous mapping with the stack pointer in it is taken for a stack, from the red zone below the stack
 * pointer on. So are STACK_REACH bytes from there on without a known mapping. */
static uint32_t memory_area_of_address(const struct pass *run, const struct sample *s, const struct process *p, uint64_t address)
{
	uint64_t sp = s->has_registers ? s->input.registers.value[UNWIND_RSP] : 0;
	uint32_t i = model_find_memory(p, address, s->time_ns);
	const struct memory *m = i ? run->a->model->areas.at[i] : NULL;

	if (!sp || (m && m->kind != MEMORY_ANONYMOUS) || address < sp - RED_ZONE)
		return i;
	if (m ? address - m->address < m->bytes && sp - m->address < m->bytes : address - (sp - RED_ZONE) < STACK_REACH)
		return MODEL_MEMORY_STACKS;
	return i;
}

/* Extends the sampled time.  Callers do this before they increase nr_samples, because the first sample sets first_ns. */
static void extend_sampled_time(struct attribution *a, uint64_t first_ns, uint64_t last_ns)
{
	if (!a->nr_samples || first_ns < a->first_ns)
		a->first_ns = first_ns;
	if (last_ns > a->last_ns)
		a->last_ns = last_ns;
}

static int add_sample(struct pass *run, const struct row_facts *f, const struct lookup_cache_place *place)
{
	struct attribution *a = run->a;

	run->code_facts[place ? place->code_facts : 0]++;
	extend_sampled_time(a, f->time_ns, f->time_ns);
	return rows_add(&run->rows, f, a->nr_samples++);
}

/* Adds a row for the time in the run queue after a thread was woken.  It has the number of the sample of its leaving, but another event. */
static int add_queued_time(struct pass *run, const struct row_facts *f, uint64_t queued_ns)
{
	struct row_facts queued = *f;

	queued.event = run->a->model->run_queue;
	queued.weight = queued_ns;
	return rows_add(&run->rows, &queued, run->a->nr_samples);
}

/* Checks whether the last sample gets a line in attribute_options.each. */
static bool last_sample_is_shown(const struct pass *run)
{
	const struct attribute_options *o = run->options;

	return !o->shows || o->shows(o->rows_context, run->a, &run->rows.table, run->rows.sample_row);
}

/* -------------------------------------------------------------------------------------------- a sample on its own */

static uint64_t column_value_or_zero(const struct sample_block *b, enum sample_column c, uint32_t i)
{
	return b->column[c] ? b->column[c][i] : 0;
}

/* Reads sample i. If its thread leaves the processor, its event and weight become those of the waiting or preemption, and the time that it
 * then spends in the run queue is returned. Else returns 0. */
static uint64_t read_sample(const struct pass *run, struct sample_block *b, uint32_t i, struct sample *s, struct row_facts *f)
{
	uint64_t queued_ns = 0;

	sample_read(b, i, s);
	*f = (struct row_facts){ .time_ns = s->time_ns,
				 .weight = column_value_or_zero(b, SAMPLE_COLUMN_WEIGHT, i),
				 .ip = s->ip,
				 .address = column_value_or_zero(b, SAMPLE_COLUMN_ADDRESS, i),
				 .cpu = (uint32_t)column_value_or_zero(b, SAMPLE_COLUMN_CPU, i),
				 .event = b->event,
				 .mode = s->mode };
	s->leaves = run->switches.nr && b->event == run->a->model->leaving;
	if (s->leaves)
		queued_ns = read_off_cpu_time(run, s->tid, s->time_ns, &f->event, &f->weight);
	if (run->options->stacks && s->mode == SAMPLE_MODE_KERNEL)
		s->kernel_chain = sample_block_kernel_chain(b, i, &s->kernel_nr);
	return queued_ns;
}

/* Finds method, reason and parent paths: those of the place if it decides, else those of sample_decide_components().  place NULL: the
 * place is unknown.  Returns 0 or -ENOMEM. */
static int decide_method_and_paths(struct pass *run, const struct sample *s, const struct process *p, struct lookup_cache_place *place,
				   const struct sample_place *at, struct row_facts *f)
{
	struct sample_answer answer;
	struct time_range holds = TIME_RANGE_ALL;

	if (place && place->paths) {
		f->method = METHOD_IP;
		f->paths = place->paths;
		return 0;
	}
	sample_decide_components(&run->world, s, p, at, &answer);
	f->method = answer.method;
	f->reason = answer.reason;
	f->caller = answer.caller;
	if (answer.deciding.nr) {
		f->paths = rows_parent_paths(&run->rows, &answer.deciding, s->time_ns, &holds);
		if (!f->paths)
			return -ENOMEM;
	}
	if (place)
		lookup_cache_remember(run->cache, place, p, &answer, f->paths, &holds);
	return 0;
}

#define STEPS_AT_ONCE 1000000u
#define FRAMES_A_STEP 4 /* unwound frames that count as a step, of about 15 ns each */

/* Spends the trace's budget for searches among objects and plan codes, and for frames of call stacks, because a block of samples can need
 * very many of these.  at_once: the steps are summed up until there are so many.  Returns 0 or -E2BIG. */
static int spend_steps(struct pass *run, uint64_t at_once)
{
	struct objects *o = &run->a->model->objects;
	struct plan_codes *p = &run->a->model->plan_codes;
	const uint64_t walked = unwinder_counts(run->world.unwinder).frames;
	const uint64_t steps = o->steps + p->steps + run->frames + (walked - run->walked) / FRAMES_A_STEP;

	if (steps < at_once)
		return 0;
	o->steps = p->steps = run->frames = 0;
	run->walked = walked;
	return trace_spend_budget(run->trace, steps) ? 0 : -E2BIG;
}

/* Attributes sample i, whose answer is in no cache or may depend on the whole sample. Returns as pass_attribute_block() does. */
static int attribute_uncached_sample(struct pass *run, struct sample_block *b, uint32_t i)
{
	const struct attribute_options *o = run->options;
	struct sample_place at = { .location = run->locator.unknown };
	struct lookup_cache_place *place = NULL;
	const struct lookup_cache_thread *who;
	const struct process *p;
	struct sample s;
	struct row_facts f;
	uint64_t queued_ns = read_sample(run, b, i, &s, &f);
	uint32_t location;
	int ret;

	who = lookup_cache_get_thread(run->cache, s.pid, s.tid, s.time_ns);
	if (!who)
		return -ENOMEM;
	p = who->process;
	f.process = p->number;
	f.thread = who->thread;
	if (s.user_ip) {
		const uint64_t address = sample_user_address(p, &s);

		f.ip = s.mode == SAMPLE_MODE_USER ? address : f.ip;
		place = lookup_cache_get_place(run->cache, p, address, s.time_ns);
		at = lookup_cache_at(run->cache, place);
	}
	ret = decide_method_and_paths(run, &s, p, place, &at, &f);
	if (f.method == METHOD_NONE && who->work != REASON_NONE && sample_reason_is_of_host(f.reason) && (s.input.stack_bytes || s.chain))
		f.reason = who->work; /* Without a stack the answer may be kept for the place, so it must not depend on the thread. */
	location = sample_row_location(&run->world, &s, at.location);
	if (o->stacks) {
		f.stack = sample_collect_stack(
			&run->world, &s, p, s.leaves ? sample_kernel_location(&run->world, s.mode, s.ip) : location, &run->stack);
		run->frames += run->a->stacks.node[f.stack].depth + s.kernel_nr;
	}
	f.location = &run->locator.location[location];
	f.code = s.mode == SAMPLE_MODE_USER && at.code ? at.code->number + 1 : 0;
	if (o->addresses && !f.address && place && s.mode == SAMPLE_MODE_USER && s.has_registers)
		f.address = lookup_cache_operand_address(run->cache, place, &s.input.registers);
	if (o->addresses && f.address)
		f.memory = memory_area_of_address(run, &s, p, f.address);
	f.phase = lookup_cache_phase(run->cache, p, s.tid, s.time_ns);
	if (ret == 0)
		ret = spend_steps(run, STEPS_AT_ONCE);
	if (ret == 0 && queued_ns)
		ret = add_queued_time(run, &f, queued_ns);
	if (ret == 0)
		ret = add_sample(run, &f, s.mode == SAMPLE_MODE_USER || s.leaves ? place : NULL);
	if (o->each && ret == 0 && last_sample_is_shown(run))
		sample_lines_add(&run->lines, &run->world, &s, p, &at, &f);
	return ret;
}

/* ------------------------------------------------------------------------------------------------ many samples alike */

/* Adds sample i if the caches know its answer.  Returns false if they do not. */
static bool attribute_known_sample(struct pass *run, struct fast_path *g, struct batch_sums *sums, uint32_t i, int *ret)
{
	const struct lookup_cache_place *place;
	const struct lookup_cache_thread *who;
	struct row_facts f;
	uint32_t location;
	bool user;

	if (!fast_path_find_known(g, i, &f, &place, &who))
		return false;
	user = f.mode == SAMPLE_MODE_USER;
	f.code = 0;
	if (!run->rows.by_place) {
		location = run->locator.kernel; /* no view shows locations, so any will do */
	} else if (user) {
		const struct lookup_cache_about *about = lookup_cache_about(run->cache, place);

		location = about->location;
		f.code = about->code ? about->code->number + 1 : 0;
	} else {
		location = sample_kernel_location(&run->world, f.mode, f.ip); /* may move the array of locations */
	}
	f.location = &run->locator.location[location];
	f.phase = lookup_cache_phase(run->cache, who->process, who->tid, f.time_ns);
	if (sums && batch_sums_learn(sums, i, &f, location, place, who, user ? place->code_facts : 0))
		return true;
	*ret = add_sample(run, &f, user ? place : NULL);
	return true;
}

/* Returns the batch sums of an event. Returns NULL if rows need more than sums, if some marks are of single threads, if event is
 * PASS_SUMS_MAX or more, or if memory ran out. */
static struct batch_sums *batch_sums_of_event(struct pass *run, uint32_t event)
{
	const uint64_t by = run->options->sums_by;

	if (!by || run->a->model->marks.pieces.nr || by >> TABLE_CPU & 1 || event >= PASS_SUMS_MAX)
		return NULL;
	if (!run->sums[event])
		run->sums[event] = batch_sums_create(run->cache, run->rows.by_place, by >> TABLE_THREAD & 1);
	return run->sums[event];
}

static int hand_sums_to_rows(struct pass *run, struct batch_sums *sums)
{
	struct attribution *a = run->a;
	struct batch_sums_sum s;
	uint32_t at = 0;
	int ret = 0;

	while (batch_sums_next_sum(sums, &at, &s)) {
		struct group_sum sum = { (double)s.samples, 0, s.weight, s.weight_squares, s.first_ns, s.last_ns };

		run->code_facts[s.code_facts] += s.is_place ? s.samples : 0;
		if (!s.is_row || ret)
			continue;
		extend_sampled_time(a, s.first_ns, s.last_ns);
		a->nr_samples += s.samples;
		sum.kernel = s.facts.mode == TABLE_MODE_KERNEL ? sum.samples : 0;
		s.facts.location = &run->locator.location[s.location];
		ret = rows_add_sum(&run->rows, &s.facts, &sum);
	}
	return ret;
}

/* Checks that place, time and tag can be all that decides about the rows of the block's samples, so that caches may be asked. */
static bool block_may_be_known(const struct pass *run, const struct sample_block *b)
{
	const struct attribute_options *o = run->options;
	const struct model *m = run->a->model;

	return !o->each && !o->stacks && !o->addresses && !(run->switches.nr && b->event == m->leaving);
}

int pass_attribute_block(struct pass *run, struct sample_block *b)
{
	struct fast_path g;
	bool known = block_may_be_known(run, b);
	struct batch_sums *sums = known ? batch_sums_of_event(run, b->event) : NULL;
	int ret = weights_scale(&run->weights, run->a->model, b);

	fast_path_begin(&g, run->cache, b);
	if (sums && !batch_sums_begin(sums, &g)) {
		ret = hand_sums_to_rows(run, sums);
		batch_sums_begin(sums, &g);
	}
	for (uint32_t i = 0; ret == 0 && (i = sums ? batch_sums_add_known(sums, i) : i) < b->nr; i++) {
		if (!known || !attribute_known_sample(run, &g, sums, i, &ret))
			ret = attribute_uncached_sample(run, b, i);
		if (ret == 0 && sums && batch_sums_moment_over(sums))
			ret = hand_sums_to_rows(run, sums);
	}
	return ret ? ret : spend_steps(run, 0);
}

/* ------------------------------------------------------------------------------------------ threads without a sample */

#define STEPS_UNSAMPLED 16
#define WEIGHT_MAX (UINT64_MAX >> TABLE_NO_SAMPLE_BITS)

#define ROWS_MAX 1000 /* limit of rows of a thread; a count with tid 0 is of all threads of a process, and may be large */

/* Returns the weight of the next row of a thread without a sample. A row weighs a period, as a sample would have, so that the error of
 * shares is estimated as that of samples. If the period is not fixed, or that would be more than ROWS_MAX rows, it weighs a part of
 * ROWS_MAX. left, all: weight that has no row yet, and weight of all rows. */
static uint64_t weight_of_part(const struct model_event *e, uint64_t left, uint64_t all)
{
	uint64_t part = e->period > all / ROWS_MAX ? e->period : all / ROWS_MAX + 1;

	return part < left ? part : left;
}

static int add_unsampled_row(struct pass *run, struct row_facts *f)
{
	double weight = (double)f->weight;
	int ret;

	if (run->rows.table.sum)
		return rows_add_sum(&run->rows, f, &(struct group_sum){ TABLE_NO_SAMPLE_SUM, 0, weight, weight * weight, f->time_ns,
									f->time_ns });
	f->weight = (f->weight < WEIGHT_MAX ? f->weight : WEIGHT_MAX) << TABLE_NO_SAMPLE_BITS;
	ret = rows_add(&run->rows, f, run->a->nr_samples);
	run->rows.table.share[run->rows.sample_row] = TABLE_NO_SAMPLE;
	return ret;
}

/* Adds rows for each thread whose thread_count_unsampled() is not 0, with that weight, and with the function "[threads shorter than a
 * period]". Returns 0, -ENOMEM, -E2BIG, or the error of options->rows(). */
static int add_unsampled_threads(struct pass *run)
{
	const struct model *m = run->a->model;
	uint32_t location = 0;

	for (uint32_t i = 0; i < m->thread_counts.threads.nr; i++) {
		const struct thread_count *t = &m->thread_counts.threads.at[i];
		struct row_facts f = { .time_ns = t->time_ns, .event = t->event, .reason = REASON_UNSAMPLED };
		uint64_t all = thread_count_unsampled(m, i), left = all;
		const struct lookup_cache_thread *who;
		int ret = 0;

		if (!all)
			continue;
		if (!trace_spend_budget(run->trace, STEPS_UNSAMPLED))
			return -E2BIG;
		who = lookup_cache_get_thread(run->cache, t->pid, t->tid, t->time_ns);
		location = location ? location : locate_name_only(&run->locator, "[threads shorter than a period]");
		if (!who)
			return -ENOMEM;
		f.process = who->process->number;
		f.thread = who->thread;
		f.phase = lookup_cache_phase(run->cache, who->process, t->tid, t->time_ns);
		f.location = &run->locator.location[location];
		if (run->options->stacks)
			f.stack = sample_stack_of_location(run->a, f.location);
		extend_sampled_time(run->a, t->time_ns, t->time_ns);
		for (; ret == 0 && left; left -= left < f.weight ? left : f.weight) {
			struct row_facts part = f;

			part.weight = f.weight = weight_of_part(&m->event[t->event], left, all);
			ret = add_unsampled_row(run, &part);
		}
		if (ret)
			return ret;
	}
	return 0;
}

static void count_code_facts(const struct pass *run)
{
	struct attribution *a = run->a;

	for (uint32_t i = 0; i < NR_LOOKUP_CACHE_CODE_FACTS; i++)
		if (i & LOOKUP_CACHE_JIT) {
			a->jit_samples += run->code_facts[i];
			a->jit_named += i & LOOKUP_CACHE_NAMED ? run->code_facts[i] : 0;
			a->jit_lines += i & LOOKUP_CACHE_LINE ? run->code_facts[i] : 0;
			a->line0_samples += i & LOOKUP_CACHE_LINE0 ? run->code_facts[i] : 0;
		}
}

int pass_end(struct pass *run)
{
	int ret = 0;

	for (uint32_t i = 0; ret == 0 && i < PASS_SUMS_MAX; i++)
		ret = run->sums[i] ? hand_sums_to_rows(run, run->sums[i]) : 0;
	count_code_facts(run);
	ret = ret ? ret : add_unsampled_threads(run);
	return ret ? ret : rows_flush(&run->rows);
}
