// SPDX-License-Identifier: MIT
// names.mjs BUILD FOLDER THIRTY TRACE...: the operators of THIRTY (tests/golden/thirty.py) can be told apart; in the others a search sums
// what `--below` does.
import { execFile, execFileSync } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { Checks, SIZES, launch, open, show } from './browser.mjs'

const [build, folder, thirty, ...traces] = process.argv.slice(2), tailor = path.join(build, 'tailor')
const checks = new Checks(), browser = await launch(build), run = promisify(execFile), NR = 30

function page_of(trace, options) {
	const html = path.join(folder, `${path.basename(trace, '.tlr')}.html`)
	execFileSync(tailor, ['html', trace, '-o', html])
	return open(browser, html, options)
}

// ---------------------------------------------------------------------------------------------------------------- thirty operators

const total = (page) => page.evaluate(() => window.tailor.sums(null).total[0])
const numbers = (list) => [...list].sort((a, b) => a - b)
const EACH = Array.from({ length: NR }, (_, i) => 11 + i) // samples

// What clicks choose, one after the other: the samples that pass, and a chip that is no other's.
async function choose(page, what, nr, click) {
	const found = [], chips = new Set()
	for (let i = 0; i < nr; i++) {
		await click(i)
		found.push(await total(page))
		chips.add(await page.locator('.chip > bdi').innerText())
		await page.locator('.chip button').click()
	}
	checks.same(`${what}: samples of what is chosen`, EACH, numbers(found))
	checks.same(`${what}: chips of their own`, NR, chips.size)
}

async function by_plan(page) {
	await choose(page, 'plan', NR, async (i) => {
		const place = await page.evaluate((i) => {
			const { plan } = window.tailor.views.find((v) => v.id === 'overview').parts, { x, y, w, h } = plan.spots()[i]
			scrollTo(0, scrollY + plan.canvas.getBoundingClientRect().top + y - innerHeight / 2)
			const box = plan.canvas.getBoundingClientRect()
			return [box.left + x + w / 2, box.top + y + h / 2]
		}, i)
		await page.mouse.click(...place)
	})
}

async function by_table(page) {
	const rows = page.locator('[role=region][aria-label="cost-by-operator"] tr.choose')
	checks.same('rows of the table', NR, await rows.count())
	await choose(page, 'table', NR, (i) => rows.nth(i).click())
}

// Texts of pictures are taken as they are saved; of tables, as they are seen.
const pictures = () => {
	const make = URL.createObjectURL.bind(URL)
	window.svgs = []
	URL.createObjectURL = (blob) => (window.svgs.push(blob), make(blob))
	HTMLAnchorElement.prototype.click = () => {}
}
const seen = (page) => page.evaluate(async () => {
	window.svgs = []
	const visible = (el) => el.checkVisibility()
	const lists = [...document.querySelectorAll('#view table')].filter(visible).map((table) => ({
		of: table.closest('[aria-label]')?.ariaLabel ?? 'table',
		texts: [...table.querySelectorAll('tbody tr')].map((tr) =>
			[...tr.cells]
				.map((td) => {
					const bdi = td.querySelector('bdi')
					return bdi ? (bdi.dataset.cut ?? bdi.textContent) : td.textContent
				})
				.join(' | ')
		)
	}))
	for (const button of [...document.querySelectorAll('#view section .tools button')].filter(
		(b) => visible(b) && b.textContent === 'SVG'
	)) {
		window.svgs = []
		button.click()
		const doc = new DOMParser().parseFromString(await window.svgs[0].text(), 'image/svg+xml')
		const texts = [...doc.querySelectorAll('text')].map((el) => ({
			x: Number(el.getAttribute('x')),
			y: Number(el.getAttribute('y')),
			text: el.textContent
		}))
		const below = (a, b) => a.x === b.x && b.y > a.y && b.y - a.y < 20 // the second line of a label
		lists.push({
			of: button.closest('section').querySelector('h2').textContent,
			texts: texts
				.filter((b) => !texts.some((a) => below(a, b)))
				.map((a) => [a, ...texts.filter((b) => below(a, b))].map(({ text }) => text).join(' / '))
		})
	}
	return lists
})

const OPERATOR = /hash|scan|sort/
async function alike(page, size) {
	let nr = 0
	for (const view of await page.evaluate(() => window.tailor.views.map((v) => v.id))) {
		await show(page, view)
		// Texts are cut by the second frame.
		await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))
		for (const { of, texts } of await seen(page)) {
			const named = texts.filter((text) => OPERATOR.test(text))
			nr += named.length
			checks.same(
				`${size}, ${view}, ${of}: rows that are alike`,
				[],
				named.filter((text, i) => named.indexOf(text) !== i)
			)
		}
	}
	checks.that(`${size}: rows were compared`, nr >= 2 * NR, nr)
}

for (const [size, viewport] of Object.entries(SIZES).filter(([size]) => size !== 'wide')) {
	const page = await page_of(thirty, { size: viewport, before: pictures })
	if (size === 'desk') {
		await by_table(page)
		await by_plan(page)
	}
	await alike(page, size)
	checks.same(`thirty operators, ${size}: faults`, [], page.faults)
	await page.context().close()
}

// -------------------------------------------------------------------------------------------------------------------------- search

const MOST = 5
// Functions and components with most below them, whose names are in no other: [the text, --below].
const wanted = ({ functions, components, lines, levels }, tables) => {
	const names = [
		...functions.name,
		...components.name.map((name, i) => components.label?.[i] ?? name),
		...lines.file.map(String)
	].map((n) => n?.toLowerCase() ?? '')
	const alone = (name) => name.length > 3 && new Set(names.filter((n) => n.includes(name.toLowerCase()))).size === 1
	return [['function', tables.functions], ...levels.map(({ name }) => [name, tables[name]])].flatMap(([level, rows]) => (rows ?? [])
		.filter((r) => !/^[[(+]/.test(r.name) && alone(r.name) && r.total_samples > 0)
		.sort((a, b) => b.total_samples - b.samples - a.total_samples + a.samples || b.samples - a.samples).slice(0, MOST)
		.map((r) => [r.name, `${level}:${r.name}`]))
}

let inclusive = 0
for (const trace of traces) {
	const page = await page_of(trace), event = await page.evaluate(() => {
		window.tailor.state.set('run', null)
		return window.tailor.page.facts.events[window.tailor.state.filters.event.values[0]].name
	})
	const report = async (...options) =>
		JSON.parse(
			(
				await run(
					tailor,
					['report', '--json', '--top', '0', '--mark', 'all', '--event', event, ...options, trace],
					{ maxBuffer: 1 << 28 }
				)
			).stdout
		)
	const facts = await page.evaluate(() => window.tailor.page.facts)
	const { tables } = await report('--view', 'functions', ...(facts.levels.length ? ['--view', 'components'] : []))
	for (const [text, below] of wanted(facts, tables)) {
		const [got, said] = await Promise.all([page.evaluate((text) => {
			window.tailor.state.set('search', { text })
			return window.tailor.answered(() => window.tailor.sums(null).total[0])
		}, text), report('--view', 'functions', '--below', below).then((r) => r.samples)])
		inclusive += said > 0
		checks.that(
			`${path.basename(trace)}: search for '${text}' sums what --below '${below}' does`,
			Math.abs(got - said) < 0.01,
			[said, got]
		)
	}
	checks.same(`${trace}: faults`, [], page.faults)
	await page.context().close()
}
await browser.close()
checks.that('searches with samples', inclusive > 20, inclusive)
checks.finish(`${NR} operators told apart; ${inclusive} searches`)
