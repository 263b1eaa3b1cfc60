// SPDX-License-Identifier: MIT
// Planted work, 50 : 30 : 20: java Planted SECONDS
public class Planted {
	static long sink;

	static int mix(int seed, int rounds) {
		int x = seed | 1;
		for (int i = 0; i < rounds; i++) {
			x = x * 1664525 + 1013904223;
			x ^= x >>> 15;
		}
		return x;
	}

	static void work(int units) {
		for (int i = 0; i < units; i++)
			sink += mix(i, 400);
	}

	static void searchHandler() {
		work(50);
	}

	static void listHandler() {
		work(30);
	}

	static void detailHandler() {
		work(20);
	}

	public static void main(String[] args) {
		long end = System.nanoTime() + (long) (Double.parseDouble(args[0]) * 1e9);
		while (System.nanoTime() < end) {
			searchHandler();
			listHandler();
			detailHandler();
		}
	}
}
