// SPDX-License-Identifier: MIT
/*
 * The tables of the views Threads, Events, Memory and Quality: under the filters that a page and a report have, each column of them is what
 * `tailor report --json` has, or what its `--samples` sum up to.  A column that is compared with nothing is an error.
 */
import { show } from './browser.mjs'

// These columns are of the whole recording, whatever the filters are.
const FACTS = new Set(['unit', 'every', 'rate', 'counted', 'lost', 'running'].map((key) => `quality events ${key}`))
const CLOSE = 1e-6, BINS = 240 // of the lanes of Threads, which first and last are read off

const tables_of = async (page, view) => {
	await show(page, view)
	return page.evaluate(() => Object.fromEntries([...document.querySelectorAll('#view .tablebox')].filter((el) => el.checkVisibility())
		.map(({ table: { name, columns, rows } }) => [name, { keys: columns.map((c) => c.key), rows: rows.map((r) =>
			({ ...Object.fromEntries(columns.map((c) => [c.key, c.value(r) ?? null])), value: r.value ?? r.i })) }])))
}

const sum = (list, of) => list.reduce((all, x) => all + of(x), 0)
const grouped = (list, key) => list.reduce((groups, x) => groups.set(key(x), [...groups.get(key(x)) ?? [], x]), new Map())
const measure = (r) => r.weight > 0 ? r.weight : r.samples
const only = (list, key) => new Map([...grouped(list, key)].filter(([, rows]) => rows.length === 1).map(([k, [row]]) => [k, row]))

export class Columns {
	// report(views, options) -> tables; samples(options) -> the lines of --samples, as objects
	constructor(checks, { report, samples }) {
		Object.assign(this, { checks, report, samples, there: new Set(), seen: new Map() })
	}

	// a: what the report has
	same(what, column, a, b, most = CLOSE * Math.max(1, Math.abs(a))) {
		const alike = typeof a === 'number' && typeof b === 'number' ? Math.abs(a - b) <= most : (a ?? null) === (b ?? null)
		this.checks.that(`${what}: ${column}`, alike, [a, b])
		this.seen.set(column, (this.seen.get(column) ?? 0) + 1)
	}

	async look(page, view) {
		const tables = await tables_of(page, view)
		for (const [name, { keys }] of Object.entries(tables))
			keys.forEach((key) => this.there.add(`${view} ${name} ${key}`))
		return Object.fromEntries(Object.entries(tables).map(([name, { rows }]) => [name, rows]))
	}

	async threads(page, what, facts, filters, options, told, main) {
		const { threads, skew } = await this.look(page, 'threads'), { components: c } = facts, tids = facts.threads
		const key = (r) => `${r.pid} ${r.tid} ${r.comm}`
		const rows = new Map(told.threads.filter((r) => r.samples > 0).map((r) => [key(r), r]))
		const lines = await this.samples(options), whole = sum(lines, (l) => l.weight) > 0 ? (l) => l.weight : () => 1
		const name_of = (v) =>
			main < 0 ? (facts.functions.name[v] ?? '') : v ? `${c.name[v]}#${c.id?.[v] ? parseInt(c.id[v], 16) : v}` : ''
		const label = (v) => v ? c.label?.[v] ?? c.name[v] : '(unattributed)'
		const column = main < 0 ? 'function' : facts.levels[main].name
		// Lines of samples have the numbers of components, which a page has of those that hosts announced.
		const numbered = main < 0 || c.level.some((l, v) => l === main && c.id?.[v])
		const known = !filters.thread, bin = (facts.last_ns - facts.first_ns + 2 * facts.time_ns) / BINS / 1e9
		let met = 0
		for (const row of threads) {
			const t = row.value
			const pid = facts.processes.pid[tids.process[t]]
			const comm = tids.comm[t] || facts.processes.comm[tids.process[t]]
			const of = rows.get(`${pid} ${tids.tid[t]} ${comm}`), w = `${what}: thread ${row.name}`
			if (!of && !known)
				continue // the view shows all values of what it filters by itself
			this.checks.that(`${w} is in the report`, Boolean(of))
			if (!of)
				continue
			met++
			this.same(w, 'threads threads samples', of.samples, row.samples, 0.5)
			this.same(w, 'threads threads name', `${comm} ${of.tid}`, row.name)
			this.same(w, 'threads threads process', `${facts.processes.comm[tids.process[t]]} ${pid}`, row.process)
			this.same(w, 'threads threads first', of.first_ns / 1e9, row.first, bin)
			this.same(w, 'threads threads last', of.last_ns / 1e9, row.last, bin)
			if (!known)
				continue
			this.same(w, 'threads threads share', of.share, row.share)
			this.same(w, 'threads threads mean', of.share * rows.size, row.mean)
			const own = grouped(lines.filter((l) => l.tid === of.tid && l.pid === of.pid), (l) => l[column])
			const costs = [...own].map(([n, list]) => [n, sum(list, whole)]), most = Math.max(...costs.map(([, v]) => v))
			if (main >= 0 && numbered && !/^\d+ others$/.test(row.busiest))
				this.same(
					w,
					'threads threads busiest',
					true,
					costs.some(
						([n, v]) =>
							v >= most * (1 - CLOSE) &&
							c.level.some(
								(l, i) =>
									(!i || l === main) &&
									name_of(i) === n &&
									row.busiest.startsWith(label(i))
							)
					)
				)
		}
		this.checks.same(`${what}: threads`, rows.size, met)
		if (!known)
			return
		for (const of of told.skew) {
			const row = skew.find((r) => r.name === `process ${of.comm} ${of.pid}`), w = `${what}: skew of process ${of.pid}`
			this.same(w, 'threads skew skew', of.skew, row?.skew)
			this.same(w, 'threads skew threads', of.threads, row?.threads)
			this.same(w, 'threads skew share', sum(told.threads.filter((r) => r.pid === of.pid), (r) => r.share), row?.share)
			this.same(w, 'threads skew name', `process ${of.comm} ${of.pid}`, row?.name)
		}
		for (const row of skew.filter((r) => typeof r.value === 'number' && numbered && (main >= 0 || r.value))) {
			const list = lines.filter((l) => l[column] === name_of(row.value))
			const busy = [...grouped(list, (l) => `${l.pid} ${l.tid}`).values()].map((l) => sum(l, whole))
			if (!busy.length && main < 0)
				continue // named after its image
			const all = sum(busy, (v) => v), w = `${what}: skew of ${row.name}`
			this.same(w, 'threads skew skew', Math.max(...busy) * busy.length / all, row.skew)
			this.same(w, 'threads skew threads', busy.length, row.threads)
			this.same(w, 'threads skew share', all / sum(lines, whole), row.share)
		}
	}

	async events(page, what, facts, filters, options, main, random) {
		const used = facts.events.map((e, i) => i).filter((i) => facts.event_rows[i] && facts.events[i].name !== 'switch')
		const a = filters.event.values[0]
		if (used.length < 2)
			return null
		const b = used.filter((i) => i !== a)[random(used.length - 1)], view = main < 0 ? 'functions' : 'components'
		const [A, B] = [a, b].map((i) => facts.events[i].name), level = main < 0 ? [] : ['--level', facts.levels[main].name]
		const with_b = options.map((o, i) => options[i - 1] === '--event' ? B : o)
		const [of_a, of_b] = await Promise.all([
			this.report(view, [...options, ...level]),
			this.report(view, [...with_b, ...level])
		])
		await page.evaluate((pair) => Object.assign(window.tailor.state.options, pair), { eventA: String(a), eventB: String(b) })
		const id = main < 0 ? 'function' : `level:${main}`, { events: all } = await this.look(page, 'events')
		const name = (r) => r.name === '(no symbol)' ? r.image : r.name.startsWith('+0x') ? r.image + r.name : r.name
		const table = (t) => grouped(t[main < 0 ? 'functions' : facts.levels[main].name] ?? [], name)
		const sums = [of_a, of_b].map(table)
		const costs = sums.map((s) => new Map([...s].map(([n, rows]) => [n, sum(rows, measure)])))
		const totals = costs.map((c) => sum([...c.values()], (v) => v))
		const rows = grouped(all.filter((r) => !filters[id] || filters[id].values.includes(r.value)), (r) => r.name)
		const times = facts.events[a].unit === 'ns' ? 1e6 : 1
		const names = new Set([...costs[0].keys(), ...costs[1].keys()])
		for (const n of names) {
			const list = rows.get(n) ?? [], w = `${what}: ${A} and ${B} of ${n}`
			this.same(w, 'events events name', true, list.length > 0)
			this.same(w, 'events events a', costs[0].get(n) ?? 0, sum(list, (r) => r.a))
			this.same(w, 'events events b', costs[1].get(n) ?? 0, sum(list, (r) => r.b))
			if (!filters[id]) {
				this.same(w, 'events events sa', totals[0] ? (costs[0].get(n) ?? 0) / totals[0] : 0, sum(list, (r) => r.sa))
				this.same(w, 'events events sb', totals[1] ? (costs[1].get(n) ?? 0) / totals[1] : 0, sum(list, (r) => r.sb))
			}
			const [cost_a, cost_b] = costs.map((c) => c.get(n) ?? 0)
			if (list.length === 1 && cost_a > 0)
				this.same(w, 'events events ratio', cost_b / cost_a * times, list[0].ratio)
		}
		this.checks.same(`${what}: components with ${A} or ${B}`, names.size, rows.size)
		return { [a]: [...sums[0].values()].flat(), [b]: [...sums[1].values()].flat() }
	}

	async memory(page, what, told) {
		if (!await page.evaluate(() => window.tailor.views.some((v) => v.id === 'memory')))
			return
		const { regions = [], strides = [] } = await this.look(page, 'memory')
		const range = (name) => /^0x([0-9a-f]+) to 0x([0-9a-f]+)$/.exec(name)?.slice(1).map((x) => parseInt(x, 16))
		const unnamed = regions.filter((r) => range(r.name))
		const key = (name) => name.replace(/, 0x[0-9a-f]+$/, '')
		const home = (r) => unnamed.find((u) => range(u.name)[0] <= r.low && r.low <= range(u.name)[1])
		const mine = grouped(regions, (r) => key(r.name))
		const theirs = grouped(told.regions ?? [], (r) => range(r.name) ? home(r)?.name : r.name)
		this.checks.same(`${what}: regions`, [...theirs.keys()].sort(), [...mine.keys()].sort())
		for (const [name, list] of theirs) {
			const rows = mine.get(name) ?? [], w = `${what}: region ${name}`
			for (const column of ['samples', 'share', 'pages'])
				this.same(w, `memory regions ${column}`, sum(list, (r) => r[column]), sum(rows, (r) => r[column]))
			if (list.length !== 1 || rows.length !== 1)
				continue
			const [of] = list, [row] = rows
			for (const column of ['sequential', 'strided', 'random', 'stride'])
				this.same(w, `memory regions ${column}`, of[column], row[column])
			this.same(w, 'memory regions kind', of.kind === '-' ? 'unnamed' : of.kind, row.kind)
			this.same(w, 'memory regions span', Number(of.high) - Number(of.low) + 1, row.span)
			this.same(w, 'memory regions name', true, range(row.name) !== undefined || key(row.name) === of.name)
		}
		for (const of of told.strides ?? []) {
			const text = !of.stride
				? '(constant address, or too few samples)'
				: of.stride.toLocaleString('en-US') + (of.stride > 4096 ? ' and more' : '')
			const row = strides.find((r) => r.by === text), w = `${what}: stride ${of.stride}`
			for (const [column, theirs] of [['share', of.share], ['n', of.samples], ['by', text]])
				this.same(w, `memory strides ${column}`, theirs, row?.[column])
		}
		this.checks.same(`${what}: strides`, (told.strides ?? []).length, strides.length)
		// each component by itself: behind its pictures
		const panels = await page.evaluate(() => {
			const { columns, rows } = window.tailor.views.find((v) => v.id === 'memory').parts.each.table()
			return rows.map((r) => Object.fromEntries(columns.map((c) => [c.key, c.value(r) ?? null])))
		})
		const own = only(told.memory ?? [], (r) => r.name)
		for (const row of panels.filter((r) => own.has(r.name)))
			for (const [column, theirs] of [
				['known', 'samples'],
				...['sequential', 'strided', 'random', 'stride', 'pages'].map((k) => [k, k])
			])
				this.same(
					`${what}: accesses of ${row.name}`,
					`memory by component ${column}`,
					own.get(row.name)[theirs],
					row[column]
				)
	}

	async quality(page, what, told, of_events) {
		const { method = [], reason = [], events } = await this.look(page, 'quality')
		for (const [name, list, rows] of [
			['method', told.methods, method],
			['reason', told.reasons.filter((r) => r.reason !== '(attributed)'), reason]
		]) {
			const there = list.filter((r) => r.samples > 0)
			this.checks.same(`${what}: ${name}s`, there.map((r) => r[name]).sort(), rows.map((r) => r.name).sort())
			for (const of of there) {
				const row = rows.find((r) => r.name === of[name])
				const w = `${what}: ${name} ${of[name]}`
				for (const [column, theirs] of [
					['share', 'share'],
					['samples', 'samples'],
					['name', name],
					['sentence', 'meaning']
				])
					this.same(
						w,
						`quality ${name} ${column}`,
						of[theirs],
						row?.[column],
						column === 'samples' ? 0.5 : undefined
					)
			}
		}
		for (const [e, rows] of Object.entries(of_events ?? {})) {
			this.same(
				`${what}: event ${e}`,
				'quality events samples',
				sum(rows, (r) => r.samples),
				events[e].samples,
				0.5 + rows.length / 2
			)
			this.same(`${what}: event ${e}`, 'quality events weight', sum(rows, (r) => r.weight ?? 0), events[e].weight)
			this.same(`${what}: event ${e}`, 'quality events name', true, Boolean(events[e].name))
		}
	}

	async compare(page, what, facts, filters, options, random) {
		const main = await page.evaluate(() => window.tailor.page.dimensions.main)
		const level = main === 'function' ? -1 : Number(main.slice(6))
		const by = level < 0 ? [] : ['--level', facts.levels[level].name]
		const told = await this.report(['threads', 'memory', 'methods', 'reasons'], [...options, ...by])
		await page.evaluate((f) => window.tailor.state.replace(f), filters)
		await this.threads(page, what, facts, filters, options, told, level)
		const of_events = await this.events(page, what, facts, filters, options, level, random)
		await this.memory(page, what, told)
		await this.quality(page, what, told, of_events)
	}

	// Of several traces together: what was compared how often.
	static all(checks, list) {
		const there = new Set(list.flatMap((c) => [...c.there])), seen = new Map()
		for (const [column, nr] of list.flatMap((c) => [...c.seen]))
			seen.set(column, (seen.get(column) ?? 0) + nr)
		for (const column of there)
			checks.that(`column "${column}" is compared`, seen.has(column) || FACTS.has(column))
		return [...seen].map(([column, nr]) => `${column} ${nr}`).join(', ')
	}
}
