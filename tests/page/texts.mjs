// SPDX-License-Identifier: MIT
// texts.mjs BUILD HOST.html LINES.json V2.html LEAD.html: texts of files in the Code view,
// beside what `report --view lines` says of their lines.
import fs from 'node:fs'
import { Checks, launch, open, show } from './browser.mjs'

const [build, host, lines, v2, lead] = process.argv.slice(2), checks = new Checks(), browser = await launch(build)
const { lines: rows } = JSON.parse(fs.readFileSync(lines, 'utf8')).tables, total = rows.reduce((a, r) => a + r.share, 0)

const page = await open(browser, host)
await show(page, 'code')
const sources = await page.evaluate(() => window.tailor.page.facts.sources)
checks.that('several files have texts', sources.length >= 5, String(sources.length))
checks.that('at most 12000 bytes of text', sources.reduce((a, s) => a + s.lines.join('\n').length, 0) <= 12000 + 20 * sources.length)
for (const [i, s] of sources.entries()) {
	const module = s.name.match(/module_(\d)\.js$/)[1]
	s.number.forEach((n, row) => checks.same(`${s.name}:${n}`, n ? `\tline ${n} of module_${module}.js  <b>&amp;` : '', s.lines[row]))
	checks.that(`${s.name}: upwards, with a gap between lines that are not neighbours`, s.number.every((n, row) => {
		const before = s.number[row - 1]
		return row === 0 || (n === 0 ? before > 0 : before === 0 ? s.number[row - 2] < n - 1 : before === n - 1)
	}), JSON.stringify(s.number))
	await page.evaluate((text) => window.tailor.state.option('text', text), String(i))
	const drawn = await page
		.locator('.listing')
		.first()
		.evaluate((el) =>
			[...el.querySelectorAll('.row')].map((r) => ({
				number: r.querySelector('.number').textContent,
				share: r.querySelector('.share').textContent,
				text: r.lastChild.textContent
			}))
		)
	for (const r of drawn) {
		const of = rows.find((x) => x.file === s.name && String(x.line) === r.number), share = of ? of.share / total : 0
		checks.that(
			`${s.name}:${r.number}: share`,
			share < 0.0005 ? share > 0 === (r.share !== '') : r.share === `${(100 * share).toFixed(1)} %`,
			`expected ${share}, got '${r.share}'`
		)
		checks.that(
			`${s.name}:${r.number}: text`,
			r.number === '⋮' ? r.text === '' : r.text.includes(`line ${r.number} of module_${module}.js  <b>&amp;`),
			r.text
		)
	}
}
checks.same('faults', [], page.faults)

// a line and its instructions point at each other
const other = await open(browser, v2)
await show(other, 'code')
await other.evaluate(() => window.tailor.state.option('machine', '0'))
const [row, line] = await other.evaluate(() => {
	const l = window.tailor.page.facts.listings[0], row = l.line.findIndex((n, i) => n && l.of[i] >= 0)
	return [row, l.line[row]]
})
checks.that('an instruction has a line', row >= 0)
const text = other.locator('.listing').first(), machine = other.locator('.listing').nth(1)
await text.evaluate((el, at) => { el.scrollTop = at * 19 }, line - 1)
await machine.evaluate((el, at) => { el.scrollTop = at * 19 }, row)
await machine.locator(`.row[data-i="${row}"]`).hover()
checks.same('the line of an instruction that is pointed at', [String(line)], await text.locator('.row.mark .number').allTextContents())
await text.locator(`.row[data-i="${line - 1}"]`).hover()
checks.that('the instructions of a line that is pointed at', (await machine.locator('.row.mark').count()) >= 1)
checks.same('faults', [], other.faults)

// functions of a language lead where they have most of the samples
const led = await open(browser, lead)
checks.same('what leads a page of one module', ['function', 'helper (app/module_5.js)'], await led.evaluate(() => {
	const { page: { facts, dimensions }, views } = window.tailor
	return [facts.levels[dimensions.main.slice(6)]?.name, views[0].drawn().cost[0].name]
}))
checks.same('faults', [], led.faults)
await browser.close()
checks.finish('texts of source files in the Code view')
