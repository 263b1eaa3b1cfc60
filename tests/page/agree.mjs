// SPDX-License-Identifier: MIT
// agree.mjs BUILD TRACE FOLDER: a range of time by mouse, then a pipeline, then an operator: every view shows the samples that `tailor
// report` counts.
import { execFileSync } from 'node:child_process'
import path from 'node:path'
import { Checks, launch, open, show } from './browser.mjs'

const [build, trace, folder] = process.argv.slice(2), html = path.join(folder, 'agree.html'), tailor = path.join(build, 'tailor')
const checks = new Checks()
const EVENT = 'L3-Misses', PIPELINE = 'probe 2', OPERATOR = 'groupby1'

execFileSync(tailor, ['html', trace, '-o', html])
const browser = await launch(build), page = await open(browser, html)

const filters = () => page.evaluate(() => window.tailor.state.filters)
const expected = async () => {
	const { time } = await filters(), at = (us) => (us / 1e6).toFixed(6)
	const options = ['--event', EVENT, '--mark', 'all', ...(time ? ['--from', at(time.from), '--to', at(time.to)] : [])]
	for (const [level, name] of chosen)
		options.push('--component', `${level}:${name}`)
	const report = JSON.parse(execFileSync(tailor, ['report', '--json', '--view', 'plan', ...options, trace], { encoding: 'utf8' }))
	return report.samples
}
const chosen = []
const number = (text) => Number(text.replaceAll(',', ''))
const total = (rows, value) => rows.reduce((sum, row) => sum + value(row), 0)

// What each view says of how many samples there are.
const SAYS = {
	overview: (d) => number(d.figures.samples),
	threads: (d) => total(d.threads, (row) => row.samples),
	memory: (d) => total(d.regions, (row) => row.samples),
	stacks: (d) => d.samples,
	events: (d) => total(d.rows.filter((row) => !chosen.some(([level]) => level === 'operator') || row.name === OPERATOR), (row) =>
		row.samples[d.events.indexOf(EVENT)]),
}

async function all_agree(when) {
	const samples = await expected()
	checks.that(`${when}: there are samples`, samples > 0, samples)
	for (const [view, says] of Object.entries(SAYS)) {
		await show(page, view)
		const drawn = await page.evaluate((id) => window.tailor.views.find((v) => v.id === id).drawn(), view)
		checks.same(`${when}: samples of view ${view}`, samples, Math.round(says(drawn)))
	}
	await show(page, 'overview')
}

async function choose(dimension, name) {
	await page.getByLabel('Sum by').selectOption({ label: dimension })
	await page.locator('#view tr.choose', { hasText: name }).first().click()
	chosen.push([dimension, name])
}

await page.getByLabel('Event', { exact: true }).selectOption({ label: EVENT })
await all_agree('at first')
const canvas = page.locator('#view canvas').first(), box = await canvas.boundingBox()
await page.mouse.move(box.x + box.width * 0.3, box.y + box.height / 2)
await page.mouse.down()
await page.mouse.move(box.x + box.width * 0.6, box.y + box.height / 2, { steps: 4 })
await page.mouse.move(box.x + box.width * 0.8, box.y + box.height / 2, { steps: 4 })
await page.mouse.up()
const { time } = await filters()
checks.that('the time line has chosen a range', time && time.to > time.from, time)
await all_agree('a range of time')
await choose('pipeline', PIPELINE)
await all_agree('a range of time and a pipeline')
await choose('operator', OPERATOR)
await all_agree('a range of time, a pipeline and an operator')
checks.same('chips', ['time', 'pipeline', 'operator'], await page.locator('.chip-title').allTextContents())

// The address has it all; undo takes back step by step; a chip's button its filter.
const other = await open(browser, html, { hash: new URL(page.url()).hash })
checks.same('filters from the address', await filters(), await other.evaluate(() => window.tailor.state.filters))
await other.context().close()
for (const left of [['time', 'pipeline'], ['time'], []]) {
	await page.keyboard.press('Control+z')
	checks.same('chips after an undo', left, await page.locator('.chip-title').allTextContents())
}
for (let i = 0; i < 3; i++)
	await page.keyboard.press('Control+Shift+z')
await page.locator('.chip', { hasText: 'pipeline' }).getByRole('button').click()
checks.same('chips without the pipeline', ['time', 'operator'], await page.locator('.chip-title').allTextContents())
chosen.splice(0, 1)
await all_agree('a range of time and an operator')
// A rectangle in the raster: its samples are those that all views have then, and one step back undoes both ranges.
await page.keyboard.press('Escape')
await show(page, 'memory')
const raster = await page.locator('#view canvas:visible').first().boundingBox(),
	at = (x, y) => [raster.x + raster.width * x, raster.y + raster.height * y]
await page.mouse.move(...at(0.3, 0.2))
await page.mouse.down()
await page.mouse.move(...at(0.5, 0.5), { steps: 4 })
await page.mouse.move(...at(0.7, 0.6), { steps: 4 })
await page.mouse.up()
checks.same('chips after a rectangle', ['time', 'addresses'], (await page.locator('.chip-title').allTextContents()).sort().reverse())
const [drawn, summed] = await page.evaluate(() => {
	const { state, views } = window.tailor
	return [views.find((v) => v.id === 'memory').drawn().samples, state.sums(null).total[0]]
})
checks.that('the rectangle has samples', drawn > 0, drawn)
checks.same('samples of the raster', summed, drawn)

// ... also on a page that is opened with that address, whose first view reads no addresses.
const linked = await open(browser, html, { hash: new URL(page.url()).hash.replace('view=memory', 'view=overview') })
await linked.waitForFunction(() => window.tailor.state.data[0].table.columns.address)
checks.same('samples of a page opened at the rectangle', summed, await linked.evaluate(() => window.tailor.state.sums(null).total[0]))
checks.same('samples that its overview names', summed, number((await linked.evaluate(() =>
	window.tailor.views.find((v) => v.id === 'overview').drawn())).figures.samples))
await linked.context().close()
await page.keyboard.press('Control+z')
checks.same('chips after an undo', [], await page.locator('.chip-title').allTextContents())
checks.same('faults', [], page.faults)
await browser.close()
checks.finish('all views under three filters')
