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

for (const trace of traces) {
	const html = path.join(folder, `${path.basename(trace, '.tlr')}.html`)
	execFileSync(tailor, ['html', trace, '-o', html])
	const page = await open(browser, html, { size: WIDE })
	await show(page, 'stacks')
	const end = await page.evaluate(() => {
		const { facts } = window.tailor.state.data[0]
		return Math.ceil((facts.last_ns - facts.first_ns) / facts.time_ns) + 1
	})
	const event = await page.evaluate(() => window.tailor.state.data[0].facts.events[window.tailor.state.filters.event.values[0]].name)
	// a search keeps what is below a function, as --below does
	const below = (name) => JSON.parse(execFileSync(tailor, ['report', '--view', 'functions', '--json', '--mark', 'all', '--event', event,
		...(name ? ['--below', `function:${name}`] : []), trace], { maxBuffer: 1 << 28 }))
	const called = below().tables.functions.filter((f) => f.total_samples > 0 && /^\w{4,}$/.test(f.name))
	for (const { name } of called.sort((a, b) => b.total_samples - b.samples - a.total_samples + a.samples).slice(0, 3)) {
		const found = await page.evaluate((text) => {
			const { state, answered, sums } = window.tailor, { facts } = state.data[0]
			const names = [...facts.functions.name, ...facts.components.name, ...facts.lines.file.map(String)]
			if (names.filter((n) => n?.toLowerCase().includes(text.toLowerCase()) && n !== text).length)
				return null // the text is in other names, too
			state.set('search', { text })
			return answered(() => sums(null).total[0])
		}, name)
		if (found !== null)
			checks.that(`${path.basename(trace)}: search for ${name}`, Math.abs(found - below(name).samples) < 0.01, [found, below(name).samples])
		await page.evaluate(() => window.tailor.state.set('search', null))
	}
	for (const [from, to] of [[0, end], [0, Math.ceil(end / 2)], [Math.floor(end / 3), end]])
		for (const direction of ['down', 'up']) {
			const boxes = await page.evaluate(({ direction, from, to }) => {
				const { state, views } = window.tailor
				state.option('frames', 'functions')
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
	checks.same(`${trace}: faults`, [], page.faults)
	await page.context().close()
}
await browser.close()
checks.finish('flame graphs')
