/* SPDX-License-Identifier: MIT */
/*
 * Reads the answer of a receiver of OTLP's profiles. It is an ExportProfilesServiceResponse if the receiver accepted them, or a
 * google.rpc.Status if it did not, as protocol buffers or as JSON. The bytes are untrusted. Context: thread.
 */
#ifndef TAILOR_WIRE_OTLP_ANSWER_H
#define TAILOR_WIRE_OTLP_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct otlp_answer {
	uint64_t rejected; /* number of profiles that the receiver rejected */
	char message[256]; /* reason or warning, cut, with '?' for all but printable ASCII; "" if there is none */
};

/* Read the answer of a receiver that accepted the request.  media_type: its Content-Type, or "".  An empty answer means that all profiles
 * were accepted.  Returns false if the bytes are not an answer, or if memory runs out. */
bool otlp_answer_read(const void *bytes, size_t nr, const char *media_type, struct otlp_answer *a);
/*
 * Reads the answer of a receiver that refused the request. Sets a->message, which is "" if the bytes are not a status or have no message.
 */
void otlp_status_read(const void *bytes, size_t nr, const char *media_type, struct otlp_answer *a);

#endif
