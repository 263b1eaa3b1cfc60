/* SPDX-License-Identifier: MIT */
/* Writes profiles as pprof's profile.proto (https://github.com/google/pprof/blob/main/proto/profile.proto).  Context: thread. */
#ifndef TAILOR_WIRE_PPROF_H
#define TAILOR_WIRE_PPROF_H

#include "analyzer/wire/profiles.h"
#include "analyzer/wire/protobuf.h"

/* Write all profiles as one, uncompressed.  They must be of one event, since pprof has one unit.  Sets to->failed if memory runs out. */
void pprof_write(const struct wire_profiles *p, struct protobuf *to);

#endif
