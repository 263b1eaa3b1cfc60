// SPDX-License-Identifier: MIT
// Graal SECONDS ROUNDS_FILE [python]: fib() three times as often as bif(), as JavaScript or Python in a JVM, compiled by Graal's compiler
// from Maven.
import org.graalvm.polyglot.Context;
import org.graalvm.polyglot.Value;

import java.nio.file.Files;
import java.nio.file.Path;

public class Graal {
	static final String JS = "function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) }\n"
		+ "function bif(n) { return n < 2 ? n : bif(n - 1) + bif(n - 2) }\n"
		+ "function round() { let s = 0; for (let i = 0; i < 20; i++) s += i < 15 ? fib(20) : bif(20); return s }\n";
	static final String PYTHON = "def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)\n"
		+ "def bif(n): return n if n < 2 else bif(n - 1) + bif(n - 2)\n"
		+ "def round():\n\ts = 0\n\tfor i in range(20): s += fib(20) if i < 15 else bif(20)\n\treturn s\n";

	public static void main(String[] arguments) throws Exception {
		String language = arguments.length > 2 ? arguments[2] : "js";

		try (Context context = Context.newBuilder(language).option("engine.WarnInterpreterOnly", "true").build()) {
			context.eval(language, language.equals("js") ? JS : PYTHON);
			Value round = context.getBindings(language).getMember("round");
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
