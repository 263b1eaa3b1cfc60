/* SPDX-License-Identifier: MIT */
/*
 * This file lists the registers of x86-64 with their numbers: DWARF's (System V ABI, AMD64 supplement, figure 3.36), perf's
 * (arch/x86/include/uapi/asm/perf_regs.h), and those of the processor's instructions (Intel SDM, volume 2, table 3-1). Context: any.
 */
#ifndef TAILOR_REGISTERS_H
#define TAILOR_REGISTERS_H

/* Columns: name, and numbers of DWARF, perf and instructions.  The rows are in the order of DWARF's numbers. */
#define REGISTERS(X) \
	X(ax, 0, 0, 0) \
	X(dx, 1, 3, 2) \
	X(cx, 2, 2, 1) \
	X(bx, 3, 1, 3) \
	X(si, 4, 4, 6) \
	X(di, 5, 5, 7) \
	X(bp, 6, 6, 5) \
	X(sp, 7, 7, 4) \
	X(r8, 8, 16, 8) \
	X(r9, 9, 17, 9) \
	X(r10, 10, 18, 10) \
	X(r11, 11, 19, 11) \
	X(r12, 12, 20, 12) \
	X(r13, 13, 21, 13) \
	X(r14, 14, 22, 14) \
	X(r15, 15, 23, 15)

#define REGISTERS_NR 16 /* length of the list; DWARF's number 16 is the return address */
#define REGISTER_PERF_IP 8
#define REGISTER_PERF_FLAGS 9

#define REGISTER_PERF_(name, dwarf, perf, instruction) [dwarf] = perf,
/* This table has perf's register number for each of DWARF's.  For DWARF's return address it is that of the instruction pointer. */
static const unsigned char registers_perf[REGISTERS_NR + 1] = { REGISTERS(REGISTER_PERF_)[REGISTERS_NR] = REGISTER_PERF_IP };
#undef REGISTER_PERF_

#endif
