/** T-14 to T-17: what the guard lets through, shown by who is called: listeners on loopback that count every connection. */

import { createServer as createHttpServer, type Server as HttpServer } from 'node:http'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { isGlobal } from '../../../src/core/kernel/egress/addresses.ts'
import { type Egress, EgressRefused, openEgress } from '../../../src/core/kernel/egress/client.ts'
import { nothingReleased, type Release, type Resolve, readRelease } from '../../../src/core/kernel/egress/guard.ts'
import { literalForms } from './literal-forms.ts'

let hits = 0
let canary: Server
let port = 0
let web: HttpServer
let webPort = 0
const visited: string[] = []
const open: Egress[] = []

beforeAll(async () => {
  canary = createServer((socket) => {
    hits += 1
    socket.destroy()
  })
  port = await listening(canary)
  web = createHttpServer((request, response) => {
    visited.push(request.url ?? '')
    if (request.url === '/redirect') response.writeHead(302, { location: `http://127.0.0.1:${port}/second` }).end()
    else if (request.url === '/silent') return
    else response.end('hello')
  })
  webPort = await listening(web)
})
afterAll(async () => {
  await Promise.all(open.map((egress) => egress.close()))
  web.closeAllConnections()
  canary.close()
  web.close()
})
beforeEach(() => {
  hits = 0
  visited.length = 0
})

/** On both loopbacks, where the machine has both. */
const listening = (server: Server | HttpServer) =>
  new Promise<number>((resolve, reject) => {
    const done = () => resolve((server.address() as AddressInfo).port)
    server.once('error', () => server.listen(0, '127.0.0.1', done).once('error', reject))
    server.listen({ port: 0, host: '::', ipv6Only: false }, done)
  })

function egress(allow = '', resolve?: Resolve, own: { host: string; port: number }[] = []): Egress {
  const release = allow === '' ? nothingReleased : (readRelease(allow) as Release)
  const opened = openEgress({ release, own, ...(resolve ? { resolve } : {}) })
  open.push(opened)
  return opened
}

const refused = async (work: Promise<unknown>) => {
  const error = await work.then(
    () => 'let through',
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(EgressRefused)
  expect((error as Error).message).toBe('the egress guard refused the target')
}

describe('literal and odd forms (T-14)', () => {
  test('the list is long enough', () => expect(new Set(literalForms).size).toBeGreaterThanOrEqual(120))

  test('the canary can be hit at all', async () => {
    await egress('127.0.0.1')
      .fetch(`http://127.0.0.1:${port}/`)
      .catch(() => {})
    expect(hits).toBe(1)
  })

  test.each(literalForms)('%j reaches nobody', async (form) => {
    const guarded = egress()
    const at = form.replaceAll('PORT', String(port))
    await refused(guarded.fetch(at))
    await refused(guarded.fetch(at.replace(/^https/, 'http')))
    expect(hits).toBe(0)
  })

  test('a wide release still reaches no metadata service, in any form', async () => {
    const wide = egress('0.0.0.0/0,::/0,metadata.google.internal', async () => ['169.254.169.254'])
    for (const host of [
      '169.254.169.254',
      '[::ffff:169.254.169.254]',
      '[64:ff9b::a9fe:a9fe]',
      '[2002:a9fe:a9fe::]',
      '100.100.100.200',
      '[fd00:ec2::254]',
      '[fe80::1]',
      '168.63.129.16',
      'metadata.google.internal',
    ])
      await refused(wide.fetch(`http://${host}/latest/meta-data`))
  })

  test('the public internet is let through, unknown blocks are not', () => {
    for (const address of [
      '1.1.1.1',
      '8.8.8.8',
      '93.184.216.34',
      '2606:4700:4700::1111',
      '2a00:1450:4001:81b::200e',
      '223.255.255.255',
    ])
      expect([address, isGlobal(address)]).toEqual([address, true])
    for (const address of [
      '',
      'x',
      '1.1.1',
      '01.1.1.1',
      '1.1.1.1.1',
      '4000::1',
      '1::1',
      'ffff::',
      '2606::%eth0',
      '::1.1.1.1',
    ])
      expect([address, isGlobal(address)]).toEqual([address, false])
  })
})

describe('names (T-15)', () => {
  const answers = (...lists: string[][]): Resolve => {
    let asked = 0
    return async () => lists[Math.min(asked++, lists.length - 1)] ?? []
  }

  test('a name that answers inside is refused, alone and among others', async () => {
    for (const list of [
      ['127.0.0.1'],
      ['93.184.216.34', '127.0.0.1'],
      ['93.184.216.34', '::1'],
      ['2606:4700::1', '10.0.0.7'],
      [],
      ['garbage'],
    ])
      await refused(egress('', answers(list)).fetch(`https://target.example:${port}/`))
    expect(hits).toBe(0)
  })

  test('rebinding: 500 rounds of a name that answers outside once and inside from then on reach nobody', async () => {
    for (let round = 0; round < 500; round += 1) {
      const guarded = egress('', answers(['93.184.216.34'], ['127.0.0.1']))
      await refused(guarded.fetch(`https://target.example:${port}/`))
      await guarded.close()
      open.pop()
    }
    expect(hits).toBe(0)
  })

  test('what was vetted is what is connected to, whatever the system would resolve', async () => {
    const guarded = egress('named.example', async () => ['127.0.0.1'])
    expect(await (await guarded.fetch(`http://named.example:${webPort}/`)).text()).toBe('hello')
    const socket = await guarded.connect('named.example', webPort)
    expect(socket.remoteAddress).toMatch(/127\.0\.0\.1$/)
    socket.destroy()
  })

  test('raw connections are vetted alike', async () => {
    await refused(egress().connect('127.0.0.1', port))
    await refused(egress('', async () => ['127.0.0.1']).connect('target.example', port))
    for (const bad of [0, -1, 65_536, 1.5]) await refused(egress('127.0.0.1').connect('127.0.0.1', bad))
    expect(hits).toBe(0)
  })
})

describe('what is released, and what is not (T-16)', () => {
  test('http needs a named host', async () => {
    expect(() => egress().readUrl('http://example.org/')).toThrow(EgressRefused)
    expect(egress('example.org').readUrl('http://example.org/').href).toBe('http://example.org/')
    expect(() => egress('10.0.0.0/8').readUrl('http://example.org/')).toThrow(EgressRefused)
    expect(egress('10.0.0.0/8').readUrl('http://10.1.2.3/').href).toBe('http://10.1.2.3/')
  })

  test('a redirect is never followed', async () => {
    await expect(egress('127.0.0.1').fetch(`http://127.0.0.1:${webPort}/redirect`)).rejects.toThrow()
    expect([visited, hits]).toEqual([['/redirect'], 0])
  })

  test('proxies of the environment are not used', async () => {
    process.env['HTTP_PROXY'] = process.env['http_proxy'] = `http://127.0.0.1:${port}`
    try {
      expect((await egress('127.0.0.1').fetch(`http://127.0.0.1:${webPort}/direct`)).status).toBe(200)
    } finally {
      delete process.env['HTTP_PROXY']
      delete process.env['http_proxy']
    }
    expect([visited, hits]).toEqual([['/direct'], 0])
  })

  test("the installation's own endpoints are reached only when named singly", async () => {
    const own = [{ host: '127.0.0.1', port: webPort }]
    for (const host of ['127.0.0.1', '127.0.0.2', '[::1]'])
      await refused(egress('127.0.0.0/8,::1', undefined, own).fetch(`http://${host}:${webPort}/`))
    await refused(egress('me.example', async () => ['127.0.0.1'], own).fetch(`http://me.example:${webPort}/`))
    expect((await egress(`127.0.0.1:${webPort}`, undefined, own).fetch(`http://127.0.0.1:${webPort}/`)).status).toBe(
      200,
    )
  })

  test('a target that says nothing is given up', async () => {
    await expect(egress('127.0.0.1').fetch(`http://127.0.0.1:${webPort}/silent`, { deadlineMs: 200 })).rejects.toThrow()
  })

  test('the setting is read whole or refused', () => {
    for (const good of ['', 'a.example', '10.0.0.0/8, ::1 ,b.example:80', '[::1]:8080', '127.0.0.1:80'])
      expect(readRelease(good)).not.toHaveProperty('fault')
    for (const bad of ['10.0.0.0/33', 'http://x', 'a b', '*.example', '::1/129', 'x/8'])
      expect(readRelease(bad)).toHaveProperty('fault')
  })
})
