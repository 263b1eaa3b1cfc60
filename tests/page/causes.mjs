// SPDX-License-Identifier: MIT
// causes.mjs BUILD FOLDER COMBINATIONS TRACE...: executions, costs, stalls and the bounds of their causes are those of the command under
// the same filters; the first trace's are reached by clicks.
import { execFile, execFileSync } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { Checks, launch, open, random_from, show } from './browser.mjs'
import { combination, conditions, facts_of } from './filters.mjs'

const [build, folder, nr, ...traces] = process.argv.slice(2)
const tailor = path.join(build, 'tailor'), run = promisify(execFile), random = random_from(521288629)
const checks = new Checks(), CLOSE = 1e-9
let blocks = 0, bounds = 0, causes = 0

const close = (a, b) => a === b || Math.abs(a - b) <= CLOSE * Math.max(1, Math.abs(a), Math.abs(b))
const same = (what, expected, got) => checks.that(what, close(expected ?? 0, got ?? 0), [expected, got])

async function report(trace, options) {
	const { stdout } = await run(tailor, ['report', '--json', '--top', '0', '--view', 'cpi', '--view', 'stalls', ...options, trace], {
		maxBuffer: 1 << 28
	})
	return JSON.parse(stdout).tables ?? {}
}

// What the view draws of each function, one after the other.
const drawn = (page) => page.evaluate(() => window.tailor.answered(() => {
	const { state, views, page: { data } } = window.tailor, view = views.find((v) => v.id === 'causes')
	return data[0].causes.functions.map((_, i) => {
		Object.assign(state.options, { function: String(i), block: '-1' })
		view.draw()
		return {
			...view.drawn(),
			table: view
				.table()
				.rows.map((row) => Object.fromEntries(view.table().columns.map((c) => [c.key, c.value(row) ?? null])))
		}
	})
}))

function compare(what, tables, of) {
	for (const d of of) {
		const rows = (tables.cpi ?? []).filter((r) => r.function === d.function)
		// functions without samples are not in a report
		checks.that(
			`${what}: ${d.function} has its blocks`,
			rows.length === d.blocks.length || (!rows.length && d.blocks.every((b) => !(b.share > 0))),
			[rows.length, d.blocks.length]
		)
		for (const [i, r] of rows.entries()) {
			const b = d.blocks[i], t = d.table[i], at = `${what}: ${d.function}+${r.offset?.toString(16)}`
			blocks++
			checks.same(`${at}: where it is`, r.offset, b.offset)
			same(`${at}: share`, r.share, b.share)
			same(`${at}: executions`, r.executions, b.executions)
			checks.same(`${at}: by`, r.executions_state ?? '', t.executions_state ?? '')
			for (const key of ['per_execution', 'per_instruction'])
				same(`${at}: ${key}`, r[key], t[key])
			const expected = (tables.stalls ?? []).filter(
				(s) => s.function === d.function && s.offset === r.offset && s.culprit !== 'unexplained'
			)
			checks.same(`${at}: causes`, expected.map((s) => s.culprit), b.causes.map((c) => c.cause))
			expected.forEach((s, n) => {
				bounds++
				same(`${at}: best`, s.best, t.best)
				same(`${at}: stalled`, s.stalled, t.stalled)
				same(`${at}: ${s.culprit} at least`, s.at_least, b.causes[n]?.at_least)
				same(`${at}: ${s.culprit} at most`, s.at_most, b.causes[n]?.at_most)
			})
		}
	}
	const [{ stalls, summary, functions }] = of
	if (!stalls)
		return
	checks.same(
		`${what}: rows of the summary`,
		(tables.summary ?? []).map((r) => `${r.cause_key} by ${r.known_by}`),
		summary.map((r) => `${r.cause} by ${r.known_by}`)
	)
	for (const r of tables.summary ?? []) {
		const s = summary.find((x) => x.cause === r.cause_key)
		causes++
		same(`${what}: ${r.cause_key} at least`, r.at_least, s?.at_least)
		same(`${what}: ${r.cause_key} at most`, r.at_most, s?.at_most)
	}
	for (const r of tables.functions ?? []) {
		const f = functions.find((x) => x.name === r.name)
		same(`${what}: ${r.name} has of the cycles`, r.share, f?.share)
		same(`${what}: ${r.name} is stalled`, r.stalled, f?.stalled)
	}
}

// By clicks: the operator whose cycles went to divisions, its block, and from Code to blocks.
async function click(page) {
	await page.evaluate(() => window.tailor.state.replace({}))
	await page.evaluate(() => window.tailor.state.set('event', { values: [0] }))
	await page.click('nav button[data-view=causes]')
	await page.selectOption('select[aria-label="Of which operator"]', { label: 'filter' })
	const first = () =>
		page.evaluate(
			() =>
				window.tailor.views
					.find((v) => v.id === 'causes')
					.drawn()
					.summary.filter((r) => r.cause !== 'execution')[0].cause
		)
	checks.same('the operator that divides', 'division', await first())
	await page.selectOption('select[aria-label="Of which operator"]', { label: 'sum' })
	checks.same('the operator that misses caches', 'data_cache', await first())
	await page.locator('.chip button').first().click()
	await page.locator('[role=region][aria-label="functions-with-blocks"] tr', { hasText: 'loop' }).click()
	await page.locator('[role=region][aria-label="blocks"] tr', { hasText: '+8' }).click()
	checks.that(
		'the block says its cause',
		(await page.locator('[role=region][aria-label="causes-of-the-block"]').innerText()).includes('division')
	)
	checks.that(
		'and has its instructions, and no others',
		/div rcx/.test(await page.locator('.listing.short:visible').innerText()) &&
			(await page.locator('.listing.short:visible .row').count()) === 3
	)
	await page.click('nav button[data-view=code]')
	checks.that(
		'Code says that samples are late',
		(await page.locator('.note:visible').allInnerTexts()).join(' ').includes('some instructions late')
	)
	await page.locator('button', { hasText: 'Sums of its blocks' }).click()
	checks.same('and leads to blocks', 'causes', await page.evaluate(() => window.tailor.state.view))
}

const browser = await launch(build)
for (const [i, trace] of traces.entries()) {
	const html = path.join(folder, `${path.basename(trace, '.tlr')}.html`)
	execFileSync(tailor, ['html', trace, '-o', html])
	const page = await open(browser, html), facts = await facts_of(page), all = conditions(facts)
	for (let n = Math.ceil(nr * (i + 1) / traces.length) - Math.ceil(nr * i / traces.length); n > 0; n--) {
		const { filters, options: given } = combination(facts, all, random), options = given.slice(2)
		filters.event = { values: [facts.event] } // of --event the other events, which say of executions and causes, do not pass
		await page.evaluate((f) => window.tailor.state.replace(f), filters)
		await show(page, 'causes')
		compare(`${path.basename(trace)} ${options.join(' ')}`, await report(trace, options), await drawn(page))
	}
	if (i === 0)
		await click(page)
	checks.same(`${trace}: faults`, [], page.faults)
	await page.context().close()
}
await browser.close()
checks.that('blocks, bounds and causes were compared', blocks > nr && bounds > 0 && causes > 0, [blocks, bounds, causes])
checks.finish(`${nr} combinations of filters: ${blocks} blocks, ${bounds} bounds of blocks, ${causes} of all`)
