/* SPDX-License-Identifier: MIT */
/*
 * Gives commands a large stack if `ulimit -s` allows less than they need.  Some of their frames are larger than 64 KiB.  The limit itself
 * is unchanged, since the programs that a command starts inherit it.
 */
#ifndef JITREG_LARGE_STACK_H
#define JITREG_LARGE_STACK_H

/* Call run() on a stack of at least 1 MiB (a new one of 8 MiB, also for threads that it starts, if the limit is lower).  Returns what run()
 * returns, or 1 with a message if memory runs out.  Context: main, once, before there are threads. */
int large_stack_run(int (*run)(int argc, char **argv), int argc, char **argv);

#endif
