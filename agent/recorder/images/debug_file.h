/* SPDX-License-Identifier: MIT */
/*
 * Finds the symbols that a distribution or a build took out of a file, in these places, in this order:
 *
 *	/usr/lib/debug/.build-id/XX/REST.debug     by the build id
 *	DIR/LINK  DIR/.debug/LINK  /usr/lib/debug/DIR/LINK     by .gnu_debuglink, DIR being the file's folder
 *	~/.debug/.build-id/XX/REST/elf     perf's cache
 *	~/.cache/debuginfod_client/ID/debuginfo     debuginfod's cache, or where DEBUGINFOD_CACHE_PATH or XDG_CACHE_HOME have it
 *	.gnu_debugdata     in the file itself, packed (Fedora's and its relatives' programs)
 *	servers     by the build id, for users who asked for them (debuginfod.h)
 *
 * A file beside the image's own counts if it has the same build id or, if one of the two has none, the link's checksum. Bytes of files that
 * are read whole, or unpacked, are limited to DEBUG_FILE_BYTES_ALL per recording. Context: thread.
 */
#ifndef TAILOR_DEBUG_FILE_H
#define TAILOR_DEBUG_FILE_H

#include "agent/recorder/images/elf_parts.h"

#include <limits.h>

struct debuginfod;

#define DEBUG_FILE_BYTES_ALL (256u << 20)
#define DEBUG_FILE_TEXT (PATH_MAX + 64)

/*
 * Finds the symbols of a file without .symtab. of, fd: its parts, and the descriptor from which they were read (-1: closed); path: its
 * path, in the view of files of process pid (0: only in the recorder's); servers: NULL if nothing is to be fetched; left: bytes that may
 * still be read whole or unpacked in this recording. Returns true if symbols were found. Then they are in found, to be freed by
 * elf_parts_free(), and where has the path of their file. Else returns false, and where has the reason why a file that was found does not
 * count, as "the debug file PATH is of another build", or "".
 */
bool debug_file_find(const struct elf_parts *of, int fd, const char *path, uint32_t pid, struct debuginfod *servers, uint64_t *left,
		     struct elf_parts *found, char where[DEBUG_FILE_TEXT]);

/* Opens the copy of a file that perf has in its cache, for use if the file's path is of another build by now, or of no file.  Returns a
 * descriptor, which the caller closes, or -1 if there is no copy with this build id. */
int debug_file_open_kept(const unsigned char *build_id, uint32_t bytes);
/* Has the file of this descriptor this build id? */
bool debug_file_has_id(int fd, const unsigned char *build_id, uint32_t bytes);

#endif
