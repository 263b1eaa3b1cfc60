/* SPDX-License-Identifier: MIT */
/* LLVM as a JIT: debug information, optimization, LLJIT. */
#ifndef ENGINE_JIT_H
#define ENGINE_JIT_H

#include "engine.h"

#include <llvm-c/Core.h>

struct debug_info;
struct debug_info *debug_info_begin(LLVMModuleRef m, const char *file_name);
/* The scope of f's instructions. */
LLVMMetadataRef debug_info_function(struct debug_info *d, LLVMValueRef f);
LLVMMetadataRef debug_info_location(struct debug_info *d, unsigned line, LLVMMetadataRef scope);
/* No function comes any more; locations may. */
void debug_info_complete(struct debug_info *d);
void debug_info_end(struct debug_info *d);

/* The context that the module must be made in. */
LLVMContextRef jit_context(void);
/* Takes the module over; fills in the pipelines' functions. */
int jit_compile(LLVMModuleRef m, struct program *p, const struct options *o);

#endif
