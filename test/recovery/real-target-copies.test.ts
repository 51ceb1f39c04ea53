/**
 * The ledger's copies at real servers: OpenSSH over SFTP, OpenStack Swift over S3, as Debian
 * packages them. Where they are not installed the tests say so and show nothing.
 */
import { randomUUIDv7 } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import { S3mini } from 's3mini'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { splitConfig } from '../../src/core/areas/backup/config.ts'
import { lookAtCopies } from '../../src/core/areas/recovery/ledger/copy-state.ts'
import { pulledFolder, pullLedgers } from '../../src/core/areas/recovery/ledger/ledger-pull.ts'
import type { NewTargetConfig, TargetKind } from '../../src/core/contract/backup/operations.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { recoveryActor } from '../../src/core/kernel/values/actor.ts'
import { type TestInstallation, testInstallation } from '../kit/installation.ts'
import { hasSshd, type Sshd, startSshd } from '../kit/sshd.ts'
import { hasSwift, type Swift, startSwift } from '../kit/swift.ts'

if (!hasSshd) process.stderr.write('\nNot shown: OpenSSH is not installed (apt-get install openssh-server).\n')
if (!hasSwift)
  process.stderr.write(
    '\nNot shown: OpenStack Swift is not installed (apt-get install swift-proxy swift-account swift-container swift-object memcached).\n',
  )

let own: TestInstallation
let tenantId: string
beforeAll(async () => {
  own = await testInstallation({ env: { SVC_EGRESS_ALLOW: '127.0.0.1' } })
  tenantId = (await own.provision()).tenant.id
})
afterAll(() => own.close())
afterEach(async () => {
  await own.oracle`delete from backup_target`
  rmSync(own.installation.ledger.file, { force: true })
  rmSync(pulledFolder(own.installation.config), { recursive: true, force: true })
})

const recordObligation = (count: number) =>
  own.installation.transaction(recoveryActor(), {}, async (ctx) => {
    for (let at = 0; at < count; at += 1)
      ctx.recordObligation({ act: 'token.revoked', tenant_id: tenantId, id: randomUUIDv7() })
  })

/** Copies ahead of the act, over more than a page; brought whole; taken back by a description, as where the database knows no target. */
async function roundTrip(kind: TargetKind, config: NewTargetConfig): Promise<void> {
  await own.asRecovery(operations.createBackupTarget, { body: { name: kind, kind, config } })
  await recordObligation(1)
  await recordObligation(300)
  const { plain, secrets } = splitConfig(kind, config)
  const described = { kind, config: plain, secrets: secrets ?? {} }
  expect(await pullLedgers(own.installation, described), 'ahead of the act').toMatchObject([
    { fault: null, obligations: 301 },
  ])
  expect(await own.installation.copies.follow()).toEqual({})
  expect(await lookAtCopies(own.installation)).toMatchObject([{ name: kind, lines_missing: 0, failed: null }])
  const [pulled, ...others] = await pullLedgers(own.installation, described)
  expect(others).toEqual([])
  expect(readFileSync(pulled!.file, 'utf8')).toBe(readFileSync(own.installation.ledger.file, 'utf8'))
}

describe.runIf(hasSshd)('SFTP', () => {
  let sshd: Sshd
  beforeAll(async () => {
    sshd = await startSshd()
  })
  afterAll(() => sshd.stop())
  const config = (): NewTargetConfig => ({
    ...{ host: '127.0.0.1', port: sshd.port, username: sshd.username, host_key: sshd.hostKey, path: sshd.folder },
    private_key: sshd.privateKey,
  })

  test('a ledger goes there ahead of the act and comes back', () => roundTrip('SFTP', config()))

  test('a server that does not know us refuses the act', async () => {
    const body = { name: 'stranger', kind: 'SFTP' as const, config: { ...config(), private_key: sshd.strangerKey } }
    await own.asRecovery(operations.createBackupTarget, { body })
    await expect(recordObligation(1)).rejects.toMatchObject({ name: 'LedgerUnavailable' })
    expect(await lookAtCopies(own.installation)).toMatchObject([{ failed: 'credentials' }])
  })
})

describe.runIf(hasSwift)('S3', () => {
  let swift: Swift
  beforeAll(async () => {
    swift = await startSwift()
    const { accessKeyId, secretAccessKey } = swift
    const admin = { endpoint: `${swift.endpoint}/archives`, region: 'us-east-1', accessKeyId, secretAccessKey }
    await new S3mini(admin).createBucket()
  })
  afterAll(() => swift.stop())
  const config = (): NewTargetConfig => ({
    ...{ endpoint: swift.endpoint, region: 'us-east-1', bucket: 'archives', prefix: 'svc/ledgers' },
    ...{ access_key_id: swift.accessKeyId, secret_access_key: swift.secretAccessKey },
  })

  test('a ledger goes there ahead of the act and comes back', () => roundTrip('S3', config()))

  test('a server that fails half-way refuses the act', async () => {
    const body = { name: 'bucket', kind: 'S3' as const, config: config() }
    await own.asRecovery(operations.createBackupTarget, { body })
    await recordObligation(1)
    await swift.stopObjects()
    await expect(recordObligation(1)).rejects.toMatchObject({ name: 'LedgerUnavailable' })
  })
})
