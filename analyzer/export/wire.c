/* SPDX-License-Identifier: MIT */
/* Adds a trace's stacks, threads, processes and events to the tables of a message, for the formats that are protocol buffers (otlp, pprof),
 * and writes the message. */
#include "analyzer/export/export.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static enum wire_kind kind_of_node(const struct stack_node *n, const struct function *f)
{
	return n->flags & STACK_CUT || f->unknown ? WIRE_UNKNOWN :
	       n->flags & STACK_KERNEL		  ? WIRE_KERNEL :
	       n->flags & STACK_JIT		  ? WIRE_GENERATED :
						    WIRE_NATIVE;
}

/* Returns the file in which a function is declared, or else that of its line, which may be an inlined piece of another file. */
static const char *source_of(const struct function *f, const struct line *line)
{
	return f->declared.file ? f->declared.file : line ? line->file : NULL;
}

static uint32_t add_frame(struct export_wire *x, uint32_t caller, uint32_t node)
{
	const struct attribution *a = x->e->report->a;
	const struct stack_node *n = &a->stacks.node[node];
	const struct function *f = &a->function[n->function];
	const struct line *line = n->line < a->nr_lines ? &a->line[n->line] : NULL;

	return wire_stack(&x->p, caller, &(struct wire_frame){ .kind = kind_of_node(n, f),
							       .name = function_label(f),
							       .symbol = f->mangled ? f->mangled : f->label ? f->name : NULL,
							       .image = f->image < a->nr_images ? a->image[f->image].path : NULL,
							       .source = source_of(f, line),
							       .start_line = f->declared.line,
							       .line = line ? line->number : 0 });
}

uint32_t export_wire_stack(struct export_wire *x, uint32_t root, uint32_t node)
{
	const struct stacks *s = &x->e->report->a->stacks;
	uint32_t nr = 0, stack = 0;

	if (!x->nodes)
		x->nodes = calloc((size_t)export_stack_depth(x->e) + 1, sizeof(*x->nodes));
	if (!x->nodes) {
		x->p.failed = true;
		return 0;
	}
	for (; node && node < s->nr; node = s->node[node].caller) {
		stack = hash_map_find(&x->of, root, node);
		if (stack)
			break;
		x->nodes[nr++] = node;
	}
	stack = stack ? stack : root;
	while (nr--) {
		stack = add_frame(x, stack, x->nodes[nr]);
		x->p.failed |= !stack || !hash_map_set(&x->of, root, x->nodes[nr], stack);
	}
	return stack;
}

uint32_t export_wire_profile(struct export_wire *x, uint32_t process, uint32_t event)
{
	const struct report *r = x->e->report;
	const struct model *m = r->model;
	const struct process *p = process < m->processes.nr ? m->numbered.at[process] : NULL;
	const char *slash = p && p->executable ? strrchr(p->executable, '/') : NULL;
	const struct model_event *e = event < m->nr_events ? &m->event[event] : NULL;
	uint64_t span_ns = r->a->last_ns > m->begin_ns ? r->a->last_ns - m->begin_ns : 0;
	uint64_t begin_ns = m->real_ns > INT64_MAX ? 0 : m->real_ns; /* viewers accept no time before 1970 or after 2262 */
	struct wire_profile of = { .process = wire_process(&x->p, process_service(p), slash ? slash + 1 : p ? p->comm : NULL,
							   p ? p->executable : NULL, m->host_name, p ? p->pid : 0),
				   .period = e ? e->period : 0,
				   .begin_ns = begin_ns,
				   .end_ns = span_ns < INT64_MAX - begin_ns ? begin_ns + span_ns + 1 : INT64_MAX,
				   .recording = m->cut_recording ? m->cut_recording : m->real_ns,
				   .number = m->epoch };

	return wire_profile(&x->p, &of, e ? e->name : "samples", e && e->unit && *e->unit ? e->unit : "samples");
}

uint32_t export_wire_thread(struct export_wire *x, uint32_t thread)
{
	return wire_thread(&x->p, export_thread_name(x->e, thread), x->e->report->model->threads.at[thread].tid);
}

int export_wire_end(struct export_wire *x, struct protobuf *made, FILE *to)
{
	int ret = made->failed || x->p.failed ? -ENOMEM : 0;

	if (ret == 0 && made->nr)
		fwrite(made->bytes, 1, made->nr, to);
	protobuf_fini(made);
	wire_fini(&x->p);
	hash_map_fini(&x->of);
	free(x->nodes);
	return ret;
}
