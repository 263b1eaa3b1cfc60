/* SPDX-License-Identifier: MIT */
/*
 * model.c shares these declarations with the readers of each kind of record. A reader takes one record into the model. p: the record's
 * process, NULL for records of the whole trace. If memory runs out, most readers leave the record out. The settle functions are called
 * after the last record, in the order of settle_model(). Context: thread.
 */
#ifndef TAILOR_MODEL_READ_H
#define TAILOR_MODEL_READ_H

#include "analyzer/model/model.h"

#include <stdlib.h>
#include <string.h>

typedef void model_read_record(struct model *m, struct process *p, const struct trace_record *r);

/* read_recording.c */
model_read_record model_read_header, model_read_event, model_read_count, model_read_thread_count, model_read_notice,
	model_read_host_lack, model_read_loss, model_read_end, model_read_source_lines;
/* Completes the events. Names, units and scopes that are missing become "", and counts become scales. Events of preempted threads and of
 * threads in the run queue get the names and units that are shown. Returns 0 or -ENOMEM. */
int model_settle_events(struct model *m);
/* Frees events, notices, and the texts of HEADER. */
void recording_fini(struct model *m);

/* read_images.c */
model_read_record model_read_mmap, model_read_image, model_read_image_unload, model_read_image_file, model_read_image_code,
	model_read_region;
/* Finds the files of images, and makes regions of mappings that code is generated into.  If memory runs out, images stay without files. */
void model_settle_images(struct model *m);
void files_fini(struct files *f);

/* read_code.c */
model_read_record model_read_load, model_read_move, model_read_code_unload, model_read_debug_info, model_read_inlines,
	model_read_unwinding_info, model_read_code_map, model_read_code_bytes, model_read_interpreter;
/* Adds code, which the model owns.  Its number is its index in model.codes.  Returns NULL if memory ran out. */
struct code *model_add_code(struct model *m, enum code_kind kind, const struct process *p, uint64_t from_ns);
/* Finds the CODE_BYTES record of each function whose LOAD has no bytes. */
void model_settle_code_bytes(struct model *m);
void model_settle_regions(struct model *m); /* finds the CODE_BYTES records of whole regions, after code_map_index() */
/* model_create() calls this after the last record. It frees the lines, inlined functions, code maps and unwinding information that were
 * read before their code object, and whose code object was never registered. It notes faults of lines, inlined functions and code maps
 * (as check_info_without_load() decides). */
void model_free_waiting(struct model *m);
void codes_fini(struct codes *c);
void eh_frames_fini(struct model *m);

model_read_record model_read_eh_frame;
/* Adds a copy of .eh_frame bytes at an address, for the ranges of code that they describe.  Returns the number of these ranges, or 0 if
 * memory runs out. */
uint32_t model_add_frames(struct model *m, struct process *p, uint64_t address, const void *bytes, size_t nr, uint64_t from_ns);

/* read_dictionary.c, and read_marks.c for marks */
model_read_record model_read_level, model_read_component, model_read_link, model_read_edge, model_read_counter, model_read_source,
	model_read_tag, model_read_mark, model_read_scope;
/* Sorts the marks and their pieces, and finds the outer piece of each.  If memory runs out, there are no pieces. */
void model_settle_marks(struct model *m);
/* Frees what is needed only while records are read: the chains of marks without a handle. */
void marks_free_open(struct marks *marks);
void marks_fini(struct marks *marks);
void sources_fini(struct sources *s);
void scopes_fini(struct model *m);
void tags_fini(struct process *p);
void model_settle_scopes(struct model *m);
model_read_record model_read_object, model_read_object_end, model_read_object_steps, model_read_step_word;
model_read_record model_read_counter_block, model_read_counter_values, model_read_flow;
/* Return 0 or -ENOMEM. */
int model_settle_objects(struct model *m);
int model_settle_sources(struct model *m);
/* Sorts the tags by time. */
void model_settle_tags(struct process *p);

/* Sets the texts of a CODE_LOAD that say of which file it is. All of them share these texts. */
static inline void code_name_no_file(struct code *c)
{
	static char path[] = "(generated)", build_id[] = "";

	c->path = path;
	c->build_id = build_id;
}

/* Adds the parts of a file, which an IMAGE_FILE record has, to its object. */
void model_add_parts(const struct trace_record *r, struct elf_object *elf,
		     int (*add)(struct elf_object *elf, uint64_t file_offset, const void *bytes, size_t nr));
/* Leaves the debug sections of a file, whose record is being read, in the trace until they are asked for. */
void model_shelve_file(struct model *m, struct image_file *f);

/* Frees the text in *to, and replaces it by text, which *to owns from then on.  text may be NULL. */
static inline void model_set_text(char **to, char *text)
{
	free(*to);
	*to = text;
}

/* Counts a fault of the host (faults.h).  a, b, c: the numbers that faults.h lists for its kind.  Only the first fault of a kind is kept
 * as an example, with a copy of text, which may be NULL. */
static inline void model_fault(struct model *m, enum model_fault kind, const struct process *p, uint64_t a, uint64_t b, uint64_t c,
			       const char *text)
{
	struct fault *f = &m->fault[kind];

	if (f->count++)
		return;
	*f = (struct fault){ 1, p->number, { a, b, c }, text ? strdup(text) : NULL };
}

#endif
