// SPDX-License-Identifier: MIT
// shots.mjs BUILD FOLDER FILE.html...: each view of each page becomes a picture for eyes, light and dark, at two sizes and on a phone:
// FOLDER/PAGE-VIEW-SCHEME-SIZE.png.
import fs from 'node:fs'
import path from 'node:path'
import { SIZES, launch, open, show_addresses } from './browser.mjs'

const [build, folder, ...files] = process.argv.slice(2)
fs.mkdirSync(folder, { recursive: true })
const browser = await launch(build)
for (const file of files)
	for (const [size, viewport] of Object.entries(SIZES))
		for (const scheme of size === 'wide' ? ['light'] : ['light', 'dark']) { // (the colours are those of the other sizes)
			const page = await open(browser, file, { size: viewport, scheme })
			for (const view of await page.evaluate(() => window.tailor.views.map((v) => v.id))) {
				await show_addresses(page, view)
				await page.screenshot({ path: path.join(folder,
					`${path.basename(file, '.html')}-${view}-${scheme}-${size}.png`), fullPage: true })
			}
			for (const fault of page.faults)
				console.log(`${file}: ${fault}`)
			process.exitCode ||= page.faults.length ? 1 : 0
			await page.context().close()
		}
await browser.close()
