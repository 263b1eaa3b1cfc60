// SPDX-License-Identifier: MIT
// compared.mjs BUILD FOLDER COMBINATIONS FIRST SECOND...: Compare's verdicts are those of `tailor diff` for each pair of traces, without
// filters and under random ones.
import { execFile, execFileSync } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { Checks, launch, open, random_from, show } from './browser.mjs'
import { conditions } from './filters.mjs'

const [build, folder, nr, ...traces] = process.argv.slice(2)
const tailor = path.join(build, 'tailor'), run = promisify(execFile), checks = new Checks(), CLOSE = 1e-6

const random = random_from(88172645)

const numbers = ({ cost_change: change, cost_margin: margin, share_a: a, share_b: b }) => [change ?? null, margin ?? null, a ?? 0, b ?? 0]
const close = (x, y) =>
	x.every((v, i) => v === y[i] || (v !== null && y[i] !== null && Math.abs(v - y[i]) <= CLOSE * Math.max(1, Math.abs(v))))
const finite = (v) => Number.isFinite(v) ? v : null

// Lines as texts: name, name in the second, detail; several of one are told apart by their numbers.
async function ask_diff(first, second, level, options) {
	const wanted = ['--json', '--all', '--top', '0', '--level', level, '--no-inline', ...options]
	const { stdout } = await run(tailor, ['diff', ...wanted, first, second], { maxBuffer: 1 << 28 })
	return JSON.parse(stdout).tables.changes.map((row) => ({ name: row.name.replace(/^(alike|only in [AB]): /, ''),
		significant: Boolean(row.significant), numbers: numbers(row) }))
}

async function ask_page(page, level, filters) {
	return page.evaluate(({ level, filters }) => {
		const { state, page: { facts }, views } = window.tailor
		state.options.compare = level === 'function' ? level : `level:${facts.levels.findIndex((l) => l.name === level)}`
		state.replace(filters)
		return views.find((v) => v.id === 'compare').drawn().rows
	}, { level, filters })
}

const compare = (a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.numbers[2] - b.numbers[2] || a.numbers[3] - b.numbers[3])

// Of the components that both traces have one: by its name, as both sides are filtered.
function component_of_both(facts, second) {
	const both = conditions(facts).filter(
		([dimension, values]) =>
			dimension.startsWith('level:') &&
			second.components.name.some(
				(name, i) =>
					name === facts.components.name[values[0]] &&
					second.levels[second.components.level[i]]?.name === facts.levels[dimension.slice(6)].name
			)
	)
	return both[random(both.length)]
}

async function one(page, first, second, facts, of_second, level, filtered) {
	const last = Math.max(1, Math.floor((facts.last_ns - facts.first_ns) / facts.time_ns)), from = random(Math.ceil(last / 2)),
		to = from + 1 + random(last - from), filters = { event: { values: [facts.event] } }, options = []
	if (level === 'function') // (which functions are alike depends on which others there are)
		filtered = false
	if (filtered && random(4)) {
		filters.time = { from, to }
		options.push('--from', (from * facts.time_ns / 1e9).toFixed(9), '--to', (to * facts.time_ns / 1e9).toFixed(9))
	}
	const component = filtered && random(3) === 0 && component_of_both(facts, of_second)
	if (component) {
		filters[component[0]] = { values: component[1] }
		options.push(...component[2])
	}
	const what = `${path.basename(first)} and ${path.basename(second)} by ${level}, ${options.join(' ')}`
	const both = await Promise.all([ask_diff(first, second, level, options), ask_page(page, level, filters)]).catch((error) => {
		if (!/the trace has no component/.test(error.stderr)) // it is on call stacks only
			throw error
	})
	if (!both)
		return one(page, first, second, facts, of_second, level, filtered) // another one
	const [said, got] = both
	// (a name alone, where what tells it from others depends on which others there are)
	const alone = (name) => name.replace(/( \(.*\)|#\d+)$/s, '')
	for (const row of said)
		row.name = alone(row.name)
	const mine = got.map((r) => ({
		name: alone(r.name),
		significant: r.certain,
		numbers: r.tested ? [finite(r.change), finite(r.margin), r.first, r.second_share] : [null, null, r.first, r.second_share]
	}))
	said.sort(compare)
	mine.sort(compare)
	checks.same(`${what}: lines`, said.map((r) => r.name), mine.map((r) => r.name))
	said.forEach((row, i) => {
		checks.same(`${what}: '${row.name}' is significant`, row.significant, mine[i]?.significant)
		checks.that(`${what}: change, margin and shares of '${row.name}'`, close(row.numbers, mine[i]?.numbers ?? [NaN]),
			[row.numbers, mine[i]?.numbers])
	})
	return said.filter((r) => r.significant).length
}

const browser = await launch(build), html = path.join(folder, 'compared.html'), found = [], pairs = traces.length / 2
for (let i = 0; i < traces.length; i += 2) {
	const [first, second] = traces.slice(i, i + 2)
	execFileSync(tailor, ['html', first, second, '-o', html])
	const page = await open(browser, html), [facts, of_second] = await page.evaluate(() => window.tailor.page.data.map((d) => d.facts))
	await show(page, 'compare')
	const levels = [...facts.levels.map((l) => l.name), ...(facts.levels.some((l) => l.name === 'function') ? [] : ['function'])]
	let significant = 0
	for (const level of levels)
		significant += await one(page, first, second, facts, of_second, level, false)
	found.push(significant)
	for (let n = Math.ceil(nr * (i / 2 + 1) / pairs) - Math.ceil(nr * i / 2 / pairs); n > 0; n--)
		await one(page, first, second, facts, of_second, levels[random(levels.length)], true)
	checks.same(`${first} and ${second}: faults`, [], page.faults)
	await page.context().close()
}
await browser.close()
checks.finish(`${pairs} pairs, ${nr} combinations of filters; significant lines: ${found.join(', ')}`)
