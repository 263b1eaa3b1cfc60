// SPDX-License-Identifier: MIT
/*
 * perfetto.mjs FOLDER TRACE QUERY...: what Perfetto's own trace processor answers, a JSON array of rows a line and query.  FOLDER
 * has it as WebAssembly, as ui.perfetto.dev loads it (trace_processor.wasm), with the two scripts of its page that speak to
 * it: engine_bundle.node.js runs it, engine.mjs writes its requests and reads its answers.  They are written for a browser's worker,
 * and so is what this file gives them: a `self`, a port, and the module's bytes in place of an address.
 */
import fs from 'node:fs'
import path from 'node:path'
import vm from 'node:vm'
import { pathToFileURL } from 'node:url'

const [folder, trace, ...queries] = process.argv.slice(2)
const { EngineBase } = await import(pathToFileURL(path.join(folder, 'engine.mjs')).href)

/* One place of the script, changed; which must be there. */
function changed(script, from, to) {
	if (!script.includes(from))
		throw new Error(`engine_bundle.node.js: nothing like "${from}"`)
	return script.replace(from, to)
}

let script = fs.readFileSync(path.join(folder, 'engine_bundle.node.js'), 'utf8')
script = changed(script, 'this.useMemory64 = hasMemory64Support()', 'this.useMemory64 = false') // the module of 32 bits
script = changed(script, 'locateFile: (s) => s,', 'locateFile: (s) => s, wasmBinary: self.module,')
script = changed(script, 'const wasmBridge = new', 'const wasmBridge = self.bridge = new')
globalThis.self = globalThis
globalThis.WorkerGlobalScope = function () {}
globalThis.location = { href: pathToFileURL(folder).href + '/' }
globalThis.module = fs.readFileSync(path.join(folder, 'trace_processor.wasm'))
const said = []
console.warn = (line) => said.push(line)
vm.runInThisContext(script, { filename: 'engine_bundle.node.js' })
while (!globalThis.bridge.reqBufferAddr) // it starts by itself
	await new Promise((resolve) => setTimeout(resolve, 10))

const { port1, port2 } = new MessageChannel()
globalThis.bridge.initialize(port1)
class Engine extends EngineBase {
	rpcSendRequestBytes(data) {
		port2.postMessage(data)
	}
}
const engine = new Engine()
port2.onmessage = (message) => engine.onRpcResponseBytes(message.data)

await engine.parse(fs.readFileSync(trace))
await engine.notifyEof()
for (const query of queries) {
	const result = await engine.query(query)
	const rows = []
	for (const row = result.iter({}); row.valid(); row.next())
		rows.push(Object.fromEntries(result.columns().map((name) => {
			const value = row.get(name)
			return [name, typeof value === 'bigint' ? Number(value) : value]
		})))
	console.log(JSON.stringify(rows))
}
process.exit(0)
