/* SPDX-License-Identifier: MIT */
#include "analyzer/scrub/scrub.h"

#include "analyzer/attribute/walk.h"
#include "analyzer/unwind/unwind.h"
#include "jitreg/base/grow.h"
#include "jitreg/trace/column_encoder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct scrubbing {
	struct trace_reader *from;
	struct model *model;
	const struct scrub_options *options;
	struct trace_writer *to;
	struct scrub_counts *counts;
	struct unwinder *unwinder;
	char *text; /* memory for a copy of the value that is being changed */
	size_t capacity;
	enum trace_chunk_type type; /* chunk type of the last written record; 0: none was written yet */
	int error;
};

/* ------------------------------------------------------------------------------------------------------------ records */

enum rule { AS_IT_IS, NOTHING, TEXT, PATH, PATHS_IN, STRINGS, NAME, WORD, CODE, FILES, INLINED, PARTS, KERNEL, LEFT_OUT };

/* These are the rules of fields.  Fields that are not listed (numbers) are copied. */
static const struct {
	uint32_t id;
	int field;
	enum rule rule;
} rules[] = {
	{ TRACE_HEADER, F(header, host_name), NOTHING },
	{ TRACE_HEADER, F(header, cwd), NOTHING },
	{ TRACE_COMMAND_LINE, F(command_line, text), NOTHING },
	{ TRACE_SERVICE, F(service, group), NOTHING },
	{ TRACE_SERVICE, F(service, name), NAME },
	{ TRACE_PROCESS, F(process, executable), PATH },
	{ TRACE_MMAP, F(mmap, path), PATH },
	{ TRACE_NOTICE, F(notice, sentence), PATHS_IN },
	{ TRACE_IMAGE_FILE, F(image_file, path), PATH },
	{ TRACE_IMAGE_FILE, F(image_file, key), PATH },
	{ TRACE_IMAGE_FILE, F(image_file, reason), PATHS_IN },
	{ TRACE_IMAGE_FILE, F(image_file, parts), PARTS },
	{ TRACE_IMAGE_CODE, F(image_code, key), PATH },
	{ TRACE_IMAGE_CODE, F(image_code, functions), CODE },
	{ TRACE_KERNEL_FUNCTIONS, F(kernel_functions, functions), KERNEL },
	{ JITREG_IMAGE, F(image, path), PATH },
	{ JITREG_IMAGE, F(image, bytes), STRINGS },
	{ JITREG_IMAGE_UNLOAD, F(image_unload, path), PATH },
	{ JITREG_REGION, F(region, mapper), PATH },
	{ JITREG_LOAD, F(load, name), NAME },
	{ JITREG_LOAD, F(load, code), CODE },
	{ TRACE_CODE_BYTES, F(code_bytes, code), CODE },
	{ JITREG_DEBUG_INFO, F(debug_info, entries), FILES },
	{ JITREG_INLINES, F(inlines, entries), INLINED },
	{ JITREG_MEMORY, F(memory, name), NAME },
	{ JITREG_COMPONENT, F(component, name), NAME },
	{ JITREG_COMPONENT, F(component, detail), TEXT },
	{ JITREG_EDGE, F(edge, label), TEXT },
	{ JITREG_MARK, F(mark, text), TEXT },
	{ JITREG_MARK, F(mark, name), WORD }, /* the first word is the kind of work; those behind it may say whose work it is */
	{ JITREG_SOURCE, F(source, name), PATH },
	{ JITREG_SOURCE, F(source, text), TEXT },
	{ JITREG_SCOPE, F(scope, name), NAME },
	{ JITREG_SCOPE, F(scope, text), TEXT },
	{ JITREG_CONTROL, F(control, name), TEXT },
	{ TRACE_SOURCE_LINES, F(source_lines, file), PATH },
	{ TRACE_SOURCE_LINES, F(source_lines, pieces), LEFT_OUT },
	/* The following texts and bytes, except for the full names of threads, have no confidential data, and are copied. */
	{ TRACE_HEADER, F(header, tool), AS_IT_IS },
	{ TRACE_HEADER, F(header, machine), AS_IT_IS },
	{ TRACE_HEADER, F(header, kernel), AS_IT_IS },
	{ TRACE_HEADER, F(header, way), AS_IT_IS },
	{ TRACE_HOST_OPTION, F(host_option, option), AS_IT_IS },
	{ TRACE_EVENT, F(event, name), AS_IT_IS },
	{ TRACE_EVENT, F(event, unit), AS_IT_IS },
	{ TRACE_EVENT, F(event, scope), AS_IT_IS },
	{ TRACE_NOTICE, F(notice, kind), AS_IT_IS },
	{ TRACE_HOST_LACK, F(host_lack, host), AS_IT_IS },
	{ TRACE_HOST_LACK, F(host_lack, host_version), AS_IT_IS },
	{ TRACE_HOST_LACK, F(host_lack, missing), AS_IT_IS },
	{ TRACE_HOST_LACK, F(host_lack, reason), AS_IT_IS },
	{ TRACE_HOST_LACK, F(host_lack, lacks), AS_IT_IS },
	{ TRACE_HOST_LACK, F(host_lack, helps), AS_IT_IS },
	{ TRACE_HOST_LACK, F(host_lack, jit_hosts), AS_IT_IS },
	{ TRACE_PROCESS, F(process, comm), AS_IT_IS },
	{ TRACE_COMM, F(comm, comm), AS_IT_IS },
	{ TRACE_PLAN_CODE, F(plan_code, pattern), AS_IT_IS },
	{ TRACE_RESOURCES, F(resources, when), AS_IT_IS },
	{ TRACE_THREAD_NAME, F(thread_name, name), NOTHING },
	{ TRACE_MMAP, F(mmap, build_id), AS_IT_IS },
	{ TRACE_GUEST, F(guest, version), AS_IT_IS },
	{ TRACE_LOSS, F(loss, reason), AS_IT_IS },
	{ TRACE_IMAGE_FILE, F(image_file, build_id), AS_IT_IS },
	{ JITREG_UNWINDING_INFO, F(unwinding_info, unwinding_data), AS_IT_IS },
	{ JITREG_IMAGE, F(image, build_id), AS_IT_IS },
	{ JITREG_EH_FRAME, F(eh_frame, frames), AS_IT_IS },
	{ JITREG_LEVEL, F(level, name), AS_IT_IS },
	{ JITREG_COUNTER, F(counter, name), AS_IT_IS },
};

bool scrub_has_rule(uint32_t id, int field)
{
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (rules[i].id == id && rules[i].field == field)
			return true;
	return false;
}

static enum rule rule_of_field(uint32_t id, int field)
{
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (rules[i].id == id && rules[i].field == field)
			return rules[i].rule;
	return AS_IT_IS;
}

/* Copies the bytes of a value to s->text, where they can be changed, with room for another byte. Returns s->text, or NULL with s->error set
 * if memory runs out. */
static char *copy_value_to_buffer(struct scrubbing *s, const struct trace_value *v)
{
	if (v->bytes + 1 > s->capacity) {
		free(s->text);
		s->text = malloc(2 * v->bytes + 64);
		s->capacity = s->text ? 2 * v->bytes + 64 : 0;
	}
	if (!s->text) {
		s->error = -ENOMEM;
		return NULL;
	}
	if (v->bytes)
		memcpy(s->text, v->p, v->bytes);
	return s->text;
}

static void put_scrubbed_bytes(struct scrubbing *s, const struct trace_value *v, size_t bytes)
{
	if (v->kind == TRACE_BYTES)
		trace_record_bytes(s->to, s->text, bytes);
	else
		trace_record_text(s->to, s->text, bytes);
}

/* Drop all but the line ends, so that numbers of lines in other records stay valid.  Returns the new length. */
static size_t keep_line_ends_only(char *text, size_t bytes)
{
	size_t to = 0;

	for (size_t i = 0; i < bytes; i++)
		if (text[i] == '\n')
			text[to++] = '\n';
	return to;
}

/* Scrub the text "function\nfile" of an INLINES entry.  Returns the new length. */
static size_t scrub_inlined(const struct scrubbing *s, char *text, size_t bytes)
{
	const char *end = memchr(text, '\n', bytes);
	size_t name = end ? (size_t)(end - text) : bytes, kept = s->options->names ? 0 : name, file = bytes - name;

	if (end) {
		memmove(text + kept, end, file);
		file = 1 + scrub_path(text + kept + 1, file - 1);
	}
	return kept + file;
}

static void put_scrubbed_list(struct scrubbing *s, const struct trace_value *v, int member, enum rule rule)
{
	trace_record_array(s->to, v->u);
	for (uint64_t i = 0; i < v->u; i++) {
		int nr = 0;

		while (nr < 16 && trace_element(v, i, nr).kind != TRACE_OTHER)
			nr++;
		trace_record_array(s->to, (size_t)nr);
		for (int m = 0; m < nr; m++) {
			struct trace_value e = trace_element(v, i, m);

			if (m == member && (e.kind == TRACE_TEXT || e.kind == TRACE_BYTES) && copy_value_to_buffer(s, &e)) {
				if (rule == FILES) {
					put_scrubbed_bytes(s, &e, scrub_path(s->text, e.bytes));
				} else if (rule == INLINED) {
					put_scrubbed_bytes(s, &e, scrub_inlined(s, s->text, e.bytes));
				} else {
					scrub_strings(s->text, e.bytes);
					put_scrubbed_bytes(s, &e, e.bytes);
				}
			} else {
				trace_record_value(s->to, &e);
			}
		}
	}
}

/*
 * Copies the functions of the kernel, which are [address, bytes, name, module] each. The kernel's own names are public. Names of modules
 * and BPF programs, and of functions in them, may be confidential, so the option names drops them.
 */
static void put_kernel_functions(struct scrubbing *s, const struct trace_value *v)
{
	trace_record_array(s->to, v->u);
	for (uint64_t i = 0; i < v->u; i++) {
		struct trace_value module = trace_element(v, i, 3);
		bool is_dropped = s->options->names && (module.kind != TRACE_TEXT || module.bytes);

		trace_record_array(s->to, 4);
		for (int m = 0; m < 4; m++) {
			struct trace_value e = trace_element(v, i, m);

			if (e.kind != TRACE_UINT && (e.kind != TRACE_TEXT || is_dropped))
				e = (struct trace_value){ .kind = TRACE_TEXT };
			trace_record_value(s->to, &e);
		}
	}
}

static size_t bytes_of_word(const char *text, size_t bytes)
{
	const char *blank = memchr(text, ' ', bytes);

	return blank ? (size_t)(blank - text) : bytes;
}

static void put_scrubbed_value(struct scrubbing *s, const struct trace_record *r, int field)
{
	const struct trace_value *v = &r->values[field];
	enum rule rule = rule_of_field(r->id, field);
	size_t bytes = v->bytes;

	if (v->kind == TRACE_LIST && (rule == FILES || rule == INLINED || rule == PARTS)) {
		put_scrubbed_list(s, v, rule == PARTS ? 1 : 3, rule);
		return;
	}
	if (v->kind == TRACE_LIST && rule == KERNEL) {
		put_kernel_functions(s, v);
		return;
	}
	if (v->kind == TRACE_LIST && (rule == LEFT_OUT || (rule == CODE && s->options->code))) {
		trace_record_array(s->to, 0);
		return;
	}
	if (rule == AS_IT_IS || (v->kind != TRACE_TEXT && v->kind != TRACE_BYTES) || !copy_value_to_buffer(s, v)) {
		trace_record_value(s->to, v);
		return;
	}
	switch (rule) {
	case NOTHING:
		bytes = 0;
		break;
	case PATH:
		bytes = scrub_path(s->text, bytes);
		break;
	case PATHS_IN:
		bytes = scrub_paths_in(s->text, bytes);
		break;
	case STRINGS:
		scrub_strings(s->text, bytes);
		if (s->options->code)
			scrub_elf_code(s->text, bytes);
		break;
	case NAME:
	case TEXT:
		if (rule == NAME && r->id != JITREG_SOURCE) /* some hosts, as V8, put a function's file into its name */
			bytes = scrub_name(s->text, bytes);
		else if (r->id == JITREG_COMPONENT)
			bytes = scrub_paths_in(s->text, bytes);
		bytes = !s->options->names     ? scrub_literals(s->text, bytes, rule == TEXT) :
			r->id == JITREG_SOURCE ? keep_line_ends_only(s->text, bytes) :
						 0;
		break;
	case WORD:
		bytes = s->options->names ? bytes_of_word(s->text, bytes) : bytes;
		break;
	case CODE:
		bytes = s->options->code ? 0 : bytes;
		break;
	default:
		break;
	}
	put_scrubbed_bytes(s, v, bytes);
}

/* The caller calls this before it writes a record. If the last record was of another chunk type, its chunk is written now, so that chunks
 * have the same order as in the original trace, and the one with the HEADER is first. */
static void flush_on_chunk_change(struct scrubbing *s, const struct trace_record *r)
{
	enum trace_chunk_type type = schema_chunk_type_of(r->id);

	if (s->type && type != s->type)
		trace_writer_flush(s->to, s->type);
	s->type = type;
}

static void end_record(struct scrubbing *s)
{
	int ret = trace_record_end(s->to);

	s->error = s->error ? s->error : ret;
}

static void copy_record(struct scrubbing *s, const struct trace_record *r)
{
	const struct trace_value none = { .kind = TRACE_TEXT, .p = "" };

	if (!schema_find(r->id)) {
		s->counts->unknown++;
		return;
	}
	s->counts->records++;
	flush_on_chunk_change(s, r);
	trace_record_begin(s->to, r->id, r->time_ns, r->pid, r->tid, r->nr_values);
	for (int i = 0; i < r->nr_values; i++) {
		struct trace_value command = r->id == TRACE_HEADER && i == F(header, command) ? trace_element(&r->values[i], 0, 0) : none;

		if (r->id == TRACE_HEADER && i == F(header, command)) { /* only the program's name is kept */
			trace_record_array(s->to, 1);
			trace_record_array(s->to, 1);
			if (command.kind == TRACE_TEXT && copy_value_to_buffer(s, &command))
				put_scrubbed_bytes(s, &command, scrub_path(s->text, command.bytes));
			else
				trace_record_value(s->to, &none);
		} else {
			put_scrubbed_value(s, r, i);
		}
	}
	end_record(s);
}

/* ------------------------------------------------------------------------------------------------------------ samples */

static void put_column(struct scrubbing *s, uint32_t column, const uint64_t *v, uint32_t nr)
{
	unsigned char *room = malloc(COLUMNS_LIST_ROOM(nr) + 1);

	if (room)
		column_encoder_write_list(s->to, column, v, nr, room);
	else
		s->error = -ENOMEM;
	free(room);
}

struct chains {
	uint64_t *length;
	ARRAY(uint64_t) addresses;
	bool failed; /* memory ran out, and chains are incomplete */
};

static bool add_frame_to_chain(void *context, const struct unwind_frame *f)
{
	struct chains *c = context;

	if (f->depth == 0)
		return true;
	/* f->address is in the call instruction, and a return address is behind that */
	c->failed |= !ARRAY_PUSH(c->addresses, f->address + 1);
	return !c->failed;
}

/* Sets the call chains of a block's samples. Those of samples with stack bytes are unwound, and those of others are copied. Returns false
 * if memory runs out. */
static bool unwind_block(struct scrubbing *s, struct sample_block *b, struct chains *c)
{
	c->length = calloc((size_t)b->nr + 1, sizeof(*c->length));
	for (uint32_t i = 0; c->length && i < b->nr; i++) {
		uint64_t before = c->addresses.nr, time_ns = b->column[SAMPLE_COLUMN_TIME] ? b->column[SAMPLE_COLUMN_TIME][i] : 0;
		uint32_t pid = b->column[SAMPLE_COLUMN_PID] ? (uint32_t)b->column[SAMPLE_COLUMN_PID][i] : 0;
		struct walk_place at = { model_get_process(s->model, pid, time_ns), time_ns };
		struct unwind_input in;

		if (at.process && walk_input_of_sample(b, i, &in) && in.stack_bytes) {
			struct unwind_space space = walk_unwind_space(&at, false);

			unwind_walk(s->unwinder, &space, &in, add_frame_to_chain, c);
			s->counts->stacks++;
		} else if (b->chain_offset) {
			for (uint64_t n = b->chain_offset[i]; n < b->chain_offset[i + 1]; n++) {
				struct unwind_frame f = { .depth = 1, .address = b->chain[n] - 1 };

				add_frame_to_chain(c, &f);
			}
		}
		c->length[i] = c->addresses.nr - before;
	}
	return c->length && !c->failed;
}

static void copy_samples(struct scrubbing *s, const struct trace_record *r, struct sample_block *b)
{
	struct chains c = { 0 };
	size_t nr = 2;
	int ret = sample_block_decode(r, b);

	if (ret == 0 && trace_spend_budget(s->from, b->nr + (b->chain_offset ? b->chain_offset[b->nr] : 0)) && !unwind_block(s, b, &c))
		ret = -ENOMEM;
	if (ret == -ENOMEM && !s->error)
		s->error = ret;
	if (ret || !c.length || !trace_spend_budget(s->from, c.addresses.nr)) {
		free(c.length);
		free(c.addresses.at);
		return;
	}
	for (uint32_t i = 0; i < SAMPLE_COLUMN_REGISTER_0; i++)
		nr += b->column[i] && i != SAMPLE_COLUMN_STACK_BYTES && i != SAMPLE_COLUMN_CHAIN_LENGTH;
	for (uint32_t i = 0; i < SAMPLE_REGISTERS_MAX; i++)
		nr += b->registers[i] != NULL;
	nr += b->has_kernel_chains;
	s->counts->samples += b->nr;
	flush_on_chunk_change(s, r);
	trace_samples_begin(s->to, r->time_ns, b->event, b->nr, nr);
	for (uint32_t i = 0; i < SAMPLE_COLUMN_REGISTER_0; i++)
		if (b->column[i] && i != SAMPLE_COLUMN_STACK_BYTES && i != SAMPLE_COLUMN_CHAIN_LENGTH)
			put_column(s, i, b->column[i], b->nr);
	for (uint32_t i = 0; i < SAMPLE_REGISTERS_MAX; i++)
		if (b->registers[i])
			put_column(s, SAMPLE_COLUMN_REGISTER_0 + i, b->registers[i], b->nr);
	put_column(s, SAMPLE_COLUMN_CHAIN_LENGTH, c.length, b->nr);
	put_column(s, SAMPLE_COLUMN_CHAIN, c.addresses.at, c.addresses.nr);
	if (b->has_kernel_chains)
		trace_samples_column(s->to, SAMPLE_COLUMN_KERNEL_CHAIN, SAMPLE_ENCODING_LISTS, b->kernel_chains_.p,
				     b->kernel_chains_.bytes);
	end_record(s);
	free(c.length);
	free(c.addresses.at);
}

int scrub_trace(struct trace_reader *t, struct model *m, const struct scrub_options *o, struct trace_writer *c, struct scrub_counts *counts,
		struct diag *d)
{
	struct scrubbing s = { .from = t, .model = m, .options = o, .to = c, .counts = counts };
	struct sample_block b = { 0 };
	struct trace_record r;
	int ret = unwinder_create(UNWIND_MEMO, &s.unwinder, d);

	memset(counts, 0, sizeof(*counts));
	if (ret)
		return ret;
	trace_rewind(t);
	trace_select_chunks(t, ~0u);
	while (!s.error && trace_next(t, &r) == 1)
		if (r.id == TRACE_SAMPLES)
			copy_samples(&s, &r, &b);
		else
			copy_record(&s, &r);
	sample_block_fini(&b);
	unwinder_destroy(s.unwinder);
	free(s.text);
	ret = trace_check_budget(t, d);
	if (ret)
		return ret;
	if (s.error == -ENOMEM)
		return diag_fail(d, ENOMEM, "out of memory");
	return s.error ? diag_fail(d, -s.error, "cannot write a record: %s", strerror(-s.error)) : 0;
}
