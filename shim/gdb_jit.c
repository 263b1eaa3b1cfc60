/* SPDX-License-Identifier: MIT */
/*
 * Registers the code that JITs register through the GDB JIT interface
 * (https://sourceware.org/gdb/current/onlinedocs/gdb.html/JIT-Interface.html).  A JIT puts the ELF that describes new code into a list and
 * calls an empty function, __jit_debug_register_code, at which a debugger stops. libLLVM calls its own copy directly, so the function
 * cannot be interposed. Its first bytes are replaced by a jump to the agent, in up to SLOTS objects that export one. If that fails for an
 * object, the recorder reads its list instead.
 *
 * The removal of an entry does not mean that its code is gone (Mesa removes entries at once and runs the code), so it is not passed on.
 */
#include "shim/shim.h"

#include "agent/guest/sys.h"
#include "jitreg/hosts/jit_hosts.h"
#include "jitreg/jitreg.h"
#include "shim/beam.h"
#include "shim/hosts/hosts.h"

#include <cpuid.h>
#include <elf.h>
#include <string.h>

#define SLOTS 8		     /* maximum number of objects with the interface at the same time */
#define ENTRIES_MAX 100000   /* entries read from a list when its object is hooked, because the list may be a ring */
#define ELF_BYTES_MAX (1ull << 30)
#define LINES_BYTES 16384 /* room for one function's lines, on the host's stack */

/* The layout is fixed by the interface, version 1. */
struct entry {
	struct entry *next, *prev;
	const char *symfile_addr;
	uint64_t symfile_size;
};

struct descriptor {
	uint32_t version;
	uint32_t action_flag; /* 1: registered, 2: unregistered */
	struct entry *relevant_entry;
	struct entry *first_entry;
};

struct slot {
	uintptr_t bias; /* load bias of the object that exports the descriptor */
	struct descriptor *descriptor; /* NULL: free */
	const struct entry *announced; /* the entry that was registered last, or NULL */
};
static struct slot slots[SLOTS];

static void register_beam_function(void *context, const struct beam_function *f)
{
	bool readable = sys_readable_range((const void *)(uintptr_t)f->address, f->bytes);

	(void)context;
	if (f->nr_lines)
		jitreg_debug_info(f->address, f->nr_lines, f->lines, f->lines_bytes);
	jitreg_code_load(f->address, f->bytes, 0, f->name, readable ? (const void *)(uintptr_t)f->address : NULL);
}

/* Counts an entry of unknown or invalid format. In the Erlang virtual machine, whose entries are no ELF files, it is also reported once. */
static void note_unknown_entry(void)
{
	static int said;

	log_count_full();
	if (erlang_is_host() && !__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED))
		announce_lack(HOST_ERLANG, "", "it registers its code in a form that is not known");
}

static void register_entry(const struct entry *e)
{
	unsigned char lines[LINES_BYTES];

	if (!e || !e->symfile_addr || e->symfile_size < 8 || e->symfile_size > ELF_BYTES_MAX ||
	    !sys_readable_range(e->symfile_addr, e->symfile_size)) {
		log_count_full();
		return;
	}
	if (memcmp(e->symfile_addr, ELFMAG, SELFMAG) == 0)
		jitreg_image(0, JITREG_IMAGE_MEMORY_ELF, "", NULL, 0, NULL, 0, e->symfile_addr, (uint32_t)e->symfile_size);
	else if (!beam_read_functions(e->symfile_addr, e->symfile_size, lines, sizeof(lines), register_beam_function, NULL))
		note_unknown_entry();
}

static void register_new_entry(struct slot *s)
{
	const struct descriptor *d = s->descriptor;

	if (d->action_flag == 1 && d->relevant_entry != s->announced)
		register_entry(d->relevant_entry);
	s->announced = d->action_flag == 1 ? d->relevant_entry : NULL; /* reset, because a later entry may have the same address */
}

/* The functions that SLOT_FUNCTION() writes in assembly call this one. */
void gdb_jit_handle_register_call(int slot) __attribute__((visibility("hidden")));
void gdb_jit_handle_register_call(int slot)
{
	struct slot *own = &slots[slot];

	if (guard_enter()) {
		images_register_changes();
		if (own->descriptor && own->descriptor->action_flag) {
			own->announced = NULL; /* the call is for this entry, so it is new even at a known address */
			register_new_entry(own);
		} else {
			/* An object calls its own function, but its descriptor may be that of another object, because data is bound by the
			 * order of lookup, and the program may export a descriptor as well.  So all descriptors are checked. */
			for (int i = 0; i < SLOTS; i++)
				if (slots[i].descriptor && sys_readable_range(slots[i].descriptor, sizeof(struct descriptor)))
					register_new_entry(&slots[i]);
		}
		guard_leave();
	}
}

/*
 * These are the registers that xsave saves (as in XCR0), and the bytes that they take. Those of AMX and APX are left out, because neither
 * libc nor the agent uses them. If the mask is 0, the processor or the kernel has no xsave, and fxsave saves all registers that there are.
 */
#define WIDE_REGISTERS 0xe7u /* x87, SSE, AVX and AVX-512 */
#define FXSAVE_BYTES 512u
#define XSAVE_HEADER_BYTES 64u
uint32_t gdb_jit_saved_registers __attribute__((visibility("hidden")));
uint32_t gdb_jit_saved_bytes __attribute__((visibility("hidden"))) = FXSAVE_BYTES;

static void find_saved_registers(void)
{
	uint32_t a, b, c, d, mask, bytes = FXSAVE_BYTES + XSAVE_HEADER_BYTES;

	if (gdb_jit_saved_registers || !__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
		return;
	__asm__ volatile("xgetbv" : "=a"(mask), "=d"(d) : "c"(0));
	mask &= WIDE_REGISTERS;
	for (uint32_t i = 2; i < 8; i++) /* subleaf i has the size of these registers (eax), and their place (ebx) */
		if ((mask >> i & 1) && __get_cpuid_count(0xd, i, &a, &b, &c, &d) && a + b > bytes)
			bytes = a + b;
	gdb_jit_saved_bytes = bytes;
	gdb_jit_saved_registers = mask;
}

/*
 * One function per slot identifies the descriptor to read.  A compiler that sees the empty function where it is called need not keep to the
 * ABI, because it knows that the function clobbers no register and works with any stack alignment (GCC: -fipa-ra, -fipa-stack-alignment).
 * So all registers that a compiler uses are saved here, and the stack is aligned.  xrstor needs a header that was zeros before xsave.
 */
#define SLOT_FUNCTION(n) \
	void gdb_jit_slot_##n(void) __attribute__((visibility("hidden"))); \
	__asm__(".text\n" \
		".globl gdb_jit_slot_" #n "\n" \
		".hidden gdb_jit_slot_" #n "\n" \
		".type gdb_jit_slot_" #n ", @function\n" \
		"gdb_jit_slot_" #n ":\n" \
		"	.cfi_startproc\n" \
		"	pushq %rbp\n" \
		"	.cfi_def_cfa_offset 16\n" \
		"	.cfi_offset rbp, -16\n" \
		"	movq %rsp, %rbp\n" \
		"	.cfi_def_cfa_register rbp\n" \
		"	pushq %rax; pushq %rcx; pushq %rdx; pushq %rsi; pushq %rdi\n" \
		"	pushq %r8; pushq %r9; pushq %r10; pushq %r11\n" \
		"	movl gdb_jit_saved_bytes(%rip), %eax\n" \
		"	subq %rax, %rsp\n" \
		"	andq $-64, %rsp\n" \
		"	xorl %edx, %edx\n" \
		"	movl gdb_jit_saved_registers(%rip), %eax\n" \
		"	testl %eax, %eax\n" \
		"	jz 1f\n" \
		"	movq %rdx, 512(%rsp); movq %rdx, 520(%rsp); movq %rdx, 528(%rsp); movq %rdx, 536(%rsp)\n" \
		"	movq %rdx, 544(%rsp); movq %rdx, 552(%rsp); movq %rdx, 560(%rsp); movq %rdx, 568(%rsp)\n" \
		"	xsave64 (%rsp)\n" \
		"	jmp 2f\n" \
		"1:	fxsave64 (%rsp)\n" \
		"2:	movl $" #n ", %edi\n" \
		"	call gdb_jit_handle_register_call\n" \
		"	xorl %edx, %edx\n" \
		"	movl gdb_jit_saved_registers(%rip), %eax\n" \
		"	testl %eax, %eax\n" \
		"	jz 3f\n" \
		"	xrstor64 (%rsp)\n" \
		"	jmp 4f\n" \
		"3:	fxrstor64 (%rsp)\n" \
		"4:	leaq -72(%rbp), %rsp\n" \
		"	popq %r11; popq %r10; popq %r9; popq %r8\n" \
		"	popq %rdi; popq %rsi; popq %rdx; popq %rcx; popq %rax\n" \
		"	popq %rbp\n" \
		"	.cfi_def_cfa rsp, 8\n" \
		"	ret\n" \
		"	.cfi_endproc\n" \
		".size gdb_jit_slot_" #n ", . - gdb_jit_slot_" #n "\n")
SLOT_FUNCTION(0);
SLOT_FUNCTION(1);
SLOT_FUNCTION(2);
SLOT_FUNCTION(3);
SLOT_FUNCTION(4);
SLOT_FUNCTION(5);
SLOT_FUNCTION(6);
SLOT_FUNCTION(7);
static void (*const slot_functions[SLOTS])(void) = { gdb_jit_slot_0, gdb_jit_slot_1, gdb_jit_slot_2, gdb_jit_slot_3,
							    gdb_jit_slot_4, gdb_jit_slot_5, gdb_jit_slot_6, gdb_jit_slot_7 };

static struct slot *find_free_slot(void)
{
	for (int i = 0; i < SLOTS; i++)
		if (!slots[i].descriptor)
			return &slots[i];
	return NULL;
}

/* Asks the recorder to read the list from time to time, because no call is reported by a function that could not be patched. */
static int ask_recorder(const struct descriptor *d)
{
	char digits[16];
	struct iovec parts[1] = { { digits, sizeof(digits) } };
	JITREG_BEGIN_(control, r);

	for (int i = 0; i < 16; i++)
		digits[i] = "0123456789abcdef"[(uintptr_t)d >> (60 - 4 * i) & 15];
	r.action = JIT_CONTROL_LIST;
	r.name_bytes = sizeof(digits);
	return JITREG_SEND_(JITREG_CONTROL, r, parts);
}

void gdb_jit_hook_object(const struct object *o)
{
	void *function = object_find_symbol(o, "__jit_debug_register_code");
	struct descriptor *d = object_find_symbol(o, "__jit_debug_descriptor");
	struct slot *s = find_free_slot();
	const struct entry *e;
	int ret, nr = 0;

	if (!function || !d)
		return;
	if (!s) {
		log_count_full();
		return;
	}
	find_saved_registers();
	ret = patch_empty_function(function, (void *)slot_functions[s - slots]);
	guest_debug("%s: GDB JIT interface %s", o->name, ret ? "unavailable (function cannot be patched)" : "hooked");
	if (ret) /* the slot is used all the same, because another object's function may be called for this descriptor */
		ask_recorder(d);
	for (e = d->version == 1 ? d->first_entry : NULL; e && nr < ENTRIES_MAX && sys_readable_range(e, sizeof(*e)); e = e->next, nr++)
		register_entry(e);
	*s = (struct slot){ o->bias, d, d->action_flag == 1 ? d->relevant_entry : NULL };
}

void gdb_jit_forget_object(uintptr_t bias)
{
	bool gone = false;

	for (int i = 0; i < SLOTS; i++)
		if (slots[i].descriptor && slots[i].bias == bias) {
			slots[i].descriptor = NULL;
			gone = true;
		}
	/* Entries of the unloaded object may be in another object's list, and their memory is reused, so the last entry of each slot is
	 * forgotten. */
	for (int i = 0; gone && i < SLOTS; i++)
		slots[i].announced = NULL;
}
