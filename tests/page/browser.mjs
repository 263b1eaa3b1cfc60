// SPDX-License-Identifier: MIT
/*
 * Pages in a headless Chromium, without a network: whatever a page asks of it, throws or prints as an error is kept in page.faults.
 * `open()` returns once the page says that it is complete.  The page of a server (`serve()`) asks that server for data, and nobody else.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { load } from './packages.mjs'

export const LIMIT_MS = 600000
export const SIZES = { desk: { width: 1280, height: 720 }, wide: { width: 1920, height: 1080 }, phone: { width: 390, height: 844 } }

export async function launch(build, args = []) {
	const { default: { chromium } } = await load(path.join(build, 'page-deps'), 'playwright-core')
	return chromium.launch({ executablePath: '/usr/bin/chromium-headless-shell', args: ['--no-sandbox', ...args], timeout: LIMIT_MS })
}

// `tailor serve` of such traces: its address, the process, and how to end it (its exit status).
export async function serve(build, ...options) {
	const child = spawn(path.join(build, 'tailor'), ['serve', ...options], { stdio: ['ignore', 'pipe', 'inherit'] })
	process.on('exit', () => child.kill())
	const ended = once(child, 'exit'), text = await Promise.race([once(child.stdout, 'data').then(([data]) => String(data)),
		ended.then(([status]) => { throw new Error(`tailor serve ${options.join(' ')} ended with ${status}`) })])
	return { child, address: text.split('\n')[0], async end(signal = 'SIGTERM') {
		child.kill(signal)
		return (await ended)[0]
	} }
}

export async function open(browser, file, { size = SIZES.desk, scheme = 'light', hash = '', before, context: more = {} } = {}) {
	const url = /^http:/.test(file) ? file : pathToFileURL(path.resolve(file)).href, served = url === file
	const context = await browser.newContext({ viewport: size, colorScheme: scheme, offline: !served, acceptDownloads: true, ...more })
	const page = await context.newPage()
	page.setDefaultTimeout(LIMIT_MS)
	page.faults = []
	page.on('pageerror', (error) => page.faults.push(`thrown: ${error.stack ?? error}`))
	page.on('console', (message) => message.type() === 'error' && page.faults.push(`printed: ${message.text()}`))
	page.on(
		'request',
		(request) =>
			/^(file|data|blob):/.test(request.url()) ||
			(served && request.url().startsWith(url)) ||
			page.faults.push(`asked for ${request.url()}`)
	)
	if (before)
		await page.addInitScript(before)
	await page.goto(url + hash)
	await complete(page)
	return page
}

// It shows its first view, or a sentence about why it cannot.
export const complete = (page) => page.waitForFunction(() => window.tailor?.page?.ready ||
	document.querySelector('[role=alert]'), null, { polling: 'raf' })

// The view is in front, with the columns that it loads by itself, and with all that a server was asked for.
export async function show(page, view) {
	await page.evaluate(async (id) => {
		const { state, views } = window.tailor
		state.show(id)
		await views.find((v) => v.id === id).ready
	}, view)
	await settled(page)
}
export const settled = (page) => page.waitForFunction(() => !document.querySelector('main')?.hasAttribute('aria-busy') ||
	document.querySelector('[role=alert]'), null,
	{ polling: 'raf' })

// ... and where the event has hardly any addresses, of the one that has them.
export async function show_addresses(page, view) {
	await show(page, view)
	const offer = page.locator('.note button')
	if (view === 'memory' && await offer.isVisible())
		await offer.click()
}

// Numbers below another, the same ones each time (xorshift).
export const random_from = (state) => (below) => {
	state ^= state << 13
	state ^= state >>> 17
	state ^= state << 5
	return (state >>> 0) % below
}

// Checks that are wrong, counted; what was expected and what came, in a line each.
export class Checks {
	constructor() {
		this.nr = this.bad = 0
	}
	that(what, condition, got = '') {
		this.nr++
		if (condition)
			return
		if (this.bad++ < 20)
			console.log(`${what}${got === '' ? '' : `: ${typeof got === 'string' ? got : JSON.stringify(got)}`}`)
	}
	same(what, expected, got) {
		const a = JSON.stringify(expected), b = JSON.stringify(got)
		this.that(`${what}:\n  expected ${a?.slice(0, 500)}\n  got      ${b?.slice(0, 500)}`, a === b)
	}
	finish(what) {
		console.log(`${what}: ${this.nr} checks, ${this.bad} failed`)
		process.exitCode = this.bad ? 1 : 0
	}
}
