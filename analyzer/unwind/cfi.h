/* SPDX-License-Identifier: MIT */
/*
 * Is a call-frame program fit for libunwind?  It runs what it finds: registers are indexes into its arrays, unchecked in
 * places, and expressions may loop or divide.  What compilers and assemblers emit for x86-64 passes.
 * Context: any.
 */
#ifndef TAILOR_CFI_H
#define TAILOR_CFI_H

#include <stdbool.h>
#include <stddef.h>

#define CFI_REGISTERS 17 /* of x86-64, as DWARF numbers them; the last is the return address */

/* The instructions of a CIE or an FDE (DWARF 5, section 6.4.2).  *expressions becomes true when there are some. */
bool cfi_is_safe(const unsigned char *instructions, size_t bytes, bool *expressions);

#endif
