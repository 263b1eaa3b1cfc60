/* SPDX-License-Identifier: MIT */
#include "shim/announce/announce.h"

#include "jitreg/hosts/eh_frame_put.h"

#define FRAMES_BYTES 1024

int announce_frames(uint64_t address, uint64_t bytes, const struct frame_rule *rule, int nr_rules, const struct frame_saved *saved,
		    int nr_saved)
{
	unsigned char room[FRAMES_BYTES];
	struct eh_frame_writer w = { .bytes = room, .size = sizeof(room) };
	uint32_t at = 0;

	eh_frame_begin(&w, nr_rules ? rule[0].cfa : 8);
	for (int i = 0; i < nr_saved; i++) {
		eh_frame_put_u8(&w, DW_CFA_offset | saved[i].reg);
		eh_frame_put_uleb(&w, saved[i].words);
	}
	eh_frame_begin_code(&w, address, bytes);
	for (int i = 1; i < nr_rules; at = rule[i++].from) {
		eh_frame_advance(&w, rule[i].from - at);
		eh_frame_set_cfa(&w, rule[i].cfa);
	}
	eh_frame_end(&w);
	return w.full ? -EINVAL : jitreg_eh_frame(address, w.bytes, w.nr);
}
