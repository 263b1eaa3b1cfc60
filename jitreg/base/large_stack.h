/* SPDX-License-Identifier: MIT */
/*
 * Large stacks for commands when `ulimit -s` allows less than they need: 64 KiB do not hold one of their frames.  The limit itself is
 * unchanged, since the hosts that a command starts inherit it.
 */
#ifndef JITREG_LARGE_STACK_H
#define JITREG_LARGE_STACK_H

/* Call run() on a stack of at least 1 MiB, which threads that it starts have too.  Returns what run() returns, or 1 with a message if
 * memory runs out.  Context: main, once, before there are threads. */
int large_stack_run(int (*run)(int argc, char **argv), int argc, char **argv);

#endif
