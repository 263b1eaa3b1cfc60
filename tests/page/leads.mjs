// SPDX-License-Identifier: MIT
// leads.mjs BUILD FOLDER KIND...: a page of FOLDER/KIND.tlr begins with the rows and shares of `tailor report`.
import { execFileSync } from 'node:child_process'
import path from 'node:path'
import { Checks, launch, open, settled, show } from './browser.mjs'

const [build, folder, ...kinds] = process.argv.slice(2), tailor = path.join(build, 'tailor')
const checks = new Checks(), browser = await launch(build)
const env = { ...process.env, COLUMNS: '400', LC_ALL: 'C.UTF-8' }
const run = (...command) => execFileSync(tailor, command, { encoding: 'utf8', maxBuffer: 1 << 28, env })
const base = (name) => name.slice(name.lastIndexOf('/') + 1)
const tenths = (share) => Math.round(1000 * share) / 10

// Adds up shares of one name: [[name, share in percent], ...], the largest first.
function summed(rows, name, share = (row) => row.share) {
	const sums = new Map()
	for (const row of rows)
		sums.set(name(row), (sums.get(name(row)) ?? 0) + share(row))
	const list = [...sums].filter(([, v]) => v > 0).sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
	return list.map(([n, v]) => [n, tenths(v)])
}

// The rows that the report's JSON has of what leads.
function rows_of_report(json) {
	const { levels, functions, programs, run: phase, components } = json
	if (json.leads === 'programs')
		return summed(programs, (p) => base(p.name))
	if (json.leads === 'functions')
		return summed(functions, (f) => f.name)
	const level = json.leads === 'language' ? 'function' : levels.find((l) => l.plan)?.name
	const of = (phase.samples > 0 ? phase.components : components).filter((c) => c.level === level)
	return summed(of, (c) => c.label ?? c.name)
}

const drawn = (page, view) => page.evaluate((id) => window.tailor.views.find((v) => v.id === id).drawn(), view)
const named = (rows) => summed(rows.filter((r) => !/^\((unattributed|none)\)$/.test(r.name)), (r) => r.name)

for (const kind of kinds) {
	const trace = path.join(folder, `${kind}.tlr`), html = path.join(folder, `${kind}.html`)
	execFileSync(tailor, ['html', trace, '-o', html])
	const json = JSON.parse(run('report', '--json', trace)), text = run('report', trace), page = await open(browser, html)
	const main = await page.evaluate(() => window.tailor.page.dimensions.get(window.tailor.page.dimensions.main).title)
	const titles = { programs: 'program', functions: 'function', language: 'function', plan: json.levels.find((l) => l.plan)?.name }
	checks.same(`${kind}: it begins with ${json.leads}`, titles[json.leads], main)
	const { cost, time } = await drawn(page, 'overview'), of_report = rows_of_report(json), of_page = named(cost)
	checks.same(`${kind}: rows`, of_report, of_page)
	checks.that(`${kind}: no two rows have one name`, new Set(cost.map((r) => r.name)).size === cost.length, cost.map((r) => r.name))
	const [name, share] = of_page[0], first = text.split('\n').find((line) => line.includes(' % of ')) ?? ''
	const part = first.match(/^(.*?)(?: \(.*?\))?: ([\d.]+) % of /)
	// (Operators are rounded so that they add up.)
	const said = part && name.startsWith(part[1]) && Math.abs(Number(part[2]) - share) < 0.11
	checks.that(`${kind}: the report's first sentence has the first row`, said, [first, name, share])
	checks.that(`${kind}: the time line has the first row`, time.parts.some((p) => p.name === name), time.parts)

	// Lines of the language, and calls, of all processes.
	await show(page, 'code')
	const { hottest } = await drawn(page, 'code')
	checks.that(`${kind}: there are hottest lines`, hottest.length > 0)
	const lines = summed(json.components.filter((c) => c.level === 'line'), (c) => c.name)
	if (json.leads === 'language' && lines.length)
		checks.same(`${kind}: hottest line`, lines[0][1], tenths(hottest[0].share))
	const seen = hottest.map((r) => `${r.name} ${r.text}`)
	checks.that(`${kind}: no two of the hottest lines are alike`, new Set(seen).size === seen.length, hottest)
	checks.that(`${kind}: each has a name`, hottest.every((r) => r.name), hottest)
	await show(page, 'stacks')
	const { boxes } = await drawn(page, 'stacks'), pids = json.processes.map((p) => p.pid)
	checks.that(`${kind}: no box is of a process`, !boxes.some((b) => pids.some((pid) => b.name.endsWith(` ${pid}`))), boxes)
	const roots = boxes.filter((b) => b.depth === 1).map((b) => b.name)
	const alike = new Set(roots).size < roots.length // (programs have a main() each)
	checks.that(`${kind}: no two outermost boxes are alike`, !alike || json.leads === 'programs', roots)

	// The switch, and back.
	const box = page.getByLabel('per process'), several = await box.isVisible()
	checks.same(`${kind}: there is a switch`, ['workers', 'cluster'].includes(kind), several)
	await show(page, 'overview')
	if (several) {
		await box.check()
		await settled(page)
		const apart = (await drawn(page, 'overview')).cost
		const told = apart.some((r) => pids.some((pid) => r.name.endsWith(` ${pid}`)))
		checks.that(`${kind}: the switch tells processes apart`, told, apart)
		checks.same(`${kind}: apart, the sums are the same`, of_page, summed(apart.filter((r) => r.name !== '(unattributed)'),
			(r) => r.name.replace(/ · .*/, '')))
		await page.reload()
		await page.waitForFunction(() => window.tailor?.page?.ready)
		const rows = ({ cost: list }) => list.filter((r) => r.share > 0).length // (others come with the stacks)
		checks.same(`${kind}: the page's address has the switch`, rows({ cost: apart }), rows(await drawn(page, 'overview')))
		await page.getByLabel('per process').uncheck()
		await settled(page)
		checks.same(`${kind}: and back`, of_page, named((await drawn(page, 'overview')).cost))
		// A filter by a row is one by the rows of all processes.
		await page.locator('#view tr.choose', { hasText: of_page[0][0] }).first().click()
		await settled(page)
		const kept = await page.evaluate(() => window.tailor.sums(null).total[0])
		const wanted = json.components.filter((c) => c.level === 'function' && (c.label ?? c.name) === of_page[0][0])
		checks.same(`${kind}: samples of the chosen row`, wanted.reduce((sum, c) => sum + c.samples, 0), Math.round(kept))
	}
	checks.same(`${kind}: faults of the page`, [], page.faults)
	await page.context().close()
}
await browser.close()
checks.finish('pages begin as reports do')
