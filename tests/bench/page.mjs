// SPDX-License-Identifier: MIT
/*
 * page.mjs BUILD FOLDER NAME=TRACE...: how soon the page of each trace is complete, how long a filter takes in each view, and how much
 * memory it needs.  NAME:served=TRACE: of the page that `tailor serve` shows.
 * Beside them UmbraPerf's own page, as measured on two cores, in a headless Chromium, with 195,000 samples.
 */
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { launch, open, serve, show } from '../page/browser.mjs'

const [build, folder, ...traces] = process.argv.slice(2)
const FILTERS = 40, OPENINGS = 5
const THEIRS = { name: 'UmbraPerf (its own)', samples: 195000, overview: 3900, filters: { overview: [1000, 1000] }, heap: 237, script: 4.8 }

const ms = (v) => v === undefined ? '–' : v >= 1000 ? `${(v / 1000).toFixed(2)} s` : `${v.toFixed(0)} ms`
const quantile = (list, q) => list.sort((a, b) => a - b)[Math.min(list.length - 1, Math.ceil(list.length * q) - 1)]

// Changes of filters as people make them: how long each takes until all is drawn, and how much processor time the page's thread needs for
// it, which
// is the same on a busy machine.
async function filters(page, client, view, nr) {
	const processor = async () => (await client.send('Performance.getMetrics')).metrics.find(({ name }) =>
		name === 'TaskDuration').value * 1000
	await show(page, view)
	await page.evaluate(() => window.tailor.answered(() => {
		const { state } = window.tailor, { dimensions } = state.data[0], { facts } = dimensions,
			end = Math.ceil((facts.last_ns - facts.first_ns) / facts.time_ns)
		const sums = (id) => state.sums(id, null, Object.keys(state.filters))
			.order().slice(0, 5).map((key) => dimensions.get(id).values[key])
		const ids = [dimensions.main, 'thread', 'function', ...facts.levels.map((_, i) => `level:${i}`)].filter((id) =>
			dimensions.get(id))
		const some = ids.map((id) => [id, sums(id)]), events = sums('event')
		window.change = (i) => {
			const begin = performance.now(), [id, values] = some[(i >> 2) % some.length], at = (i >> 2) % 10 / 20
			if (i % 4 === 0)
				state.set('time', { from: Math.floor(end * at), to: Math.floor(end * (0.5 + at)) })
			else if (i % 4 === 1)
				state.toggle(id, values[(i >> 2) % values.length])
			else if (i % 4 === 2)
				state.set('event', { values: [events[(i >> 2) % events.length]] })
			else
				state.clear()
			document.body.getBoundingClientRect()
			return begin
		}
	}))
	const took = [], used = []
	for (let i = 0; i < nr; i++) {
		const before = await processor()
		took.push(await page.evaluate(async (i) => {
			const begin = window.change(i)
			while (document.querySelector('main').hasAttribute('aria-busy'))
				await new Promise((resolve) => setTimeout(resolve))
			const ms = performance.now() - begin
			await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))
			return ms
		}, i))
		used.push(await processor() - before)
	}
	await page.evaluate(() => window.tailor.state.clear())
	return [quantile(took, 0.5), quantile(took, 0.95), quantile(used, 0.95)]
}

async function measure(browser, name, trace) {
	const file = path.join(folder, `${name.replaceAll(' ', '-')}.html`), begin = performance.now()
	const server = name.endsWith(':served') ? await serve(build, trace) : null
	if (!server)
		execFileSync(path.join(build, 'tailor'), ['html', trace, '-o', file])
	const row = {
		name: name.replace(':', ', '), write: performance.now() - begin,
		file: server ? 0 : fs.statSync(file).size / 1e6, filters: {}, opened: []
	}
	for (let i = 0; i < OPENINGS; i++) {
		const page = await open(browser, server?.address ?? file)
		row.opened.push(await page.evaluate(() => window.tailor.page.ready))
		if (i === OPENINGS - 1) {
			const client = await page.context().newCDPSession(page)
			await client.send('Performance.enable', { timeDomain: 'threadTicks' })
			const heap = async () => {
				await client.send('HeapProfiler.collectGarbage')
				return page.evaluate(() => [
					performance.memory.usedJSHeapSize / 1e6,
					window.tailor.state.data.reduce(
						(sum, d) => sum + (d.table.calls?.memory.buffer.byteLength ?? 0),
						0
					) / 1e6
				])
			}
			row.samples = await page.evaluate(() => window.tailor.state.data[0].facts.rows)
			row.heap = await heap()
			for (const view of await page.evaluate(() => window.tailor.views.map((v) => v.id))) {
				row.filters[view] = await filters(page, client, view, FILTERS)
			}
			row.after = await heap()
			if (page.faults.length)
				throw new Error(page.faults.join('\n'))
		}
		await page.context().close()
	}
	row.overview = quantile(row.opened, 0.5)
	await server?.end()
	return row
}

const browser = await launch(build, ['--enable-precise-memory-info']), rows = []
for (const [name, trace] of traces.map((text) => text.split('=')))
	rows.push(await measure(browser, name, trace))
await browser.close()
console.log('page                 samples      file  written  complete  JS heap   + table  after all views')
for (const r of rows)
	console.log(
		`${r.name.padEnd(19)}${r.samples.toLocaleString('en').padStart(11)}${r.file.toFixed(2).padStart(7)} MB` +
			`${ms(r.write).padStart(9)}${ms(r.overview).padStart(10)}` +
			`${r.heap[0].toFixed(1).padStart(6)} MB${r.heap[1].toFixed(1).padStart(7)} MB` +
			`${(r.after[0] + r.after[1]).toFixed(1).padStart(14)} MB`
	)
console.log(
	`${THEIRS.name.padEnd(19)}${THEIRS.samples.toLocaleString('en').padStart(11)}${''.padStart(19)}` +
		`${ms(THEIRS.overview).padStart(10)}${THEIRS.heap.toFixed(1).padStart(6)} MB` +
		`\n\na change of filters in ms: median and 95th percentile of ${FILTERS} until all is drawn, ` +
		'and the 95th percentile of processor time' +
		'\n(UmbraPerf: 1000 to brush, 600 to 900 to switch events)'
)
for (const r of rows)
	console.log(
		`${r.name.padEnd(19)}${Object.entries(r.filters)
			.map(([view, of]) => `${view} ${of.map((v) => v.toFixed(0)).join('/')}`)
			.join('  ')}`
	)
