// SPDX-License-Identifier: MIT
// DuckDB's library in Node: duck.js SECONDS.  Prints the operator that EXPLAIN ANALYZE gives most of the time.
const { DuckDBInstance } = require('@duckdb/node-api')

const query = 'select sum(price) from orders join customers on customer = customers.id'

function most(plan) {
  let best = { operator_timing: -1 }
  for (const child of plan.children || []) {
    for (const one of [child, most(child)]) if (one.operator_timing > best.operator_timing) best = one
  }
  return best
}

async function main() {
  const connection = await (await DuckDBInstance.create(':memory:')).connect()
  await connection.run('set threads = 1')
  await connection.run('create table customers as select i as id from range(1000000) t(i)')
  await connection.run('create table orders as select i * 7919 % 1000000 as customer, i % 1000 as price from range(2000000) t(i)')
  const rows = (await connection.runAndReadAll('explain (analyze, format json) ' + query)).getRows()
  console.log(most(JSON.parse(rows[0][1])).operator_name)
  const end = process.hrtime.bigint() + BigInt(Number(process.argv[2]) * 1e9)
  while (process.hrtime.bigint() < end) await connection.runAndReadAll(query)
}

main()
