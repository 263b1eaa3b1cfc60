// SPDX-License-Identifier: MIT
// stacks.mjs BUILD FOLDER TRACE...: the flame graph's boxes, from the outermost and from the innermost frame on, are what `tailor export
// --format folded`
// has, also of a range of time.
import { execFileSync } from 'node:child_process'
import path from 'node:path'
import { Checks, launch, open, show } from './browser.mjs'

const [build, folder, ...traces] = process.argv.slice(2), tailor = path.join(build, 'tailor')
const checks = new Checks(), browser = await launch(build, ['--force-device-scale-factor=1'])
const WIDE = { width: 8000, height: 900 } // one sample in thousands is a box

// 'a;b 3' lines: of each way from the root what the samples below it weigh.
function expected(folded, up) {
	const boxes = new Map([['all', 0]])
	for (const line of folded.split('\n').filter(Boolean)) {
		const [, stack, nr] = /^(.*) (\d+)$/.exec(line), frames = stack === '(no call stack)' ? [] : stack.split(';')
		let way = 'all', last
		boxes.set(way, boxes.get(way) + Number(nr))
		for (const frame of up ? frames.reverse() : frames) {
			if (frame === last)
				continue
			way += `;${last = frame}`
			boxes.set(way, (boxes.get(way) ?? 0) + Number(nr))
		}
	}
	return [...boxes].filter(([, nr]) => nr).map(([way, nr]) => `${way} ${nr}`).sort()
}

const weight = (folded) => folded.split('\n').filter(Boolean).reduce((sum, line) => sum + Number(/(\d+)$/.exec(line)[1]), 0)

// Functions of the same name are one, as they are in the text; whole: what all weigh.
function ways(boxes, whole) {
	const sums = new Map(), at = []
	for (const { name, depth, share } of boxes) {
		at.length = depth
		at.push(name.replaceAll(';', ':'))
		sums.set(at.join(';'), (sums.get(at.join(';')) ?? 0) + share * whole)
	}
	return [...sums].map(([way, nr]) => `${way} ${Math.round(nr)}`).sort()
}

const view = (trace, name, event) =>
	JSON.parse(
		execFileSync(tailor, ['report', '--view', name, '--json', '--top', '0', '--mark', 'all', '--event', event, trace], {
			maxBuffer: 1 << 28
		})
	)
const sorted = (rows) => [...rows.reduce((sums, [name, nr]) => sums.set(name, (sums.get(name) ?? 0) + nr), new Map())]
	.map(([name, nr]) => `${name} ${nr.toFixed(2)}`).sort()

// Callers and callees of a function, chosen by its name: those of `report --view callees`, for functions that do not call themselves.
async function sides(page, trace, event, end) {
	const { callees } = view(trace, 'callees', event).tables, called = callees.filter((r) => r.caller)
	const around = (name, seen = new Set()) => {
		for (const r of called)
			if (r.caller === name && !seen.has(r.name))
				around(r.name, seen.add(r.name))
		return seen
	}
	await page.evaluate((to) => window.tailor.state.set('time', { from: 0, to }), end)
	await page.getByLabel('Direction').selectOption('both')
	for (const { name, samples } of callees.filter((r) => !r.caller && !around(r.name).has(r.name)).slice(0, 6)) {
		const choice = page.getByLabel('Callers and callees of')
		const option = choice.locator('option', { hasText: new RegExp(`^${RegExp.escape?.(name) ??
		name.replace(/[^\w]/g, '\\$&')}$`) })
		if (await option.count() !== 1)
			continue
		await choice.selectOption(await option.getAttribute('value'))
		const got = await page.evaluate(() => window.tailor.views.find((v) => v.id === 'stacks').drawn())
		const what = `${path.basename(trace)}: ${name}`
		checks.same(`${what} in the middle`, name, got.middle)
		const side = (s) => sorted(got.rows.filter((r) => r.side === s).map((r) => [r.name, r.samples]))
		checks.same(
			`${what}: callees`,
			sorted(called.filter((r) => r.caller === name).map((r) => [r.name, r.samples])),
			side('callee')
		)
		checks.same(
			`${what}: callers`,
			sorted(called.filter((r) => r.name === name).map((r) => [r.caller, r.samples])),
			side('caller')
		)
		const middle = got.boxes.filter((b) => b.name === name)
		checks.that(`${what}: total`, middle.length === 1 && Math.abs(middle[0].samples - samples) < 0.01, [middle, samples])
	}
	await page.getByLabel('Direction').selectOption('down')
	await page.evaluate(() => window.tailor.state.set('time', null))
}

// Waits by stack: by the button, with the weights of `report --view tree` of that event.
async function waits(page, trace) {
	const button = page.getByRole('button', { name: 'waits' })
	if (!await button.isVisible())
		return
	await button.click()
	const { boxes } = await page.evaluate(() => window.tailor.views.find((v) => v.id === 'stacks').drawn())
	const { tables } = view(trace, 'tree', 'context-switches')
	// Smaller ones are narrower than a pixel.
	const wide = (rows, name, nr) => sorted(rows.filter((r) => nr(r) >= 0.002).map((r) => [name(r), nr(r)]))
	checks.same(`${path.basename(trace)}: waits by stack`, wide(tables.tree, (r) => `${r.depth} ${r.name}`, (r) => r.share),
		wide(boxes.slice(1), (b) => `${b.depth - 1} ${b.name}`, (b) => b.share))
	checks.that(
		`${path.basename(trace)}: their time`,
		(await page.locator('#view th', { hasText: 'time' }).locator('visible=true').count()) > 0
	)
}

for (const trace of traces) {
	const html = path.join(folder, `${path.basename(trace, '.tlr')}.html`)
	execFileSync(tailor, ['html', trace, '-o', html])
	const page = await open(browser, html, { size: WIDE })
	await page.evaluate(() => {
		window.tailor.state.set('run', null)
		window.tailor.state.option('from', 'stacks')
	})
	await show(page, 'stacks')
	const end = await page.evaluate(() => {
		const { facts } = window.tailor.state.data[0]
		return Math.ceil((facts.last_ns - facts.first_ns) / facts.time_ns) + 1
	})
	const event = await page.evaluate(() => window.tailor.state.data[0].facts.events[window.tailor.state.filters.event.values[0]].name)
	for (const [from, to] of [[0, end], [0, Math.ceil(end / 2)], [Math.floor(end / 3), end]])
		for (const direction of ['down', 'up']) {
			const boxes = await page.evaluate(({ direction, from, to }) => {
				const { state, views } = window.tailor
				state.option('frames', 'f')
				state.option('stacks', direction)
				state.set('time', { from, to })
				return views.find((v) => v.id === 'stacks').drawn().boxes
			}, { direction, from, to })
			const folded = execFileSync(tailor, ['export', '--format', 'folded', '--mark', 'all', '--event', event, '--from',
				(from / 1e6).toFixed(6), '--to',
				(to / 1e6).toFixed(6), trace], { encoding: 'utf8' })
			checks.same(`${path.basename(trace)}, ${direction}, from ${from} to ${to} us`, expected(folded, direction === 'up'),
				ways(boxes, weight(folded)))
		}
	await sides(page, trace, event, end)
	await waits(page, trace)
	checks.same(`${trace}: faults`, [], page.faults)
	await page.context().close()
}
await browser.close()
checks.finish('flame graphs')
