/* SPDX-License-Identifier: MIT */
#include "agent/recorder/images/xz.h"

#include <errno.h>
#include <lzma.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* All that there is into fd.  0 or -errno. */
static int unpack_xz_to_file(lzma_stream *s, int fd)
{
	static uint8_t room[65536];
	lzma_ret ret = LZMA_OK;

	while (ret == LZMA_OK) {
		size_t n;

		s->next_out = room;
		s->avail_out = sizeof(room);
		ret = lzma_code(s, LZMA_FINISH);
		n = sizeof(room) - s->avail_out;
		if (s->total_out > XZ_BYTES_MAX)
			return -EFBIG;
		if (n && write(fd, room, n) != (ssize_t)n)
			return -ENOMEM;
	}
	return ret == LZMA_STREAM_END ? 0 : ret == LZMA_MEM_ERROR || ret == LZMA_MEMLIMIT_ERROR ? -ENOMEM : -EBADMSG;
}

int xz_unpack(const void *packed, size_t bytes)
{
	lzma_stream s = LZMA_STREAM_INIT;
	int fd = -1, ret;

	if (lzma_stream_decoder(&s, XZ_MEMORY_MAX, 0) != LZMA_OK)
		return -ENOMEM;
	s.next_in = packed;
	s.avail_in = bytes;
	fd = memfd_create("tailor-symbols", MFD_CLOEXEC);
	ret = fd < 0 ? -errno : unpack_xz_to_file(&s, fd);
	lzma_end(&s);
	if (ret && fd >= 0)
		close(fd);
	return ret ? ret : fd;
}
