// SPDX-License-Identifier: MIT
// duckdb_host.js SECONDS: queries of DuckDB as npm has it.
const { DuckDBInstance } = require("@duckdb/node-api");

async function main() {
	const connection = await (await DuckDBInstance.create(":memory:")).connect();
	await connection.run("create table t as select range k, range % 997 g, (range * 7) % 1000 v from range(5000000)");
	await connection.run("create table u as select range g, range % 31 h from range(997)");
	const end = Date.now() + 1000 * Number(process.argv[2]);
	let rows;
	do {
		rows = (
			await connection.runAndReadAll(
				'select h, sum(v), count(*) from t join u using (g) where v % 3 < 2 group by h order by h'
			)
		).getRows()
	} while (Date.now() < end);
	console.log("result " + rows[0]);
}
main().catch((error) => { console.error(error); process.exit(1); });
