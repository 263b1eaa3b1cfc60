/* SPDX-License-Identifier: MIT */
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/* Orders are parsed, joined with customers, grouped and sorted, in two threads; "warm" is said after five runs, "done" ten runs later. */
public class Warm {
	record Order(int id, int customer, String part, double price) {}

	static List<String> lines(int nr) {
		List<String> lines = new ArrayList<>();
		for (int i = 0; i < nr; i++)
			lines.add(i + "," + i * 7919 % 5003 + ",part" + i % 997 + "," + i * 31 % 10000 / 100.0);
		return lines;
	}

	static Order parse(String line) {
		String[] f = line.split(",");
		return new Order(Integer.parseInt(f[0]), Integer.parseInt(f[1]), f[2], Double.parseDouble(f[3]));
	}

	static Map<Integer, String> customers() {
		Map<Integer, String> nations = new HashMap<>();
		for (int i = 0; i < 5003; i++)
			nations.put(i, "nation" + i % 25);
		return nations;
	}

	static double run(List<String> lines, Map<Integer, String> nations) {
		Map<String, Double> sums = lines.stream().map(Warm::parse).filter(o -> o.id() % 10 != 3).collect(
			Collectors.groupingBy(o -> nations.get(o.customer()) + "/" + o.part(), Collectors.summingDouble(Order::price)));
		return sums.entrySet().stream().sorted(Map.Entry.<String, Double>comparingByValue().reversed()).limit(100)
			.mapToDouble(Map.Entry::getValue).sum();
	}

	static void runs(int nr, List<String> lines, Map<Integer, String> nations) throws InterruptedException {
		Runnable all = () -> {
			double sum = 0;
			for (int i = 0; i < nr; i++)
				sum += run(lines, nations);
			if (sum < 0)
				throw new IllegalStateException();
		};
		Thread second = new Thread(all);
		second.start();
		all.run();
		second.join();
	}

	public static void main(String[] args) throws InterruptedException {
		List<String> lines = lines(Integer.parseInt(args[0]));
		Map<Integer, String> nations = customers();
		runs(5, lines, nations);
		System.out.println("warm");
		runs(10, lines, nations);
		System.out.println("done");
	}
}
