// SPDX-License-Identifier: MIT
// odd_traces.mjs FOLDER: traces that a page must show although there is little in them, or much, or names that would break it.
import path from 'node:path'
import { Trace } from './trace_writer.mjs'

const PID = 100, OPERATOR = 1, PIPELINE = 2, PLAN = 1
const CODE = 0x7f0000000000
const at = { pid: PID }

export const HOSTILE = ['</script><script>window.broken = 1</script>', '<img src=x onerror="window.broken = 1">',
	'"\'`${window.broken = 1}',
	'\u202eright to left\u202c', 'x'.repeat(10000), 'NUL \0 in it', '\u0301\u0302\u0303 combining', ']]>-->', '&lt;&amp;', '%s%n',
		'\ud800',
	'{{constructor.constructor("window.broken = 1")()}}', '=cmd|\' /C calc\'!A0', 'two\nlines\tand a tab', '__proto__', 'constructor',
		'']

function begin(file, { events = ['cycles'], threads = 1, name = () => undefined } = {}) {
	const trace = new Trace(file)
	trace.record('HEADER', {}, 2, 'test', 0, name('host') ?? 'host', 'x86_64', '6.1', 1, '/', [[name('command') ?? 'host']])
	for (const [i, event] of events.entries())
		trace.record('EVENT', {}, i, name('event') ?? event, 'cycles', 0, 0, 1000, 0, 0, 0, 0, 0, 'cpu', 0)
	trace.record('PROCESS', at, 1, '/bin/host', name('process') ?? 'host')
	for (let i = 1; i < threads; i++)
		trace.record('FORK', { pid: PID, tid: PID + i }, PID, PID)
	return trace
}

function operators(trace, nr, name) {
	trace.record('LEVEL', at, OPERATOR, PLAN, name('level') ?? 'operator', [])
	trace.record('LEVEL', at, PIPELINE, 0, name('level') ?? 'pipeline', [])
	for (let i = 1; i <= nr; i++) {
		trace.record('COMPONENT', at, OPERATOR, 0, i, name('operator') ?? `operator ${i}`, name('detail') ?? '')
		trace.record('COMPONENT', at, PIPELINE, 0, i, name('pipeline') ?? `pipeline ${i}`, '')
		if (i > 1)
			trace.record('EDGE', at, OPERATOR, i, i >> 1, i & 1, 0, name('label') ?? '')
		trace.record('COUNTER', at, OPERATOR, i, 10 * i, 'estimated rows')
		trace.record('COUNTER', at, OPERATOR, i, 1000 * i, 'rows')
		trace.record('LINK', at, OPERATOR, PIPELINE, i, i, 1, 0)
		trace.record('CODE_MAP', at, CODE + i * 64, 0, [[0, OPERATOR, i]])
		trace.record('LOAD', at, PID, PID, CODE + i * 64, CODE + i * 64, 64, i, name('function') ?? `function_${i}`,
			Buffer.alloc(0))
	}
}

function samples(trace, nr, of, { threads = 1, address = 0 } = {}) {
	trace.samples(0, nr, { 1: (i) => 1000000 + i * 1000, 2: PID, 3: (i) => PID + i % threads, 5: (i) => CODE + (1 + i * 7 % of) * 64,
		6: address,
		7: 1000, 9: 0 })
	trace.close(0, nr, 1000000 + nr * 1000)
}

const none = () => undefined
const TRACES = {
	'no-samples': (file) => {
		const trace = begin(file)
		operators(trace, 3, none)
		samples(trace, 0, 1)
	},
	'nothing': (file) => begin(file).close(0, 0, 1),
	'one-sample': (file) => {
		const trace = begin(file)
		operators(trace, 1, none)
		samples(trace, 1, 1)
	},
	'no-dictionary': (file) => {
		const trace = begin(file)
		for (let i = 1; i < 5; i++)
			trace.record('LOAD', at, PID, PID, CODE + i * 64, CODE + i * 64, 64, i, `function_${i}`, Buffer.alloc(0))
		samples(trace, 100, 5)
	},
	'no-plan': (file) => {
		const trace = begin(file)
		trace.record('LEVEL', at, OPERATOR, 0, 'task', [])
		for (let i = 1; i < 5; i++) {
			trace.record('COMPONENT', at, OPERATOR, 0, i, `task ${i}`, '')
			trace.record('CODE_MAP', at, CODE + i * 64, 0, [[0, OPERATOR, i]])
			trace.record('LOAD', at, PID, PID, CODE + i * 64, CODE + i * 64, 64, i, `function_${i}`, Buffer.alloc(0))
		}
		samples(trace, 100, 4)
	},
	'hostile-names': (file) => {
		let next = 0
		const name = (of) => of === 'level' ? `level </script> ${next++}` : HOSTILE[next++ % HOSTILE.length]
		const trace = begin(file, { name })
		operators(trace, 2 * HOSTILE.length, name)
		for (const i of HOSTILE.keys()) {
			trace.record('SOURCE', at, 0, 0, 0, HOSTILE[i], Buffer.from(HOSTILE.join('\n')))
			trace.record('MARK', at, 1, 0, 0, i, 0, 1, HOSTILE[i], HOSTILE[i], i + 1, 0, 3, 0)
			trace.record('NOTICE', at, 'host', HOSTILE[i])
			trace.record('MEMORY', at, 0x7f2000000000 + i * 4096, 4096, 0, 0, HOSTILE[i])
			trace.record('SCOPE', at, 1, 0, 1 + i, 1, HOSTILE[i], HOSTILE[i])
		}
		samples(trace, 1000, 2 * HOSTILE.length, { address: (i) => 0x7f2000000000 + i % 64 * 997 })
	},
	'many-operators': (file) => {
		const trace = begin(file)
		operators(trace, 2000, none)
		samples(trace, 10000, 2000)
	},
	'many-threads': (file) => {
		const trace = begin(file, { threads: 500 })
		operators(trace, 3, none)
		samples(trace, 10000, 3, { threads: 500 })
	},
}

export function write(folder) {
	for (const [name, make] of Object.entries(TRACES))
		make(path.join(folder, `${name}.tlr`))
	return Object.keys(TRACES)
}

if (process.argv[1]?.endsWith('odd_traces.mjs'))
	console.log(write(process.argv[2]).join('\n'))
