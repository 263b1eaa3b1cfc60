// SPDX-License-Identifier: MIT
// Planted work, 50 : 30 : 20, of which each function does its own; planted.js [WORKERS]: alone, or a cluster that does it for requests of
// its own.  It ends by SIGTERM.  $PLANTED_CLOCK.PID has what each took by the thread's clock, in nanoseconds.
const fs = require('fs')
const cluster = require('cluster')
const workers = Number(process.argv[2] || 0)
const took = [0, 0, 0]

function heavy(x) {
  for (let i = 0; i < 5000000; i++) x = (Math.imul(x, 1664525) + 1013904223) ^ (x >>> 15)
  return x
}

function middle(x) {
  for (let i = 0; i < 3000000; i++) x = (Math.imul(x, 1664525) + 1013904223) ^ (x >>> 15)
  return x
}

function light(x) {
  for (let i = 0; i < 2000000; i++) x = (Math.imul(x, 1664525) + 1013904223) ^ (x >>> 15)
  return x
}

const work = [heavy, middle, light]
const clock = fs.openSync(`${process.env.PLANTED_CLOCK}.${process.pid}`, 'w')

function serve(i) {
  const begin = process.cpuUsage()
  const x = work[i](i + 1)
  const used = process.cpuUsage(begin)
  took[i] += 1000 * (used.user + used.system)
  fs.writeSync(clock, took.map((n) => String(n).padStart(20)).join(' ') + '\n', 0)
  return x
}

function alone() {
  for (let i = 0; i < 3; i++) serve(i)
  setImmediate(alone)
}

function ask(port, i) {
  const http = require('http')
  http.get({ port, path: '/' + i, agent: false }, (answer) => {
    answer.resume()
    answer.on('end', () => ask(port, (i + 1) % 3))
  }).on('error', () => setTimeout(ask, 10, port, i))
}

if (!workers) {
  alone()
} else if (cluster.isPrimary) {
  for (let i = 0; i < workers; i++) cluster.fork()
  let listening = 0
  cluster.on('listening', (worker, address) => {
    if (++listening === workers) for (let i = 0; i < workers; i++) ask(address.port, i % 3)
  })
  process.on('SIGTERM', () => { for (const id in cluster.workers) cluster.workers[id].process.kill(); process.exit(0) })
} else {
  require('http').createServer((request, response) => response.end(String(serve(Number(request.url[1]))))).listen(0)
}
