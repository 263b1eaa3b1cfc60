// SPDX-License-Identifier: MIT
// drawn.mjs BUILD EXPECTED NAME=FILE.html...: what each view of each page draws (its own list), and its elements as a screen reader has
// them, is what
// EXPECTED/NAME-VIEW has.  ACCEPT=1: it is from now on.
import fs from 'node:fs'
import path from 'node:path'
import { Checks, launch, open, show_addresses } from './browser.mjs'

const [build, expected, ...files] = process.argv.slice(2)
const checks = new Checks(), accept = process.env.ACCEPT

// Numbers to five digits; a line per element of a list.
const short = (value) => typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(5)) : value
function lines(value, at = '') {
	if (Array.isArray(value))
		return value.flatMap((element, i) => element && typeof element === 'object' &&
			Object.values(element).some((v) => v && typeof v === 'object') ?
			lines(element, `${at}[${i}]`) : [`${at}[${i}] ${JSON.stringify(element, (_, v) => short(v))}`])
	if (value && typeof value === 'object')
		return Object.entries(value).flatMap(([key, v]) => lines(v, at ? `${at}.${key}` : key))
	return [`${at} ${JSON.stringify(short(value))}`]
}

// Without what only says again what stands around it (a row has the text of its cells), and of any version.
const elements = (snapshot) =>
	snapshot
		.replace(/"written by tailor [\w.]+"/, '"written by tailor VERSION"')
		.split('\n')
		.filter(
			(line) =>
				!/^ *- (cell|columnheader|rowgroup|table|option)\b/.test(line) &&
				!/^ *- button "(Table|SVG|PNG|CSV)"$/.test(line)
		)
		.map((line) => line.replace(/:$/, ''))

const browser = await launch(build)
for (const [name, file] of files.map((text) => text.split('='))) {
	const page = await open(browser, file)
	for (const view of await page.evaluate(() => window.tailor.views.map((v) => v.id))) {
		await show_addresses(page, view)
		const drawn = await page.evaluate((id) => window.tailor.views.find((v) => v.id === id).drawn(), view)
		const text = [...lines(drawn), '', ...elements(await page.locator('#view').ariaSnapshot()), ''].join('\n')
		const golden = path.join(expected, `${name}-${view}`)
		if (accept)
			fs.writeFileSync(golden, text)
		const was = fs.existsSync(golden) ? fs.readFileSync(golden, 'utf8').split('\n') : ['(none)'], now = text.split('\n')
		const at = now.findIndex((line, i) => line !== was[i])
		checks.that(`${golden}, line ${at + 1}:\n  expected ${was[at]}\n  got      ${now[at]}`, at < 0 && was.length === now.length)
	}
	checks.same(`${name}: faults`, [], page.faults)
	await page.context().close()
}
await browser.close()
checks.finish('views as they were drawn before')
