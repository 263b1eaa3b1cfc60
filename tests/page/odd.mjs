// SPDX-License-Identifier: MIT
// odd.mjs BUILD FOLDER TRACE...: pages of little, of much and of hostile names show all their views; a browser that lacks something, and a
// page that fails, show a sentence and the tables.
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { Checks, SIZES, launch, open, show } from './browser.mjs'
import { write } from './odd_traces.mjs'

const [build, folder, ...more] = process.argv.slice(2), tailor = path.join(build, 'tailor')
const checks = new Checks()
const WITHOUT_SIMD = '--js-flags=--no-enable-sse4-1 --no-enable-ssse3'

function html(trace) {
	const file = path.join(folder, `${path.basename(trace, '.tlr')}.html`)
	try {
		execFileSync(tailor, ['html', trace, '-o', file], { stdio: 'pipe' })
	} catch (error) {
		checks.that(`tailor html ${trace}: exit 0 or 1 and a page`, error.status === 1 && fs.existsSync(file), String(error.stderr))
	}
	return file
}

// All views, and the dialog, with something to read in each.
async function all_views(page, name) {
	for (const view of await page.evaluate(() => window.tailor.views.map((v) => v.id))) {
		await show(page, view)
		const text = await page.locator('#view').innerText()
		checks.that(`${name}: view ${view} says something`, text.trim().length > 10, text)
		const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
		checks.that(`${name}: view ${view} is as wide as the window`, wide <= 0, wide)
		await page.evaluate((id) => window.tailor.views.find((v) => v.id === id).drawn(), view)
	}
	// every filter by its first value, and out again
	await page.evaluate(() => {
		const { state } = window.tailor, { dimensions } = state.data[0]
		for (const [id, { values }] of dimensions.list)
			if (values.length && state.data[0].table.columns[dimensions.get(id).column]) {
				state.toggle(id, values[0])
				state.clear()
			}
		state.set('search', { text: '</script>' })
		state.set('search', null)
	})
	checks.same(`${name}: faults`, [], page.faults)
	checks.same(`${name}: scripts out of names`, null, await page.evaluate(() => window.broken ?? null))
	checks.same(`${name}: alerts`, 0, await page.locator('[role=alert]').count())
}

const browser = await launch(build), small = write(folder).map((name) => path.join(folder, `${name}.tlr`))
for (const trace of [...small, ...more]) {
	const file = html(trace), page = await open(browser, file, { size: SIZES.phone })
	await all_views(page, path.basename(trace))
	await page.context().close()
}

// What a page is when its script cannot run, or stops.
const file = path.join(folder, 'no-plan.html')
async function fails(what, options, does) {
	const page = await open(browser, file, options)
	await does?.(page)
	const alert = page.locator('[role=alert]')
	await alert.first().waitFor()
	checks.that(`${what}: a sentence`, /\w+.*\.$/.test((await alert.first().innerText()).trim()), await alert.first().innerText())
	checks.that(`${what}: the tables`, await page.locator('.plain').first().isVisible(), await page.locator('body').innerText())
	checks.that(`${what}: with figures`, /task 1/.test(await page.locator('.plain').first().innerText()),
		await page.locator('.plain').first().innerText())
	await page.context().close()
}
await fails('no WebAssembly', { before: () => { delete window.WebAssembly } })
await fails('no DecompressionStream', { before: () => { delete window.DecompressionStream } })
await fails('damaged data', { before: () => { window.DecompressionStream = class { constructor() { throw new Error('damaged') } } } })
await fails('an error in a view', {}, (page) => page.evaluate(() => {
	window.tailor.views[0].draw = () => { throw new Error('made by the test') }
	try {
		window.tailor.state.toggle('thread', 0)
	} catch {
		// it is shown
	}
}))
{
	const context = await browser.newContext({ javaScriptEnabled: false, offline: true }), page = await context.newPage()
	await page.goto(`file://${file}`)
	checks.that('no JavaScript: the tables', /task 1/.test(await page.locator('.plain').first().innerText()), '')
	await context.close()
}
await browser.close()

const plain = await launch(build, [WITHOUT_SIMD])
{
	const page = await open(plain, file), simd = await page.evaluate(() =>
		WebAssembly.validate(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1,
		0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11])))
	checks.same('this browser has no SIMD', false, simd)
	await all_views(page, 'no SIMD')
}
await plain.close()
checks.finish('odd pages')
