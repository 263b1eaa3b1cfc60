// SPDX-License-Identifier: MIT
// Planted work, 50 : 30 : 20, of which each method does its own, on two threads of a pool.  It ends by SIGTERM.  $PLANTED_CLOCK.PID has
// what each took by the threads' clocks, in nanoseconds.
import java.io.RandomAccessFile;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLongArray;

public class Planted {
	static final AtomicLongArray took = new AtomicLongArray(3);
	static volatile int sink;

	static int heavy(int x) {
		for (int i = 0; i < 5000000; i++) {
			x = x * 1664525 + 1013904223;
			x ^= x >>> 15;
		}
		return x;
	}

	static int middle(int x) {
		for (int i = 0; i < 3000000; i++) {
			x = x * 1664525 + 1013904223;
			x ^= x >>> 15;
		}
		return x;
	}

	static int light(int x) {
		for (int i = 0; i < 2000000; i++) {
			x = x * 1664525 + 1013904223;
			x ^= x >>> 15;
		}
		return x;
	}

	static void serve() {
		ThreadMXBean clock = ManagementFactory.getThreadMXBean();

		for (int i = 0; ; i = (i + 1) % 3) {
			long begin = clock.getCurrentThreadCpuTime();

			sink += i == 0 ? heavy(i) : i == 1 ? middle(i) : light(i);
			took.addAndGet(i, clock.getCurrentThreadCpuTime() - begin);
		}
	}

	public static void main(String[] args) throws Exception {
		String name = System.getenv("PLANTED_CLOCK") + "." + ProcessHandle.current().pid();
		ExecutorService pool = Executors.newFixedThreadPool(2);

		for (int i = 0; i < 2; i++)
			pool.execute(Planted::serve);
		try (RandomAccessFile file = new RandomAccessFile(name, "rw")) {
			for (; ; Thread.sleep(20)) {
				file.seek(0);
				file.write(String.format("%20d %20d %20d\n", took.get(0), took.get(1), took.get(2)).getBytes());
			}
		}
	}
}
