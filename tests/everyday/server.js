// SPDX-License-Identifier: MIT
// An express server, alone or (WORKERS=n) as the master of a cluster, prints its port.  Its handlers do planted work: 50 : 30 : 20 for
// equal numbers of requests.
const cluster = require('cluster')
const workers = Number(process.env.WORKERS || 0)

function mix(seed, rounds) {
  let x = seed | 1
  for (let i = 0; i < rounds; i++) {
    x = (Math.imul(x, 1664525) + 1013904223) | 0
    x ^= x >>> 15
  }
  return x
}

function work(request, units) {
  const rounds = Number(request.query.rounds || 300000)
  let sum = 0
  for (let i = 0; i < units; i++) sum ^= mix(request.url.length + i, rounds)
  return sum
}

function searchHandler(request, response) {
  response.json({ found: work(request, 50) })
}

function listHandler(request, response) {
  response.json({ list: work(request, 30) })
}

function detailHandler(request, response) {
  response.json({ detail: work(request, 20) })
}

if (workers && cluster.isPrimary) {
  for (let i = 0; i < workers; i++) cluster.fork()
  let listening = 0
  cluster.on('listening', (worker, address) => { if (++listening === workers) console.log(address.port) })
  process.on('SIGTERM', () => { for (const id in cluster.workers) cluster.workers[id].kill(); process.exit(0) })
} else {
  const app = require('express')()
  app.get('/search', searchHandler)
  app.get('/list', listHandler)
  app.get('/detail', detailHandler)
  const server = app.listen(0, '127.0.0.1', () => { if (!workers) console.log(server.address().port) })
  process.on('SIGTERM', () => process.exit(0))
}
