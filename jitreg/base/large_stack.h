/* SPDX-License-Identifier: MIT */
/*
 * Stacks of our own where `ulimit -s` allows less than a command needs: 64 KiB hold none of its frames.  The limit itself stays as it is,
 * which is the hosts' that we start.
 */
#ifndef JITREG_LARGE_STACK_H
#define JITREG_LARGE_STACK_H

/* What run() returns; it runs on a stack of at least 1 MiB, and so do threads that it starts.  1, with a sentence, where there is no memory
 * for one.  Context: main, once, before there are threads. */
int large_stack_run(int (*run)(int argc, char **argv), int argc, char **argv);

#endif
