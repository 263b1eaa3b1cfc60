// SPDX-License-Identifier: MIT
/*
 * generate.mjs PACKAGES FILE.umbraperf SAMPLES: a recording as UmbraPerf writes it, of a query that never ran: a join of two scans under an
 * aggregation, in two pipelines, on two processors.
 * The same bytes for the same number of samples.  Lines 1 to 40 are the IR; half of the samples are by line, the others by tag, in a
 * library;
 * every 16th has nothing that leads to a line.
 */
import fs from 'node:fs'
import { load } from './packages.mjs'
import { zip } from './zip.mjs'

const OPERATORS = ['Kernel', 'No Operator', 'scan1', 'scan2', 'join1', 'groupby1']
const PIPELINES = ['No pipeline', 'build 1', 'probe 2']
const EVENTS = ['Cycles', 'L3-Misses'], PERIODS = [10000, 1000]
const IMAGES = ['[kernel.kallsyms]', '/umbra/sql', '/umbra/dump.so']
const METHODS = ['NULL', 'srcline', 'register r15']
const LINES = 40
const CHECK = 0xfafa001700000000n

const operator_of = (line) => line <= 4 ? '' : ['scan1', 'join1', 'scan2', 'join1', 'groupby1', 'groupby1'][Math.floor((line - 5) / 6)]
const pipeline_of = (line) => line <= 4 ? '' : line < 17 ? 'build 1' : 'probe 2'

export async function generate({ parquetWriteBuffer }, nr) {
	let state = 88172645463325252n
	const random = (below) => {
		state = BigInt.asUintN(64, state ^ state << 13n)
		state ^= state >> 7n
		state = BigInt.asUintN(64, state ^ state << 17n)
		return Number(state % BigInt(below))
	}
	const columns = { Operator: [], Pipeline: [], time: [], event_name: [], period: [], cpu: [], srcline: [], dso: [], iregs: [],
		mappingSrcline: [], addr: [] }
	const lines = ['NULL', ...Array.from({ length: LINES + 1 }, (_, line) => `dump.uir:${line}`)]
	for (let i = 0; i < nr; i++) {
		// a few lines are hot, the first pipeline comes first
		const first = i < nr / 3, hot = random(4), line = first ? 5 + (hot ? random(3) : random(12)) : 17 + (hot ? 2 : random(24))
		const event = random(5) ? 0 : 1, method = random(16) ? 1 + random(2) : 0, of = method ? operator_of(line) : ''
		const row = { Operator: OPERATORS.indexOf(of || (random(2) ? 'Kernel' : 'No Operator')),
			Pipeline: PIPELINES.indexOf(pipeline_of(line)),
			event_name: event, period: PERIODS[event], cpu: random(3) ? 0 : 1, srcline: 1 + line, dso: method === 2 ? 1 : 2,
			iregs: method === 2 ? BigInt.asIntN(64, CHECK | BigInt(1000 + line)) : BigInt(random(1000)), mappingSrcline: method,
			addr: event ? BigInt(0x7f2000000000 + (line % 2 ? i * 64 : random(1 << 24))) : 0n }
		if (!method)
			Object.assign(row, { Pipeline: 0, srcline: 0, dso: OPERATORS[row.Operator] === 'Kernel' ? 0 : 1 })
		for (const [name, value] of Object.entries(row))
			columns[name].push(BigInt(value))
		columns.time.push(i * 0.025 + (i % 7 ? 0 : 0.1)) // not quite sorted
	}
	const parquet = parquetWriteBuffer({ columnData: Object.entries(columns).map(([name, data]) =>
		({ name, data, type: name === 'time' ? 'DOUBLE' : 'INT64' })) })
	const numbered = (names) => Object.fromEntries(names.map((name, i) => [name, i]))
	const uir = {}
	for (let line = 1; line <= LINES; line++)
		uir[line] = operator_of(line) ? { uir: `  %${line} = add i64 %${line - 1}, 1`, op: operator_of(line),
			pipeline: pipeline_of(line) } :
			{ uir: line === 1 ? 'define int32 @query() {' : '' }
	const scan = (name, tablename, cardinality, analyzePlanCardinality) =>
		({ operator: name, physicalOperator: 'tablescan', tablename, cardinality, analyzePlanCardinality })
	const plan = { operator: 'groupby1', physicalOperator: 'groupby', cardinality: 5, analyzePlanCardinality: 7,
		input: { operator: 'join1',
		physicalOperator: 'hashjoin', cardinality: 5000, analyzePlanCardinality: 4321, left: scan('scan1', 'a', 100, 90),
		right: scan('scan2', 'b', 10000, 9876) } }
	const json = (value) => Buffer.from(JSON.stringify(value))
	return zip(new Map([['query_plan_analyzed.json', json(plan)], ['uir.json', json(uir)], ['samples.parquet', Buffer.from(parquet)],
		['dictionary_compression.json', json({ operators: numbered(OPERATORS), pipelines: numbered(PIPELINES),
			events: numbered(EVENTS),
			srclines: numbered(lines), dso: numbered(IMAGES), mapping: numbered(METHODS) })]]))
}

if (process.argv[1]?.endsWith('generate.mjs'))
	fs.writeFileSync(process.argv[3], await generate(await load(process.argv[2], 'hyparquet-writer'), Number(process.argv[4])))
