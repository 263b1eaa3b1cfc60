// SPDX-License-Identifier: MIT
// The files of a ZIP archive by their names, and such an archive of files (stored).
import zlib from 'node:zlib'

const LOCAL = 0x04034b50, CENTRAL = 0x02014b50, END = 0x06054b50

export function unzip(data) {
	const files = new Map()
	let end = data.length - 22
	while (end >= 0 && data.readUInt32LE(end) !== END)
		end--
	if (end < 0)
		throw new Error('this is no ZIP archive')
	let at = data.readUInt32LE(end + 16)
	for (let nr = data.readUInt16LE(end + 10); nr > 0; nr--) {
		if (data.readUInt32LE(at) !== CENTRAL)
			throw new Error('the archive\'s directory is damaged')
		const method = data.readUInt16LE(at + 10), bytes = data.readUInt32LE(at + 20), local = data.readUInt32LE(at + 42)
		const name_bytes = data.readUInt16LE(at + 28)
		const name = data.toString('utf8', at + 46, at + 46 + name_bytes)
		const begin = local + 30 + data.readUInt16LE(local + 26) + data.readUInt16LE(local + 28)
		const stored = data.subarray(begin, begin + bytes)
		if (method !== 0 && method !== 8)
			throw new Error(`${name}: compressed by method ${method}, where 0 and 8 are known`)
		files.set(name, method === 8 ? zlib.inflateRawSync(stored) : stored)
		at += 46 + name_bytes + data.readUInt16LE(at + 30) + data.readUInt16LE(at + 32)
	}
	return files
}

function crc32(data) {
	let crc = ~0
	for (const byte of data) {
		crc ^= byte
		for (let bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >>> 1 ^ 0xedb88320 : crc >>> 1
	}
	return ~crc >>> 0
}

export function zip(files) {
	const parts = [], directory = []
	let at = 0
	for (const [name, data] of files) {
		const local = Buffer.alloc(30), central = Buffer.alloc(46), crc = crc32(data)
		local.writeUInt32LE(LOCAL, 0)
		local.writeUInt16LE(20, 4)
		local.writeUInt32LE(crc, 14)
		local.writeUInt32LE(data.length, 18)
		local.writeUInt32LE(data.length, 22)
		local.writeUInt16LE(name.length, 26)
		central.writeUInt32LE(CENTRAL, 0)
		local.copy(central, 6, 4, 30)
		central.writeUInt32LE(at, 42)
		parts.push(local, Buffer.from(name), data)
		directory.push(central, Buffer.from(name))
		at += 30 + name.length + data.length
	}
	const last = Buffer.alloc(22), central = Buffer.concat(directory)
	last.writeUInt32LE(END, 0)
	last.writeUInt16LE(files.size, 8)
	last.writeUInt16LE(files.size, 10)
	last.writeUInt32LE(central.length, 12)
	last.writeUInt32LE(at, 16)
	return Buffer.concat([...parts, central, last])
}
