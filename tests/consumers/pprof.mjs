// SPDX-License-Identifier: MIT
/* pprof.mjs PPROF-FORMAT PROFILE: the profile as the package pprof-format decodes it: JSON, with names in place of numbers. */
import fs from 'node:fs'
import { createRequire } from 'node:module'

const [folder, file] = process.argv.slice(2)
const { Profile } = createRequire(import.meta.url)(fs.realpathSync(folder))
const profile = Profile.decode(fs.readFileSync(file))
const text = (n) => profile.stringTable.strings[Number(n)]
const by = (things) => new Map(things.map((thing) => [Number(thing.id), thing]))
const locations = by(profile.location), functions = by(profile.function)
const called = (sample) => sample.locationId.map((id) => Number(locations.get(Number(id)).line[0].functionId))
const name = (id) => text(functions.get(id).name)

console.log(JSON.stringify({
	types: profile.sampleType.map((type) => [text(type.type), text(type.unit)]),
	period: [text(profile.periodType.type), Number(profile.period)],
	samples: profile.sample.map((sample) => ({
		values: sample.value.map(Number),
		labels: Object.fromEntries(sample.label.map((label) => [text(label.key), text(label.str)])),
		stack: called(sample).map(name),
	})),
	functions: [...new Set(profile.sample.flatMap(called))].map(name),
}))
