/* SPDX-License-Identifier: MIT */
/*
 * Transformations of the generated code, and what becomes of the Tagging Dictionary (A. Beischl et al., EuroSys 2021, section
 * 4.2.7).  Each instruction's debug location is its line in the text of the code as it was generated, and line n is component n of
 * the level `ir`:
 *
 *   an instruction that is removed       loses its links
 *   one that now serves several users    belongs to all of them, by how many instructions it stands for
 *   one that is made of others           is a line of its own behind the text, of all the owners of what it was made of
 *   a copy                               keeps its line
 *
 * Context: thread.
 */
#ifndef ENGINE_OPTIMIZE_H
#define ENGINE_OPTIMIZE_H

#include "jit.h"

#include <stdbool.h>

struct optimizer;
/* passes: OPTIMIZE_*. */
struct optimizer *optimizer_create(LLVMModuleRef m, struct debug_info *debug, unsigned passes);
/* Only what it knows of the lines is kept, for agents that come late. */
void optimizer_end(struct optimizer *o);
void optimizer_replay(const struct optimizer *o); /* replay */
/* Before running: the line's instruction was generated for this task, and the dictionary says so. */
void optimizer_owner(struct optimizer *o, uint32_t line, uint32_t task);
/* text: as the lines were numbered.  Whether there was a pass to run. */
bool optimizer_run(struct optimizer *o, const char *text);
/* text (from malloc or LLVM, and lost) with what was made behind it. */
char *optimizer_text(struct optimizer *o, char *text);

/* ---- for the passes */
uint32_t optimizer_line(LLVMValueRef instruction);
/* From here on what is built is of this line. */
void optimizer_at(struct optimizer *o, LLVMValueRef function, uint32_t line);
/* A new line for an instruction that was made of others; give it owners next. */
uint32_t optimizer_made(struct optimizer *o, LLVMValueRef instruction);
/* to also belongs to whom from belongs to. */
void optimizer_share(struct optimizer *o, uint32_t to, uint32_t from);
/* Its line leaves the dictionary; and it the code. */
void optimizer_forget(struct optimizer *o, LLVMValueRef instruction);
void optimizer_remove(struct optimizer *o, LLVMValueRef instruction);
LLVMBuilderRef optimizer_builder(const struct optimizer *o);
LLVMModuleRef optimizer_module(const struct optimizer *o);
/* load, add, store of one word. */
struct update {
	LLVMValueRef load, add, store, pointer, with;
};
/* Whether the store is the end of an update. */
bool optimizer_update(LLVMValueRef store, struct update *u);
/* No side effect, and the same result wherever its operands are known. */
bool optimizer_is_pure(LLVMValueRef instruction);

LLVMValueRef optimizer_function(LLVMValueRef instruction);
/* The one block that leads here; NULL: several do, or none. */
LLVMBasicBlockRef optimizer_only_predecessor(LLVMBasicBlockRef b);

void optimize_fold(struct optimizer *o, LLVMValueRef function);
void optimize_cse(struct optimizer *o, LLVMValueRef function);
void optimize_eliminate(struct optimizer *o, LLVMValueRef function);
void optimize_fuse(struct optimizer *o, LLVMValueRef function);
void optimize_vector(struct optimizer *o, LLVMValueRef function);
void optimize_unroll(struct optimizer *o, LLVMValueRef function);

#endif
