/** What a hostile SFTP server can do with the listing of its archives: answer, and no more. Spec: decisions 4, A backup target. */
import { afterEach, expect, test } from 'vitest'
import type { Store, StoredFile } from '../../src/core/areas/backup/store.ts'
import { openSftp } from '../../src/core/areas/backup/stores/sftp.ts'
import { openEgress } from '../../src/core/kernel/egress/client.ts'
import { type Release, readRelease } from '../../src/core/kernel/egress/guard.ts'
import { type HostileSftp, hostileSftp } from '../kit/hostile-sftp.ts'

const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

async function storeAt(server: HostileSftp): Promise<Store> {
  const egress = openEgress({ release: readRelease('127.0.0.1') as Release, own: [] })
  const store = await openSftp(egress, {
    id: 'x',
    kind: 'SFTP',
    config: { host: '127.0.0.1', port: server.port, username: 'x', host_key: server.hostKey, path: 'backups' },
    secrets: { password: 'x' },
  } as never)
  ends.push(
    () => server.close(),
    () => egress.close(),
    () => store.close(),
  )
  return store
}

async function all(files: AsyncIterable<StoredFile>): Promise<string[]> {
  const found: string[] = []
  for await (const { path } of files) found.push(path)
  return found
}

test('a folder without an end is given up, and what it names is not kept', async () => {
  const server = await hostileSftp((_, nth) => Array.from({ length: 200 }, (__, n) => ({ filename: `f${nth}-${n}` })))
  const store = await storeAt(server)
  await expect(all(store.list('tenants'))).rejects.toMatchObject({ reason: 'failed' })
  expect(server.answered).toBeLessThan(1_000)
}, 90_000)

test('folders in folders without an end are not followed further than our own go', async () => {
  const server = await hostileSftp((_, nth) =>
    nth === 0 ? [{ filename: 'a', isFolder: true }, { filename: 'b' }] : undefined,
  )
  const store = await storeAt(server)
  const found = await all(store.list('tenants'))
  expect(found).toHaveLength(15)
  expect(found[0]?.split('/')).toHaveLength(16)
})

test('a tree that is wider than any of ours is given up, also where it holds no file, and is not removed for ever', async () => {
  const server = await hostileSftp((_, nth) =>
    nth === 0 ? Array.from({ length: 2_000 }, (__, n) => ({ filename: `d${n}`, isFolder: true })) : undefined,
  )
  const store = await storeAt(server)
  await expect(all(store.list('tenants'))).rejects.toMatchObject({ reason: 'failed' })
  await expect(store.remove('tenants')).rejects.toMatchObject({ reason: 'failed' })
}, 60_000)

test('names that lead elsewhere are passed over', async () => {
  const names = ['..', '.', '../up', '/etc/passwd', 'a/b', 'nul\0', '', 'x'.repeat(5_000), 'good']
  const server = await hostileSftp((_, nth) => (nth === 0 ? names.map((filename) => ({ filename })) : undefined))
  const store = await storeAt(server)
  expect(await all(store.list('tenants'))).toEqual(['tenants/good'])
})

test('a server that falls silent holds nobody who closes the connection', async () => {
  const server = await hostileSftp(() => 'never')
  const store = await storeAt(server)
  const listing = all(store.list('tenants')).catch((error: unknown) => error)
  await expect.poll(() => server.open).toBe(1)
  await store.close()
  expect(await listing).toMatchObject({ name: 'StoreFailure' })
  await expect.poll(() => server.open).toBe(0)
})
