/** A target of deliveries in its own process: counts the requests to each path, and notes their times. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const receipts = new Map<string, number[]>()

const server = createServer((request, response) => {
  if (request.method === 'GET') {
    const path = request.url ?? ''
    response.end(JSON.stringify(path === '/' ? total() : (receipts.get(path) ?? [])))
    return
  }
  request.resume()
  request.on('end', () => {
    const at = performance.timeOrigin + performance.now()
    const path = request.url ?? ''
    const noted = receipts.get(path)
    if (noted) noted.push(at)
    else receipts.set(path, [at])
    response.writeHead(204).end()
  })
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
process.once('SIGTERM', () => process.exit(0))

const total = () => [...receipts.values()].reduce((sum, { length }) => sum + length, 0)
