// SPDX-License-Identifier: MIT
/*
 * page.mjs BUILD FOLDER NAME=TRACE...: how soon the page of each trace is complete, how long a filter takes in each view, and how much memory it needs.
 * Beside them UmbraPerf's own page, as measured on two cores, in a headless Chromium, with 195,000 samples.
 */
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { launch, open, show } from '../page/browser.mjs'

const [build, folder, ...traces] = process.argv.slice(2)
const FILTERS = 40, OPENINGS = 5
const THEIRS = { name: 'UmbraPerf (its own)', samples: 195000, overview: 3900, filters: { overview: [1000, 1000] }, heap: 237, script: 4.8 }

const ms = (v) => v === undefined ? '–' : v >= 1000 ? `${(v / 1000).toFixed(2)} s` : `${v.toFixed(0)} ms`
const quantile = (list, q) => list.sort((a, b) => a - b)[Math.min(list.length - 1, Math.ceil(list.length * q) - 1)]

// Changes of filters as people make them, and how long each takes until all is drawn (and handed to the compositor).
async function filters(page, view, nr) {
	return page.evaluate(async ({ view, nr }) => {
		const { state, views } = window.tailor, { dimensions } = state.data[0], { facts } = dimensions
		state.show(view)
		await views.find((v) => v.id === view).ready
		const end = Math.ceil((facts.last_ns - facts.first_ns) / facts.time_ns), took = []
		const sums = (id) => state.sums(id, null, Object.keys(state.filters)).order().slice(0, 5).map((key) => dimensions.get(id).values[key])
		const ids = [dimensions.main, 'thread', 'function', ...facts.levels.map((_, i) => `level:${i}`)].filter((id) => dimensions.get(id))
		const some = ids.map((id) => [id, sums(id)]), events = sums('event')
		for (let i = 0; i < nr; i++) {
			const begin = performance.now()
			if (i % 4 === 0)
				state.set('time', { from: Math.floor(end * (i % 10) / 20), to: Math.floor(end * (0.5 + (i % 10) / 20)) })
			else if (i % 4 === 1)
				state.toggle(some[i % some.length][0], some[i % some.length][1][i % some[i % some.length][1].length])
			else if (i % 4 === 2)
				state.set('event', { values: [events[i % events.length]] })
			else
				state.clear()
			document.body.getBoundingClientRect()
			took.push(performance.now() - begin)
			await new Promise((resolve) => requestAnimationFrame(resolve))
		}
		state.clear()
		return took
	}, { view, nr })
}

async function measure(browser, name, trace) {
	const file = path.join(folder, `${name.replaceAll(' ', '-')}.html`), begin = performance.now()
	execFileSync(path.join(build, 'tailor'), ['html', trace, '-o', file])
	const row = { name, write: performance.now() - begin, file: fs.statSync(file).size / 1e6, filters: {}, opened: [] }
	for (let i = 0; i < OPENINGS; i++) {
		const page = await open(browser, file)
		row.opened.push(await page.evaluate(() => window.tailor.page.ready))
		if (i === OPENINGS - 1) {
			const client = await page.context().newCDPSession(page)
			const heap = async () => {
				await client.send('HeapProfiler.collectGarbage')
				return page.evaluate(() => [performance.memory.usedJSHeapSize / 1e6,
					window.tailor.state.data.reduce((sum, d) => sum + d.table.calls.memory.buffer.byteLength, 0) / 1e6])
			}
			row.samples = await page.evaluate(() => window.tailor.state.data[0].facts.rows)
			row.heap = await heap()
			for (const view of await page.evaluate(() => window.tailor.views.map((v) => v.id))) {
				const took = await filters(page, view, FILTERS)
				row.filters[view] = [quantile(took, 0.5), quantile(took, 0.95)]
			}
			row.after = await heap()
			if (page.faults.length)
				throw new Error(page.faults.join('\n'))
		}
		await page.context().close()
	}
	row.overview = quantile(row.opened, 0.5)
	return row
}

const browser = await launch(build, ['--enable-precise-memory-info']), rows = []
for (const [name, trace] of traces.map((text) => text.split('=')))
	rows.push(await measure(browser, name, trace))
await browser.close()
console.log('page                 samples      file  written  complete  JS heap   + table  after all views')
for (const r of rows)
	console.log(`${r.name.padEnd(19)}${r.samples.toLocaleString('en').padStart(11)}${r.file.toFixed(2).padStart(7)} MB${ms(r.write).padStart(9)}${ms(r.overview).padStart(10)}` +
		`${r.heap[0].toFixed(1).padStart(6)} MB${r.heap[1].toFixed(1).padStart(7)} MB${(r.after[0] + r.after[1]).toFixed(1).padStart(14)} MB`)
console.log(`${THEIRS.name.padEnd(19)}${THEIRS.samples.toLocaleString('en').padStart(11)}${''.padStart(19)}${ms(THEIRS.overview).padStart(10)}${THEIRS.heap.toFixed(1).padStart(6)} MB` +
	`\n\na change of filters, median and 95th percentile of ${FILTERS}, until all is drawn (UmbraPerf: 1.0 s to brush, 0.6 to 0.9 s to switch events)`)
for (const r of rows)
	console.log(`${r.name.padEnd(19)}${Object.entries(r.filters).map(([view, [half, most]]) => `${view} ${half.toFixed(1)}/${most.toFixed(1)} ms`).join('  ').replace(/(.{70,95}?) {2}/g, '$1\n' + ' '.repeat(19))}`)
