// SPDX-License-Identifier: MIT
/*
 * scenarios.mjs BUILD FOLDER FIRST SECOND...: both scenarios of UmbraPerf's paper (A. Beischl and T. Neumann, PVLDB 18, 2025, section 3),
 * step by step, by clicks alone: what is slow, which event explains it, which memory, which lines; then the second trace against the first.
 * What is shown at each step is what `tailor report` and `tailor diff` print.
 */
import { execFileSync } from 'node:child_process'
import path from 'node:path'
import { Checks, launch, open, show } from './browser.mjs'

const [build, folder, ...traces] = process.argv.slice(2), tailor = path.join(build, 'tailor'), checks = new Checks()
const [TIME, MISSES] = ['Cycles', 'L3-Misses'], CLOSE = 1e-6
const report = (trace, view, ...options) =>
	JSON.parse(
		execFileSync(tailor, ['report', '--json', '--top', '0', '--mark', 'all', '--view', view, ...options, trace], {
			maxBuffer: 1 << 28
		})
	)
const near = (a, b) => Math.abs(a - b) <= CLOSE * Math.max(1, Math.abs(b))
const squeezed = (text) => text.trim().replace(/\s+/g, ' ')
const drawn = (page, view) => page.evaluate((id) => window.tailor.views.find((v) => v.id === id).drawn(), view)
const by_samples = (rows) => rows.map((r) => `${r.name} ${r.samples}`).sort()

// The middle of what a picture of a view shows as its n-th thing, on the screen.
async function spot(page, view, part, n) {
	const at = await page.evaluate(({ view, part, n }) => {
		const picture = window.tailor.views.find((v) => v.id === view).parts[part]
		picture.canvas.scrollIntoView({ block: 'center' })
		const { x, y, w, h } = picture.spots()[n], box = picture.canvas.getBoundingClientRect()
		return [box.left + x + w / 2, box.top + y + h / 2]
	}, { view, part, n })
	return at
}

async function tip(page, ...place) {
	await page.mouse.move(1, 1)
	await page.mouse.move(...await spot(page, ...place))
	return (await page.locator('.tip').innerText()).split('\n')
}

// The five hottest lines of a tooltip, as [share in percent, samples of that many], and as the report has them.
function hottest(trace, event, ...components) {
	const { tables, samples } = report(trace, 'ir', '--hottest', '--event', event, ...components.flatMap((c) => ['--component', c]))
	return { samples, lines: (tables?.ir ?? []).slice(0, 5).map((r) => r.samples) }
}
const samples_of = (lines, all) =>
	lines.filter((line) => /^[\d.]+ %  ?\S/.test(line) && !/95 % interval/.test(line)).map((line) => (parseFloat(line) / 100) * all)

async function same_lines(page, trace, what, place, event, all, ...components) {
	const said = samples_of(await tip(page, ...place), all), { lines } = hottest(trace, event, ...components)
	checks.that(
		`${what}: hottest lines in the tooltip`,
		said.length === lines.length && said.every((s, i) => Math.abs(s - lines[i]) <= all * 0.0006),
		[said, lines]
	)
}

const total = (rows) => rows.reduce((sum, r) => sum + r.samples, 0)

// Scenario 1, steps 1 to 5.
async function optimize(page, trace, name) {
	const operators = (event) => report(trace, 'components', '--level', 'operator', '--event', event).tables.operator
	// (1) the overview: which operators are expensive, when
	for (const event of [TIME, MISSES]) {
		await page.getByLabel('Event', { exact: true }).selectOption({ label: event })
		const { cost, plan, levels, lanes } = await drawn(page, 'overview'), all = operators(event)
		checks.same(`${name}, ${event}: operators`, by_samples(all), by_samples(cost))
		checks.same(`${name}, ${event}: lanes`, by_samples(all), by_samples(lanes.lanes))
		// five hottest lines of the most expensive operator of the plan, and of a part of the outer ring
		const n = plan.reduce((most, b, i) => b.samples > plan[most].samples ? i : most, 0)
		await same_lines(
			page, trace, `${name}, ${event}: ${plan[n].name}`, ['overview', 'plan', n], event, total(all),
			`operator:${plan[n].name}`
		)
		const outer = levels
			.map((p, i) => [p, i])
			.filter(([p]) => p.ring === 1 && p.name !== 'smaller parts')
			.sort((a, b) => b[0].samples - a[0].samples)[0][1]
		const inner = levels.slice(0, outer).findLast((p) => p.ring === 0)
		const of = (p, level) => /^\(unattributed\)$/.test(p.name) ? [] : [`${level}:${p.name}`]
		await same_lines(
			page,
			trace,
			`${name}, ${event}: ${inner.name} and ${levels[outer].name}`,
			['overview', 'levels', outer],
			event,
			total(all),
			...of(inner, 'pipeline'),
			...of(levels[outer], 'operator')
		)
	}
	await page.getByRole('button', { name: 'absolute' }).click()
	checks.that(`${name}: relative lanes`, (await drawn(page, 'overview')).lanes.relative)
	// (2) and (3) both events beside each other
	await page.locator('nav').getByRole('button', { name: 'Events' }).click()
	await page.getByLabel('Event above').selectOption({ label: TIME })
	await page.getByLabel('Event below').selectOption({ label: MISSES })
	await page.getByRole('combobox', { name: 'Height of lanes' }).locator('visible=true').selectOption('relative')
	const both = await drawn(page, 'events')
	const listed = report(trace, 'events', '--event', TIME).tables.events.filter((r) => r.name !== '(all)')
	checks.that(`${name}: relative activity`, both.relative)
	const unit = (r) => r.of[1] / r.of[0] * 1000
	checks.that(
		`${name}: misses per 1000 cycles`,
		listed.every((r) =>
			both.rows.some(
				(row) =>
					(row.name === r.name && near(row.samples[0], r.samples) && (r[MISSES] ?? 0) === 0) ||
					near(unit(both.rows.find((row) => row.name === r.name)), r[MISSES])
			)
		),
		[listed, both.rows]
	)
	checks.same(`${name}: plan of the event above`, both.plan.map((b) => b.samples), (await drawn(page, 'events')).plan.map((b) =>
		operators(TIME).find((r) => r.name === b.name)?.samples ?? 0))
	const worst = both.plan
		.map((b) => both.rows.find((r) => r.name === b.name))
		.filter(Boolean)
		.sort((a, b) => unit(b) - unit(a))[0].name
	const at = both.plan.findIndex((b) => b.name === worst)
	checks.that(
		`${name}: the plan says the event below`,
		(await tip(page, 'events', 'plan', at)).some((line) => line.endsWith(`of ${MISSES}`))
	)
	// (4) which memory that is: the operator with most misses for its time, beside the others
	await page.locator('nav').getByRole('button', { name: 'Memory' }).click()
	await page.locator('#view').getByText('Memory over time').waitFor()
	const accesses = report(trace, 'memory', '--event', MISSES).tables.memory, panels = (await drawn(page, 'memory')).each
	checks.that(
		`${name}: accesses of each component`,
		panels.length > 0 && panels.every((p) => accesses.find((r) => r.name === p.name)?.samples === p.samples),
		[panels, accesses.map((r) => [r.name, r.samples])]
	)
	checks.that(
		`${name}: how many have an address`,
		(await drawn(page, 'memory')).said.startsWith(`${total(accesses).toLocaleString('en-US')} of `)
	)
	await page.getByLabel('What is shown over time').selectOption('deltas')
	checks.same(`${name}: distances`, 'deltas', (await drawn(page, 'memory')).mode)
	const panel = (await drawn(page, 'memory')).each.findIndex((p) => p.name === worst)
	if (panel >= 0) {
		await page.mouse.click(...await spot(page, 'memory', 'each', panel))
		checks.same(`${name}: the panel is a filter`, [worst], await page.locator('.chip > bdi').allTextContents())
	} else {
		await page.locator('nav').getByRole('button', { name: 'Overview' }).click()
		await page.mouse.click(...await spot(page, 'overview', 'plan', at))
	}
	// (5) which lines, in a range of time
	await page.locator('nav').getByRole('button', { name: 'Overview' }).click()
	await page.evaluate(() => scrollTo(0, 0))
	const line = await page.locator('#view canvas:visible').first().boundingBox(), y = line.y + 40
	await page.mouse.move(line.x + line.width * 0.2, y)
	await page.mouse.down()
	await page.mouse.move(line.x + line.width * 0.95, y, { steps: 3 })
	await page.mouse.up()
	await page.locator('nav').getByRole('button', { name: 'Code' }).click()
	const { time } = await page.evaluate(() => window.tailor.state.filters)
	const range = ['--from', (time.from / 1e6).toFixed(6), '--to', (time.to / 1e6).toFixed(6)]
	const options = ['--event', MISSES, '--component', `operator:${worst}`, ...range]
	const code = await drawn(page, 'code'), lines = report(trace, 'ir', '--hottest', ...options).tables?.ir ?? []
	checks.same(
		`${name}: hottest lines of ${worst}`,
		lines.slice(0, 20).map((r) => r.samples),
		code.hottest.slice(0, lines.length).map((r) => r.samples)
	)
	const blocks = (report(trace, 'ir', ...options).tables?.ir ?? []).filter((r) => r.block > 0.0005)
	checks.that(
		`${name}: blocks`,
		blocks.length === code.blocks.length &&
			blocks.every(
				(r, i) =>
					r.line === code.blocks[i].line &&
					near(code.blocks[i].share, r.block) &&
					near(code.blocks[i].parts.reduce((sum, [, share]) => sum + share, 0), r.block)
			),
		[blocks, code.blocks]
	)
	await page.locator('#view tr.choose:visible').first().click()
	const row = page.locator('.listing .row.mark').first()
	await row.hover()
	const about = (await page.locator('.tip').innerText()).split('\n').map(squeezed)
	checks.that(
		`${name}: the line's operator and pipeline`,
		about.some((l) => l === `operator: ${worst}`) && about.some((l) => l.startsWith('pipeline: ')),
		about
	)
	for (const { name: event, nr } of await page.evaluate(() =>
		window.tailor.page.facts.events.map((e, i) => ({
			name: e.name, nr: window.tailor.state.sums('event', null, ['event']).samples(i)
		}))
	))
		if (nr > 0) {
			const found = (
				report(trace, 'ir', '--hottest', '--event', event, '--component', `operator:${worst}`, ...range).tables
					?.ir ?? []
			).find((r) => r.line === lines[0].line)
			checks.that(
				`${name}: ${event} of the line`,
				about.some(
					(l) =>
						l.startsWith(`${event}: `) &&
						l.endsWith(` ${(found?.samples ?? 0).toLocaleString('en-US')} samples`)
				),
				[about, found]
			)
		}
	await page.keyboard.press('Escape')
}

// Scenario 2: the second against the first, and the lines of what is new.
async function validate(page, first, second) {
	await page.locator('nav').getByRole('button', { name: 'Compare' }).click()
	const { rows } = await drawn(page, 'compare')
	const said = JSON.parse(execFileSync(tailor, ['diff', '--json', '--all', '--top', '0', first, second], { maxBuffer: 1 << 28 }))
		.tables.changes
	checks.same('lines of Compare', said.length, rows.length)
	checks.same('changes that are significant', said.filter((r) => r.significant).length, rows.filter((r) => r.certain).length)
	const took = await page.locator('.figures div:visible', { hasText: 'time range' }).locator('dd').innerText()
	const spans = [first, second].map((trace) => 1000 * report(trace, 'events').seconds)
	const said_ms = took.replace(' ms', '').split(' → ').map(Number)
	checks.that('both time ranges', spans.every((ms, i) => Math.abs(ms - said_ms[i]) <= ms * 0.005), [spans, took])
}

const browser = await launch(build)
for (let i = 0; i < traces.length; i += 2) {
	const two = traces.slice(i, i + 2), html = path.join(folder, 'scenario.html')
	for (const trace of two) {
		execFileSync(tailor, ['html', trace, '-o', html])
		const page = await open(browser, html, { context: { reducedMotion: 'reduce' } })
		await optimize(page, trace, path.basename(trace, '.tlr'))
		checks.same(`${trace}: faults`, [], page.faults)
		await page.context().close()
	}
	execFileSync(tailor, ['html', ...two, '-o', html])
	const page = await open(browser, html)
	await show(page, 'overview')
	await validate(page, ...two)
	checks.same(`${two.join(' and ')}: faults`, [], page.faults)
	await page.context().close()
}
await browser.close()
checks.finish('scenarios of UmbraPerf')
