// SPDX-License-Identifier: MIT
// compared.mjs BUILD FOLDER COMBINATIONS FIRST SECOND...: Compare's verdicts are those of `tailor diff` under the same filters, for each
// pair of traces.
import { execFile, execFileSync } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { Checks, launch, open, random_from, show } from './browser.mjs'

const [build, folder, nr, ...traces] = process.argv.slice(2)
const tailor = path.join(build, 'tailor'), run = promisify(execFile), checks = new Checks(), CLOSE = 1e-6

const random = random_from(88172645)

const numbers = ({ cost_change: change, cost_margin: margin, share_a: a, share_b: b }) => [change ?? null, margin ?? null, a ?? 0, b ?? 0]
const close = (x, y) => x.every((v, i) => v === y[i] || v !== null && y[i] !== null && Math.abs(v - y[i]) <= CLOSE * Math.max(1, Math.abs(v)))
const finite = (v) => Number.isFinite(v) ? v : null

// Lines as texts: name, name in the second, detail; several of one are told apart by their numbers.
async function ask_diff(first, second, level, options) {
	const { stdout } = await run(tailor, ['diff', '--json', '--all', '--top', '0', '--level', level, ...options, first, second],
		{ maxBuffer: 1 << 28 })
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

async function one(page, first, second, facts) {
	const last = Math.max(1, Math.floor((facts.last_ns - facts.first_ns) / facts.time_ns)), from = random(Math.ceil(last / 2)),
		to = from + 1 + random(last - from), filters = { event: { values: [facts.event] } }, options = []
	const levels = [...facts.levels.map((l) => l.name), ...(facts.levels.some((l) => l.name === 'function') ? [] : ['function'])]
	const level = levels[random(levels.length)]
	if (level !== 'function' && random(4)) { // (which functions are alike depends on which others there are)
		filters.time = { from, to }
		options.push('--from', (from * facts.time_ns / 1e9).toFixed(9), '--to', (to * facts.time_ns / 1e9).toFixed(9))
	}
	const what = `${path.basename(first)} and ${path.basename(second)} by ${level}, ${options.join(' ')}`
	const [said, got] = await Promise.all([ask_diff(first, second, level, options), ask_page(page, level, filters)])
	// (a name alone, where what tells it from others depends on which others there are)
	const alone = (name) => name.replace(/( \(.*\)|#\d+)$/s, '')
	for (const row of said)
		row.name = alone(row.name)
	const mine = got.map((r) => ({ name: alone(r.name), significant: r.certain,
		numbers: r.tested ? [finite(r.change), finite(r.margin), r.first, r.second_share] : [null, null, r.first, r.second_share] }))
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

const browser = await launch(build), html = path.join(folder, 'compared.html'), found = []
for (let i = 0; i < traces.length; i += 2) {
	const [first, second] = traces.slice(i, i + 2)
	execFileSync(tailor, ['html', first, second, '-o', html])
	const page = await open(browser, html), facts = await page.evaluate(() => window.tailor.page.facts)
	await show(page, 'compare')
	let significant = 0
	for (let n = 0; n < nr; n++)
		significant += await one(page, first, second, facts)
	found.push(significant)
	checks.same(`${first} and ${second}: faults`, [], page.faults)
	await page.context().close()
}
await browser.close()
checks.finish(`${nr} combinations of filters of each of ${traces.length / 2} pairs; significant lines: ${found.join(', ')}`)
