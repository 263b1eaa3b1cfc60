/* SPDX-License-Identifier: MIT */
/* Checks the names, code maps and line tables of generated code, its overlaps with other code, its bytes, and its moves and unloads. */
#include "analyzer/check/internal.h"

#include "analyzer/query/code_bytes.h"
#include "jitreg/base/sorted.h"

#include <errno.h>
#include <stdlib.h>

#define CODE_LONG 4u /* bytes; in a code object of at least so many, equal bytes cannot be code */

static const char *name_of_code(const struct code *k)
{
	return k->name ? k->name : "";
}

static void check_code_map_entries(struct check *c, const struct code *k)
{
	bool inside = true, known = true;
	char name[CHECK_NAME];
	uint64_t outside = 0;
	uint32_t unknown = 0;

	for (size_t i = 0; i < k->nr_entries; i++) {
		const struct code_entry *e = &k->entries[i];

		/* an entry without a component ends the one before it, so it may be at the end itself */
		if (inside && (e->offset > k->bytes || (e->offset == k->bytes && e->component))) {
			inside = false;
			outside = e->offset;
		}
		if (known && e->component && !c->known[e->component]) {
			known = false;
			unknown = e->component;
		}
	}
	if (!inside)
		FOUND(c, FINDING_CODE_MAP_OUTSIDE, 0, "offset %#llx of code '%.50s' at %#llx, which has %#llx bytes",
		      (unsigned long long)outside, name_of_code(k), (unsigned long long)k->address, (unsigned long long)k->bytes);
	if (!known && c->complete)
		FOUND(c, FINDING_CODE_MAP_COMPONENT, 0, "%s, in code '%.40s' at %#llx", check_component_name(c, unknown, name),
		      name_of_code(k), (unsigned long long)k->address);
}

static void check_code_lines(struct check *c, const struct code *k)
{
	for (size_t i = 0; i < k->nr_lines; i++)
		if (k->lines[i].offset > k->bytes) {
			FOUND(c, FINDING_LINES_OUTSIDE, 0, "address %#llx of code '%.50s' at %#llx",
			      (unsigned long long)(k->address + k->lines[i].offset), name_of_code(k), (unsigned long long)k->address);
			return;
		}
}

#define PAGE 4096u

/* Return whether there was code at the beginning of an unload, or whether any code ever began in its range. An unload without a time counts
 * as announced. Whole pages may have been unloaded by the agent, which reports munmap(2), so any code in them suffices. */
static bool unload_was_announced(const uint64_t *starts, uint32_t nr, const struct code_fact *unload)
{
	const struct process *p = unload->owner;
	uint32_t up_to;

	if (!unload->from_ns || model_ask_code(p, unload->start, unload->from_ns - 1).fact)
		return true;
	if (unload->start % PAGE == 0 && unload->end % PAGE == 0 && model_ask_any_code(p, unload->start, unload->from_ns - 1).fact)
		return true;
	up_to = SORTED_COUNT(nr, i, starts[i] < unload->start);
	return up_to < nr && starts[up_to] < unload->end;
}

/* Check unloads against the beginnings of code of all processes together. If another process has code at the address, a mistake may be
 * missed, which is better than to report one that is none. Return 0 or -ENOMEM. */
static int check_unloads(struct check *c)
{
	const struct model *m = c->m;
	uint64_t *starts = malloc(((size_t)m->codes.nr + 1) * sizeof(*starts));
	uint32_t nr = 0;

	if (!starts)
		return -ENOMEM;
	for (uint32_t i = 0; i < m->codes.nr; i++)
		starts[nr++] = m->codes.at[i]->kind == CODE_LOAD ? m->codes.at[i]->address : m->codes.at[i]->map_start;
	qsort(starts, nr, sizeof(*starts), sorted_by_number);
	for (uint32_t i = 0; c->complete && i < m->codes.odd_unloads.nr; i++) {
		const struct code_fact *u = &m->codes.odd_unloads.at[i];
		const struct process *p = u->owner;

		if (check_has_host_data(p) && check_saw_process_start(p) && !unload_was_announced(starts, nr, u))
			FOUND(c, FINDING_UNLOAD_UNKNOWN, 0, "%#llx, process %u", (unsigned long long)u->start, p->pid);
	}
	free(starts);
	return 0;
}

/* Report the faults in code records that the model noted when it read them. */
static void check_code_faults(struct check *c)
{
	const struct fault *f = c->m->fault;
	const struct fault *k = &f[FAULT_LOAD_EMPTY];

	if (k->count && check_has_host_data(c->m->numbered.at[k->process]) && check_count_finding(c, FINDING_LOAD_EMPTY, k->count, 0))
		check_set_example(c, FINDING_LOAD_EMPTY, "code '%.60s' at %#llx, of %#llx bytes", k->text ? k->text : "",
				  (unsigned long long)k->value[0], (unsigned long long)k->value[1]);
	k = &f[FAULT_CODE_MAP_UNSORTED];
	if (k->count && check_count_finding(c, FINDING_CODE_MAP_UNSORTED, k->count, 0))
		check_set_example(c, FINDING_CODE_MAP_UNSORTED, "of %#llx, process %u", (unsigned long long)k->value[0],
				  check_pid(c, k->process));
	if (!c->complete)
		return;
	k = &f[FAULT_MOVE_UNKNOWN];
	if (k->count && check_has_host_data(c->m->numbered.at[k->process]) && check_saw_process_start(c->m->numbered.at[k->process]) &&
	    check_count_finding(c, FINDING_MOVE_UNKNOWN, k->count, 0))
		check_set_example(c, FINDING_MOVE_UNKNOWN, "from %#llx to %#llx, process %u", (unsigned long long)k->value[0],
				  (unsigned long long)k->value[1], check_pid(c, k->process));
	k = &f[FAULT_CODE_MAP_UNKNOWN];
	if (check_count_finding(c, FINDING_CODE_MAP_UNKNOWN, k->count, 0))
		check_set_example(c, FINDING_CODE_MAP_UNKNOWN, "%#llx, process %u", (unsigned long long)k->value[0],
				  check_pid(c, k->process));
	k = &f[FAULT_LINES_UNKNOWN];
	if (k->count && check_has_host_data(c->m->numbered.at[k->process]) && check_count_finding(c, FINDING_LINES_UNKNOWN, k->count, 0))
		check_set_example(c, FINDING_LINES_UNKNOWN, "%#llx, process %u", (unsigned long long)k->value[0], check_pid(c, k->process));
}

int check_code(struct check *c)
{
	for (uint32_t i = 0; i < c->m->codes.nr; i++) {
		const struct code *k = c->m->codes.at[i];

		if (k->kind != CODE_LOAD || !check_has_host_data(c->m->numbered.at[k->process]))
			continue;
		if (!check_is_utf8(k->name))
			FOUND(c, FINDING_CODE_NAME, 0, "code at %#llx, process %u", (unsigned long long)k->address,
			      check_pid(c, k->process));
		check_code_map_entries(c, k);
		check_code_lines(c, k);
	}
	check_code_faults(c);
	return check_unloads(c);
}

/* --------------------------------------------------------------------------------------------------- what takes longer */

/* Return code at an address and a time that reaches out of [start, end) and does not begin at start. Return NULL if there is none. */
static const struct code *find_code_reaching_out(const struct process *p, uint64_t at, uint64_t time_ns, uint64_t start, uint64_t end)
{
	const struct code_fact *f = code_map_ask(&p->code, at, time_ns).fact;
	const struct code *k = f ? f->owner : NULL;

	return k && k->kind == CODE_LOAD && f->start != start && (f->start < start || f->end > end) ? k : NULL;
}

void check_code_overlaps(struct check *c)
{
	for (uint32_t i = 0; i < c->m->codes.nr; i++) {
		const struct code *k = c->m->codes.at[i], *other;
		const struct process *p = c->m->numbered.at[k->process];
		uint64_t end = k->address + k->bytes;

		if (k->kind != CODE_LOAD || !k->from_ns || !check_has_host_data(p))
			continue;
		other = find_code_reaching_out(p, k->address, k->from_ns - 1, k->address, end);
		other = other ? other : find_code_reaching_out(p, end - 1, k->from_ns - 1, k->address, end);
		if (other)
			FOUND(c, FINDING_LOAD_OVERLAP, 0, "'%.30s' at %#llx, on '%.30s' at %#llx", name_of_code(k),
			      (unsigned long long)k->address, name_of_code(other), (unsigned long long)other->address);
	}
}

static void check_code_is_written(void *context, const struct code *k, const void *bytes, uint64_t read_ns)
{
	struct check *c = context;
	const unsigned char *b = bytes;
	size_t same = 1;

	if (read_ns || k->bytes < CODE_LONG || !check_has_host_data(c->m->numbered.at[k->process]))
		return;
	while (same < k->bytes && b[same] == b[0])
		same++;
	if (same == k->bytes)
		FOUND(c, FINDING_LOAD_UNWRITTEN, 0, "'%.60s' at %#llx: all bytes are %#x", name_of_code(k), (unsigned long long)k->address,
		      b[0]);
}

void check_code_bytes(struct check *c, const struct report *r)
{
	code_bytes_each(r, check_code_is_written, c);
}
