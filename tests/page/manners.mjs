// SPDX-License-Identifier: MIT
// manners.mjs BUILD FOLDER FILE.html...: every control of every view can be reached and used by keyboard; axe-core finds nothing serious.
import fs from 'node:fs'
import path from 'node:path'
import { Checks, SIZES, launch, open, show } from './browser.mjs'

const [build, ...files] = process.argv.slice(2)
const checks = new Checks(), axe = fs.readFileSync(path.join(build, 'page-deps/node_modules/axe-core/axe.min.js'), 'utf8')
const browser = await launch(build)
const TABS_MAX = 600, TABS = 50

// Tab, so many times: the browser takes them one after the other, and nobody waits for each.
const tab = (client, nr) => Promise.all(Array.from({ length: nr }, () => client.send('Input.dispatchKeyEvent',
	{ type: 'rawKeyDown', key: 'Tab', code: 'Tab', windowsVirtualKeyCode: 9 })))

// Elements that a mouse can use: all of them should get the focus, one after the other, by Tab.
async function walk(page, client, view) {
	await page.evaluate(() => {
		document.activeElement?.blur?.()
		const usable = 'button, select, input, a[href], canvas, tr.choose, [role=button], [tabindex="0"]'
		window.wanted = new Set([...document.querySelectorAll(usable)].filter((el) =>
			el.checkVisibility({ visibilityProperty: true }) && !el.disabled))
		window.invisible = []
		window.reached ??= addEventListener('focusin', ({ target }) => {
			const style = getComputedStyle(target)
			if (style.outlineStyle === 'none' && !target.matches('canvas') && style.boxShadow === 'none')
				window.invisible.push(target.outerHTML.slice(0, 120))
			window.wanted.delete(target)
		}) ?? true
	})
	const left = () => page.evaluate(() => [...window.wanted].map((el) => el.outerHTML.slice(0, 160)))
	for (let i = 0; i < TABS_MAX && (await left()).length; i += TABS)
		await tab(client, TABS)
	checks.same(`${view}: controls that Tab does not reach`, [], await left())
	checks.same(`${view}: controls whose focus cannot be seen`, [], await page.evaluate(() => window.invisible))
}

// rules: all of axe's, or these: a scheme changes colours alone.
async function accessible(page, what, rules = null) {
	if (!await page.evaluate(() => 'axe' in window))
		await page.evaluate(axe)
	const found = await page.evaluate(
		async (rules) =>
			(await window.axe.run(document, { resultTypes: ['violations'], ...(rules ? { runOnly: rules } : {}) })).violations,
		rules
	)
	for (const { id, impact, help, nodes } of found.filter(({ impact }) => impact === 'serious' || impact === 'critical'))
		checks.that(`${what}: ${impact}: ${id}: ${help}`, false,
			nodes.slice(0, 3).map((node) => `${node.html.slice(0, 140)}: ${node.any[0]?.message ?? ''}`).join('\n   '))
	checks.that(`${what}: axe-core ran`, true)
}

// What a mouse does, without one.
async function use(page) {
	const filters = () => page.evaluate(() => window.tailor.state.filters), view = () => page.evaluate(() => window.tailor.state.view)
	await page.locator('#view').focus() // digits are for a list's own entries, where one has the focus
	await page.keyboard.press('2')
	checks.that('2: the second view', await view() !== 'overview', await view())
	await page.keyboard.press('1')
	checks.same('1: the first view', 'overview', await view())
	await page.locator('#view canvas').first().focus()
	await page.keyboard.press('+')
	const { time } = await filters()
	checks.that('+ on the time line: a range', Boolean(time), time)
	await page.keyboard.press('ArrowRight')
	checks.that('arrow: another range', (await filters()).time.from > time.from, (await filters()).time)
	await page.locator('#view tr.choose').first().focus()
	await page.keyboard.press('Enter')
	checks.same('Enter on a row: a filter more', 3, Object.keys(await filters()).length)
	await page.keyboard.press('Control+z')
	checks.same('undo', 2, Object.keys(await filters()).length)
	await page.keyboard.press('Escape')
	checks.same('Escape: no filter but the event', ['event'], Object.keys(await filters()))
	await page.keyboard.press('/')
	await page.keyboard.type('scan')
	checks.same('search', { text: 'scan' }, (await filters()).search)
	await page.keyboard.press('Escape')
	await page.keyboard.press('Escape')
	checks.same('Escape: no search', ['event'], Object.keys(await filters()))
	await page.locator('#view canvas').nth(1).focus()
	const tips = []
	for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown']) {
		await page.keyboard.press(key)
		tips.push((await page.locator('.tip').innerText()).split('\n')[0])
	}
	checks.that('arrows in the plan: the tooltip of one operator after the other', new Set(tips).size > 1, tips)
	await page.keyboard.press('Enter')
	checks.same('Enter in the plan: a filter', 2, Object.keys(await filters()).length)
	await page.keyboard.press('Escape')
	await page.keyboard.press('?')
	checks.that('?: the list of keys', await page.locator('dialog[open]').count() === 1)
	await accessible(page, 'list of keys')
	await page.keyboard.press('Escape')
	checks.that('Escape: it is closed', await page.locator('dialog[open]').count() === 0)
	const before = await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme)
	await page.keyboard.press('t')
	checks.that('t: the other theme', await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme) !== before)
	await page.keyboard.press('t')
}

for (const [i, file] of files.entries()) {
	for (const scheme of ['light', 'dark']) {
		const page = await open(browser, file, { scheme, size: SIZES.desk, context: { bypassCSP: true } })
		const client = await page.context().newCDPSession(page)
		for (const view of await page.evaluate(() => window.tailor.views.map((v) => v.id))) {
			await show(page, view)
			if (scheme === 'light')
				await walk(page, client, `${path.basename(file)}: ${view}`)
			await accessible(page, `${path.basename(file)}: ${view}, ${scheme}`, scheme === 'dark' ? ['color-contrast'] : null)
		}
		if (scheme === 'light' && i === 0)
			await use(page)
		checks.same(`${file}: faults`, [], page.faults)
		await page.context().close()
	}
}
await browser.close()
checks.finish('keyboard and accessibility')
