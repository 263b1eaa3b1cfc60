// SPDX-License-Identifier: MIT
/*
 * browser.mjs CHROMIUM URL EXPRESSION...: what the page at URL says to each expression once it has been loaded, one JSON value a line;
 * expressions may be promises.  What the page throws is an error.  It speaks the DevTools protocol, over a pipe.
 */
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'

const [chromium, url, ...expressions] = process.argv.slice(2)
const home = fs.mkdtempSync(path.join(os.tmpdir(), 'browser-'))
// A group of processes: all of them end with it.
const browser = spawn(
	chromium,
	[
		'--headless', '--no-sandbox', '--disable-gpu', '--enable-unsafe-swiftshader',
		'--allow-file-access-from-files', '--window-size=1300,900', `--user-data-dir=${home}`,
		'--remote-debugging-pipe', 'about:blank'
	],
	{ detached: true, stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] }
)
const waiting = new Map()
const thrown = []
let last = 0, rest = '', loaded
const load = new Promise((resolve) => { loaded = resolve })

browser.stdio[4].on('data', (data) => {
	const parts = (rest + data).split('\0')
	rest = parts.pop()
	for (const message of parts.map((text) => JSON.parse(text))) {
		if (message.id) {
			waiting.get(message.id)(message)
			waiting.delete(message.id)
		} else if (message.method === 'Page.loadEventFired') {
			loaded()
		} else if (message.method === 'Runtime.exceptionThrown') {
			thrown.push(message.params.exceptionDetails.exception?.description ?? message.params.exceptionDetails.text)
		}
	}
})

function ask(method, params = {}, sessionId = undefined) {
	const id = ++last
	browser.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + '\0')
	return new Promise((resolve, reject) => waiting.set(id, (message) =>
		message.error ? reject(new Error(`${method}: ${message.error.message}`)) : resolve(message.result)))
}

let status = 0
try {
	const { targetInfos } = await ask('Target.getTargets')
	const { targetId } = targetInfos.find((target) => target.type === 'page')
	const { sessionId } = await ask('Target.attachToTarget', { targetId, flatten: true })
	await ask('Page.enable', {}, sessionId)
	await ask('Runtime.enable', {}, sessionId)
	await ask('Page.navigate', { url }, sessionId)
	await load
	for (const expression of expressions) {
		const { result, exceptionDetails } = await ask('Runtime.evaluate',
			{ expression, awaitPromise: true, returnByValue: true, userGesture: true }, sessionId)
		if (exceptionDetails)
			thrown.push(exceptionDetails.exception?.description ?? exceptionDetails.text)
		console.log(JSON.stringify(result.value ?? null))
	}
} catch (error) {
	thrown.push(String(error))
}
for (const text of thrown)
	console.error(`${url}: ${text}`)
status = thrown.length ? 1 : 0
browser.on('exit', () => {
	fs.rmSync(home, { recursive: true, force: true, maxRetries: 5 })
	process.exit(status)
})
process.kill(-browser.pid, 'SIGKILL')
