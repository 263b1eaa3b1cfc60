/* SPDX-License-Identifier: MIT */
/*
 * What a receiver of OTLP's profiles answers: ExportProfilesServiceResponse where it took them, google.rpc.Status where it did not, as
 * protocol buffers or as JSON.  The bytes are foreign.  Context: thread.
 */
#ifndef TAILOR_WIRE_OTLP_ANSWER_H
#define TAILOR_WIRE_OTLP_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct otlp_answer {
	uint64_t rejected; /* profiles that it did not take */
	char message[256]; /* why, or a warning; cut, without control characters; "" where it has none */
};

/* media_type: its Content-Type, or "".  false: the bytes are no answer of a receiver.  No bytes are one: it took everything. */
bool otlp_answer_read(const void *bytes, size_t nr, const char *media_type, struct otlp_answer *a);
/* The message of a refusal into a->message: "" where the bytes are no status. */
void otlp_status_read(const void *bytes, size_t nr, const char *media_type, struct otlp_answer *a);

#endif
