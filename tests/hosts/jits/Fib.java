// SPDX-License-Identifier: MIT
// Fib SECONDS ROUNDS_FILE
import java.nio.file.Files;
import java.nio.file.Path;

public class Fib {
	static int fib(int n) {
		return n < 2 ? n : fib(n - 1) + fib(n - 2);
	}

	static int bif(int n) {
		return n < 2 ? n : bif(n - 1) + bif(n - 2);
	}

	static long total(int[] a) {
		long sum = 0;
		for (int v : a)
			sum += v % 7;
		return sum;
	}

	public static void main(String[] args) throws Exception {
		int[] numbers = new int[20000];
		for (int i = 0; i < numbers.length; i++)
			numbers[i] = i * 3;
		long end = System.nanoTime() + (long) (1e9 * Double.parseDouble(args[0])), rounds = 0, result = 0;
		while (rounds == 0 || System.nanoTime() < end) {
			result = fib(20) + fib(20) + fib(20) + bif(20) + total(numbers);
			rounds++;
		}
		System.out.println("result " + result);
		Files.writeString(Path.of(args[1]), rounds + "\n");
	}
}
