/* SPDX-License-Identifier: MIT */
/*
 * Replaces an empty function by a jump.  Programs report events to debuggers by calling a function that only returns, at which the debugger
 * sets a breakpoint.  So its first bytes are the only place for a hook.
 */
#include "agent/guest/guest.h"
#include "agent/guest/sys.h"

#include <errno.h>
#include <string.h>

/* size of jmp *[rip+0] and the address behind it */
#define JUMP_BYTES 14

/* Is the function a `ret`, perhaps behind `endbr64` or a stack frame of its own, with padding up to the jump's length? */
static bool is_empty_function(const unsigned char *code)
{
	static const unsigned char endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	static const unsigned char framed[] = { 0x55, 0x48, 0x89, 0xe5, 0x5d, 0xc3 };
	size_t i = 0;

	if (memcmp(code, endbr64, sizeof(endbr64)) == 0)
		i = sizeof(endbr64);
	if (memcmp(code + i, framed, sizeof(framed)) == 0)
		i += sizeof(framed);
	else if (code[i] == 0xc3)
		i++;
	else
		return false;
	/*
	 * Functions are padded with nops of any length, int3 or zeros. Where functions start at multiples of 16, none of the first
	 * JUMP_BYTES bytes belongs to another function.
	 */
	if ((uintptr_t)code % 16 != 0)
		return false;
	for (; i < JUMP_BYTES; i++)
		if (!strchr("\x66\x2e\x0f\x1f\x84\x80\x44\x40\x90\xcc", code[i]) && code[i] != 0)
			return false;
	return true;
}

/* Writes through /proc/self/mem, which writes to read-only memory without making it writable. */
int patch_write_memory(void *to, const void *from, size_t bytes)
{
	int fd = sys_open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	long n;

	if (fd < 0)
		return fd;
	n = sys_call(SYS_pwrite64, fd, (long)from, (long)bytes, (long)to, 0, 0);
	sys_close(fd);
	return n == (long)bytes ? 0 : n < 0 ? (int)n : -EIO;
}

static int write_code_bytes(void *to, const void *from, size_t bytes)
{
	uintptr_t page = (uintptr_t)to & ~(uintptr_t)4095;
	size_t span = ((uintptr_t)to + bytes + 4095 - page) & ~(size_t)4095;
	int ret = patch_write_memory(to, from, bytes);

	if (ret == 0)
		return 0;
	ret = sys_mprotect(page, span, PROT_READ | PROT_WRITE | PROT_EXEC);
	if (ret)
		return ret;
	memcpy(to, from, bytes);
	return sys_mprotect(page, span, PROT_READ | PROT_EXEC);
}

int patch_empty_function(void *function, void *to)
{
	unsigned char jump[JUMP_BYTES] = { 0xff, 0x25, 0, 0, 0, 0 };

	if (!sys_readable_range(function, JUMP_BYTES))
		return -EFAULT;
	memcpy(jump + 6, &to, sizeof(to));
	if (memcmp(function, jump, sizeof(jump)) == 0)
		return 0;
	if (!is_empty_function(function))
		return -EILSEQ;
	return write_code_bytes(function, jump, sizeof(jump));
}
