/* SPDX-License-Identifier: MIT */
/*
 * Opens the files of images that are needed, and writes what analysis needs of them into the trace.  images.c decides which image an
 * address belongs to.  Context: thread.
 */
#ifndef TAILOR_IMAGE_FILES_H
#define TAILOR_IMAGE_FILES_H

#include "agent/recorder/images/elf_prune.h"
#include "agent/recorder/images/image_code.h"
#include "agent/recorder/images/images.h"
#include "agent/recorder/images/written_files.h"

#include <string.h>

#define IMAGE_PAGE_SHIFT ELF_THIN_PAGE_SHIFT
#define IMAGE_BUILD_ID_MAX 20

struct debuginfod;

/* This struct counts files that could not be read, at whose paths other files lie by now, or that were overwritten. */
struct images_missing {
	uint32_t nr;
	char first[256]; /* path of the first one */
};

/* This struct is a file that is mapped.  It is needed once an address in it was seen. */
struct image {
	struct image *next;
	struct image *next_needed;
	int fd; /* -1: not open */
	uint32_t pid; /* process in whose view of the file system it was opened */
	uint64_t start, end, offset; /* the mapping of that process by which it was needed, and the file offset of its start */
	bool needed, opened; /* opened: bytes, device and inode are known */
	uint64_t bytes, device, inode, changed_ns; /* size, device, inode and time of the last change of the opened file */
	uint64_t *seen; /* a bit per page of the file, set if an address in it was seen; NULL: not needed, the vdso, or no memory */
	/* number of samples per line of the file (IMAGE_CODE_LINE_SHIFT); NULL: not needed, not opened, its code is not wanted, or no
	 * memory */
	uint32_t *samples;
	bool vdso;
	int error; /* errno of opening the file; ESTALE: another file is there; ENOEXEC: a deleted file that is no ELF; 0: no error */
	bool by_guest; /* only guests reported the path, so it may contain links */
	uint32_t build_id_bytes;
	unsigned char build_id[IMAGE_BUILD_ID_MAX]; /* build id of the mapped file, as the kernel or the guest reported it */
	uint32_t own_id_bytes;
	/* build id of the opened file, which may be another one; own_id_bytes 0: none, or unknown */
	unsigned char own_id[IMAGE_BUILD_ID_MAX];
	struct file_identity identity;	    /* identity of the mapped file, if its build id is not reported */
	char path[]; /* path of the mapping */
};

/* This struct is a mapping of one process. */
struct image_mapping {
	uint64_t start, end;
	uint64_t to_file; /* file offset minus address */
	uint64_t time_ns;
	struct image *image; /* NULL: the mapping has no file */
};

/* This struct has the files of all images of a recording. */
struct image_files {
	bool frames; /* unwind tables are wanted */
	bool past, other_kernel; /* past: an import; other_kernel: the running kernel is not the sampled one, and has another [vdso] */
	bool foreign; /* the recording is of another architecture */
	struct image *needed; /* images whose file is to be written */
	struct image *early;  /* images whose file is written, but not their code */
	uint32_t nr_early;
	uint32_t nr_open, open_max; /* open files, and their limit; other files are opened again when they are written */
	struct debuginfod *servers; /* NULL: nothing is fetched */
	uint64_t nr_counted; /* samples in all images; 0 before they are written, and without servers */
	struct image_code *code; /* NULL: not wanted */
	struct written_files written;
	struct images_missing gone, replaced, overwritten;
	bool (*is_over)(void *context); /* returns true if no time is left for files; NULL: there is time */
	void *over_context;
	uint32_t nr_left_out;
	uint64_t debug_bytes_left; /* bytes of debug files that may still be read whole, or unpacked */
};

/* Returns false if one of the build ids is unknown (has no bytes). */
static inline bool build_ids_are_same(const unsigned char *a, uint32_t a_bytes, const unsigned char *b, size_t b_bytes)
{
	return a_bytes && a_bytes == b_bytes && memcmp(a, b, b_bytes) == 0;
}

/* frames: unwind tables of files are wanted.  The caller may set servers, code, past and other_kernel before the first mapping, and the
 * limit at any time. */
void image_files_init(struct image_files *f, bool frames);
/* Does not free the images, which belong to the caller. */
void image_files_fini(struct image_files *f);
/* Notes that an address was seen in at->image, which process pid has mapped at that place.  The first time, opens its file, and prepares
 * image->seen and image->samples. */
void image_files_need(struct image_files *f, const struct image_mapping *at, uint32_t pid);
/* Writes IMAGE_FILE records of small files in which addresses were seen, about 4 MiB of files per call, so that rings do not overflow
 * meanwhile. Writes nothing if symbols may be fetched, which would take too long. */
void image_files_write_early(struct image_files *f, struct trace_writer *w, uint64_t time_ns);
/* Writes IMAGE_FILE records for all other files in which an address was seen, and the code that is to be kept. A file gets none if one of
 * its path and content is written already. Called when no sample comes any more. Counts in nr_left_out the files for which no time was
 * left. */
void image_files_write(struct image_files *f, struct trace_writer *w, uint64_t time_ns);

#endif
