// SPDX-License-Identifier: MIT
// page.mjs BUILD TRACE HTML [OPTION]...: what the page of a trace shows as it opens: the rows of its tables, and its text, as JSON.
import { execFileSync } from 'node:child_process'
import path from 'node:path'
import { launch, open } from '../page/browser.mjs'

const [build, trace, html, ...options] = process.argv.slice(2)
execFileSync(path.join(build, 'tailor'), ['html', '--overwrite', ...options, trace, '-o', html])
const browser = await launch(build), page = await open(browser, html)
const tables = await page.evaluate(() => {
	const { cost, commands = [] } = window.tailor.views[0].drawn()
	return [cost, commands]
})
console.log(JSON.stringify({ tables, text: await page.locator('body').innerText() }))
await browser.close()
