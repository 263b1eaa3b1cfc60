// SPDX-License-Identifier: MIT
// sqlite_host.js SECONDS: statements of the SQLite that Node has inside.
const { DatabaseSync } = require("node:sqlite");
const db = new DatabaseSync(":memory:");
db.exec("create table t(k integer primary key, g int, v int)");
db.exec(
	'with recursive r(n) as (select 1 union all select n + 1 from r where n < 100000) ' +
		'insert into t select n, n % 97, n * 7 % 1000 from r'
)
const statement = db.prepare("select g, sum(v) s from t where v % 3 < 2 group by g order by s desc limit 3");
const end = Date.now() + 1000 * Number(process.argv[2]);
let rows;
do {
	rows = statement.all();
} while (Date.now() < end);
console.log("result " + rows[0].s);
