/* SPDX-License-Identifier: MIT */
/* In front of the engine's sources: it says nothing to the profiler, and sets its tags as before. */
#include "jitreg/jitreg.h"

#define jitreg_component(...) (-ENOSYS)
#define jitreg_counter(...) (-ENOSYS)
#define jitreg_edge(...) (-ENOSYS)
#define jitreg_level(...) (-ENOSYS)
#define jitreg_link(...) (-ENOSYS)
#define jitreg_mark(...) (-ENOSYS)
#define jitreg_memory(...) (-ENOSYS)
#define jitreg_replay() 0
#define jitreg_set_replay(replay, host) ((void)(replay))
#define jitreg_source(...) (-ENOSYS)
#define jitreg_tag(...) (-ENOSYS)
#define jitreg_unlink(...) (-ENOSYS)
