/* SPDX-License-Identifier: MIT */
/* The options that `tailor run` and `tailor record` share, as an argp child.  Context: thread. */
#ifndef TAILOR_OPTIONS_H
#define TAILOR_OPTIONS_H

#include "session.h"

#include <argp.h>

/* Its input is a struct session_options. */
extern const struct argp sampling_argp;

#endif
