/* SPDX-License-Identifier: MIT */
/*
 * This module sends, receives and answers requests to a recorder. They come from `tailor start`, `stop` and `status`, from `attach` if the
 * process has a recorder, and from commands that look for a process's recorder. A request is a list of words that is sent to a socket
 * beside that of the guests, and answered with a status and a sentence. Only processes of root and of the recorder's own user may send one.
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
/* This status of an answer means that the request failed, and that the sentence lacks its subject, which is the process that was asked
 * about ("is not being recorded"). */
#define CONTROL_PROCESS_IS 100
#define CONTROL_HAS "has" /* request with a PID, which asks whether that is recorded; status: CMD_DONE if so, else CMD_FAILED */

struct control_request {
	int fd; /* for control_answer() */
	int nr;
	char *word[CONTROL_WORDS + 1]; /* point into text; a NULL follows the last */
	char text[CONTROL_BYTES + 1];
};

/* Creates a listening socket for requests, whose name is that of the guests' socket with a suffix.  Returns it, or -errno. */
int control_listen(const char *socket);
/* Takes one request, whose connection r->fd is then open. Connections that have sent nothing yet are kept in `silent` for later calls.
 * Returns 0, -EAGAIN if there is no request now, or -EPERM after closing the connection of a peer that is another user's or has closed its
 * end without a request. Never waits. */
int control_accept_request(int listener, struct visitors *silent, struct control_request *r);
/* Sends the answer, and closes fd.  status: CMD_*, with which the command that asked exits, or CONTROL_PROCESS_IS.  Notices may follow the
 * sentence, one per line. */
void control_answer(int fd, int status, const char *sentence);

/*
 * Sends a request to the process `recorder`, which serves the guests' socket of that name. words: the version, the request and its
 * operands, and a NULL. Returns the answer's status, or -errno. answer, which has room for so many bytes (at most CONTROL_BYTES are used),
 * gets the recorder's sentence, or one about the failure. Waits at most CONTROL_STATUS_MS for the answer to "status", CONTROL_ANSWER_MS for
 * those to other requests, for which the recorder reads files, and only CONTROL_STOPPED_MS while it is stopped (SIGSTOP).
 */
#define CONTROL_STATUS_MS 5000
#define CONTROL_ANSWER_MS 60000
#define CONTROL_STOPPED_MS 1000
int control_send_request(const char *socket, pid_t recorder, char *const *words, char *answer, size_t bytes);

/* This struct lists the recorders that did not answer control_find_recorder() in time. It is all zeros before the first call. */
#define CONTROL_SILENT_MAX 64
struct control_silent {
	uint32_t nr; /* recorders beyond the array are only counted */
	struct control_silent_recorder {
		pid_t pid;
		char socket[64];
	} recorder[CONTROL_SILENT_MAX];
};

/*
 * Finds the recorder of a process: the one that its environment or a socket's name tells, else the first that answers that it records the
 * process. Sets the name of the guests' socket (`bytes` is its room) and the recorder's PID. Returns 0, or -ENOENT if no recorder is found,
 * and *socket may be changed then. All recorders of root, of this user and of the process's user are asked at once, and have half a second
 * together. If none says yes, those without an answer are added to `silent`, and are not asked again.
 */
int control_find_recorder(pid_t pid, struct control_silent *silent, char *socket, size_t bytes, pid_t *recorder);
/* Returns the recorders as a text, such as "process 12 (stopped) and process 13", which is valid until the next call. It names the first
 * eight, and has the number of the others. */
const char *control_silent_text(const struct control_silent *s);

/* These functions, of cmd_control.c, start and end a recording as `tailor start` and `stop` do, and write the recorder's answer to a file
 * unless it is NULL. They print errors on stderr, and return an exit status (CMD_*). */
int control_start_recording(pid_t pid, const char *output, char **options, int nr, FILE *to);
int control_stop_recording(pid_t pid, FILE *to);

#endif
