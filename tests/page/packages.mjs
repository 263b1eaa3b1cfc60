// SPDX-License-Identifier: MIT
// Packages that fetch.py has unpacked: what import('NAME') would find, of FOLDER.
import { createRequire } from 'node:module'
import path from 'node:path'
import { pathToFileURL } from 'node:url'

export const load = (folder, name) => import(pathToFileURL(createRequire(path.resolve(folder, 'x')).resolve(name)))
