/* SPDX-License-Identifier: MIT */
/* The rights that a command needs for the files and servers in its words, and no others. Context: thread, before other threads start. */
#ifndef TAILOR_FLEET_RIGHTS_H
#define TAILOR_FLEET_RIGHTS_H

#include "jitreg/confine/confine.h"

#include <stddef.h>

/*
 * Call this once, after the words of a command are parsed. Files and folders among them may be read, and stores may be changed, because
 * SQLite has a journal beside each. output: files that are written. NULL is none. A server's address among the words makes a READER a
 * CLIENT.
 */
void rights_keep(enum confine_policy policy, int argc, char **argv, size_t nr_outputs, const char *const output[]);
/* Do the same as rights_keep(), for a command that runs llvm-mca. */
void rights_keep_llvm(enum confine_policy policy, int argc, char **argv, size_t nr_outputs, const char *const output[]);
#define RIGHTS_OUTPUTS(...) sizeof((const char *const[]){ NULL, __VA_ARGS__ }) / sizeof(char *), (const char *const[]){ NULL, __VA_ARGS__ }

#endif
