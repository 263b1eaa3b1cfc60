/* SPDX-License-Identifier: MIT */
/*
 * cxx_call_() is a frame with a personality routine of this file. The unwinder asks the routine whether the exception is caught in that
 * frame, and continues where it says. The code relies on x86-64 and on the two-phase unwinding of the C++ ABI.
 */
#include "shim/engines/cxx_call.h"

#include "agent/guest/guest.h"

#include <string.h>

#define SEARCH_PHASE 1
#define HANDLER_FRAME 4
#define FORCED 8 /* the thread ends by pthread_exit or pthread_cancel */
#define HANDLER_FOUND 6
#define INSTALL_CONTEXT 7
#define CONTINUE 8
#define RAX 0

static void (*set_register)(void *context, int number, uintptr_t value);
static void (*set_address)(void *context, uintptr_t value);
static void *(*begin_catch)(void *exception);
static void (*end_catch)(void);
static void (*delete)(void *p);

int cxx_call_(uint64_t function, const uint64_t *argument, uint64_t *result);
extern const char cxx_call_landing[] __attribute__((visibility("hidden")));
int cxx_personality(int version, int actions, uint64_t class, void *exception, void *context);
void cxx_caught(void *exception);

__asm__(".text\n"
	".type cxx_call_, @function\n"
	".p2align 4\n"
	"cxx_call_:\n"
	"	.cfi_startproc\n"
	"	.cfi_personality 0x1b, cxx_personality\n"
	"	pushq %rbx\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_rel_offset rbx, 0\n"
	"	movq %rdx, %rbx\n"
	"	movq %rdi, %rax\n"
	"	movq 24(%rsi), %rcx\n"
	"	movq 16(%rsi), %rdx\n"
	"	movq 0(%rsi), %rdi\n"
	"	movq 8(%rsi), %rsi\n"
	"	call *%rax\n"
	"	movq %rax, (%rbx)\n"
	"	movl $1, %eax\n"
	"1:	popq %rbx\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	.cfi_restore rbx\n"
	"	ret\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_rel_offset rbx, 0\n"
	".globl cxx_call_landing\n"
	".hidden cxx_call_landing\n"
	"cxx_call_landing:\n"
	"	movq %rax, %rdi\n"
	"	call cxx_caught\n"
	"	xorl %eax, %eax\n"
	"	jmp 1b\n"
	"	.cfi_endproc\n"
	".size cxx_call_, .-cxx_call_\n");

__attribute__((used, visibility("hidden"))) int cxx_personality(int version, int actions, uint64_t class, void *exception, void *context)
{
	(void)version;
	(void)class;
	if (actions & FORCED)
		return CONTINUE;
	if (actions & SEARCH_PHASE)
		return HANDLER_FOUND;
	if (!(actions & HANDLER_FRAME))
		return CONTINUE;
	set_register(context, RAX, (uintptr_t)exception);
	set_address(context, (uintptr_t)cxx_call_landing);
	return INSTALL_CONTEXT;
}

__attribute__((used, visibility("hidden"))) void cxx_caught(void *exception)
{
	begin_catch(exception);
	end_catch();
}

bool cxx_find_functions(void)
{
	*(void **)&set_register = objects_find_next_symbol("_Unwind_SetGR");
	*(void **)&set_address = objects_find_next_symbol("_Unwind_SetIP");
	*(void **)&begin_catch = objects_find_next_symbol("__cxa_begin_catch");
	*(void **)&end_catch = objects_find_next_symbol("__cxa_end_catch");
	*(void **)&delete = objects_find_next_symbol("_ZdlPv");
	return set_register && set_address && begin_catch && end_catch && delete;
}

bool cxx_call(uint64_t function, const uint64_t argument[CXX_ARGUMENTS], uint64_t *result)
{
	return cxx_call_(function, argument, result);
}

void cxx_string_free(struct cxx_string *s)
{
	if (s->text && s->text != s->own)
		delete((void *)(uintptr_t)s->text);
}

void cxx_old_string_free(const char *text)
{
	int nr_others;

	memcpy(&nr_others, text + CXX_OLD_STRING_NR_OTHERS_AT, sizeof(nr_others));
	if (*(const uint64_t *)(const void *)(text + CXX_OLD_STRING_BYTES_AT) && nr_others <= 0) /* all empty strings share one text */
		delete((void *)(uintptr_t)(text + CXX_OLD_STRING_BYTES_AT));
}

void cxx_vector_free(struct cxx_vector *v)
{
	if (v->begin)
		delete((void *)(uintptr_t)v->begin);
}
