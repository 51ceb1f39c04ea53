/**
 * Files are checked by clamd while they are examined: against a server that speaks INSTREAM, and against a real clamd where one
 * listens at SVC_TEST_CLAMD. Spec: items 4; docs/decisions/0352.
 */
import { createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ClamdAddress, openScan, pingClamd, readClamdAddress } from '../../src/core/kernel/egress/clamd.ts'
import { eicar, startClamd, type TestClamd } from '../kit/clamd.ts'
import { shows } from '../kit/needs.ts'
import { someBytes } from '../kit/some-bytes.ts'
import { type Files, openFiles } from './files.ts'

let files: Files
let clamd: TestClamd
const at = (text: string) => readClamdAddress(text) as ClamdAddress

beforeAll(async () => {
  clamd = await startClamd()
  files = await openFiles()
  Object.assign(files.installation.config.media, { clamd: at(`127.0.0.1:${clamd.port}`) })
})
afterAll(async () => {
  await files.close()
  await clamd.stop()
})

const scan = async (address: ClamdAddress, ...chunks: readonly Buffer[]) => {
  const one = await openScan(address)
  try {
    for (const chunk of chunks) await one.send(chunk)
    return await one.end()
  } finally {
    one.close()
  }
}
const failed = { name: 'ScannerFailed' }

describe('a file', () => {
  test('in which something is found is refused, and the trail says what', async () => {
    const before = await files.quota()
    const media = await files.file(Buffer.concat([someBytes(200_000), Buffer.from(eicar), someBytes(100)]))
    expect([media.state, files.stored().includes(media.id), await files.quota()]).toEqual(['REFUSED', false, before])
    const [entry] = await files.daemon.db.sql<{ params: object }[]>`
      select params from audit_entry where subject_id = ${media.id} and action = 'media.refused'`
    expect(entry?.params).toEqual({ reason: 'finding', finding: 'Eicar-Test-Signature' })
  })

  test('that is clean is READY, and was checked whole', async () => {
    const { scanned } = clamd
    expect((await files.file(someBytes(3_000_000))).state).toBe('READY')
    expect(clamd.scanned).toBe(scanned + 1)
  })

  test('stays SCANNING while the scanner is away or refuses its length, and is READY when it answers', async () => {
    const { media: settings } = files.installation.config
    const media = await files.begin(500_000)
    await files.send(media, someBytes(500_000))
    clamd.limit = 100_000
    await expect(files.examine()).rejects.toMatchObject({
      ...failed,
      message: expect.stringContaining('StreamMaxLength'),
    })
    clamd.limit = 30_000_000
    Object.assign(settings, { clamd: at('127.0.0.1:1') })
    await expect(files.examine()).rejects.toMatchObject(failed)
    expect((await files.read(media)).state).toBe('SCANNING')
    Object.assign(settings, { clamd: at(`127.0.0.1:${clamd.port}`) })
    await files.examine()
    expect((await files.read(media)).state).toBe('READY')
  })
})

describe('the scanner', () => {
  test('is believed only where it says what it must: anything else is a failure', async () => {
    let says = ''
    const server = createServer((socket) => {
      socket.on('error', () => {})
      socket.on('data', () => (says === '' ? socket.destroy() : socket.end(says)))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = at(`127.0.0.1:${(server.address() as { port: number }).port}`)
    for (const said of ['', 'stream: FOUND\0', 'OK\0', 'stream: OKAY\0', 'x'.repeat(100_000)]) {
      says = said
      await expect(scan(address, Buffer.from('bytes')), said.slice(0, 20)).rejects.toMatchObject(failed)
    }
    says = 'PONK\0'
    await expect(pingClamd(address)).rejects.toMatchObject(failed)
    server.close()
  })

  test('has an address of a port or a socket, and nothing else', async () => {
    expect(readClamdAddress('/run/clamav/clamd.ctl')).toEqual({ path: '/run/clamav/clamd.ctl' })
    expect(readClamdAddress('[::1]:3310')).toEqual({ host: '::1', port: 3310 })
    for (const text of ['clamd', 'clamd:0', 'clamd:70000', 'http://clamd:3310', '::1:3310'])
      expect(readClamdAddress(text)).toHaveProperty('fault')
    await pingClamd(at(`127.0.0.1:${clamd.port}`))
  })

  const real = process.env['SVC_TEST_CLAMD']
  const isReal = shows('a real clamd', 'SVC_TEST_CLAMD', real !== undefined)
  test.runIf(isReal)('that is a real clamd finds the EICAR text, and nothing in a text', async () => {
    expect(await scan(at(real ?? ''), Buffer.from(eicar))).toMatch(/eicar/i)
    expect(await scan(at(real ?? ''), Buffer.from('a text'))).toBeUndefined()
  })
})
