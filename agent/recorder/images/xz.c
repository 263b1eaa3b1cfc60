/* SPDX-License-Identifier: MIT */
#include "agent/recorder/images/xz.h"

#include <errno.h>
#include <lzma.h>
#include <sys/mman.h>
#include <unistd.h>

/* Unpacks the whole stream into fd.  Returns 0 or -errno. */
static int unpack_xz_to_file(lzma_stream *s, int fd, uint64_t most, uint64_t *used)
{
	static uint8_t room[65536];
	lzma_ret ret = LZMA_OK;

	while (ret == LZMA_OK) {
		size_t n;

		s->next_out = room;
		s->avail_out = sizeof(room);
		ret = lzma_code(s, LZMA_FINISH);
		n = sizeof(room) - s->avail_out;
		*used = s->total_out < most ? s->total_out : most;
		if (s->total_out > most)
			return -EFBIG;
		if (n && write(fd, room, n) != (ssize_t)n)
			return -ENOMEM;
	}
	return ret == LZMA_STREAM_END ? 0 : ret == LZMA_MEM_ERROR ? -ENOMEM : ret == LZMA_MEMLIMIT_ERROR ? -EFBIG : -EBADMSG;
}

int xz_unpack(const void *packed, size_t bytes, uint64_t most, uint64_t *used)
{
	lzma_stream s = LZMA_STREAM_INIT;
	int fd = -1, ret;

	*used = 0;
	if (lzma_stream_decoder(&s, XZ_MEMORY_MAX, 0) != LZMA_OK)
		return -ENOMEM;
	s.next_in = packed;
	s.avail_in = bytes;
	fd = memfd_create("tailor-symbols", MFD_CLOEXEC);
	ret = fd < 0 ? -errno : unpack_xz_to_file(&s, fd, most, used);
	lzma_end(&s);
	if (ret && fd >= 0)
		close(fd);
	return ret ? ret : fd;
}
