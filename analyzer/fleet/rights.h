/* SPDX-License-Identifier: MIT */
/* Gives up all rights of a command except those that it needs for the files and servers in its words. Context: thread, before other threads
 * start. */
#ifndef TAILOR_FLEET_RIGHTS_H
#define TAILOR_FLEET_RIGHTS_H

#include "jitreg/confine/confine.h"

#include <stddef.h>

/*
 * Give up rights, once, after the words of a command were parsed, unless --no-sandbox was given. What the words name may still be read, and
 * stores may be changed, because SQLite needs a journal beside each. output: files that may be written; NULL entries are skipped. If a word
 * has the address of a server, the policy CONFINE_READER becomes CONFINE_CLIENT.
 */
void rights_keep(enum confine_policy policy, int argc, char **argv, size_t nr_outputs, const char *const output[]);
/* Do the same as rights_keep(), for a command that runs llvm-mc and llvm-mca. */
void rights_keep_llvm(enum confine_policy policy, int argc, char **argv, size_t nr_outputs, const char *const output[]);
#define RIGHTS_OUTPUTS(...) sizeof((const char *const[]){ NULL, __VA_ARGS__ }) / sizeof(char *), (const char *const[]){ NULL, __VA_ARGS__ }

#endif
