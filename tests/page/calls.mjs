// SPDX-License-Identifier: MIT
// calls.mjs BUILD FOLDER COMBINATIONS TRACE...: columns of counts, calls and their times are those of `tailor report --json` under the same
// filters and with the same assumptions.  FOLDER has queens-5.tlr and queens-6.tlr, and what these programs counted
// themselves (said-5, said-6).
import { execFile, execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { Checks, launch, open, random_from, show } from './browser.mjs'
import { combination, conditions, facts_of } from './filters.mjs'

const [build, folder, nr, ...traces] = process.argv.slice(2)
const tailor = path.join(build, 'tailor'), run = promisify(execFile), random = random_from(88172645)
const checks = new Checks()

async function report(trace, views, options) {
	const { stdout } = await run(tailor, ['report', '--json', '--top', '0', ...views.flatMap((v) => ['--view', v]), ...options, trace],
		{ maxBuffer: 1 << 28 })
	return JSON.parse(stdout).tables
}

function page_of(trace) {
	const html = path.join(folder, `${path.basename(trace, '.tlr')}.html`)
	execFileSync(tailor, ['html', trace, '-o', html])
	return open(browser, html)
}

// Rows of a table of the page, as objects, under its columns' keys.
const table_of = (page, view, part) => page.evaluate(({ view, part }) => window.tailor.answered(() => {
	const v = window.tailor.views.find(({ id }) => id === view), { columns, rows } = (part ? v.parts[part] : v).table()
	return rows.map((row) => Object.fromEntries(columns.map((c) => [c.key, c.value(row) ?? null])))
}), { view, part })

const close = (a, b) =>
	a === b || (typeof a === 'number' && typeof b === 'number' && Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a), Math.abs(b)))
const LEAST_SAMPLE = 1e-3
const seen = new Map() // column => how many numbers of it were compared

// The columns of both, row by row; what the page leaves blank is null in a report.
function compare(what, keys, expected, got) {
	for (const [page_key, key] of keys) {
		const a = expected[key] ?? null, shown = got?.[page_key] === '' ? null : got?.[page_key] ?? null
		const b = key === 'total_samples' && shown < LEAST_SAMPLE ? 0 : shown // (rows of weight alone)
		checks.that(`${what}: ${key}`, close(a || null, b || null), [a, b])
		seen.set(key, (seen.get(key) ?? 0) + (a !== null))
	}
}

// Of tables whose rows are named, those that both have.
function compare_rows(what, keys, expected, got, name_of) {
	const rows = new Map(got.map((row) => [name_of(row), row]))
	for (const row of expected) {
		const name = name_of(row)
		if (rows.has(name) && expected.filter((r) => name_of(r) === name).length === 1)
			compare(`${what}: "${name}"`, keys, row, rows.get(name))
	}
}

const same = (...keys) => keys.map((k) => [k, k]), COUNTS = same('executions', 'executions_state', 'per_execution')
const call_name = (c) => `${c.caller}.${c.site ?? ''}->${c.callee}`

async function compare_calls(page, what, calls) {
	await show(page, 'calls')
	const drawn = await page.evaluate(() => window.tailor.answered(() => window.tailor.views.find((v) => v.id === 'calls').drawn()))
	checks.same(`${what}: procedures`, calls.functions.map((f) => f.name).sort(), drawn.procedures.map((f) => f.name).sort())
	checks.same(`${what}: calls`, calls.calls.map(call_name).sort(), drawn.calls.map(call_name).sort())
	compare_rows(
		`${what}: procedure`,
		[
			['executions', 'executions'],
			['state', 'executions_state'],
			['self', 'share'],
			['total', 'total']
		],
		calls.functions,
		drawn.procedures,
		(f) => f.name
	)
	compare_rows(`${what}: call`, same('calls', 'state', 'most', 'total'), calls.calls, drawn.calls, call_name)
	return drawn
}

async function one(page, trace, facts, all) {
	const { filters, options } = combination(facts, all, random), what = `${path.basename(trace)} ${options.join(' ')}`
	await page.evaluate((f) => window.tailor.state.replace(f), filters)
	const views = ['components', 'functions', ...(facts.plans.length ? ['plan'] : []), ...(facts.sources.length ? ['ir'] : [])]
	const told = await Promise.all([facts.flow && report(trace, ['calls'], options), report(trace, views, options)]).catch((error) => {
		// Either sentence says that all samples are outside of the range of time.
		if (!/no sample of the trace is in a function|the trace has no component/.test(error.stderr)) throw error
	})
	if (!told)
		return one(page, trace, facts, all) // another one
	const [calls, others] = told
	const drawn = facts.flow ? await compare_calls(page, what, calls) : { procedures: [] }
	if (facts.columns.stack) // (the button stands where it was left, for all dimensions)
		await page.evaluate(() => window.tailor.state.option('total', '0'))
	// views show all values of a dimension that they filter by themselves
	for (const [i, { name }] of facts.levels.entries()) {
		if (filters[`level:${i}`] || !others[name])
			continue
		await page.evaluate((id) => window.tailor.state.option('by', id), `level:${i}`)
		await show(page, 'overview')
		compare_rows(
			`${what}: ${name}`,
			[...COUNTS, ...same('calls_in', 'calls_out')],
			others[name],
			await table_of(page, 'overview', 'cost'),
			(row) => row.name
		)
		if (facts.columns.stack)
			await totals(page, what, name, others[name])
	}
	if (!filters.function && others.functions) {
		await page.evaluate(() => window.tailor.state.option('by', 'function'))
		await show(page, 'overview')
		if (facts.columns.stack)
			await totals(page, what, 'function', others.functions)
		compare_rows(`${what}: functions`, [...COUNTS, ...same('calls_in', 'calls_out')], others.functions,
			await table_of(page, 'overview', 'cost'), (row) => row.name)
	}
	if (others.plan && !filters[`level:${facts.plan_level}`])
		compare_rows(
			`${what}: plan`,
			[...COUNTS, ['total', 'total']],
			others.plan.filter((row) => row.id),
			await table_of(page, 'overview', 'plan'),
			(row) => row.name.trim()
		)
	if (others.ir && !Object.keys(filters).some((id) => id.startsWith('level:'))) {
		await show(page, 'code')
		compare_rows(
			`${what}: text`,
			COUNTS,
			others.ir.filter((row) => row.source).map((row) => ({ ...row, at: `${path.basename(row.source)}:${row.line}` })),
			await table_of(page, 'code'),
			(row) => row.at
		)
	}
	return drawn
}

// Of stacks that are too short, without a filter.
async function cut_stacks(page, trace) {
	await page.evaluate(() => window.tailor.state.replace({}))
	await page.evaluate(() => window.tailor.state.option('by', 'function'))
	await show(page, 'overview')
	await totals(
		page,
		'short stacks',
		'function',
		(await report(trace, ['functions'], ['--mark', 'all'])).functions,
		await truncated(trace)
	)
}

const TRUNCATED = /[\d.]+ % of the stacks truncated/

// What the heading of a table of totals says of its stacks.
async function truncated(trace) {
	const { stdout } = await run(tailor, ['report', '--view', 'functions', '--top', '1', '--mark', 'all', trace], {
		maxBuffer: 1 << 28
	})
	return TRUNCATED.exec(stdout.replace(/\s+/g, ' '))?.[0] ?? ''
}

// Functions and components with what they call: by one click.
async function totals(page, what, of, rows, heading) {
	const button = page.locator('button', { hasText: 'With callees' })
	if (await button.getAttribute('aria-pressed') === 'false')
		await button.click()
	await page.waitForFunction(() => {
		const { page, views } = window.tailor, { rows } = views.find((v) => v.id === 'overview').parts.cost.table()
		return page.drawn && (!rows.length || rows.some((r) => r.total !== null))
	})
	const image = (row) => row.name === '(no symbol)' ? row.image : row.name?.startsWith('+0x') ? row.image + row.name : row.name
	compare_rows(
		`${what}: ${of}s with callees`,
		[
			['total', 'total'],
			['total_samples', 'total_samples']
		],
		rows.filter((row) => row.name !== '(unattributed)').map((row) => ({ ...row, name: image(row) })),
		await page.evaluate(() => window.tailor.views.find((v) => v.id === 'overview').parts.cost.table().rows),
		(row) => row.name
	)
	if (heading !== undefined) {
		checks.that(`${what}: heading`, heading !== '')
		checks.same(
			`${what}: heading of ${of}s with callees`,
			heading,
			TRUNCATED.exec(await page.locator('section:visible', { has: button }).innerText())?.[0] ?? ''
		)
		seen.set('headings with truncated stacks', 1)
	}
	seen.set(`${of} totals`, (seen.get(`${of} totals`) ?? 0) + rows.length)
}

// Two runs of a program that counts: Compare has the executions of both.
async function both(page) {
	await show(page, 'compare')
	const rows = await page.evaluate(() => window.tailor.answered(() => {
		const { columns, rows } = window.tailor.views.find((v) => v.id === 'compare').table()
		return rows.map((row) => Object.fromEntries(columns.map((c) => [c.key, c.value(row) ?? null])))
	}))
	checks.same('no code of both, where one has no text', 0, await page.locator('h2', { hasText: 'Code of both' }).count())
	checks.same(
		'executions of both',
		[3798, 3798, 1],
		['executions_a', 'executions_b', 'executions_ratio'].map((k) => rows.find((r) => r.name === 'exists?')?.[k])
	)
}

// Figure 2: the texts of five queens and of six stand side by side, coloured by executions and by a formula out of the menu.  Pointing at
// a line marks it in the other text.
async function both_texts() {
	const html = path.join(folder, 'texts.html')
	execFileSync(tailor, ['html', ...[5, 6].map((n) => path.join(folder, `text-${n}.tlr`)), '-o', html])
	const page = await open(browser, html)
	await page.click('nav button[data-view=compare]')
	await page.getByLabel('Compare by').selectOption({ label: 'line' })
	const parts = () => page.evaluate(() => window.tailor.views.find((v) => v.id === 'compare').parts.code.drawn())
	const [five, six] = await page.evaluate(() => {
		const { data: [{ facts }] } = window.tailor.page
		const { columns, rows } = window.tailor.views.find((v) => v.id === 'compare').table()
		return ['executions_a', 'executions_b'].map((key) =>
			facts.sources[0].of.map(
				(v) => rows.filter((r) => r.values[0] === v).map(columns.find((c) => c.key === key).value)[0] ?? null
			)
		)
	})
	await page.getByLabel('Colour of lines').selectOption({ label: 'executions' })
	const by_count = await parts(), most = Math.max(...five, ...six)
	checks.that(
		'texts are coloured by executions',
		[five, six].every((lines, s) => lines.every((n, i) => n === null || Math.abs(by_count[s].parts[i] - n / most) < 1e-9)),
		[five, six, by_count]
	)
	await page.locator('[role=region][aria-label="differences"]').locator('xpath=..').locator('button', { hasText: 'Formula' }).click()
	await page.getByLabel('Formulas to choose from').locator('visible=true').selectOption('executions_b - 6/5 * executions_a')
	await page.getByLabel('Colour of lines').selectOption({ label: 'formula of the table' })
	const by_formula = await parts()
	const grown = five.map((n, i) => n === null || six[i] === null ? 0 : Math.max(0, six[i] - 6 / 5 * n))
	const far = Math.max(...grown)
	checks.that(
		'... and by the formula',
		far > 0 && grown.every((n, i) => [0, 1].every((s) => Math.abs(by_formula[s].parts[i] - n / far) < 1e-9)),
		[grown, by_formula]
	)
	const [first, second] = ['Text of the first', 'Text of the second'].map((label) => page.getByLabel(label))
	await first.locator('.row', { hasText: '(if (null? list)' }).hover()
	checks.that('the same line is marked in the other', (await second.locator('.row.mark').innerText()).includes('(if (null? list)'))
	checks.same('both texts: faults', [], page.faults)
	await page.context().close()
}

// What counts leave open, assumed by the dial's box: as `--assume` says it.
async function assume(page, trace) {
	await page.evaluate(() => window.tailor.state.replace({}))
	for (let round = 0; round < 6; round++) {
		await show(page, 'calls')
		const inputs = page.locator('.dial input[type=number]')
		const i = random(await inputs.count())
		const range = page.locator('.dial').nth(i).locator('input[type=range]')
		const label = (await inputs.nth(i).getAttribute('aria-label')).replace(/^Assumed calls: /, '').replace(' → ', '->')
		const number = 1 + random(1600)
		if (round % 2 && await range.count())
			await range.fill(String(number))
		else
			await inputs.nth(i).fill(String(number)), await inputs.nth(i).press('Enter')
		checks.that(
			`${label}=${number}: what is assumed stands in a chip`,
			(await page.locator('.chip', { hasText: 'assumed' }).count()) === 1
		)
		await compare_calls(
			page,
			`${trace} --assume ${label}=${number}`,
			await report(trace, ['calls'], ['--mark', 'all', '--assume', `${label}=${number}`])
		)
		checks.that(
			'it stands as a command',
			(await page.locator('.dial ~ p').innerText()).includes(`--assume '${label}=${number}'`)
		)
		await page.locator('.chip button[aria-label^="Assume it no more"]').click()
		checks.same('it is assumed no more', 0, await page.locator('.chip', { hasText: 'assumed' }).count())
	}
}

// ------------------------------------------------------------------------------------------------------------------------- clicks

// The cells of a table that is shown, by its headings: all of them texts.
const cells = (page, label) => page.locator(`[role=region][aria-label="${label}"] table`).evaluate((table) => {
	const heads = [...table.querySelectorAll('th')].map((th) => th.textContent.replace(/ [▾▴]/, '').trim())
	return [...table.querySelectorAll('tbody tr.choose')].map((tr) =>
		Object.fromEntries([...tr.children].map((td, i) => [heads[i], td.textContent.trim()]))
	)
})
const row = (page, label, test) => page.locator(`[role=region][aria-label="${label}"] tr.choose`).nth(test)
const number = (text) => Number(text.replaceAll(',', ''))

const NAMES = ['', 'queens', 'try-column', 'row-free?', 'diagonal-free?', 'exists?', 'same-row?', 'column-of', 'on-diag?', 'on-diag-loop']
const CALLS = [[2, 1, 2], [3, 2, 3], [4, 2, 4], [10, 2, 2], [5, 3, 5], [7, 4, 7], [6, 4, 5], [8, 5, 6], [8, 5, 8], [11, 5, 5], [9, 8, 9]]

// What the program of so many queens counted itself.
function truth_of(queens) {
	const said = fs
		.readFileSync(path.join(folder, `said-${queens}`), 'utf8')
		.split('\n')
		.map((l) => l.split(' '))
		.filter(([w]) => w === 'call')
	const truth = CALLS.map(([site, caller, callee], i) => ({
		site, caller: NAMES[caller], callee: NAMES[callee], calls: Number(said[i][2])
	}))
	return {
		truth,
		entered: (name) => (name === 'queens' ? 1 : truth.filter((c) => c.callee === name).reduce((sum, c) => sum + c.calls, 0))
	}
}

const sum = (list) => list.reduce((a, b) => a + b, 0)

// The paper's figure 4: each procedure, call site and arc with its number, by walking from callee to callee; and figure 5: the numbers on
// each side of an equation are the same.
async function walk(page) {
	const { truth, entered } = truth_of(6)
	const of_site = (site) => truth.filter((c) => c.site === site).reduce((sum, c) => sum + c.calls, 0)
	await page.click('nav button[data-view=calls]')
	const all = await cells(page, 'functions-by-executions'), met = new Set(), arcs = new Set()
	for (const name of NAMES.slice(1))
		checks.same(`executions of ${name}`, entered(name), number(all.find((r) => r.procedure === name).executions))
	await row(page, 'functions-by-executions', all.findIndex((r) => r.procedure === 'queens')).click()
	async function visit(name) {
		met.add(name)
		checks.same(
			`the procedure that was walked to`,
			`Calls around ${name}`,
			await page.locator('h2', { hasText: 'Calls around' }).innerText()
		)
		const from = (await cells(page, 'called-from')).map((r) => `${r.caller}.${r.site}: ${number(r.calls)}`).sort()
		checks.same(
			`what calls ${name}`,
			name === 'queens'
				? ['(elsewhere).: 1']
				: truth
						.filter((c) => c.callee === name)
						.map((c) => `${c.caller}.${c.site}: ${c.calls}`)
						.sort(),
			from
		)
		checks.same(`figure 5: count(${name}) is the sum of arcs into it`, number(all.find((r) => r.procedure === name).executions),
			sum((await cells(page, 'called-from')).map((r) => number(r.calls))))
		const made = truth.some((c) => c.caller === name) ? await cells(page, 'calls-made') : []
		for (const r of made) {
			checks.same(`figure 5: count(${r.site}) is the sum of arcs out of it`, number(r['of the site']),
				sum(made.filter((o) => o.site === r.site).map((o) => number(o.calls))))
			checks.same(`call site ${r.site}`, of_site(Number(r.site)), number(r['of the site']))
			checks.same(
				`${name}.${r.site} to ${r.callee}`,
				truth.find((c) => c.site === Number(r.site) && c.callee === r.callee)?.calls,
				number(r.calls)
			)
			checks.same(`${name}.${r.site}: how it is known`, 'solved', r.by === 'counted' ? 'solved' : r.by)
			arcs.add(`${r.site} ${r.callee}`)
		}
		for (const [i, r] of made.entries()) {
			if (met.has(r.callee))
				continue
			await row(page, 'calls-made', i).click()
			await visit(r.callee)
			// ... and back, by the call site that led there
			const back = (await cells(page, 'called-from')).findIndex((c) => c.caller === name && c.site === r.site)
			await row(page, 'called-from', back).click()
			checks.that(
				`site ${r.site} of ${name} is chosen`,
				(await page.locator('[aria-label="calls-made"] tr.chosen').count()) > 0
			)
		}
	}
	await visit('queens')
	checks.same('all procedures are met', NAMES.slice(1).sort(), [...met].sort())
	checks.same('all arcs are met', CALLS.length, arcs.size)
}

// Figure 1: the lines by time, by executions, with the text coloured by either: the hottest row is the darkest, and choosing it shows it.
async function colours(page) {
	await page.click('nav button[data-view=code]')
	const rows = () =>
		page
			.locator('.listing:visible')
			.first()
			.locator('.row')
			.evaluateAll((list) =>
				list.map((row) => ({
					text: row.lastElementChild.textContent,
					colour: row.querySelector('.share').style.background
				}))
			)
	const before = await rows()
	for (const [by, column] of [['executions', 'executions'], ['time/exec', 'time/exec'], ['task-clock', 'share']]) {
		const choice = page.getByLabel('Heat by')
		const label = await choice
			.locator('option')
			.evaluateAll((list, by) => list.map((o) => o.textContent).find((t) => t === by) ?? list[0].textContent, by)
		await choice.selectOption({ label })
		const heading = page.locator('[aria-label="hottest-lines"] th button', { hasText: new RegExp(`^${column}`) })
		for (let i = 0; i < 3 && await heading.locator('xpath=..').getAttribute('aria-sort') !== 'descending'; i++)
			await heading.click()
		const first = page.locator('[aria-label="hottest-lines"] tr.choose').first()
		const text = await first.locator('td').last().innerText()
		await first.click()
		const now = await rows(), most = now.filter((r) => r.text.trim() === text), coloured = now.filter((r) => r.colour)
		checks.that(
			`${by}: '${text}' is scrolled into view, marked`,
			(await page.locator('.listing:visible').first().locator('.row.mark').innerText()).includes(text)
		)
		checks.that(
			`${by}: its colour is that of the hottest`,
			most.length > 0 &&
				coloured.filter((r) => r.colour === most[0].colour).length < coloured.length &&
				coloured.length > 2,
			[most, coloured.length]
		)
		checks.that(`${by}: other colours than by time`, column === 'share' || JSON.stringify(now) !== JSON.stringify(before))
	}
}

// Figure 2: the executions of a second run against those that the first one's predict, by a formula out of a menu.
async function growth() {
	const html = path.join(folder, 'growth.html'), [five, six] = [5, 6].map(truth_of)
	execFileSync(tailor, ['html', ...[5, 6].map((n) => path.join(folder, `queens-${n}.tlr`)), '-o', html])
	const page = await open(browser, html)
	await page.click('nav button[data-view=compare]')
	await page.getByLabel('Compare by').selectOption({ label: 'procedure' })
	await page.locator('button', { hasText: 'Formula' }).locator('visible=true').click()
	await page.getByLabel('Formulas to choose from').locator('visible=true').selectOption('executions_b - 6/5 * executions_a')
	const found = await page.locator('[role=region][aria-label="differences"] table').locator('visible=true').evaluate((table) => {
		const heads = [...table.querySelectorAll('th')].map((th) => th.textContent.replace(/ [▾▴]/, '').trim())
		return [...table.querySelectorAll('tbody tr')].map((tr) => [
			tr.cells[heads.indexOf('procedure')]?.textContent,
			tr.cells[heads.findIndex((t) => t.includes('6/5'))]?.textContent
		])
	})
	checks.same(
		'procedures that ran are lines of Compare, sampled or not',
		NAMES.slice(1).sort(),
		found
			.map(([name]) => name)
			.filter((name) => NAMES.includes(name))
			.sort()
	)
	for (const [name, grown] of found.filter(([name]) => NAMES.includes(name)))
		checks.that(
			`growth of ${name} beyond 6/5`,
			Math.abs(Number(grown) - (six.entered(name) - (6 / 5) * five.entered(name))) < 1,
			[grown, six.entered(name), five.entered(name)]
		)
	checks.same('growth: faults', [], page.faults)
	await page.context().close()
}

// Figure 1: what is chosen in the table is marked in the text; what is chosen in the text is found in the tables.
async function marks(page) {
	await page.evaluate(() => window.tailor.state.replace({}))
	await page.click('nav button[data-view=calls]')
	const names = await cells(page, 'functions-by-executions')
	const marked = async () => (await page.locator('.listing.short .row.mark').allInnerTexts()).join('\n')
	await row(page, 'functions-by-executions', names.findIndex((r) => r.procedure === 'try-column')).click()
	checks.that('the lines of the procedure are marked', /if \(> row n\)[^]*row-free\?/.test(await marked()), await marked())
	const site = (await cells(page, 'called-from')).findIndex((r) => r.site === '10')
	await row(page, 'called-from', site).click()
	checks.that(
		'the line of the call site is marked, alone',
		/^[^\n]*152[^\n]*\(try-column \(\+ row 1\)/.test((await marked()).replaceAll(/\s*\n\s*/g, ' ')),
		await marked()
	)
	await page.locator('.listing.short .row', { hasText: "not (exists? (same-row?" }).click()
	checks.same(
		'a line leads to its procedure',
		'Calls around row-free?',
		await page.locator('h2', { hasText: 'Calls around' }).innerText()
	)
	await page.locator('button', { hasText: 'Open in Code' }).click()
	checks.that('the same text in Code', (await page.locator('.listing:visible').first().innerText()).includes('(define (queens n)'))
}

const browser = await launch(build)
let filled = 0
for (const [i, trace] of traces.entries()) {
	const page = await page_of(trace), facts = await facts_of(page), all = conditions(facts)
	for (let n = Math.ceil(nr * (i + 1) / traces.length) - Math.ceil(nr * i / traces.length); n > 0; n--)
		filled += (await one(page, trace, facts, all)).procedures.some((f) => f.self > 0)
	if (i === 0)
		await assume(page, trace)
	if (i === 1)
		await marks(page), await colours(page)
	if (path.basename(trace) === 'cut.tlr')
		await cut_stacks(page, trace)
	checks.same(`${trace}: faults`, [], page.faults)
	await page.context().close()
}
execFileSync(tailor, ['html', traces[0], traces[1], '-o', path.join(folder, 'both.html')])
const two = await open(browser, path.join(folder, 'both.html'))
await both(two)
checks.same('two traces: faults', [], two.faults)
await two.context().close()
await growth()
await both_texts()
const page = await page_of(path.join(folder, 'queens-6.tlr'))
await walk(page)
checks.same('queens: faults', [], page.faults)
for (const [key, n] of seen)
	checks.that(`numbers of "${key}" were compared`, n > 0)
await browser.close()
checks.that('combinations with samples', filled >= nr / 3, filled)
checks.finish(`${nr} combinations of filters; ${[...seen].map(([key, n]) => `${key} ${n}`).join(', ')}`)
