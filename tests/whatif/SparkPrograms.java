// SPDX-License-Identifier: MIT
// Three programs for Spark, in Java: SparkPrograms make|words|ranks|blocks FOLDER [MASTER].  Words are counted and pages ranked as in Spark's examples;
// rows of compressed blocks are counted, as in the count over Stack Overflow's data.  "make" writes the input.
import java.util.*;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.api.java.*;
import org.apache.hadoop.io.compress.GzipCodec;
import scala.Tuple2;

public class SparkPrograms {
	static final int PARTS = 8, PAGES = 20000;

	static void make(JavaSparkContext context, String folder) {
		JavaRDD<Integer> numbers = context.parallelize(Collections.nCopies(PARTS, 0), PARTS);
		JavaRDD<String> text = numbers.mapPartitionsWithIndex((part, none) -> {
			Random random = new Random(part);

			return random.ints(250000).mapToObj(n -> "w" + Math.abs(n % 1009) + " w" + Math.abs(n / 1009 % 30011) + " and line").iterator();
		}, false);
		JavaRDD<String> links = numbers.mapPartitionsWithIndex((part, none) -> {
			Random random = new Random(part + 100);

			return random.ints(20000, 0, PAGES).mapToObj(n -> n + " " + (int)((long)n * 7919 % PAGES * random.nextDouble())).iterator();
		}, false);

		text.saveAsTextFile(folder + "/text");
		links.saveAsTextFile(folder + "/links");
		text.map(line -> "<row Id=\"7\" Score=\"3\" Tags=\"" + line + "\" Body=\"" + line.hashCode() + "\"/>")
			.saveAsTextFile(folder + "/blocks", GzipCodec.class);
	}

	static long words(JavaSparkContext context, String folder) {
		return context.textFile(folder + "/text").flatMap(line -> Arrays.asList(line.split(" ")).iterator())
			.mapToPair(word -> new Tuple2<>(word, 1)).reduceByKey(Integer::sum, 4).count();
	}

	static long ranks(JavaSparkContext context, String folder) {
		JavaPairRDD<String, Iterable<String>> links = context.textFile(folder + "/links").mapToPair(line -> {
			String[] parts = line.split(" ");

			return new Tuple2<>(parts[0], parts[1]);
		}).distinct(4).groupByKey(4).cache();
		JavaPairRDD<String, Double> ranks = links.mapValues(to -> 1.0);

		for (int i = 0; i < 5; i++) {
			JavaPairRDD<String, Double> parts = links.join(ranks, 4).values().flatMapToPair(page -> {
				int nr = 0;
				List<Tuple2<String, Double>> of = new ArrayList<>();

				for (String to : page._1)
					nr++;
				for (String to : page._1)
					of.add(new Tuple2<>(to, page._2 / nr));
				return of.iterator();
			});
			ranks = parts.reduceByKey(Double::sum, 4).mapValues(sum -> 0.15 + 0.85 * sum);
		}
		return ranks.filter(rank -> rank._2 > 1).count();
	}

	public static void main(String[] arguments) {
		SparkSession spark = SparkSession.builder().master(arguments.length > 2 ? arguments[2] : "local[2]").config("spark.ui.enabled", "false").getOrCreate();
		JavaSparkContext context = new JavaSparkContext(spark.sparkContext());
		String folder = arguments[1];

		switch (arguments[0]) {
		case "make" -> make(context, folder);
		case "words" -> System.out.println(words(context, folder));
		case "ranks" -> System.out.println(ranks(context, folder));
		case "blocks" -> System.out.println(context.textFile(folder + "/blocks").filter(row -> row.contains("w7 ")).count());
		}
		spark.stop();
	}
}
