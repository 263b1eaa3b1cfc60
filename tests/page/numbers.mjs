// SPDX-License-Identifier: MIT
// numbers.mjs BUILD FOLDER COMBINATIONS TRACE...: sums of the page are those of `tailor report --json` under the same filters.
// SERVE=1: of the page that `tailor serve` shows.
import { execFile, execFileSync } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { Checks, launch, open, random_from, serve } from './browser.mjs'
import { Columns } from './columns.mjs'
import { combination, conditions, facts_of } from './filters.mjs'

const [build, folder, nr, ...traces] = process.argv.slice(2)
const tailor = path.join(build, 'tailor'), run = promisify(execFile)
const CLOSE = 1e-6
const checks = new Checks()

const random = random_from(2463534242)
async function report(trace, views, filters) {
	const { stdout } = await run(
		tailor,
		['report', '--json', '--top', '0', ...[views].flat().flatMap((view) => ['--view', view]), ...filters, trace],
		{ maxBuffer: 1 << 28 }
	)
	return JSON.parse(stdout)
}

// The lines of `report --samples`, by their columns.
async function samples(trace, filters) {
	const { stdout } = await run(tailor, ['report', '--samples', ...filters, trace], { maxBuffer: 1 << 28 })
	const [head, ...lines] = stdout.replace(/\n$/, '').split('\n')
	const keys = head.split('\t'), numbers = new Set(['time_ns', 'pid', 'tid', 'event', 'weight'])
	return lines.map((line) =>
		Object.fromEntries(line.split('\t').map((text, i) => [keys[i], numbers.has(keys[i]) ? Number(text) : text]))
	)
}

// Columns of views: of one in so many combinations.
const EVERY = Number(process.env.COLUMNS_EVERY ?? 25)
const columns = (trace) =>
	new Columns(checks, {
		report: async (...asked) => (await report(trace, ...asked)).tables,
		samples: (filters) => samples(trace, filters)
	})
const compared = []

// Where there is no symbol, the page says in which image.
const function_name = ({ name, image }) => name === '(no symbol)' ? image : name.startsWith('+0x') ? image + name : name

// name => [samples, weight], of rows that have samples
function sum(rows) {
	const sums = {}
	for (const [name, samples, weight] of rows) {
		const key = ' ' + name
		sums[key] = [(sums[key]?.[0] ?? 0) + samples, (sums[key]?.[1] ?? 0) + weight]
	}
	return Object.fromEntries(Object.entries(sums).filter(([, [samples]]) => samples > CLOSE).sort(([a], [b]) => a < b ? -1 : a > b ?
		1 : 0))
}

function compare(what, expected, got) {
	checks.same(`${what}: rows`, Object.keys(expected), Object.keys(got))
	for (const [name, [samples, weight]] of Object.entries(expected)) {
		const [s, w] = got[name] ?? [NaN, NaN]
		checks.that(`${what}: samples of "${name}"`, Math.abs(s - samples) <= 0.5 + CLOSE, [samples, s])
		checks.that(`${what}: weight of "${name}"`, Math.abs(w - weight) <= 1 + CLOSE * weight, [weight, w])
	}
}

async function look(page, filters, which) {
	return page.evaluate(({ f, which }) => {
		const { state } = window.tailor, { dimensions } = state.data[which], { facts } = dimensions
		state.replace(f)
		return window.tailor.answered(() => {
			const rows = (id, name) => {
				const sums = state.sums(id, null, [], which), { values } = dimensions.get(id)
				return sums.order().map((key) => [name(values[key]), sums.samples(key), sums.weight(key)])
			}
			const out = {
				total: state.sums(null, null, [], which).total,
				threads: rows('thread', (v) => `${facts.threads.tid[v]}`),
				functions: rows('function', (v) => (v ? facts.functions.name[v] : '(none)')),
				levels: []
			}
			for (const l of facts.levels.keys())
				out.levels.push(
					rows(`level:${l}`, (v) =>
						v ? (facts.components.label[v] ?? facts.components.name[v]) : '(unattributed)'
					)
				)
			return out
		})
	}, { f: filters, which })
}

// trace: the first of the page's, or its second, of which the same names are wanted.
async function one(page, trace, facts, all, which = 0, views = null) {
	const { filters, options } = combination(facts, all, random), what = `${path.basename(trace)} ${options.join(' ')}`
	const [got, threads, functions, components] = await Promise.all([look(page, filters, which), report(trace, 'threads', options),
		report(trace, 'functions', options), facts.levels.length ? report(trace, 'components', options) : { tables: {} }])
	checks.that(`${what}: samples`, Math.abs(got.total[0] - threads.samples) <= 0.5, [threads.samples, got.total[0]])
	const rows = (table, name) => sum((table ?? []).map((row) => [name(row), row.samples, row.weight]))
	compare(`${what}: threads`, rows(threads.tables.threads, (row) => row.tid), sum(got.threads))
	compare(`${what}: functions`, rows(functions.tables.functions, function_name), sum(got.functions))
	for (const [l, level] of facts.levels.entries()) {
		const table = components.tables[level.name]
		if (table)
			compare(`${what}: ${level.name}`, rows(table, (row) => row.name), sum(got.levels[l]))
	}
	if (views && got.total[0] > 0)
		await views.compare(page, what, facts, filters, options, random)
	return got.total[0]
}

// A page of these traces, and what ends it.
async function open_traces(...list) {
	if (process.env.SERVE) {
		const server = await serve(build, ...list), page = await open(browser, server.address)
		return [page, async () => {
			await page.context().close()
			checks.same(`exit status of tailor serve ${list.join(' ')}`, 0, await server.end())
		}]
	}
	const html = path.join(folder, 'numbers.html')
	execFileSync(tailor, ['html', ...list, '-o', html])
	const page = await open(browser, html)
	return [page, () => page.context().close()]
}

const browser = await launch(build)
let filled = 0
for (const [i, trace] of traces.entries()) {
	const [page, close] = await open_traces(trace)
	const facts = await facts_of(page)
	const all = conditions(facts), views = columns(trace)
	for (let n = Math.ceil(nr * (i + 1) / traces.length) - Math.ceil(nr * i / traces.length); n > 0; n--)
		filled += await one(page, trace, facts, all, 0, n % EVERY === 1 || EVERY === 1 ? views : null) > 0
	compared.push(views)
	checks.same(`${trace}: faults`, [], page.faults)
	await close()
}

// Filters of a page of two traces are those of both, by name.
if (process.env.SECOND) {
	const second = process.env.SECOND, [page, close] = await open_traces(traces[0], second), facts = await facts_of(page),
		all = conditions(facts).filter(([dimension]) => !/thread|process/.test(dimension))
	for (let n = 0; n < nr / 10; n++)
		await one(page, second, facts, all, 1)
	checks.same(`${second} as the second: faults`, [], page.faults)
	await close()
}
// Samples that several components share: Memory counts them by shares, for all and for one of them.
if (process.env.SHARED) {
	const trace = process.env.SHARED
	const [page, close] = await open_traces(trace)
	const views = columns(trace)
	const component = ['--component', 'operator:operator 2']
	for (const options of [[], component]) {
		const filters = options.length ? { 'level:0': { values: [2] } } : {}
		const { tables } = await report(trace, ['memory'], ['--level', 'line', ...options])
		checks.same(
			`accesses by line ${options}`,
			options.length
				? [
						['line 1', 10],
						['line 2', 20 / 3]
					]
				: [
						['line 1', 20],
						['line 2', 20]
					],
			tables.memory.map((r) => [r.name, Math.round(3 * r.samples) / 3]).sort()
		)
		await page.evaluate((f) => window.tailor.state.replace(f), filters)
		await views.memory(page, `${trace} ${options}`, tables)
	}
	checks.same(`${trace}: faults`, [], page.faults)
	await close()
}
await browser.close()
const views = Columns.all(checks, compared)
checks.that('combinations with samples', filled >= nr / 2, filled)
checks.finish(`${nr} combinations of filters, ${filled} of them with samples; ${views}`)
