/* SPDX-License-Identifier: MIT */
#include "analyzer/attribute/batch_sums.h"

#include "analyzer/attribute/walk.h"
#include "jitreg/base/large_pages.h"

#include <string.h>

#define PLACES 32768u  /* a power of two, as TAGS is */
#define TAGS 16384u
#define THREADS 256u
#define AHEAD 32u /* number of samples whose keys are computed, and whose entries are prefetched, before they are counted */
#define TABLE_WORTH 2u /* samples per instruction of a block from which sum_known_by_ip_table() is faster than sum_known_samples() */
#define MODES 2u /* user and kernel */
#define NR_ENTRIES (PLACES + MODES * TAGS)
#define BY_TAG_BIT 46 /* bit in the scope of a kernel row (kernel_scope()), between the location below and the owner above */
#define OUTSIDE_MAX 64u /* more samples than this at until_ns or later end the moment, because fewer may only be out of order */
#define SAMPLES_MAX (1u << 31)

/* A place's key holds the address in user space, the owner (number of the thread if rows differ by thread, else of its process), whether
 * there are registers, and the mode. */
#define ADDRESS_BITS 47
#define OWNER_BITS 15
#define REGISTERS_BIT (ADDRESS_BITS + OWNER_BITS)
#define MODE_BIT 63
_Static_assert(REGISTERS_BIT + 1 == MODE_BIT, "a key has 64 bits");

struct sum_entry {
	uint64_t key; /* a place's key, a tag's value, or what decided (decision_key_of()) for rows by kernel function */
	/* earliest time of a sample that was learnt; samples before it are not counted here, because another answer may hold for them */
	uint64_t first_ns;
	union {
		uint64_t last_ns;
		uint64_t decided; /* if by_place, in entries of places of kernel samples: decision_key_of(); 0: the tag's value decides */
	};
	/* 2 * the moment's number, + 1 in entries that are not of a place, or if samples of this place have the sum of their row in another
	 * entry; other numbers: free */
	uint32_t moment;
	uint32_t samples;
	double weight, weight_squares; /* sums; unused if one_weight */
	uint64_t scope; /* in entries of a tag's value or a decision: what else the row differs by, from a place's key or kernel_scope() */
	uint64_t unused;
};
_Static_assert(sizeof(struct sum_entry) == 64, "an entry is to fill a line of the cache");

/* Keeps, for the samples of one thread, the owner's part of their keys (owner_key()), so that it is not looked up for each sample.  It
 * holds only in the moment in which it was stored. */
struct who {
	uint64_t id; /* pack_pid_tid() */
	uint64_t owner;
	uint32_t moment;
};

/* These data of an entry are read only when sums are handed over to the rows. */
struct about {
	uint32_t entry;
	uint32_t location;
	unsigned code_facts;
	struct row_facts facts;
};

/* prefetch_sample_places() stores a sample's key here, and the first of the two entries that its place can be in. */
struct ahead {
	uint64_t key;
	struct sum_entry *place;
};

struct batch_sums {
	/* entries of places (a key may have either of two neighbours), then, for each mode, of tags' values and of decisions */
	struct sum_entry entry[NR_ENTRIES];
	struct who who[THREADS];
	struct about about[NR_ENTRIES]; /* data of the entries in use, in the order of their first samples */
	struct lookup_cache *cache;
	bool by_thread;
	bool by_place; /* rows differ by code, so samples of the kernel have a row for each kernel function and what decided */
	uint64_t scope; /* bits of a place's key by which rows of one tag's value differ; 0: none */
	uint32_t nr_used;
	/* number of the current moment, in which, up to until_ns, nothing changes that decides about samples of the entries */
	uint32_t moment;
	bool under_way;
	bool has_alone; /* some entries are of ANSWER_OF_PLACE_ALONE, so they are not valid for blocks with stacks or chains */
	uint64_t until_ns, samples;
	uint32_t outside;
	const struct process *tag_process; /* process of the tag in force */
	const struct tag *tag;		   /* the tag in force */
	bool one_weight; /* all samples have the same weight */
	uint64_t weight;
	/* The current block. */
	const struct fast_path *g;
	struct ahead ahead[AHEAD]; /* samples [ahead_from, ahead_to) */
	uint32_t ahead_from, ahead_to;
	/* For a block with a table of instructions: the entry of each instruction in this moment. It is used only if all samples of the
	 * block have one PID. */
	uint32_t of_ip[SAMPLE_NR_MAX]; /* from find_user_ip_entry() and find_kernel_ip_entry(); 0: not asked for yet */
	uint32_t of_ip_moment;
	bool has_table; /* sum_known_by_ip_table() may be used: TABLE_WORTH says so, and rows do not differ by thread */
	uint64_t zeros[SAMPLE_NR_MAX]; /* in place of an absent column */
};

struct batch_sums *batch_sums_create(struct lookup_cache *r, bool by_place, bool by_thread)
{
	struct batch_sums *t = large_pages_map(sizeof(*t));

	if (!t)
		return NULL;
	t->cache = r;
	t->by_thread = by_thread;
	t->by_place = by_place;
	t->scope = by_place ? UINT64_MAX : by_thread ? UINT64_MAX << ADDRESS_BITS : 0;
	t->moment = 1;
	t->one_weight = true;
	return t;
}

void batch_sums_destroy(struct batch_sums *t)
{
	large_pages_unmap(t, sizeof(*t));
}

bool batch_sums_moment_over(const struct batch_sums *t)
{
	return t->outside > OUTSIDE_MAX;
}

bool batch_sums_begin(struct batch_sums *t, const struct fast_path *g)
{
	bool one = !g->weight.mask && t->one_weight && (!t->nr_used || g->weight.value[0] == t->weight);

	if (t->nr_used && (one != t->one_weight || t->samples >= SAMPLES_MAX || batch_sums_moment_over(t) || (t->has_alone && g->walks)))
		return false;
	t->one_weight = one;
	t->weight = g->weight.value[0];
	t->g = g;
	t->ahead_from = t->ahead_to = 0;
	t->of_ip_moment = 0;
	t->has_table = g->block->nr_ips && !t->by_thread && g->block->nr_ips < g->block->nr / TABLE_WORTH;
	return true;
}

static uint64_t owner_key(uint32_t owner)
{
	return (uint64_t)owner << ADDRESS_BITS;
}

static uint64_t place_key_of(uint64_t address, uint64_t owner, uint64_t has_registers, uint64_t mode)
{
	return address | owner | has_registers << REGISTERS_BIT | mode << MODE_BIT;
}

static uint64_t pack_pid_tid(uint64_t pid, uint64_t tid)
{
	return (uint32_t)pid | tid << 32;
}

static struct who *thread_slot_of(struct batch_sums *t, uint64_t id)
{
	return &t->who[(uint32_t)(id >> 32 ^ id << 3) % THREADS];
}

static uint32_t place_index_of_key(uint64_t key)
{
	return lookup_cache_hash(key, PLACES / 2) * 2;
}

/* Returns a number for what decides at a place without a tag (parent paths, method and reason).  It is never 0. */
static uint64_t decision_key_of(const struct row_facts *f)
{
	return (uint64_t)f->paths << 8 | (uint64_t)f->method << 4 | (uint64_t)f->reason;
}

/* Returns the scope of a kernel row: what rows of one tag's value, or of one decision, differ by.  That is the owner, the kernel
 * function's location, and which of the two the value is (by_tag). */
static uint64_t kernel_scope(uint64_t key, bool by_tag, uint32_t location)
{
	return (key & ((1ull << OWNER_BITS) - 1) << ADDRESS_BITS) | (uint64_t)by_tag << BY_TAG_BIT | location;
}

static uint32_t tag_entry_index(uint64_t value, uint64_t scope, uint64_t mode)
{
	return PLACES + (uint32_t)mode * TAGS + lookup_cache_hash(value ^ scope * 0x9e3779b97f4a7c15ull, TAGS);
}

static inline void add_sample_to_sum(struct sum_entry *row, uint64_t time_ns, bool one_weight, double weight)
{
	row->samples++;
	row->last_ns = time_ns > row->last_ns ? time_ns : row->last_ns;
	if (one_weight)
		return;
	row->weight += weight;
	row->weight_squares += weight * weight;
}

/* Returns is_b ? b : a without a jump, because samples come in an order that the processor cannot predict. */
static uint64_t select_without_branch(uint64_t a, uint64_t b, bool is_b)
{
	return a ^ ((a ^ b) & -(uint64_t)is_b);
}

static const uint64_t *column_or_zeros(const struct batch_sums *t, const uint64_t *column)
{
	return column ? column : t->zeros;
}

/* Computes the keys of at most AHEAD samples from i on, up to the first that has none, and prefetches the entries of their places. */
static inline __attribute__((always_inline)) void prefetch_sample_places(struct batch_sums *t, uint32_t i, bool uniform)
{
	const struct fast_path *g = t->g;
	const uint64_t *ip = g->ip.value, first_pid = g->pid.value[0];
	const uint32_t moment = 2 * t->moment + 1;
	struct ahead *to = t->ahead;

	t->ahead_from = i;
	for (; i < t->ahead_from + AHEAD && i < g->block->nr; i++, to++) {
		const uint64_t mode = fast_path_at(g->mode, i), address = select_without_branch(ip[i], fast_path_at(g->rip, i), mode);
		const uint64_t id = pack_pid_tid(uniform ? first_pid : fast_path_at(g->pid, i), fast_path_at(g->tid, i));
		const struct who *who = thread_slot_of(t, id);
		const bool has_registers = uniform || fast_path_at(g->abi, i) == WALK_ABI_64;
		const uint64_t key = place_key_of(address, who->owner, has_registers, mode);

		if (who->id != id || who->moment != moment || mode > has_registers || address >> ADDRESS_BITS)
			break;
		*to = (struct ahead){ key, &t->entry[place_index_of_key(key)] };
		__builtin_prefetch(to->place, 1);
	}
	t->ahead_to = i;
}

/* Counts samples from i on, up to the first that is not known.  Returns its number.  uniform: all samples of the block have the same PID,
 * have registers, and have the tag in force.  scoped: t->scope is not 0.  The three flags are constants in each caller, so that the
 * compiler makes a loop for each. */
static inline __attribute__((always_inline)) uint32_t
sum_known_samples(struct batch_sums *t, uint32_t i, bool uniform, bool scoped, bool by_place)
{
	const struct fast_path *g = t->g;
	const struct fast_path_column tag = t->tag && g->tag == t->tag ? g->tag_column : (struct fast_path_column){ NULL, 0 };
	const uint64_t until_ns = t->until_ns, *time = g->time.value, *tags = tag.value ? tag.value : time;
	const uint32_t begun_at = i, moment = 2 * t->moment + 1, nr = t->under_way ? g->block->nr : i;
	const bool has_tag = uniform || tag.value, one_weight = t->one_weight;
	const struct fast_path_column weight = g->weight;
	const uint64_t scope = scoped ? t->scope : 0;

	while (i < nr) {
		if (i >= t->ahead_to)
			prefetch_sample_places(t, i, uniform);
		for (; i < t->ahead_to; i++) {
			const struct ahead *ahead = &t->ahead[i - t->ahead_from];
			const uint64_t time_ns = time[i], key = ahead->key;
			uint64_t value = tags[i & tag.mask], row_scope = key & scope;
			struct sum_entry *place = ahead->place, *row;
			bool by_tag, elsewhere;

			place += place->key != key;
			by_tag = elsewhere = place->moment & 1;
			if (by_place && key >> MODE_BIT) {
				const uint32_t location = locate_kernel_known(t->cache->world->locator, g->ip.value[i]);

				by_tag = !place->decided;
				value = by_tag ? value : place->decided;
				row_scope = kernel_scope(key, by_tag, location);
				if (!location)
					goto out;
			}
			row = &t->entry[select_without_branch(
				(uint64_t)(place - t->entry), tag_entry_index(value, row_scope, key >> MODE_BIT), elsewhere)];
			if (time_ns >= until_ns || place->key != key || (place->moment | 1) != moment || time_ns < place->first_ns ||
			    by_tag > has_tag || row->key != select_without_branch(key, value, elsewhere) || (row->moment | 1) != moment ||
			    time_ns < row->first_ns)
				goto out;
			if (scoped && elsewhere && row->scope != row_scope)
				goto out;
			place->samples += elsewhere;
			add_sample_to_sum(row, time_ns, one_weight, (double)fast_path_at(weight, i));
		}
		if (i < t->ahead_from + AHEAD)
			break;
	}
out:
	t->samples += i - begun_at;
	return i;
}

#define OF_USER 1u /* bit in of_ip: the entry's index << 2 is above it; without it the number is a kernel location << 1 */
#define OF_ELSEWHERE 2u

/* Sets of_ip of an instruction in user space and returns it.  Returns 0 if its place has no entry in this moment. */
static __attribute__((noinline)) uint32_t find_user_ip_entry(struct batch_sums *t, uint32_t ip, uint64_t owner)
{
	const uint64_t address = t->g->block->ips[ip], key = place_key_of(address, owner, true, SAMPLE_MODE_USER);
	struct sum_entry *place = &t->entry[place_index_of_key(key)];

	place += place->key != key;
	if (address >> ADDRESS_BITS || place->key != key || place->moment / 2 != t->moment)
		return 0;
	return t->of_ip[ip] = (uint32_t)(place - t->entry) << 2 | OF_USER | (place->moment & 1 ? OF_ELSEWHERE : 0);
}

/* Sets of_ip of an instruction in the kernel and returns it.  Returns 0 if the locator's cache does not have its function. */
static __attribute__((noinline)) uint32_t find_kernel_ip_entry(struct batch_sums *t, uint32_t ip)
{
	const uint32_t location = locate_kernel_known(t->cache->world->locator, t->g->block->ips[ip]);

	return location <= INT32_MAX ? t->of_ip[ip] = location << 1 : 0;
}

static bool entry_is_row_of_key(const struct sum_entry *row, uint64_t key, uint32_t moment, uint64_t time_ns)
{
	return row->key == key && (row->moment | 1) == moment && time_ns >= row->first_ns;
}

/* Does the same as sum_known_samples() for samples of one process that all have registers and a tag.  The entry of each instruction of the
 * block's table is looked up once. */
static inline __attribute__((always_inline)) uint32_t sum_known_by_ip_table(struct batch_sums *t, uint32_t i, bool by_place)
{
	const struct sample_block *b = t->g->block;
	const uint64_t *tids = column_or_zeros(t, b->column[SAMPLE_COLUMN_TID]), *modes = column_or_zeros(t, b->column[SAMPLE_COLUMN_MODE]);
	const uint64_t *rip = column_or_zeros(t, b->registers[walk_perf_register(UNWIND_RIP)]);
	const uint64_t *weights = column_or_zeros(t, b->column[SAMPLE_COLUMN_WEIGHT]), *tags = t->g->tag_column.value;
	const uint64_t until_ns = t->until_ns, *time = t->g->time.value, pid = t->g->pid.value[0];
	const uint32_t begun_at = i, moment = 2 * t->moment + 1, nr = t->under_way ? b->nr : i;
	const uint16_t *ips = b->ip_index;
	const bool one_weight = t->one_weight;
	uint64_t owner = 0, tid = i < nr ? ~tids[i] : 0; /* tid differs from the first sample's, so that its thread is looked up */

	for (; i < nr; i++) {
		const uint64_t time_ns = time[i];
		struct sum_entry *place, *row;

		if (tids[i] != tid) {
			const struct who *who = thread_slot_of(t, pack_pid_tid(pid, tids[i]));

			if (who->id != pack_pid_tid(pid, tids[i]) || who->moment != moment)
				break;
			tid = tids[i];
			owner = who->owner;
			if (t->of_ip_moment != moment)
				memset(t->of_ip, 0, b->nr_ips * sizeof(t->of_ip[0]));
			t->of_ip_moment = moment;
		}
		if (time_ns >= until_ns || (int64_t)weights[i] < 0)
			break;
		if (modes[i] == SAMPLE_MODE_USER) {
			uint32_t known = t->of_ip[ips[i]];

			if (!(known & OF_USER) && !(known = find_user_ip_entry(t, ips[i], owner)))
				break;
			row = place = &t->entry[known >> 2];
			if (time_ns < place->first_ns)
				break;
			if (known & OF_ELSEWHERE) {
				const uint64_t scope = by_place ? place->key : 0;

				row = &t->entry[tag_entry_index(tags[i], scope, SAMPLE_MODE_USER)];
				if (!entry_is_row_of_key(row, tags[i], moment, time_ns) || (by_place && row->scope != scope))
					break;
				place->samples++;
			}
		} else {
			const uint64_t key = place_key_of(rip[i], owner, true, SAMPLE_MODE_KERNEL);

			row = place = &t->entry[place_index_of_key(key)];
			row = place += place->key != key;
			if (modes[i] != SAMPLE_MODE_KERNEL || rip[i] >> ADDRESS_BITS || !entry_is_row_of_key(place, key, moment, time_ns))
				break;
			if (by_place || place->moment & 1) {
				const bool by_tag = !by_place || !place->decided;
				const uint64_t value = by_tag ? tags[i] : place->decided;
				uint32_t location = by_place ? t->of_ip[ips[i]] : 0;
				uint64_t scope;

				if (by_place && (!location || location & OF_USER) && !(location = find_kernel_ip_entry(t, ips[i])))
					break;
				scope = by_place ? kernel_scope(key, by_tag, location >> 1) : 0;
				row = &t->entry[tag_entry_index(value, scope, SAMPLE_MODE_KERNEL)];
				if (!entry_is_row_of_key(row, value, moment, time_ns) || (by_place && row->scope != scope))
					break;
				place->samples++;
			}
		}
		add_sample_to_sum(row, time_ns, one_weight, (double)(int64_t)weights[i]);
	}
	t->samples += i - begun_at;
	return i;
}

static inline __attribute__((always_inline)) uint32_t sum_known_by_scope(struct batch_sums *t, uint32_t i, bool uniform)
{
	if (t->by_place)
		return sum_known_samples(t, i, uniform, true, true);
	return t->scope ? sum_known_samples(t, i, uniform, true, false) : sum_known_samples(t, i, uniform, false, false);
}

uint32_t batch_sums_add_known(struct batch_sums *t, uint32_t i)
{
	const struct fast_path *g = t->g;

	if (!g->time.mask || !g->ip.mask) /* the block has one time or instruction for all samples, or none, and the loops expect columns */
		return i;
	if (!g->pid.mask && !g->abi.mask && g->abi.value[0] == WALK_ABI_64 && t->tag && g->tag == t->tag)
		return !t->has_table ? sum_known_by_scope(t, i, true) :
		       t->by_place   ? sum_known_by_ip_table(t, i, true) :
				       sum_known_by_ip_table(t, i, false);
	return sum_known_by_scope(t, i, false);
}

/* Finds the sample's entry among the `ways` entries that begin at index `at`, or takes a free one of these. by_tag: another entry
 * has the row's sums, to which this one leads. Returns NULL if all are taken. */
static struct sum_entry *put_sum_entry(struct batch_sums *t, uint32_t at, unsigned ways, uint64_t key, const struct about *sample,
				       bool by_tag)
{
	struct sum_entry *e = &t->entry[at], *found = NULL;

	for (unsigned n = 0; n < ways; n++)
		if (e[n].key == key)
			found = &e[n];
	for (unsigned n = 0; n < ways && !found; n++)
		if (e[n].moment / 2 != t->moment)
			found = &e[n];
	if (!found)
		return NULL;
	if (found->key != key || found->moment / 2 != t->moment) {
		*found = (struct sum_entry){ .key = key, .first_ns = UINT64_MAX, .moment = 2 * t->moment + by_tag };
		t->about[t->nr_used] = *sample;
		t->about[t->nr_used++].entry = (uint32_t)(found - t->entry);
	}
	found->first_ns = sample->facts.time_ns < found->first_ns ? sample->facts.time_ns : found->first_ns;
	return found;
}

static struct sum_entry *put_tag_entry(struct batch_sums *t, uint64_t value, uint64_t scope, const struct about *sample)
{
	const uint32_t at = tag_entry_index(value, scope, sample->facts.mode);
	struct sum_entry *e;

	if (t->entry[at].moment / 2 == t->moment && t->entry[at].scope != scope)
		return NULL;
	e = put_sum_entry(t, at, 1, value, sample, true);
	if (e)
		e->scope = scope;
	return e;
}

/* Begins a moment without entries, which ends when the phase or the tag in force of this sample's process does. */
static void begin_unchanged_moment(struct batch_sums *t, const struct process *process, uint64_t time_ns)
{
	struct lookup_cache *r = t->cache;
	const struct tag *tag = lookup_cache_tag_in_force(r, process, time_ns);

	lookup_cache_phase(r, process, 0, time_ns);
	t->until_ns = r->phase_until_ns < r->tag_until_ns ? r->phase_until_ns : r->tag_until_ns;
	t->tag_process = process;
	t->tag = tag;
	t->under_way = true;
}

bool batch_sums_learn(struct batch_sums *t, uint32_t i, const struct row_facts *f, uint32_t location,
		      const struct lookup_cache_place *place, const struct lookup_cache_thread *who, unsigned code_facts)
{
	const struct process *process = who->process;
	const uint32_t owner = t->by_thread ? who->thread : process->number;
	const bool by_tag = f->method == METHOD_TAG;
	const bool of_kernel = t->by_place && f->mode == SAMPLE_MODE_KERNEL;
	const struct about sample = { .location = location, .code_facts = code_facts, .facts = *f };
	struct lookup_cache *r = t->cache;
	struct sum_entry *at, *row;
	uint64_t key;

	if (!t->under_way)
		begin_unchanged_moment(t, process, f->time_ns);
	t->outside += f->time_ns >= t->until_ns;
	lookup_cache_phase(r, process, who->tid, f->time_ns);
	if (f->time_ns >= t->until_ns || who->until_ns < t->until_ns || place->until_ns < t->until_ns || r->phase_until_ns < t->until_ns ||
	    f->mode >= MODES || place->address >> ADDRESS_BITS || owner >> OWNER_BITS)
		return false;
	if (by_tag && (process != t->tag_process || t->g->tag != t->tag || t->g->tag_until_ns < t->until_ns))
		return false;
	*thread_slot_of(t, pack_pid_tid(who->pid, who->tid)) =
		(struct who){ pack_pid_tid(who->pid, who->tid), owner_key(owner), 2 * t->moment + 1 };
	key = place_key_of(place->address, owner_key(owner), fast_path_at(t->g->abi, i) == WALK_ABI_64, f->mode);
	row = at = put_sum_entry(t, place_index_of_key(key), 2, key, &sample, by_tag || of_kernel);
	t->has_alone |= f->method == METHOD_NONE;
	if (at && of_kernel) {
		at->decided = by_tag ? 0 : decision_key_of(f);
		row = put_tag_entry(t, by_tag ? t->g->tag_value : at->decided, kernel_scope(key, by_tag, location), &sample);
	} else if (by_tag) {
		row = put_tag_entry(t, t->g->tag_value, key & t->scope, &sample);
	}
	if (!at || !row)
		return false;
	at->samples += at != row;
	add_sample_to_sum(row, f->time_ns, t->one_weight, (double)f->weight);
	t->samples++;
	return true;
}

bool batch_sums_next_sum(struct batch_sums *t, uint32_t *at, struct batch_sums_sum *out)
{
	while (*at < t->nr_used) {
		const struct about *about = &t->about[(*at)++];
		const uint32_t n = about->entry;
		const struct sum_entry *e = &t->entry[n];
		double samples = e->samples, weight = (double)t->weight;

		if (!e->samples)
			continue;
		*out = (struct batch_sums_sum){ .facts = about->facts, .location = about->location, .is_place = n < PLACES,
					   .is_row = n >= PLACES || !(e->moment & 1), .code_facts = about->code_facts,
					   .samples = e->samples,
					   .first_ns = e->first_ns, .last_ns = e->last_ns,
					   .weight = t->one_weight ? samples * weight : e->weight,
					   .weight_squares = t->one_weight ? samples * weight * weight : e->weight_squares };
		return true;
	}
	t->nr_used = 0;
	t->samples = 0;
	t->outside = 0;
	t->ahead_from = t->ahead_to = 0;
	t->under_way = t->has_alone = false;
	t->moment++;
	return false;
}
