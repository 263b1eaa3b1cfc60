// SPDX-License-Identifier: MIT
// Planted work, 50 : 30 : 20, in methods of a class: planted SECONDS
#include <cstdlib>
#include <ctime>
#include <map>
#include <string>
#include <vector>

namespace shop {

struct Store {
	std::map<std::string, std::vector<int>> index;
	long sum = 0;

	__attribute__((noinline)) void work(int units)
	{
		for (int i = 0; i < units; i++)
			for (int k = 0; k < 100; k++)
				sum += static_cast<long>(index["key " + std::to_string(k * 37 % 100)].size());
	}
	__attribute__((noinline)) void search() { work(50); asm(""); }
	__attribute__((noinline)) void list() { work(30); asm(""); }
	__attribute__((noinline)) void detail() { work(20); asm(""); }
};

}

int main(int argc, char **argv)
{
	double end = std::atof(argc > 1 ? argv[1] : "1") * CLOCKS_PER_SEC;
	shop::Store store;

	while (static_cast<double>(std::clock()) < end) {
		store.search();
		store.list();
		store.detail();
	}
	return store.sum < 0;
}
