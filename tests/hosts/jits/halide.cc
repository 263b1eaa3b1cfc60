// SPDX-License-Identifier: MIT
// Halide: halide SECONDS ROUNDS_FILE.  A blur in two stages.
#include <Halide.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>

int main(int argc, char **argv)
{
	Halide::Func input("input"), blurx("blurx"), blury("blury");
	Halide::Var x("x"), y("y");

	if (argc < 3)
		return 1;
	input(x, y) = Halide::cast<float>(x * 3 + y) * 0.5f;
	blurx(x, y) = (input(x - 1, y) + input(x, y) + input(x + 1, y)) / 3.0f;
	blury(x, y) = (blurx(x, y - 1) + blurx(x, y) + blurx(x, y + 1)) / 3.0f;
	blurx.compute_root();
	input.compute_root();
	Halide::Buffer<float> out(512, 512);
	blury.compile_jit();
	long rounds = 0;
	time_t end = time(nullptr) + atoi(argv[1]) + 1;
	while (time(nullptr) < end) {
		blury.realize(out);
		rounds++;
	}
	std::printf("computed %g\n", (double)out(100, 100));
	std::FILE *f = std::fopen(argv[2], "w");
	std::fprintf(f, "%ld\n", rounds);
	return std::fclose(f);
}
