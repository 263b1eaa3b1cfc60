/* SPDX-License-Identifier: MIT */
/*
 * Requests to a recorder (`tailor start`, `stop`, `status`, and `attach` if the process has a recorder): words over a socket beside
 * that of the guests, answered with a status and a sentence.  Only root and the recorder's own user are accepted.
 * Context: thread.
 */
#ifndef TAILOR_CONTROL_H
#define TAILOR_CONTROL_H

#include "agent/recorder/guests/visitors.h"
#include "jitreg/base/diag.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#define CONTROL_BYTES 8192
#define CONTROL_WORDS 128
#define CONTROL_HAS "has" /* PID: CMD_DONE where it is being recorded */

struct control_request {
	int fd; /* for control_answer() */
	int nr;
	char *word[CONTROL_WORDS + 1]; /* NULL-terminated; in text */
	char text[CONTROL_BYTES + 1];
};

/* A listening socket beside the guests' socket of that name, or -errno. */
int control_listen(const char *socket);
/* 0; -EAGAIN: no request; other -errno: not permitted, or malformed.  Never waits: see handshake_accept(). */
int control_accept_request(int listener, struct visitors *silent, struct control_request *r);
/* Closes fd.  status: of the command that asked, CMD_DONE or CMD_FAILED.  Notices may follow the sentence, one per line. */
void control_answer(int fd, int status, const char *sentence);

/*
 * Send a request to the recorder, a process, of that socket; words are NULL-terminated.  The answer's status, or -errno with a sentence in
 * answer, of CONTROL_BYTES.  The answer has CONTROL_STATUS_MS, and to requests that begin or end a recording, which read files,
 * CONTROL_ANSWER_MS; a recorder that is stopped has CONTROL_STOPPED_MS.
 */
#define CONTROL_STATUS_MS 5000
#define CONTROL_ANSWER_MS 60000
#define CONTROL_STOPPED_MS 1000
int control_send_request(const char *socket, pid_t recorder, char *const *words, char *answer, size_t bytes);

/* Recorders that did not answer when they were asked.  { 0 } before the first question. */
#define CONTROL_SILENT_MAX 64
struct control_silent {
	uint32_t nr; /* recorders beyond the array are only counted */
	struct control_silent_recorder {
		pid_t pid;
		char socket[64];
	} recorder[CONTROL_SILENT_MAX];
};

/*
 * The recorder of a process, also where that is not the first of those that it records: name of its socket, of bytes, and its PID.  0 or
 * -ENOENT.  All recorders are asked at once, and have half a second together; those that were silent before are not asked again.
 */
int control_find_recorder(pid_t pid, struct control_silent *silent, char *socket, size_t bytes, pid_t *recorder);
/* "process 12, which is stopped, and process 13": valid until the next call. */
const char *control_silent_text(const struct control_silent *s);

/* cmd_control.c: starts or ends a recording as the commands do, and writes the recorder's answer to a file unless it is NULL.  An exit
 * status. */
int control_start_recording(pid_t pid, const char *output, char **options, int nr, FILE *to);
int control_stop_recording(pid_t pid, FILE *to);

#endif
