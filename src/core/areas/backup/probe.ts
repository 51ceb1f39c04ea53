/** `:test`: writes, reads and removes a probe, and says which step fails. Spec: decisions 4, A backup target. */
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { backupOperations as ops, ProbeStep } from '../../contract/backup/operations.ts'
import type { Answer, Received } from '../../contract/operation.ts'
import { refuse } from '../../contract/problem.ts'
import { installationScope } from '../../contract/vocabulary.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import { type Actor, actsForInstallation } from '../../kernel/values/actor.ts'
import { withTimeout } from '../../kernel/values/deadline.ts'
import { newId } from '../../kernel/values/id.ts'
import { openStore } from './open-store.ts'
import { type OpenedTarget, type Store, StoreFailure, storeTimeout } from './store.ts'
import { ownTarget } from './target.ts'

const probeMs = 30_000

/** Tries the target with no transaction open. Refuses not_found, secret.unavailable. */
export async function probeTarget(
  installation: Installation,
  actor: Actor,
  { targetId }: Received<typeof ops.testBackupTarget>,
): Promise<ProbeStep[]> {
  return probe(installation, await ownTarget(installation, actor, targetId))
}

/** Records that the target was tested. Refuses not_found. */
export async function testBackupTarget(
  ctx: Ctx,
  { targetId }: Received<typeof ops.testBackupTarget>,
  steps: ProbeStep[],
): Promise<Answer<typeof ops.testBackupTarget>> {
  const scope = actsForInstallation(ctx.actor) ? installationScope : ctx.account.tenantId
  const noted = await ctx.tx`
    update backup_target set last_tested_at = now() where tenant_id = ${scope} and id = ${targetId}`
  if (noted.count === 0) refuse('not_found')
  return { ok: steps.every(({ ok }) => ok), steps }
}

async function probe(installation: Installation, target: OpenedTarget): Promise<ProbeStep[]> {
  const steps: ProbeStep[] = []
  const deadline = performance.now() + probeMs
  let store: Store | undefined
  /** Runs a step unless an earlier one failed. */
  const step = async (name: ProbeStep['name'], work: () => Promise<void>) => {
    if (steps.some(({ ok }) => !ok)) return
    const error = await withTimeout(deadline - performance.now(), work(), storeTimeout).then(
      () => null,
      (reason: unknown) => (reason instanceof StoreFailure ? reason.reason : 'failed'),
    )
    steps.push({ name, ok: error === null, error })
  }

  const folder = `probes/${newId()}`
  const path = `${folder}/probe`
  const bytes = randomBytes(1024)
  const local = await mkdtemp(join(tmpdir(), 'svc-probe-'))
  try {
    await writeFile(join(local, 'probe'), bytes, { mode: 0o600 })
    await step('connect', async () => {
      store = await openStore(installation, target)
    })
    await step('write', async () => store?.put(path, join(local, 'probe')))
    await step('read', async () => {
      if (store && !bytes.equals(await readAll(await store.get(path), bytes.length))) throw new StoreFailure('failed')
    })
    await step('remove', async () => store?.remove(folder))
    return steps
  } finally {
    await store?.close()
    await rm(local, { recursive: true, force: true })
  }
}

async function readAll(source: Readable, atMost: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of source as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > atMost) break
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
