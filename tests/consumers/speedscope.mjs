// SPDX-License-Identifier: MIT
/*
 * speedscope.mjs SPEEDSCOPE.js FILE...: what the importer of speedscope's own page makes of each file: a JSON array of its profiles a
 * line, with their weight and that of each frame.  The page's one script is run up to where it would draw; what it asks of a
 * browser until then is answered by something that takes everything.
 */
import fs from 'node:fs'
import path from 'node:path'
import vm from 'node:vm'

const [page, ...files] = process.argv.slice(2)
let script = fs.readFileSync(page, 'utf8')
const importers = script.match(/return\(await (\w+)\)\.importProfilesFromArrayBuffer/)
const end = script.lastIndexOf('console.log(`speedscope v')
if (!importers || end < 0)
	throw new Error(`${page}: no importer, or no end`)
script = `${script.slice(0, end)}self.importer=${importers[1]}})();`

const anything = new Proxy(function () {}, {
	get: (target, name) => (name === Symbol.toPrimitive ? () => '' : anything),
	set: () => true,
	apply: () => anything,
	construct: () => anything,
})
const self = {
	console: { log() {}, warn() {}, error() {} }, TextDecoder, TextEncoder, setTimeout, clearTimeout, atob, btoa, URL, URLSearchParams,
	WebAssembly, performance, document: anything, localStorage: anything, navigator: { platform: '', userAgent: '' },
	location: { protocol: 'file:', hash: '', href: 'file:///' }, matchMedia: () => anything, requestAnimationFrame() {},
	addEventListener() {}, HTMLElement: class {}, HTMLCanvasElement: class {},
}
self.self = self.window = self.globalThis = self
vm.runInNewContext(script, self, { filename: path.basename(page) })
const importer = await self.importer

for (const file of files) {
	const bytes = fs.readFileSync(file)
	const group = await importer.importProfilesFromArrayBuffer(path.basename(file),
		bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length))
	console.log(JSON.stringify(group ? group.profiles.map((profile) => {
		const frames = []
		profile.forEachFrame((f) => frames.push({ name: f.name, own: f.getSelfWeight(), total: f.getTotalWeight() }))
		return { name: profile.getName(), unit: profile.getWeightUnit(), weight: profile.getTotalWeight(), frames }
	}) : null))
}
