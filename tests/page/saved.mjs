// SPDX-License-Identifier: MIT
// saved.mjs BUILD FILE.html...: each picture can be saved as SVG, PNG and CSV, each table as CSV, and these are what they are called.
import path from 'node:path'
import { Checks, launch, open, show_addresses } from './browser.mjs'

const [build, ...files] = process.argv.slice(2)
const checks = new Checks(), browser = await launch(build)

// The fields of each line (RFC 4180).
function csv(text) {
	const lines = [[]]
	for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/g)) {
		lines.at(-1).push(quoted?.replaceAll('""', '"') ?? plain)
		if (end === '\r\n')
			lines.push([])
		if (end === '')
			break
	}
	return lines.slice(0, -1)
}

// Browsers ask before a page saves a tenth file: what would be saved is taken on its way.
function take() {
	const make = URL.createObjectURL.bind(URL), blobs = new Map()
	URL.createObjectURL = (blob) => {
		const url = make(blob)
		blobs.set(url, blob)
		return url
	}
	HTMLAnchorElement.prototype.click = function () {
		window.saved = [this.download, blobs.get(this.href)]
	}
}

async function saved(page, button) {
	await page.evaluate(() => { window.saved = null })
	await button.click()
	await page.waitForFunction(() => window.saved)
	const [name, bytes] = await page.evaluate(async () => [window.saved[0],
		Array.from(new Uint8Array(await window.saved[1].arrayBuffer()))])
	return [name, Buffer.from(bytes)]
}

for (const file of files) {
	const page = await open(browser, file, { before: take })
	for (const view of await page.evaluate(() => window.tailor.views.map((v) => v.id))) {
		await show_addresses(page, view)
		const buttons = page.locator('#view button').filter({ hasText: /^(SVG|PNG|CSV)$/, visible: true })
		const nr = await buttons.count(), names = []
		for (let i = 0; i < nr; i++) {
			const kind = await buttons.nth(i).innerText(), [name, data] = await saved(page, buttons.nth(i)),
				what = `${path.basename(file)}: ${view}: ${name}`
			names.push(name)
			checks.that(`${what}: ends as ${kind}`, name.endsWith(`.${kind.toLowerCase()}`) && /^[\w.-]+$/.test(name), name)
			if (kind === 'SVG') {
				const wrong = await page.evaluate((text) => {
					const parsed = new DOMParser().parseFromString(text, 'image/svg+xml')
					return parsed.querySelector('parsererror')?.textContent ??
						(parsed.documentElement.children.length > 1 ? '' : 'empty')
				}, data.toString('utf8'))
				checks.same(`${what}: well-formed, with something in it`, '', wrong)
				checks.that(`${what}: no script`, !/<script|onload=/.test(data.toString('utf8')))
			} else if (kind === 'PNG') {
				checks.same(`${what}: a PNG`, '89504e470d0a1a0a', data.subarray(0, 8).toString('hex'))
			} else {
				const lines = csv(data.toString('utf8'))
				checks.that(`${what}: as many fields in each line`, lines.length > 0 &&
					lines.every((line) => line.length === lines[0].length), lines.slice(0, 3))
				checks.that(`${what}: no formulas`, !lines.flat().some((field) => /^[=+@]/.test(field)),
					lines.flat().find((field) => /^[=+@]/.test(field)))
			}
		}
		checks.that(`${view}: something can be saved`, nr > 0 || view === 'quality', names)
	}
	checks.same(`${file}: faults`, [], page.faults)
	await page.context().close()
}
await browser.close()
checks.finish('saved pictures and tables')
