// SPDX-License-Identifier: MIT
// A program with the database H2 in it; its reports do planted work, 50 : 30 : 20: java -cp h2.jar:. H2 SECONDS
import java.sql.*;

public class H2 {
	static Connection connection;

	static long query(int times) throws SQLException {
		long sum = 0;
		try (PreparedStatement s = connection.prepareStatement(
				"select c.region, sum(o.price) from orders o join customers c on c.id = o.customer where o.price > ? group by c.region")) {
			for (int i = 0; i < times; i++) {
				s.setInt(1, i % 7);
				try (ResultSet r = s.executeQuery()) {
					while (r.next())
						sum += r.getLong(2);
				}
			}
		}
		return sum;
	}

	static long salesReport() throws SQLException {
		return query(5);
	}

	static long stockReport() throws SQLException {
		return query(3);
	}

	static long returnsReport() throws SQLException {
		return query(2);
	}

	public static void main(String[] args) throws SQLException {
		connection = DriverManager.getConnection("jdbc:h2:mem:everyday");
		Statement s = connection.createStatement();
		s.execute("create table customers(id int primary key, region int)");
		s.execute("create table orders(id int primary key, customer int, price int)");
		s.execute("insert into customers select x, mod(x, 10) from system_range(1, 20)");
		s.execute("insert into orders select x, 1 + mod(x * 7919, 20), mod(x * 104729, 1000) from system_range(1, 50)");
		long end = System.nanoTime() + (long) (Double.parseDouble(args[0]) * 1e9), sum = 0;
		while (System.nanoTime() < end)
			sum += salesReport() + stockReport() + returnsReport();
		System.out.println(sum != 0);
	}
}
