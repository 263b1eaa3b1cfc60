/* SPDX-License-Identifier: MIT */
/* Reads short files of the kernel (/proc, /sys). Context: any, including signal handlers. */
#ifndef TAILOR_KERNEL_FILE_H
#define TAILOR_KERNEL_FILE_H

#include <fcntl.h>
#include <unistd.h>

/* Sets text to the beginning of the file, at most bytes - 1 of it, or to "" if it cannot be read. The kernel writes such a file at the
 * first read, so one read gets all of it. */
static inline void kernel_file_read(const char *path, char *text, size_t bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, bytes - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = 0;
}

#endif
