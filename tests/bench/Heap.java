/* SPDX-License-Identifier: MIT */
package org.apache.spark.sql.catalyst.expressions.codegen;

/* A heap with so many MiB in objects as programs have them, and the texts of 40 generated classes as Spark keeps them. */
public class Heap {
	record Row(Long key, String name) {}

	public static void main(String[] args) {
		long mib = Long.parseLong(args[0]), bytes_of_row = 96;
		Row[][] rows = new Row[(int) mib][(int) ((1 << 20) / bytes_of_row)];
		CodeAndComment[] texts = new CodeAndComment[40];
		for (Row[] some : rows)
			for (int i = 0; i < some.length; i++)
				some[i] = new Row(1000L + i, "row " + i);
		for (int i = 0; i < texts.length; i++)
			texts[i] = new CodeAndComment("class C" + i + " { }");
		Runtime r = Runtime.getRuntime();
		System.out.println((r.totalMemory() - r.freeMemory() >> 20) + " MiB, " + rows.length + ", " + texts.length);
	}
}

class CodeAndComment {
	String body;

	CodeAndComment(String body) { this.body = body; }
}
