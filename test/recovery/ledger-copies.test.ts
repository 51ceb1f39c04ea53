/** The ledger's copies: ahead of the act, whole at every target, and read back from there. */
import { randomUUIDv7 } from 'node:crypto'
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { bootInstallation } from '../../src/core/app/boot.ts'
import { lookAtCopies } from '../../src/core/areas/recovery/ledger/copy-state.ts'
import { pulledFolder, pullLedgers } from '../../src/core/areas/recovery/ledger/ledger-pull.ts'
import { readTargets } from '../../src/core/areas/recovery/ledger/ledger-targets.ts'
import { readLedgers } from '../../src/core/areas/recovery/reconcile.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { readConfig } from '../../src/core/kernel/config/config.ts'
import { readLedger } from '../../src/core/kernel/ledger/ledger.ts'
import { recoveryActor } from '../../src/core/kernel/values/actor.ts'
import { type TestInstallation, testInstallation } from '../kit/installation.ts'

let own: TestInstallation
let tenantId: string

beforeAll(async () => {
  own = await testInstallation({ poolSize: 1 }) // an act that wanted a second connection would wait for itself
  tenantId = (await own.provision()).tenant.id
})
afterAll(() => own.close())

const backups = () => own.installation.config.backupDir
const root = (name: string) => join(backups(), name, 'obligations', own.installation.identity.id)
const addTarget = (name: string) =>
  own.asRecovery(operations.createBackupTarget, { body: { name, kind: 'LOCAL', config: { path: name } } })
const place = (reason = 'case 12') =>
  own.asRecovery(operations.placeHold, { body: { tenant_id: tenantId, scope: { kind: 'TENANT', id: null }, reason } })
const holds = async () => (await own.oracle`select 1 from legal_hold`).length

/** A target that is away: where its folder should be lies a file. */
function takeAway(name: string): void {
  renameSync(join(backups(), name), join(backups(), `${name}-away`))
  writeFileSync(join(backups(), name), '')
}
function giveBack(name: string): void {
  rmSync(join(backups(), name))
  renameSync(join(backups(), `${name}-away`), join(backups(), name))
}

/** The copies there are, as `lineage/first-last`. */
const copies = (name: string) =>
  readdirSync(root(name)).flatMap((lineage) =>
    readdirSync(join(root(name), lineage)).map((copy) => copy.replace(/-[0-9a-f]{16}$/, '')),
  )
const pull = async (name: string) => {
  const targets = await own.installation.transaction(recoveryActor(), { readOnly: true }, readTargets)
  return pullLedgers(own.installation, targets.find((target) => target.name === name)!.open())
}
const ledgerText = () => readFileSync(own.installation.ledger.file, 'utf8')

beforeEach(() => {
  rmSync(own.installation.ledger.file, { force: true })
})
afterEach(async () => {
  await own.oracle`delete from backup_target`
  await own.oracle`delete from legal_hold`
  rmSync(backups(), { recursive: true, force: true })
  rmSync(pulledFolder(own.installation.config), { recursive: true, force: true })
})

describe('an act that owes something', () => {
  test('has its line at the target before it commits', async () => {
    await addTarget('disk')
    await place()
    // Nobody has followed yet: what is there was put ahead of the commit, so its outcome is not.
    const [pulled] = await pull('disk')
    const { obligations } = await readLedger(pulled!.file, own.installation.keyring)
    expect(obligations.map(({ act, isSettled }) => [act.act, isSettled])).toEqual([['hold.placed', false]])
  })

  test('is refused where no target takes the copy, leaves nothing, and is void in the ledger', async () => {
    await addTarget('disk')
    await place()
    takeAway('disk')
    await expect(place()).rejects.toMatchObject({ name: 'LedgerUnavailable' })
    expect(await holds()).toBe(1)
    expect(await readLedgers(own.installation)).toMatchObject({ lines: 1, unsettled: 0, faults: [] })
    giveBack('disk')
    await place()
    expect(await holds()).toBe(2)
  })

  test('goes on where one of two targets takes it, and the other gets it when it is back', async () => {
    await addTarget('one')
    await addTarget('two')
    await place()
    await own.installation.copies.follow()
    takeAway('one')
    await place()
    expect(await lookAtCopies(own.installation)).toMatchObject([
      { name: 'one', failed: 'missing', lines_missing: null },
      { name: 'two', failed: null, lines_missing: 1 },
    ])
    const [first] = await lookAtCopies(own.installation)
    expect(await own.installation.copies.follow()).toEqual({ [first!.target_id]: 'missing' })
    giveBack('one')
    expect(await own.installation.copies.follow()).toEqual({})
    expect((await lookAtCopies(own.installation)).map(({ lines_missing }) => lines_missing)).toEqual([0, 0])
  })

  test('goes on with SVC_LEDGER_COPY=report, and what is missing is a finding until it is brought', async () => {
    await addTarget('disk')
    const config = { ...readConfig(own.env), ledgerCopy: 'report' as const }
    const lenient = await bootInstallation(config, { works: false, applicationName: 'svc test' })
    try {
      mkdirSync(join(backups(), 'disk'), { recursive: true })
      takeAway('disk')
      await lenient.installation.transaction(recoveryActor(), {}, async (ctx) =>
        ctx.recordObligation({ act: 'token.revoked', tenant_id: tenantId, id: randomUUIDv7() }),
      )
      giveBack('disk')
      expect(await lookAtCopies(own.installation)).toMatchObject([{ name: 'disk', failed: null, lines_missing: 3 }])
      expect(await lenient.installation.copies.follow()).toEqual({})
      expect(await lookAtCopies(own.installation)).toMatchObject([{ lines_missing: 0 }])
    } finally {
      await lenient.close()
    }
  })

  test('waits for nobody where the installation has no target; a workspace’s own is none', async () => {
    await own.oracle`
      insert into backup_target (tenant_id, id, name, kind, config) values (${tenantId}, ${randomUUIDv7()}, 'theirs', 'LOCAL', '{"path":"theirs"}')`
    await place()
    expect(existsSync(join(backups(), 'theirs'))).toBe(false)
  })
})

describe('the copies', () => {
  test('are pages of which later ones replace earlier ones, and are the ledger, byte for byte', async () => {
    await addTarget('disk')
    for (let count = 0; count < 3; count += 1) await place()
    expect(copies('disk').length).toBeGreaterThan(1)
    const acts = Array.from({ length: 600 }, () => ({
      act: 'token.revoked' as const,
      tenant_id: tenantId,
      id: randomUUIDv7(),
    }))
    await own.installation.transaction(recoveryActor(), {}, async (ctx) => ctx.recordObligation(...acts))
    await own.installation.copies.follow()
    expect(copies('disk').sort()).toEqual([
      '000000000001-000000000256',
      '000000000257-000000000512',
      '000000000513-000000000608',
    ])
    const [pulled, ...others] = await pull('disk')
    expect(others).toEqual([])
    expect(readFileSync(pulled!.file, 'utf8')).toBe(ledgerText())
    expect(pulled).toMatchObject({ fault: null, lines: 608, obligations: 603 })
  })

  test('are refused of a ledger that somebody changed: what comes behind would not be believed', async () => {
    await addTarget('disk')
    await place()
    await place()
    const [first, second, ...rest] = ledgerText().split('\n')
    writeFileSync(own.installation.ledger.file, [first, `${second} `, ...rest].join('\n'))
    await expect(place()).rejects.toMatchObject({ name: 'LedgerUnavailable' })
    expect(await holds()).toBe(2)
  })

  const revoke = (count: number) =>
    own.installation.transaction(recoveryActor(), {}, async (ctx) => {
      for (let at = 0; at < count; at += 1)
        ctx.recordObligation({ act: 'token.revoked', tenant_id: tenantId, id: randomUUIDv7() })
    })

  test('a ledger goes on from another one of the same length that took its place', async () => {
    const { file } = own.installation.ledger
    await place('so that there is a line')
    const before = ledgerText()
    await revoke(1)
    const one = ledgerText()
    writeFileSync(file, before)
    await revoke(1)
    expect([ledgerText().length, ledgerText() === one]).toEqual([one.length, false])
    writeFileSync(file, one)
    await revoke(1)
    expect(ledgerText().startsWith(one)).toBe(true)
    expect((await readLedger(file, own.installation.keyring)).fault).toBeUndefined()
  })

  test('go on from an older copy of the ledger that took its place, though its lines lie elsewhere', async () => {
    await addTarget('disk')
    await place('the older one has only this, which is of another length than a revocation')
    const older = ledgerText()
    await revoke(300)
    writeFileSync(own.installation.ledger.file, older)
    for (let count = 0; count < 300; count += 1) await place()
    const pulled = await pull('disk')
    const whole = pulled.map(({ file }) => readFileSync(file, 'utf8'))
    expect(whole.some((text) => ledgerText().startsWith(text))).toBe(true)
    expect(pulled.map(({ fault }) => fault)).toEqual([null, null])
  })

  test('of acts that meet are all there', async () => {
    await addTarget('disk')
    await Promise.all(Array.from({ length: 20 }, (_, index) => place(`case ${index}`)))
    await own.installation.copies.follow()
    const [pulled] = await pull('disk')
    expect(readFileSync(pulled!.file, 'utf8')).toBe(ledgerText())
    expect(copies('disk')).toHaveLength(1)
  })

  test('go whole to a target that is added later', async () => {
    for (let count = 0; count < 3; count += 1) await place()
    await addTarget('late')
    await place()
    const [pulled] = await pull('late')
    expect(ledgerText().startsWith(readFileSync(pulled!.file, 'utf8'))).toBe(true)
    expect(pulled).toMatchObject({ obligations: 4, fault: null })
  })

  test('are made by a command that ends at once as well, outcome included', async () => {
    await addTarget('disk')
    const brief = await bootInstallation(readConfig(own.env), { works: false, applicationName: 'svc test' })
    await brief.installation.transaction(recoveryActor(), {}, async (ctx) =>
      ctx.recordObligation({ act: 'token.revoked', tenant_id: tenantId, id: randomUUIDv7() }),
    )
    await brief.close()
    expect(await lookAtCopies(own.installation)).toMatchObject([{ lines_missing: 0 }])
  })
})

describe('a ledger that is pulled', () => {
  test('counts in a recovery like the one that is gone, and an outcome that either knows counts', async () => {
    await addTarget('disk')
    const { id } = await place()
    const [unsettled] = await pull('disk')
    expect(await readLedgers(own.installation)).toMatchObject({ lines: 1, unsettled: 0 })
    await own.installation.copies.follow()
    rmSync(own.installation.ledger.file)
    expect(await readLedgers(own.installation)).toMatchObject({ lines: 1, unsettled: 1 })
    expect((await pull('disk'))[0]!.file).toBe(unsettled!.file)
    const { desired, unsettled: left } = await readLedgers(own.installation)
    expect(left).toBe(0)
    expect([...desired.holds.keys()]).toEqual([id])
  })

  test('does not bring back what an act owed that failed, though its copy has not heard of that', async () => {
    await addTarget('disk')
    const { ledger } = own.installation
    const numbers = await ledger.append([{ act: 'workspace.purged', tenant_id: tenantId }])
    await own.installation.copies.follow()
    expect(await pull('disk')).toMatchObject([{ obligations: 1 }])
    await ledger.settle(numbers, 'void')
    expect(await readLedgers(own.installation)).toMatchObject({ lines: 0, unsettled: 0 })
  })

  test('is believed up to the line that was changed, and up to a page that is missing', async () => {
    await addTarget('disk')
    const acts = Array.from({ length: 300 }, () => ({
      act: 'token.revoked' as const,
      tenant_id: tenantId,
      id: randomUUIDv7(),
    }))
    await own.installation.transaction(recoveryActor(), {}, async (ctx) => ctx.recordObligation(...acts))
    await own.installation.copies.follow()
    const [lineage] = readdirSync(root('disk'))
    const [first, second] = readdirSync(join(root('disk'), lineage!)).sort()
    const page = join(root('disk'), lineage!, first!, 'lines.jsonl')
    const whole = readFileSync(page, 'utf8')
    writeFileSync(page, whole.replace(acts[99]!.id, acts[98]!.id))
    expect(await pull('disk')).toMatchObject([
      { fault: 'line 101: was changed, or lines before it are missing', obligations: 99 },
    ])
    rmSync(join(root('disk'), lineage!, first!), { recursive: true })
    expect(await pull('disk')).toMatchObject([
      { fault: 'line 1: was changed, or lines before it are missing', obligations: 0 },
    ])
    expect(second).toMatch(/^000000000257-/)
    const { faults } = await readLedgers(own.installation)
    expect(faults).toHaveLength(1)
  })

  test('has both ends where somebody went on from an older copy', async () => {
    await addTarget('disk')
    await place()
    await own.installation.copies.follow()
    const older = ledgerText()
    const lost = await place()
    await own.installation.copies.follow()
    const kept = join(backups(), 'kept')
    cpSync(root('disk'), kept, { recursive: true })
    writeFileSync(own.installation.ledger.file, older)
    const went = await place()
    await own.installation.copies.follow()
    cpSync(kept, root('disk'), { recursive: true })

    const pulled = await pull('disk')
    expect(pulled.map(({ fault }) => fault)).toEqual([null, null])
    rmSync(own.installation.ledger.file)
    const { desired } = await readLedgers(own.installation)
    expect([...desired.holds.keys()]).toEqual(expect.arrayContaining([lost.id, went.id]))
  })

  test('is this installation’s only, and nothing else that lies there is read', async () => {
    await addTarget('disk')
    await place()
    const elsewhere = join(backups(), 'disk', 'obligations', randomUUIDv7())
    cpSync(root('disk'), elsewhere, { recursive: true })
    mkdirSync(join(root('disk'), 'not-a-lineage'), { recursive: true })
    appendFileSync(join(root('disk'), 'not-a-lineage', 'lines.jsonl'), 'nothing\n')
    expect(await pull('disk')).toHaveLength(1)
  })
})

test('processes that copy the same lines at the same moment do not disturb each other', async () => {
  await addTarget('shared')
  const config = own.installation.config
  const others = await Promise.all(
    Array.from({ length: 4 }, () => bootInstallation(config, { works: false, applicationName: 'svc copies' })),
  )
  try {
    for (let round = 0; round < 10; round += 1) {
      await place(`case ${round}`)
      const failures = await Promise.all(others.map(({ installation }) => installation.copies.follow()))
      expect(failures).toEqual([{}, {}, {}, {}])
    }
  } finally {
    await Promise.all(others.map((other) => other.close()))
  }
})
