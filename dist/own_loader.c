/* SPDX-License-Identifier: MIT */
/*
 * Start a program with the loader and the C library that lie in lib/ beside it, whatever the machine's are.
 *
 * The kernel takes the path of a program's loader from PT_INTERP, and knows no path relative to the program.  So dist/portable.sh makes
 * that header PT_NULL: the kernel then starts the program itself, here, at own_loader_start.  What follows is what the kernel would have
 * done: the loader is mapped, the auxiliary vector names it and the program's real start, the header is PT_INTERP again, and the loader
 * runs.  It notices nothing, and nothing else does: /proc/PID/exe, comm, argv and $ORIGIN are the program's.  (A script, or
 * `ld.so PROGRAM`, would change all of them.)  Where there is a loader already, the program starts as usual.
 *
 * A library that the user preloads into what we run is for the machine's C library, and may not load with ours.  LD_PRELOAD and LD_AUDIT
 * are therefore hidden from the loader, by their first letter, and are there again before main().
 *
 * Context: before the loader.  No relocation has been done, no library is there, nor thread-local storage: system calls, locals and
 * strings only.  Knows x86-64.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOADER "lib/ld-linux-x86-64.so.2"
#define HEADERS_MAX 32
#define PAGE 4096ull /* x86-64's */
#define FIRST_LETTER 'L'
#define HIDDEN_LETTER '-' /* no shell makes such a variable */

extern const char _start[] __attribute__((visibility("hidden")));
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
void own_loader_start(void);
uintptr_t own_loader_prepare(uintptr_t *stack) __attribute__((visibility("hidden")));

/* rdx is, for a program that has been loaded, a function to call at its end. */
__asm__(".text\n"
	".globl own_loader_start\n"
	".type own_loader_start, @function\n"
	"own_loader_start:\n"
	"	xor %ebp, %ebp\n"
	"	mov %rsp, %rbx\n"
	"	mov %rdx, %r12\n"
	"	mov %rsp, %rdi\n"
	"	and $-16, %rsp\n"
	"	call own_loader_prepare\n"
	"	mov %rbx, %rsp\n"
	"	mov %r12, %rdx\n"
	"	jmp *%rax\n"
	".size own_loader_start, . - own_loader_start\n");

static long sys(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall" : "=a"(ret) : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
	return ret;
}

static void print(const char *text)
{
	size_t bytes = 0;

	while (text[bytes])
		bytes++;
	sys(SYS_write, STDERR_FILENO, (long)text, (long)bytes, 0, 0, 0);
}

__attribute__((noreturn)) static void give_up(const char *path, const char *why)
{
	print("tailor: cannot start: ");
	print(path);
	print(why);
	print("; copy the portable folder as a whole\n");
	for (;;)
		sys(SYS_exit_group, 127, 0, 0, 0, 0, 0);
}

/* The loader's path, from the program's own. */
static void find_loader(char path[PATH_MAX])
{
	static const char name[] = LOADER;
	long n = sys(SYS_readlink, (long)"/proc/self/exe", (long)path, PATH_MAX - (long)sizeof(name), 0, 0, 0);

	if (n <= 0)
		give_up("/proc/self/exe", " cannot be read (is /proc mounted?)");
	while (n > 0 && path[n - 1] != '/')
		n--;
	for (size_t i = 0; i < sizeof(name); i++)
		path[n + (long)i] = name[i];
}

static uint64_t page_down(uint64_t at)
{
	return at & ~(PAGE - 1);
}

static uint64_t page_up(uint64_t at)
{
	return page_down(at + PAGE - 1);
}

static long map(uint64_t at, uint64_t bytes, long protection, long flags, long fd, uint64_t offset)
{
	return sys(SYS_mmap, (long)at, (long)bytes, protection, flags, fd, (long)offset);
}

/* What lies behind the file's part of a segment is zero. */
static bool map_segment(const Elf64_Phdr *ph, uint64_t base, long fd)
{
	long protection = (ph->p_flags & PF_R ? PROT_READ : 0) | (ph->p_flags & PF_W ? PROT_WRITE : 0) |
			  (ph->p_flags & PF_X ? PROT_EXEC : 0);
	uint64_t begin = page_down(base + ph->p_vaddr), file_end = base + ph->p_vaddr + ph->p_filesz;
	uint64_t mapped_end = page_up(file_end), end = page_up(base + ph->p_vaddr + ph->p_memsz);

	if (map(begin, mapped_end - begin, protection, MAP_PRIVATE | MAP_FIXED, fd, page_down(ph->p_offset)) < 0)
		return false;
	if (ph->p_memsz > ph->p_filesz && ph->p_flags & PF_W)
		for (volatile char *p = (char *)file_end; p < (char *)mapped_end; p++)
			*p = 0;
	return end <= mapped_end || map(mapped_end, end - mapped_end, protection, MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, -1, 0) >= 0;
}

/* The file is ours, beside us, as is the C library that it will load: it is asked whether it is whole, not whether it is hostile. */
static uint64_t map_loader(const char *path, uint64_t *base)
{
	long fd = sys(SYS_open, (long)path, O_RDONLY | O_CLOEXEC, 0, 0, 0, 0), reserved;
	Elf64_Phdr ph[HEADERS_MAX];
	uint64_t end = 0;
	Elf64_Ehdr h;

	if (fd < 0)
		give_up(path, " cannot be opened");
	if (sys(SYS_pread64, fd, (long)&h, sizeof(h), 0, 0, 0) != (long)sizeof(h) || *(uint32_t *)h.e_ident != *(const uint32_t *)ELFMAG ||
	    h.e_phnum > HEADERS_MAX || h.e_phentsize != sizeof(ph[0]) ||
	    sys(SYS_pread64, fd, (long)ph, h.e_phnum * (long)sizeof(ph[0]), (long)h.e_phoff, 0, 0) != h.e_phnum * (long)sizeof(ph[0]))
		give_up(path, " is no loader");
	for (int i = 0; i < h.e_phnum; i++)
		if (ph[i].p_type == PT_LOAD && ph[i].p_vaddr + ph[i].p_memsz > end)
			end = ph[i].p_vaddr + ph[i].p_memsz;
	reserved = map(0, page_up(end), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (reserved < 0)
		give_up(path, " cannot be mapped");
	*base = (uint64_t)reserved;
	for (int i = 0; i < h.e_phnum; i++)
		if (ph[i].p_type == PT_LOAD && !map_segment(&ph[i], *base, fd))
			give_up(path, " cannot be mapped");
	sys(SYS_close, fd, 0, 0, 0, 0, 0);
	return *base + h.e_entry;
}

/* The loader wants to read what the kernel should not: PT_NULL with the place of a path was PT_INTERP. */
static void restore_interpreter(void)
{
	const Elf64_Ehdr *h = (const Elf64_Ehdr *)__ehdr_start;
	Elf64_Phdr *ph = (Elf64_Phdr *)((uintptr_t)h + h->e_phoff);
	uint64_t begin = page_down((uint64_t)ph), bytes = page_up((uint64_t)(ph + h->e_phnum)) - begin;

	if (sys(SYS_mprotect, (long)begin, (long)bytes, PROT_READ | PROT_WRITE, 0, 0, 0))
		give_up("/proc/self/exe", " cannot be changed in memory");
	for (int i = 0; i < h->e_phnum; i++)
		if (ph[i].p_type == PT_NULL && ph[i].p_filesz)
			ph[i].p_type = PT_INTERP;
	sys(SYS_mprotect, (long)begin, (long)bytes, PROT_READ, 0, 0, 0);
}

/* Compared letter by letter: there is no libc yet. */
static bool is_for_the_loader(const char *variable)
{
	static const char tails[][sizeof("D_PRELOAD=")] = { "D_PRELOAD=", "D_AUDIT=" }; /* (pointers would need relocations) */

	for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
		const char *tail = tails[i], *have = variable + 1;

		while (*tail && *tail == *have)
			tail++, have++;
		if (!*tail)
			return true;
	}
	return false;
}

static void rename_variables(char **variables, char from, char to)
{
	for (; variables && *variables; variables++)
		if (**variables == from && is_for_the_loader(*variables))
			**variables = to;
}

/* Returns where to go on. */
uintptr_t own_loader_prepare(uintptr_t *stack)
{
	char **variables = (char **)(stack + 1 + *stack + 1);
	Elf64_auxv_t *auxiliary, *base = NULL, *entry = NULL;
	char path[PATH_MAX];
	uint64_t loader, start;
	size_t nr = 0;

	while (variables[nr])
		nr++;
	for (auxiliary = (Elf64_auxv_t *)(variables + nr + 1); auxiliary->a_type != AT_NULL; auxiliary++)
		if (auxiliary->a_type == AT_BASE)
			base = auxiliary;
		else if (auxiliary->a_type == AT_ENTRY)
			entry = auxiliary;
	if (!base || !entry || base->a_un.a_val)
		return (uintptr_t)_start; /* the kernel has found a loader */
	find_loader(path);
	start = map_loader(path, &loader);
	base->a_un.a_val = loader;
	entry->a_un.a_val = (uint64_t)_start;
	restore_interpreter();
	rename_variables(variables, FIRST_LETTER, HIDDEN_LETTER);
	return start;
}

extern char **environ;

/* A priority below those of others: they see the environment as it was. */
__attribute__((constructor(101))) static void show_variables(void)
{
	rename_variables(environ, HIDDEN_LETTER, FIRST_LETTER);
}
