/**
 * The read path: an authenticated list of buckets through the daemon, against a bare route that
 * runs the same statements (bare-server.ts). Each server runs in its own process, and the requests
 * come from this one over 32 connections.
 */
import { join } from 'node:path'
import autocannon from 'autocannon'
import { perform } from '../src/core/app/perform.ts'
import { bucketOperations } from '../src/core/contract/structure/operations.ts'
import { openGate } from '../src/daemon/gate.ts'
import { openHeldRefusals } from '../src/daemon/held-refusals.ts'
import { openRate } from '../src/daemon/rate.ts'
import { openSourceRate } from '../src/daemon/source-rate.ts'
import type { BareServerSettings } from './bare-server.ts'
import type { Ground } from './ground.ts'
import { startDaemon, startServer } from './processes.ts'
import { recorded } from './recording.ts'
import { compare } from './rounds.ts'
import { type Line, ratioLine } from './table.ts'

const connections = 32
const secondsPerRound = 3
const rounds = 5

export async function readPath(ground: Ground): Promise<Line[]> {
  const daemon = await startDaemon(ground.environment)
  const bare = await startServer([
    process.execPath,
    join(import.meta.dirname, 'bare-server.ts'),
    JSON.stringify(await bareSettings(ground)),
  ])
  try {
    const compared = await compare(
      () => requestsASecond(daemon.address, ground),
      () => requestsASecond(bare.address, ground),
      rounds,
    )
    return [ratioLine('read: GET …/buckets with a token', { ...compared, unit: 'req/s' }, 'at least', 0.7)]
  } finally {
    await Promise.all([daemon.stop(), bare.stop()])
  }
}

async function requestsASecond(address: string, { token, collectionId }: Ground): Promise<number> {
  const { requests, non2xx, errors } = await autocannon({
    url: `${address}/api/v1/containers/${collectionId}/buckets`,
    headers: { authorization: `Bearer ${token}` },
    connections,
    duration: secondsPerRound,
  })
  if (non2xx + errors > 0) throw new Error(`${non2xx} answers were no 2xx, ${errors} requests failed`)
  return requests.average
}

/** The daemon's own statements, as its gate and its rule send them. */
async function bareSettings({ installation, config, token, actor, collectionId }: Ground): Promise<BareServerSettings> {
  const statements = await recorded(installation, async (recording) => {
    const heard = { headers: { authorization: `Bearer ${token}` }, socket: {} }
    await openGate(recording, openRate(recording.pool), openSourceRate(0, openHeldRefusals())).admit(
      bucketOperations.listBuckets,
      heard,
    )
    await perform(recording, bucketOperations.listBuckets, actor, { params: { containerId: collectionId } })
  })
  const readingFrom = (...tables: string[]) =>
    statements.filter(({ text }) => tables.some((table) => text.includes(`from ${table} `)))
  return {
    address: installation.address,
    poolSize: config.poolSize,
    findToken: readingFrom('credential')[0]!.text,
    rule: readingFrom('container', 'bucket').map(({ text, values }) => ({ text, values: values as string[] })),
  }
}
