/**
 * Provisioning: the whole operation in this process (schemas, rule, sealing, job, answer),
 * against the statements that one real run of it sent, run bare on as many connections.
 */
import { randomUUIDv7 } from 'node:crypto'
import { perform } from '../src/core/app/perform.ts'
import { tenantOperations } from '../src/core/contract/tenants/operations.ts'
import type { Installation } from '../src/core/kernel/transaction/installation.ts'
import { openBarePool } from './bare-pool.ts'
import type { Ground } from './ground.ts'
import { recorded, renewed } from './recording.ts'
import { compare, throughput } from './rounds.ts'
import { type Line, ratioLine } from './table.ts'

const perRound = 200
const rounds = 7

let made = 0
const nextSlug = () => {
  made += 1
  return `bench-${made}`
}

export async function provision(installation: Installation, { actor }: Ground, slug = nextSlug()): Promise<void> {
  await perform(installation, tenantOperations.provisionTenant, actor, {
    body: { slug, display_name: 'Bench', owner_email: `owner@${slug}.example.org`, default_locale: 'de' },
    idempotencyKey: randomUUIDv7(),
  })
}

export async function provisioning(ground: Ground): Promise<Line[]> {
  const { installation, config, tenantId, accountId } = ground
  await provision(installation, ground) // loads the queue, which reads its settings once
  const was = 'recorded-workspace'
  const statements = await recorded(installation, (recording) => provision(recording, ground, was))
  const kept = new Set([tenantId, accountId])
  const bare = openBarePool(installation.address, config.poolSize)
  try {
    const lines: Line[] = []
    for (const width of [1, 8]) {
      const compared = await compare(
        () => throughput(perRound, width, () => provision(installation, ground)),
        () => {
          const runs = Array.from({ length: perRound }, () => renewed(statements, { was, is: nextSlug() }, kept))
          return throughput(perRound, width, (index) => bare.run(runs[index]!))
        },
        rounds,
      )
      const what = `provisioning, ${width} at a time (perform, ${statements.length} statements)`
      lines.push(ratioLine(what, { ...compared, unit: '/s' }, 'at least', 0.6))
    }
    return lines
  } finally {
    await bare.close()
  }
}
