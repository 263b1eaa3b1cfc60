/* SPDX-License-Identifier: MIT */
/*
 * Decides how finely the machine code is told apart that no function of a host's language called. Where that language has most of the time
 * in each of several profiles, the rest is start-up, the host's own threads and the kernel, whose functions differ from run to run; it has
 * one entry per file then. Elsewhere the functions themselves stay. Context: thread.
 */
#ifndef TAILOR_NATIVE_H
#define TAILOR_NATIVE_H

#include "analyzer/compare/profile.h"

#define NATIVE_LANGUAGE_MIN 0.5 /* share of the language's functions from which on they are what a profile is about */

/* Merge functions of machine code by file where the language has most of the time. Return 0 or -ENOMEM, after which profiles are still to
 * be freed by profile_fini(). */
int native_settle(struct profile *p, uint32_t nr);

#endif
