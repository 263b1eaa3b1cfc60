// SPDX-License-Identifier: MIT
// fib.exe SECONDS ROUNDS_FILE
using System;
using System.Diagnostics;
using System.Globalization;
using System.IO;

class Program
{
	static int Fib(int n)
	{
		return n < 2 ? n : Fib(n - 1) + Fib(n - 2);
	}

	static int Bif(int n)
	{
		return n < 2 ? n : Bif(n - 1) + Bif(n - 2);
	}

	static long Total(int[] a)
	{
		long sum = 0;
		foreach (int v in a)
			sum += v % 7;
		return sum;
	}

	static void Main(string[] args)
	{
		var numbers = new int[20000];
		for (int i = 0; i < numbers.Length; i++)
			numbers[i] = i * 3;
		var watch = Stopwatch.StartNew();
		long limit = (long)(1000 * double.Parse(args[0], CultureInfo.InvariantCulture)), rounds = 0, result = 0;
		while (rounds == 0 || watch.ElapsedMilliseconds < limit) {
			result = Fib(20) + Fib(20) + Fib(20) + Bif(20) + Total(numbers);
			rounds++;
		}
		Console.WriteLine("result " + result);
		File.WriteAllText(args[1], rounds + "\n");
	}
}
