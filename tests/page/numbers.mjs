// SPDX-License-Identifier: MIT
// numbers.mjs BUILD FOLDER COMBINATIONS TRACE...: sums of the page are those of `tailor report --json` under the same filters.
// SERVE=1: of the page that `tailor serve` shows.
import { execFile, execFileSync } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { Checks, launch, open, random_from, serve } from './browser.mjs'

const [build, folder, nr, ...traces] = process.argv.slice(2)
const tailor = path.join(build, 'tailor'), run = promisify(execFile)
const CLOSE = 1e-6
const checks = new Checks()

const random = random_from(2463534242)
const pick = (list) => list[random(list.length)]

async function report(trace, view, filters) {
	const { stdout } = await run(tailor, ['report', '--json', '--top', '0', '--view', view, ...filters, trace], { maxBuffer: 1 << 28 })
	return JSON.parse(stdout)
}

// What samples can be filtered by, and how both are asked: [the page's dimension, its values, the command's options].
function conditions(facts, level) {
	const { components, threads, processes, functions, marks } = facts, found = []
	const same = (names, name, ok = () => true) => names.map((n, i) => n === name && ok(i) ? i : -1).filter((i) => i >= 0)
	const some = (list, each) => { // of long lists some
		for (let i = 0; i < list.length; i += Math.ceil(list.length / 40))
			each(list[i], i)
	}
	for (const l of facts.levels.keys()) {
		const own = components.level.map((of, i) => of === l && i && components.name[i] ? i : 0).filter(Boolean)
		some(own, (i) => found.push([`level:${l}`, same(components.name, components.name[i], (c) => components.level[c] === l),
			['--component', `${facts.levels[l].name}:${components.name[i]}`]]))
	}
	some(threads.tid, (tid) => found.push(['thread', same(threads.tid, tid), ['--thread', String(tid)]]))
	some(processes.pid, (pid) => found.push(['process', same(processes.pid, pid), ['--process', String(pid)]]))
	some(functions.name, (name, i) => i && name && !/^[[(]/.test(name) &&
		found.push(['function', same(functions.name, name), ['--function', name]]))
	return found
}

function combination(facts, all) {
	const last_us = Math.max(1, Math.floor((facts.last_ns - facts.first_ns) / facts.time_ns))
	const events = facts.events.map((event, i) => [event.name, i]).filter(([name, i]) => name !== 'switch' && facts.event_rows[i])
	const [event, number] = pick(events), filters = { event: { values: [number] } }, options = ['--event', event]
	if (random(2)) {
		const from = random(Math.ceil(last_us / 2)), to = from + 1 + random(last_us - from)
		filters.time = { from, to }
		options.push('--from', (from * facts.time_ns / 1e9).toFixed(9), '--to', (to * facts.time_ns / 1e9).toFixed(9))
	}
	for (let more = Math.max(0, random(4) - 1); more > 0 && all.length; more--) {
		const [dimension, values, option] = pick(all)
		if (filters[dimension])
			continue
		filters[dimension] = { values }
		options.push(...option)
	}
	const { marks } = facts, runs = [...marks.name.keys()].filter((i) => facts.phase_rows[i + 1])
	if (runs.length && random(5) === 0) {
		const run = pick(runs)
		filters.phase = { values: runs.filter((i) => marks.name[i] === marks.name[run] &&
			marks.instance[i] === marks.instance[run]).map((i) => i + 1) }
		options.push('--mark', `${marks.name[run]}#${marks.instance[run]}`)
	} else {
		options.push('--mark', 'all')
	}
	return { filters, options }
}

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
			const out = { total: state.sums(null, null, [], which).total, threads: rows('thread', (v) => `${facts.threads.tid[v]}`),
				functions: rows('function', (v) => v ? facts.functions.name[v] : '(none)'), levels: [] }
			for (const l of facts.levels.keys())
				out.levels.push(rows(`level:${l}`, (v) => v ? facts.components.label[v] ?? facts.components.name[v] : '(unattributed)'))
			return out
		})
	}, { f: filters, which })
}

// trace: the first of the page's, or its second, of which the same names are wanted.
async function one(page, trace, facts, all, which = 0) {
	const { filters, options } = combination(facts, all), what = `${path.basename(trace)} ${options.join(' ')}`
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
	return got.total[0]
}

// ... with how many samples events and phases have.
async function facts_of(page) {
	return page.evaluate(() => {
		const { state } = window.tailor, { facts } = state.data[0].dimensions
		state.replace({})
		const rows = (id, nr) => {
			const sums = state.sums(id)
			return Array.from({ length: nr }, (_, key) => sums.samples(key))
		}
		return window.tailor.answered(() => ({ ...facts, event_rows: rows('event', facts.events.length),
			phase_rows: rows('phase', facts.marks.name.length + 1) }))
	})
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
	const all = conditions(facts)
	for (let n = Math.ceil(nr * (i + 1) / traces.length) - Math.ceil(nr * i / traces.length); n > 0; n--)
		filled += await one(page, trace, facts, all) > 0
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
await browser.close()
checks.that('combinations with samples', filled >= nr / 2, filled)
checks.finish(`${nr} combinations of filters, ${filled} of them with samples`)
