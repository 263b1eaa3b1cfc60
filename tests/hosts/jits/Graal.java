// SPDX-License-Identifier: MIT
// Graal SECONDS ROUNDS_FILE: fib() three times as often as bif(), as JavaScript in a JVM, compiled by Graal's compiler from Maven.
import org.graalvm.polyglot.Context;
import org.graalvm.polyglot.Value;

import java.nio.file.Files;
import java.nio.file.Path;

public class Graal {
	public static void main(String[] arguments) throws Exception {
		try (Context context = Context.newBuilder("js").option("engine.WarnInterpreterOnly", "true").build()) {
			Value round = context.eval("js", "function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) }\n"
				+ "function bif(n) { return n < 2 ? n : bif(n - 1) + bif(n - 2) }\n"
				+ "(function () { let s = 0; for (let i = 0; i < 20; i++) s += i < 15 ? fib(20) : bif(20); return s })");
			long end = System.nanoTime() + (long) (Double.parseDouble(arguments[0]) * 1e9), rounds = 0, result = 0;

			while (rounds == 0 || System.nanoTime() < end) {
				result = round.execute().asLong();
				rounds++;
			}
			System.out.println("result " + result);
			Files.writeString(Path.of(arguments[1]), rounds + "\n");
		}
	}
}
