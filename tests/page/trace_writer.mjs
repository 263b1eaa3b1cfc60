// SPDX-License-Identifier: MIT
// Traces as any program can write them, from TRACE.md alone: chunks (not compressed), records, columns of samples.
import fs from 'node:fs'

const RECORDS = 1, SAMPLES = 2, END = 4
const MAGIC = 0x43524c54
const ROWS = 65536 // samples of a record, at most
const BODY = 4 << 20 // bytes of a chunk, about
const DELTA = 2, CONSTANT = 3

// Records by their names, from the headers that specify them.
const root = new URL('../../', import.meta.url)
const ids = {}
for (const header of ['jitreg/jitreg.h', 'jitreg/trace/trace.h'])
	for (const [, name, id] of fs.readFileSync(new URL(header, root), 'utf8').matchAll(/X\((\w+), \w+, (\d+)\)/g))
		ids[name] = Number(id)

const crcs = new Uint32Array(256)
for (let byte = 0; byte < 256; byte++) {
	let crc = byte
	for (let bit = 0; bit < 8; bit++)
		crc = crc & 1 ? crc >>> 1 ^ 0x82f63b78 : crc >>> 1
	crcs[byte] = crc >>> 0
}

function crc32c(...parts) {
	let crc = 0xffffffff
	for (const part of parts)
		for (let i = 0; i < part.length; i++)
			crc = crc >>> 8 ^ crcs[(crc ^ part[i]) & 255]
	return ~crc >>> 0
}

class Bytes {
	constructor() {
		this.data = Buffer.alloc(1 << 16)
		this.length = 0
	}
	room(bytes) {
		if (this.length + bytes > this.data.length)
			this.data = Buffer.concat([this.data], Math.max(2 * this.data.length, this.length + bytes))
		this.length += bytes
		return this.length - bytes
	}
	byte(value) {
		const at = this.room(1)
		this.data[at] = value
	}
	big(value, bytes) { // big-endian, as msgpack has it
		const at = this.room(bytes)
		for (let i = bytes - 1; i >= 0; i--, value >>= 8n)
			this.data[at + i] = Number(value & 255n)
	}
	copy(from) {
		const at = this.room(from.length)
		this.data.set(from, at)
	}
	take() {
		const all = this.data.subarray(0, this.length)
		this.data = Buffer.alloc(1 << 16)
		this.length = 0
		return all
	}
	leb(value) { // a BigInt, not negative
		while (value > 127n) {
			this.byte(Number(value & 127n) | 128)
			value >>= 7n
		}
		this.byte(Number(value))
	}

	pack(value) {
		if (typeof value === 'string') {
			const text = Buffer.from(value, 'utf8')
			this.byte(0xdb)
			this.big(BigInt(text.length), 4)
			this.copy(text)
		} else if (value instanceof Uint8Array) {
			this.byte(0xc6)
			this.big(BigInt(value.length), 4)
			this.copy(value)
		} else if (Array.isArray(value)) {
			this.byte(0xdd)
			this.big(BigInt(value.length), 4)
			for (const element of value)
				this.pack(element)
		} else if (value >= 0 && value < 128) {
			this.byte(Number(value))
		} else {
			const number = BigInt(value)
			this.byte(number < 0n ? 0xd3 : 0xcf)
			this.big(BigInt.asUintN(64, number), 8)
		}
	}
}

// values: at(i) for i < nr, BigInts or safe integers; taken modulo 2^64.
function deltas(nr, at) {
	const out = new Bytes()
	let before = 0n
	for (let i = 0; i < nr; i++) {
		const now = BigInt(at(i)), d = BigInt.asIntN(64, now - before)
		out.leb(BigInt.asUintN(64, d << 1n ^ d >> 63n))
		before = now
	}
	return out.take()
}

function column(nr, value) {
	if (typeof value === 'function')
		return [DELTA, deltas(nr, value)]
	const one = new Bytes()
	one.leb(BigInt(value))
	return [CONSTANT, one.take()]
}

export class Trace {
	constructor(path) {
		this.file = fs.openSync(path, 'w')
		this.sequence = 0n
		this.body = new Bytes()
	}
	chunk(kind, body) {
		const head = Buffer.alloc(32)
		head.writeUInt32LE(MAGIC, 0)
		head.writeUInt16LE(kind, 4)
		head.writeUInt32LE(body.length, 8)
		head.writeUInt32LE(body.length, 12)
		head.writeBigUInt64LE(this.sequence++, 16)
		head.writeUInt32LE(crc32c(head.subarray(0, 28), body), 28)
		fs.writeSync(this.file, head)
		fs.writeSync(this.file, body)
	}
	flush() {
		if (this.body.length)
			this.chunk(RECORDS, this.body.take())
	}
	// The fields in the order of the record's list.
	record(name, { pid = 0, tid = pid, time_ns = 1 }, ...fields) {
		this.body.pack([ids[name], time_ns, pid, tid, ...fields])
		if (this.body.length > BODY)
			this.flush()
	}
	// columns: id => a number that all have, or a function of the sample
	samples(event, nr, columns) {
		this.flush()
		for (let begin = 0; begin < nr; begin += ROWS) {
			const rows = Math.min(ROWS, nr - begin)
			const packed = Object.entries(columns).map(([id, value]) =>
				[Number(id), ...column(rows, typeof value === 'function' ? (i) => value(begin + i) : value)])
			const body = new Bytes()
			body.pack([ids.SAMPLES, 1, 0, 0, event, rows, packed])
			this.chunk(SAMPLES, body.take())
		}
	}
	close(exit_status, samples, end_ns) {
		this.flush()
		const body = new Bytes()
		body.pack([ids.END, end_ns, 0, 0, exit_status, samples, 0, 0])
		this.chunk(END, body.take())
		fs.closeSync(this.file)
	}
}
