/* SPDX-License-Identifier: MIT */
/*
 * This file lists tailor's environment variables, which the agent (guest) and the recorder read. `tailor run` sets those that the agent
 * needs. Users who preload libtailor.so without `tailor run` set them themselves. Columns: constant, name, help.
 */
#ifndef TAILOR_ENV_H
#define TAILOR_ENV_H

#define TAILOR_ENVIRONMENT(X) \
	X(SOCKET, "TAILOR_SOCKET", "abstract socket of the recorder; set by tailor for child processes") \
	X(COMMAND, "TAILOR_COMMAND", "program to start as recorder (default: tailor-record or tailor beside libtailor.so, then in $PATH)") \
	X(OUTPUT, "TAILOR_OUTPUT", "trace to write (default: tailor.PID.tlr)") \
	X(EVENT, "TAILOR_EVENT", "events to sample (default: auto)") \
	X(RATE, "TAILOR_RATE", "samples per second and CPU (default: 4000)") \
	X(SCOPE, "TAILOR_SCOPE", "cpu or thread (default: cpu)") \
	X(SAMPLER, "TAILOR_SAMPLER", "auto, signal or timer (default: auto)") \
	X(STACK, "TAILOR_STACK", "stack bytes to copy with each sample (default: 65528)") \
	X(SOURCE_TEXT, "TAILOR_SOURCE_TEXT", "bytes of source text that `tailor run` and `attach` keep in a trace (default: 32768)") \
	X(DORMANT, "TAILOR_DORMANT", "1: collect registrations only; `tailor start PID` starts a recording") \
	X(NO_ADAPT, "TAILOR_NO_ADAPT", "1: disable host adapters, which make known JITs report more of their code") \
	X(SPARK, "TAILOR_SPARK", "folder for Spark's event log; set by `tailor run --spark`") \
	X(DEBUG, "TAILOR_DEBUG", "1: the agent prints debug messages to stderr") \
	X(OFF, "TAILOR_OFF", "1: disable the agent")

#define TAILOR_SPARK_BYTES 1000 /* maximum number of bytes of the folder in TAILOR_SPARK, its 0 included */

#define TAILOR_ENV_NAME_(NAME, text, help) static const char TAILOR_ENV_##NAME[] __attribute__((unused)) = text;
TAILOR_ENVIRONMENT(TAILOR_ENV_NAME_)
#undef TAILOR_ENV_NAME_

#endif
