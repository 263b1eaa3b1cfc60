// SPDX-License-Identifier: MIT
// serve.mjs BUILD FOLDER TRACE TRACE2: the page of `tailor serve` against that of `tailor html`, and against those who should not ask.
import { execFileSync, spawnSync } from 'node:child_process'
import http from 'node:http'
import path from 'node:path'
import { Checks, launch, open, serve, settled, show } from './browser.mjs'

const [build, folder, ...traces] = process.argv.slice(2), tailor = path.join(build, 'tailor')
const checks = new Checks()
const browser = await launch(build)

// ------------------------------------------------------------------------------------------------- what both pages draw

const drawn = (page, view) =>
	page.evaluate((id) => window.tailor.answered(() => window.tailor.views.find((v) => v.id === id).drawn()), view)

// Sums of weights are added up in another order by a page that folds them.
const rounded = (value) => JSON.parse(JSON.stringify(value, (_, v) => typeof v === 'number' && !Number.isInteger(v) ?
	Number(v.toPrecision(9)) : v))

async function all_views(file, served, filters) {
	for (const page of [file, served])
		await page.evaluate((f) => window.tailor.state.replace(f), filters)
	for (const view of await file.evaluate(() => window.tailor.views.map((v) => v.id))) {
		for (const page of [file, served])
			await show(page, view)
		checks.same(
			`view ${view} under ${JSON.stringify(filters)}`,
			rounded(await drawn(file, view)),
			rounded(await drawn(served, view))
		)
	}
}

async function same_views(...list) {
	const html = path.join(folder, 'served.html'), server = await serve(build, ...list)
	execFileSync(tailor, ['html', ...list, '-o', html])
	const file = await open(browser, html), served = await open(browser, server.address)
	const { thread, end } = await file.evaluate(() => {
		const { facts } = window.tailor.page
		return { thread: 0, end: Math.floor((facts.last_ns - facts.first_ns) / facts.time_ns) }
	})
	for (const filters of [{ event: { values: [0] } }, { time: { from: 0, to: Math.ceil(end / 3) }, thread: { values: [thread] } },
		{ search: { text: 'a' }, mode: { values: [0], not: true } }, { thread: { values: [] } }])
		await all_views(file, served, filters)
	checks.same('faults of both', [], [...file.faults, ...served.faults])
	for (const page of [file, served])
		await page.context().close()
	checks.same('exit status after SIGINT', 0, await server.end('SIGINT'))
}

// ----------------------------------------------------------------------------------------------------------- other pages

async function two_at_once() {
	const server = await serve(build, traces[0]), pages = await Promise.all([0, 1].map(() => open(browser, server.address)))
	const total = (page) => page.evaluate(() => window.tailor.answered(() => window.tailor.sums(null).total[0]))
	const whole = await total(pages[0]), threads = await pages[0].evaluate(() => window.tailor.page.facts.threads.tid.length)
	const parts = Array.from({ length: threads }, () => 0)
	for (let round = 0; round < threads; round++) { // both change their filters at the same time, to different ones
		const counts = await Promise.all(pages.map(async (page, i) => {
			await page.evaluate((v) => window.tailor.state.set('thread', { values: [v] }), (round + i) % threads)
			return total(page)
		}))
		parts[round] = counts[0]
		checks.that('a filter passes something, not all', threads === 1 || counts[0] < whole, counts)
		if (round)
			checks.same(`thread ${round} on both pages`, before, counts[0])
		var before = counts[1]
	}
	checks.that('threads add up', Math.abs(parts.reduce((a, b) => a + b) - whole) < 1e-6, [whole, parts])
	checks.same('faults of both', [], pages.flatMap((p) => p.faults))
	checks.same('exit status after SIGTERM', 0, await server.end())
	await pages[0].evaluate(() => window.tailor.state.set('thread', null))
	await pages[0].waitForSelector('[role=alert]')
	checks.that('a page says when its server has ended', /has ended/.test(await pages[0].textContent('[role=alert]')),
		await pages[0].textContent('[role=alert]'))
	for (const page of pages)
		await page.context().close()
}

// A hand that drags is faster than any server: the last filter is the one that is shown.
async function last_one_counts() {
	const server = await serve(build, traces[1]), page = await open(browser, server.address)
	const last = await page.evaluate(async () => {
		const { state, page: { facts } } = window.tailor, end = (facts.last_ns - facts.first_ns) / facts.time_ns
		state.set('run', null)
		state.done = []
		for (let i = 1; i <= 30; i++) {
			state.set('time', { from: 0, to: Math.ceil(end * i / 40) }, { remember: i === 30 })
			await new Promise((resolve) => setTimeout(resolve, i % 3))
		}
		return { to: state.filters.time.to, event: facts.events[state.filters.event.values[0]].name }
	})
	await settled(page)
	const figures = (await drawn(page, 'overview')).figures, expected = await page.evaluate(() =>
		window.tailor.answered(() => window.tailor.sums('mode').total[0]))
	const report = JSON.parse(
		execFileSync(
			tailor,
			[
				'report', '--json', '--view', 'threads', '--event', last.event, '--mark', 'all',
				'--from', '0', '--to', (last.to / 1e6).toFixed(6), traces[1]
			],
			{ encoding: 'utf8', maxBuffer: 1 << 28 }
		)
	).samples
	checks.same('samples after a drag', [report, report.toLocaleString('en-US')], [Math.round(expected), figures.samples])
	checks.same('steps to undo after a drag', 1, await page.evaluate(() => window.tailor.state.done.length))
	checks.same('faults', [], page.faults)
	await page.context().close()
	await server.end()
}

// ------------------------------------------------------------------------------------------------------------- strangers

// The status of a request as it stands here, and the sentence.
const ask = (address, { path: to = address.pathname, method = 'GET', headers = {}, body } = {}) => new Promise((resolve) => {
	const request = http.request({ host: '127.0.0.1', port: address.port, path: to, method, headers: { host: address.host, ...headers },
		setHost: false }, (reply) => {
		let text = ''
		reply.on('data', (data) => text += data.length < 1000 ? data : '')
		reply.on('end', () => resolve({ status: reply.statusCode, headers: reply.headers, text }))
	})
	request.on('error', (error) => resolve({ status: 0, text: String(error) }))
	request.end(body)
})

async function strangers() {
	const server = await serve(build, traces[0])
	const address = new URL(server.address)
	const root = address.pathname
	const [, token] = root.split('/')
	const other = (token[0] === '0' ? '1' : '0') + token.slice(1)
	const good = await ask(address)
	checks.same('the page', 200, good.status)
	checks.that('a token of 128 bits', /^[0-9a-f]{32}$/.test(token), token)
	checks.that(
		'a policy',
		/default-src 'none'.*connect-src 'self'.*frame-ancestors 'none'/.test(good.headers['content-security-policy']) &&
			!/unsafe-inline|unsafe-eval'[^;]*'unsafe|\*/.test(
				good.headers['content-security-policy'].replace('wasm-unsafe-eval', '')
			),
		good.headers['content-security-policy']
	)
	for (const [name, value] of [
		['x-content-type-options', 'nosniff'],
		['referrer-policy', 'no-referrer'],
		['cache-control', 'no-store'],
		['cross-origin-resource-policy', 'same-origin']
	])
		checks.same(name, value, good.headers[name])
	const facts = await ask(address, { path: `${root}facts/0` })
	checks.same('facts', 200, facts.status)
	const refused = [
		['no token', { path: '/' }, 403],
		['a wrong token', { path: `/${other}/` }, 403],
		['half a token', { path: `/${token.slice(0, 16)}/` }, 403],
		['facts with a wrong token', { path: `/${other}/facts/0` }, 403],
		['sums with a wrong token', { path: `/${other}/sums/0`, method: 'POST', body: 'x' }, 403],
		['no slash', { path: `/${token}` }, 403],
		['another host', { headers: { host: `evil.example:${address.port}` } }, 403],
		['another port', { headers: { host: '127.0.0.1:1' } }, 403],
		['a host without port', { headers: { host: '127.0.0.1' } }, 403],
		['another site', { headers: { origin: 'http://evil.example' } }, 403],
		['a sandbox', { headers: { origin: 'null' } }, 403],
		[
			'another site by POST',
			{ path: `${root}sums/0`, method: 'POST', body: 'x', headers: { origin: 'https://127.0.0.1' } },
			403
		],
		...['PUT', 'DELETE', 'OPTIONS', 'HEAD', 'PATCH', 'TRACE', 'PROPFIND'].map((method) => [method, { method }, 405]),
		['POST to the page', { method: 'POST', body: 'x' }, 405],
		['GET of sums', { path: `${root}sums/0` }, 404],
		['a query', { path: `${root}?a=b` }, 400],
		['a hostile query', { path: `${root}?${'%00%ff<script>'.repeat(50)}` }, 400],
		['a query of facts', { path: `${root}facts/0?x` }, 400],
		['a file', { path: `${root}../../etc/passwd` }, 404],
		['a file, quoted', { path: `${root}%2e%2e%2f%2e%2e%2fetc%2fpasswd` }, 404],
		['a second trace', { path: `${root}facts/1` }, 404],
		['a trace that is no number', { path: `${root}facts/%00` }, 404],
		['a trace below zero', { path: `${root}facts/-1` }, 404],
		['a column of nobody', { path: `${root}column/0/nothing` }, 404],
		['a column without name', { path: `${root}column/0` }, 404],
		['an empty question', { path: `${root}sums/0`, method: 'POST', body: '' }, 400],
		['a text', { path: `${root}sums/0`, method: 'POST', body: 'select * from samples' }, 400],
		['zeros', { path: `${root}sums/0`, method: 'POST', body: Buffer.alloc(4096) }, 400],
		['ones', { path: `${root}sums/0`, method: 'POST', body: Buffer.alloc(4096, 255) }, 400],
		['too long a question', { path: `${root}sums/0`, method: 'POST', body: Buffer.alloc(65 << 20) }, 413],
		['a long address', { path: root + 'a'.repeat(10000) }, 404]
	]
	for (const [what, request, status] of refused) {
		const reply = await ask(address, request)
		checks.that(`${what}: expected ${status}`, reply.status === status, `${reply.status} ${reply.text.slice(0, 200)}`)
		checks.that(`${what}: the token is not told`, !reply.text.includes(token))
	}
	checks.same('the page by its other name', 200, (await ask(address, { headers: { host: `localhost:${address.port}` } })).status)
	checks.same('the page, after all that', 200, (await ask(address)).status)
	checks.same('exit status after SIGTERM', 0, await server.end())
}

// ------------------------------------------------------------------------------------------------------------- misuse

async function misuse() {
	const busy = await serve(build, traces[0]), { port } = new URL(busy.address)
	for (const [args, status, words] of [
		[[], 2, 'no trace given'],
		[['--port', 'x', traces[0]], 2, 'is no port'],
		[['--port', '70000', traces[0]], 2, 'is no port'],
		[['--port', '-1', traces[0]], 2, 'is no port'],
		[['/nonexistent.tlr'], 1, 'No such file'],
		[[process.argv[1]], 1, ''],
		[[traces[0], traces[0], traces[0]], 2, 'more than two traces'],
		[['--port', port, traces[0]], 1, `port ${port} of 127.0.0.1`]
	]) {
		const { status: got, stderr, stdout } = spawnSync(tailor, ['serve', ...args], { encoding: 'utf8', timeout: 600000 })
		checks.that(
			`tailor serve ${args.join(' ')}: expected ${status} and "${words}"`,
			got === status && stderr.includes(words) && stderr.trim() && !stdout,
			`${got}: ${stderr}`
		)
	}
	await busy.end()
}

await same_views(traces[0])
await same_views(path.join(folder, 'causes.tlr'))
await same_views('tests/golden/compare/q3.tlr', 'tests/golden/compare/fig9.tlr')
await two_at_once()
await last_one_counts()
await strangers()
await misuse()
await browser.close()
checks.finish('tailor serve')
