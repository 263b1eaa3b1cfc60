// SPDX-License-Identifier: MIT
/*
 * A recording of UmbraPerf as arrays: rows of its Parquet table, and its dictionary, IR and plan.
 *
 * Columns are looked for by name and, where that is not there, by position.  The dictionary turns numbers into names; without one the
 * columns themselves have names.  `lines` is each IR line with its operator and pipeline, `plan` the tree of operators.
 */
import { unzip } from './zip.mjs'

const COLUMNS = { operator: ['Operator'], pipeline: ['Pipeline'], time_ms: ['time'], event: ['event_name'], period: ['period'],
	cpu: ['cpu'],
	line: ['srcline'], image: ['dso'], register: ['iregs'], method: ['mappingSrcline', 'mapping'], address: ['addr'] }
const DICTIONARY = { operator: 'operators', pipeline: 'pipelines', event: 'events', line: 'srclines', image: 'dso', method: 'mapping' }
// What stands for no operator and no pipeline.
const NONE = /^(Kernel|Umbra-Symbol|No Operator|No operator assigned|No pipeline|No pipeline running|NULL|null|)$/

const named = (name) => NONE.test(name) ? '' : name

async function table(parquet, data) {
	const file = data.buffer.slice(data.byteOffset, data.byteOffset + data.length)
	const metadata = parquet.parquetMetadata(file)
	const names = metadata.schema.slice(1).map((element) => element.name)
	const columns = {}
	for (const [name, known] of Object.entries(COLUMNS)) {
		const position = Object.keys(COLUMNS).indexOf(name)
		columns[name] = known.find((column) => names.includes(column)) ?? names[position]
	}
	const nr = Number(metadata.num_rows), values = {}
	for (const [name, column] of Object.entries(columns))
		values[name] = column === undefined ? new Array(nr).fill(0) : new Array(nr)
	await parquet.parquetRead({ file, columns: Object.values(columns).filter(Boolean),
		onChunk: ({ columnName, columnData, rowStart }) => {
		for (const name of Object.keys(columns).filter((n) => columns[n] === columnName))
			for (let i = 0; i < columnData.length; i++)
				values[name][rowStart + i] = columnData[i]
	} })
	return { nr, values }
}

function tree(node, upper, order, out) {
	if (!node || typeof node !== 'object')
		return
	if (typeof node.operator === 'string') {
		out.push({ name: node.operator, upper, order, detail: [node.physicalOperator, node.tablename].filter(Boolean).join(' '),
			estimated: node.cardinality, rows: node.analyzePlanCardinality })
		upper = node.operator
	}
	Object.values(node).filter((child) => child && typeof child === 'object' && !Array.isArray(child) && child.operator)
		.forEach((child, i) => tree(child, upper, i, out))
}

export async function read(parquet, data) {
	const files = unzip(data)
	const json = (name) => files.has(name) ? JSON.parse(files.get(name).toString('utf8')) : {}
	if (!files.has('samples.parquet'))
		throw new Error('the archive has no samples.parquet')
	const { nr, values } = await table(parquet, files.get('samples.parquet'))
	const dictionary = json('dictionary_compression.json')
	for (const [name, key] of Object.entries(DICTIONARY)) {
		const names = new Map(Object.entries(dictionary[key] ?? {}).map(([text, number]) => [String(number), text]))
		values[name] = values[name].map((value) => names.get(String(value)) ?? String(value))
	}
	values.operator = values.operator.map(named)
	values.pipeline = values.pipeline.map(named)
	const lines = new Map(Object.entries(json('uir.json')).map(([line, of]) =>
		[Number(line), { text: of.uir ?? '', operator: named(of.op ?? ''), pipeline: named(of.pipeline ?? '') }]))
	const plan = []
	tree(json('query_plan_analyzed.json'), '', 0, plan)
	return { nr, values, lines, plan }
}
