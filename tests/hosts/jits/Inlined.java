// SPDX-License-Identifier: MIT
// Inlined SECONDS: a method that is inlined into two others, which do little themselves.
public class Inlined {
	static long inner(long x, int n) {
		for (int i = 0; i < n; i++) {
			x ^= x << 13;
			x ^= x >>> 7;
			x ^= x << 17;
		}
		return x;
	}

	static long often(long x) {
		return inner(x, 600) + 1;
	}

	static long rarely(long x) {
		return inner(x, 200) + 2;
	}

	public static void main(String[] args) {
		long end = System.nanoTime() + (long) (1e9 * Double.parseDouble(args[0])), x = 88172645463325252L;
		while (System.nanoTime() < end)
			x = rarely(often(x));
		System.out.println(x != 0);
	}
}
