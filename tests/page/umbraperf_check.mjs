// SPDX-License-Identifier: MIT
// umbraperf_check.mjs BUILD FOLDER [FILE.umbraperf...]: what `tailor report` says of the converted recordings is what is in them.
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { generate } from './generate.mjs'
import { load } from './packages.mjs'
import { read } from './recording.mjs'

const [build, folder, ...recordings] = process.argv.slice(2)
const packages = path.join(build, 'page-deps'), parquet = await load(packages, 'hyparquet')
let bad = 0

// What is known of recordings that others have looked at: shares of the event's samples, in per cent, of operators.
const KNOWN = { 'Scenario1.umbraperf': ['Cycles', { tablescan1: 69.0, tablescan3: 18.9, join1: 4.8, join2: 2.0, groupby1: 1.7,
	tablescan2: 0.9,
	sort1: 0.4 }, 0.26] }

function expect(what, expected, got) {
	if (JSON.stringify(expected) === JSON.stringify(got))
		return
	bad = 1
	console.log(`${what}:\n  expected ${JSON.stringify(expected)}\n  got      ${JSON.stringify(got)}`)
}

function report(trace, event, view, ...more) {
	const args = ['report', '--json', '--top', '0', '--view', view, '--event', event, ...more, trace]
	return JSON.parse(execFileSync(path.join(build, 'tailor'), args, { encoding: 'utf8', maxBuffer: 1 << 28 }))
}

const counted = (names) => {
	const counts = {}
	for (const name of names.filter(Boolean).sort())
		counts[name] = (counts[name] ?? 0) + 1
	return counts
}
const rows = (table) => Object.fromEntries(table.filter((row) => row.samples &&
	!row.name.startsWith('(')).map((row) => [row.name, row.samples])
	.sort(([a], [b]) => a < b ? -1 : 1))

async function check(file) {
	const name = path.basename(file), trace = path.join(folder, `${name}.tlr`),
		{ nr, values } = await read(parquet, fs.readFileSync(file))
	execFileSync('node', [new URL('umbraperf.mjs', import.meta.url).pathname, file, '-o', trace, '--packages', packages],
		{ stdio: 'pipe' })
	for (const event of new Set(values.event)) {
		const of = (column) => counted(values[column].filter((_, i) => values.event[i] === event))
		const plan = report(trace, event, 'plan')
		expect(`${name}: samples`, nr, plan.recorded)
		expect(`${name}: samples of each operator, by ${event}`, of('operator'), rows(plan.tables.plan))
		const pipelines = report(trace, event, 'components', '--level', 'pipeline')
		expect(`${name}: samples of each pipeline, by ${event}`, of('pipeline'), rows(pipelines.tables.pipeline))
	}
	const [event, known, kernel] = KNOWN[name] ?? []
	for (const [operator, share] of Object.entries(known ?? {})) {
		const row = report(trace, event, 'plan').tables.plan.find((r) => r.name === operator)
		expect(`${name}: share of ${operator}`, share.toFixed(1), (100 * row.share).toFixed(1))
	}
	if (known) {
		const image = report(trace, event, 'images').tables.images.find((row) => row.path === '[kernel]')
		expect(`${name}: share of the kernel`, kernel.toFixed(2), (100 * image.share).toFixed(2))
	}
	console.log(`${name}: ${nr} samples`)
}

const made = path.join(folder, 'generated.umbraperf')
fs.writeFileSync(made, await generate(await load(packages, 'hyparquet-writer'), 20000))
for (const file of [made, ...recordings])
	await check(file)
process.exitCode = bad
