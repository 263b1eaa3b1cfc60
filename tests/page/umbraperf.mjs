// SPDX-License-Identifier: MIT
/*
 * umbraperf.mjs FILE.umbraperf -o T.tlr [--packages FOLDER]: a recording of UmbraPerf as a trace.
 *
 * The generated code is a code object that has one address for each line of the IR; a code map leads from there to the line, and links to
 * its operator and pipeline.  Samples by line lie at the line's address.  Samples by tag lie in the image that they name, with the line's
 * number in the low half of r15 (where the recording has the number of the instruction).  The others have nothing that leads to a line.
 * UmbraPerf names processors and no threads: each of them is a thread here.
 *
 * FOLDER has hyparquet (fetch.py): build/page-deps beside this checkout, unless given.
 */
import fs from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { load } from './packages.mjs'
import { read } from './recording.mjs'
import { Trace } from './trace_writer.mjs'

const OPERATOR = 1, PIPELINE = 2, IR = 3
const PLAN = 1 // flags of a level
const PID = 1000, BEGIN_NS = 1000000000
const GENERATED = 0x7f0000000000, IMAGES = 0x560000000000, KERNEL = 0xffffffff81000000n
const IMAGE_STEP = 0x100000000, IMAGE_BYTES = 1 << 20, FILE_STEP = 1 << 20
const IP = 5, ADDRESS = 6, WEIGHT = 7, MODE = 8, ABI = 9, REGISTER = 64
const R15_DWARF = 15, R15 = 23, IP_REGISTER = 8
const UPPER_HALF = 0xffffffff00000000n

const numbered = (names) => new Map([...new Set(names)].filter(Boolean).map((name, i) => [name, i + 1]))
const most = (values) => {
	const counts = new Map()
	for (const value of values)
		counts.set(value, (counts.get(value) ?? 0) + 1)
	return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0]
}

// 'dump.uir:555' -> [the number of its file, 555]
function places(values) {
	const files = new Map(), parsed = new Map()
	for (const name of new Set(values.line)) {
		const match = /^(.*):(\d+)$/.exec(name)
		if (match)
			parsed.set(name, [match[1], Number(match[2])])
	}
	const first = parsed.get(most(values.line.filter((name) => parsed.has(name))))
	for (const [file] of first ? [first, ...parsed.values()] : parsed.values())
		if (!files.has(file))
			files.set(file, files.size)
	return { files, of: new Map([...parsed].map(([name, [file, line]]) => [name, files.get(file) * FILE_STEP + line])) }
}

// Lines that the IR's text lacks, and the operators and pipelines that samples have and it has not.
function complete(recording, of) {
	const { values, lines } = recording
	let others = 0
	for (let i = 0; i < recording.nr; i++) {
		const line = of.get(values.line[i])
		if (!line || line % FILE_STEP === 0)
			continue
		if (!lines.has(line))
			lines.set(line, { text: '', operator: values.operator[i], pipeline: values.pipeline[i] })
		lines.get(line).sampled = true
		others += lines.get(line).operator !== values.operator[i]
	}
	return others
}

function dictionary(trace, recording, operators, pipelines) {
	const at = { pid: PID }
	trace.record('LEVEL', at, OPERATOR, PLAN, 'operator', [])
	trace.record('LEVEL', at, PIPELINE, 0, 'pipeline', [])
	trace.record('LEVEL', at, IR, 0, 'ir', [[OPERATOR], [PIPELINE]])
	const nodes = new Map(recording.plan.map((node) => [node.name, node]))
	for (const [name, id] of operators) {
		const node = nodes.get(name)
		trace.record('COMPONENT', at, OPERATOR, 0, id, name, node?.detail ?? '')
		if (node?.upper)
			trace.record('EDGE', at, OPERATOR, id, operators.get(node.upper), node.order, 0, '')
		for (const [counter, value] of [['estimated rows', node?.estimated], ['rows', node?.rows]])
			if (Number.isFinite(value))
				trace.record('COUNTER', at, OPERATOR, id, Math.round(value), counter)
	}
	for (const [name, id] of pipelines)
		trace.record('COMPONENT', at, PIPELINE, 0, id, name, '')
	for (const [line, of] of recording.lines) {
		if (of.operator || of.pipeline || of.sampled)
			trace.record('COMPONENT', at, IR, 0, line, of.text.trim() || `line ${line % FILE_STEP}`, '')
		if (of.operator)
			trace.record('LINK', at, IR, OPERATOR, line, operators.get(of.operator), 1, 0)
		if (of.pipeline)
			trace.record('LINK', at, IR, PIPELINE, line, pipelines.get(of.pipeline), 1, 0)
	}
}

function code(trace, recording, files) {
	for (const [file, nr] of files) {
		const first = nr * FILE_STEP, own = [...recording.lines.keys()].filter((line) => Math.floor(line / FILE_STEP) === nr)
		const last = own.reduce((a, b) => Math.max(a, b), first), address = GENERATED + first
		const text = []
		for (let line = first + 1; line <= last; line++)
			text.push(recording.lines.get(line)?.text.replaceAll('\n', ' ') ?? '')
		const at = { pid: PID }, entries = own.sort((a, b) => a - b)
		trace.record('SOURCE', at, IR, 0, first, file, Buffer.from(text.join('\n') + '\n'))
		trace.record('CODE_MAP', at, address, 0, [[0, IR, 0], ...entries.map((line) => [line - first, IR, line])])
		trace.record('DEBUG_INFO', at, address, entries.length, entries.map((line) => [GENERATED + line, line - first, 0, file]))
		trace.record('LOAD', at, PID, PID, address, address, last - first + 1, nr, path.parse(file).name, Buffer.alloc(0))
	}
}

function head(trace, recording, events, cpus, file, tag, images) {
	const { values } = recording
	trace.record('HEADER', {}, 2, 'umbraperf.mjs', 0, '', 'x86_64', '', cpus.size, '/', [['umbra'], [path.basename(file)]])
	const units = { cycles: 'cycles' }
	events.forEach((name, event) => {
		const periods = values.period.filter((_, i) => values.event[i] === name)
		trace.record('EVENT', {}, event, name, units[name.toLowerCase()] ?? 'events', 0, 0, most(periods) ?? 1, 0, 0, 0,
			1n << BigInt(R15) | 1n << BigInt(IP_REGISTER), 0, 'umbra', 0)
	})
	trace.record('PROCESS', { pid: PID }, 1, '/umbra', 'umbra')
	for (const cpu of cpus.values())
		if (cpu)
			trace.record('FORK', { pid: PID, tid: PID + cpu }, PID, PID)
	for (const [image, nr] of images)
		if (image !== '[kernel.kallsyms]')
			trace.record('MMAP', { pid: PID }, IMAGES + nr * IMAGE_STEP, IMAGE_BYTES, 0, 5, image, Buffer.alloc(0))
	if (tag !== undefined)
		trace.record('TAG', { pid: PID }, R15_DWARF, 0, 0, UPPER_HALF, tag, [[IR, 0, 32]],
			[...images.values()].map((nr) => [IMAGES + nr * IMAGE_STEP, IMAGES + nr * IMAGE_STEP + IMAGE_BYTES]))
}

export function write(recording, file, out) {
	const { nr, values } = recording, { files, of } = places(values)
	const others = complete(recording, of)
	const operators = numbered([...recording.plan.map((node) => node.name),
		...[...recording.lines.values()].map((line) => line.operator)])
	const pipelines = numbered([...recording.lines.values()].map((line) => line.pipeline))
	const events = [...new Set(values.event)], images = numbered(values.image)
	const cpus = new Map([...new Set(values.cpu.map(Number))].sort((a, b) => a - b).map((cpu, i) => [cpu, i]))
	const tagged = values.method.map((method) => /register/.test(method)),
		by_line = values.method.map((method) => /^srcline/.test(method))
	const check = most(values.register.filter((_, i) => tagged[i]).map((register) => BigInt.asUintN(64, BigInt(register)) & UPPER_HALF))
	const kernel = values.image.map((image) => image === '[kernel.kallsyms]')
	const where = (i) => IMAGES + (images.get(values.image[i]) ?? 0) * IMAGE_STEP + 16
	const line = (i) => of.get(values.line[i]) ?? 0
	const register = (i) => {
		const value = BigInt.asUintN(64, BigInt(values.register[i]))
		return tagged[i] ? check | BigInt(line(i)) : (value & UPPER_HALF) === check ? 0n : value
	}
	const trace = new Trace(out)
	const time_ns = (i) => BEGIN_NS + Math.round(values.time_ms[i] * 1e6)

	head(trace, recording, events, cpus, file, check, images)
	dictionary(trace, recording, operators, pipelines)
	code(trace, recording, files)
	for (const [event, name] of events.entries()) {
		const own = []
		for (let i = 0; i < nr; i++)
			if (values.event[i] === name)
				own.push(i)
		const each = (value) => (n) => value(own[n])
		trace.samples(event, own.length, { 1: each(time_ns), 2: PID, 3: each((i) => PID + cpus.get(Number(values.cpu[i]))),
			[IP]: each((i) => kernel[i] ? KERNEL : by_line[i] ? GENERATED + line(i) : where(i)),
				[ADDRESS]: each((i) => values.address[i]),
			[WEIGHT]: each((i) => values.period[i]), [MODE]: each((i) => Number(kernel[i])), [ABI]: 2,
			[REGISTER + IP_REGISTER]: each((i) => kernel[i] ? IMAGES + IMAGE_STEP + 16 : by_line[i] ? GENERATED + line(i) :
				where(i)),
			[REGISTER + R15]: each(register) })
	}
	let last = 0
	for (let i = 0; i < nr; i++)
		last = Math.max(last, time_ns(i))
	trace.close(0, nr, last)
	return { nr, others }
}

async function main(args) {
	const option = (name, otherwise) => {
		const at = args.indexOf(name)
		return at < 0 ? otherwise : args.splice(at, 2)[1]
	}
	const folder = option('--packages', new URL('../../build/page-deps', import.meta.url).pathname), out = option('-o')
	if (args.length !== 1 || !out) {
		console.error('usage: umbraperf.mjs FILE.umbraperf -o T.tlr [--packages FOLDER]')
		return 2
	}
	let parquet
	try {
		parquet = await load(folder, 'hyparquet')
	} catch {
		console.error(`umbraperf.mjs: ${folder} has no hyparquet: run tests/page/fetch.py ${folder}`)
		return 1
	}
	try {
		const { nr, others } = write(await read(parquet, fs.readFileSync(args[0])), args[0], out)
		console.error(`${out}: ${nr} samples`)
		if (others)
			console.error(`umbraperf.mjs: ${others} samples have another operator than their IR line; they go to their line's`)
		return 0
	} catch (error) {
		console.error(`umbraperf.mjs: ${args[0]}: ${error.message}`)
		return 1
	}
}

if (process.argv[1] && import.meta.url === pathToFileURL(fs.realpathSync(process.argv[1])).href)
	process.exitCode = await main(process.argv.slice(2))
