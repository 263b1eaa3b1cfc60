/* SPDX-License-Identifier: MIT */
/*
 * A perf.data file of any bytes: its header, its facts, and all that import makes of its records, but for files: what a mapping's
 * path would open is none of the fuzzer's business, so the first byte of each is changed.  (In what is compressed it cannot be:
 * the corpus has none there.)  So is the build id of this machine's kernel, whose 122,000 symbols would be read for each input.
 */
#include "tests/fuzz/fuzz.h"

#include "agent/recorder/images/kernel_names.h"
#include "agent/recorder/import/import.h"

#include <stdlib.h>
#include <string.h>

static void blind(unsigned char *bytes, size_t size)
{
	for (size_t i = 0; i + 1 < size; i++)
		if (bytes[i] == '/' && bytes[i + 1] != '/')
			bytes[i] = '|';
}

static void forget_kernel(unsigned char *bytes, size_t size)
{
	static unsigned char id[KERNEL_BUILD_ID_BYTES];
	static size_t id_bytes;
	unsigned char *at;

	if (!id_bytes)
		id_bytes = kernel_names_read_build_id(id);
	while (id_bytes && (at = memmem(bytes, size, id, id_bytes)) != NULL)
		*at ^= 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct import_options o = { .input = "f", .output = "/dev/null", .uncompressed = true };
	unsigned char *bytes = malloc(size ? size : 1);
	struct import_result result;
	struct perf_data p;
	struct diag d;
	struct import_times times;

	memcpy(bytes, data, size);
	blind(bytes, size);
	forget_kernel(bytes, size);
	if (perf_data_init(bytes, size, "f", &p, &d) == 0) {
		times = import_times(&p, NULL);
		import_records(&o, &p, &times, INT64_MIN, &result, &d);
		perf_data_fini(&p);
	}
	free(bytes);
	return 0;
}
