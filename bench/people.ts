/**
 * People: the list of a workspace of a million accounts with each of its filters, signing in and the gate there, against those
 * of one of ten thousand; the gate with and without groups against the look-up that knows none; reads and changes of people
 * against their own statements run bare; whether a duration tells who has an address; and how long the slowest of the reads
 * wait at 32 connections.
 * BENCH_ACCOUNTS makes the million smaller, to try the benchmark itself. Targets: people 9.
 */
import { perform } from '../src/core/app/perform.ts'
import { readSignIn } from '../src/core/areas/auth/sign-in/sign-in-methods.ts'
import { accountOperations } from '../src/core/contract/identity/accounts.ts'
import { asInstallation } from '../src/core/kernel/database/roles.ts'
import { anyone } from '../src/core/kernel/values/actor.ts'
import { hashToken } from '../src/core/kernel/values/token.ts'
import { lookUpCredential } from '../src/daemon/credential.ts'
import { type Ground, layGround } from './ground.ts'
import { alike } from './people-alike.ts'
import { type Crowd, fillAccounts } from './people-filler.ts'
import { groupedGate } from './people-gate.ts'
import { changesOfPeople, readsOfPeople, waits } from './people-rates.ts'
import { compare, elapsedMs } from './rounds.ts'
import { type Line, ratioLine } from './table.ts'

const many = Number(process.env['BENCH_ACCOUNTS'] ?? 1_000_000)
const few = Math.min(10_000, many)
const rounds = 9
const callsARound = 100

interface Side {
  readonly ground: Ground
  readonly crowd: Crowd
}

export async function people(): Promise<Line[]> {
  const small = await layGround()
  const large = await layGround()
  try {
    const sides = [
      { ground: large, crowd: await fillAccounts(large, many) },
      { ground: small, crowd: await fillAccounts(small, few) },
    ] as const
    return [
      ...(await lists(...sides)),
      ...(await entering(...sides)),
      ...(await groupedGate(small)),
      ...(await readsOfPeople(small, sides[1].crowd)),
      ...(await changesOfPeople(small, sides[1].crowd)),
      ...(await alike(small)),
      ...(await waits(large, sides[0].crowd)),
    ]
  } finally {
    await large.remove()
    await small.remove()
  }
}

type Query = Record<string, string>

const queries: readonly (readonly [what: string, (crowd: Crowd) => Query])[] = [
  ['the first page', () => ({})],
  ['a word that a tenth of them have', () => ({ q: 'greta' })],
  ['the beginning of an address', () => ({ q: 'p77' })],
  ['who sees an open container', () => ({ container_id: '' })],
  ['who sees a private container', ({ shutId }) => ({ container_id: shutId })],
  ['the members of a group', ({ groupId }) => ({ group_id: groupId })],
  ['an address', ({ somebody: { email } }) => ({ email })],
  ['an external id', ({ somebody: { externalId } }) => ({ external_id: externalId })],
  ['the disabled', () => ({ state: 'DISABLED' })],
  ['the invited', () => ({ state: 'INVITED' })],
  ['service accounts', () => ({ kind: 'SERVICE' })],
]

/** A hundred times the first page of 50, and the one behind it. */
async function lists(large: Side, small: Side): Promise<Line[]> {
  const lines: Line[] = []
  for (const [what, queryOf] of queries) {
    const [ours, theirs] = [await pagesOf(large, queryOf), await pagesOf(small, queryOf)]
    const compared = await compare(ours, theirs, rounds)
    lines.push(
      ratioLine(`people: ${what}, of ${many} accounts against ${few}`, { ...compared, unit: 'ms' }, 'at most', 1.1),
    )
  }
  return lines
}

async function pagesOf({ ground, crowd }: Side, queryOf: (crowd: Crowd) => Query): Promise<() => Promise<number>> {
  const asked = queryOf(crowd)
  const query = { ...asked, ...(asked['container_id'] === '' ? { container_id: ground.collectionId } : {}), size: '50' }
  const page = (cursor?: string) =>
    perform(ground.installation, accountOperations.listAccounts, ground.actor, {
      query: cursor === undefined ? query : { ...query, cursor },
    })
  const { body } = await page()
  const { next_cursor: cursor } = JSON.parse(body ?? '') as { next_cursor: string | null }
  return () =>
    elapsedMs(async () => {
      for (let n = 0; n < callsARound; n += 1) {
        await page()
        if (cursor !== null) await page(cursor)
      }
    })
}

/** What each sign-in and each call looks up. */
async function entering(large: Side, small: Side): Promise<Line[]> {
  const repeated = (work: () => Promise<unknown>) => () =>
    elapsedMs(async () => {
      for (let n = 0; n < 3 * callsARound; n += 1) await work()
    })
  const signIn = ({ ground, crowd }: Side) =>
    repeated(() =>
      ground.installation.transaction(anyone, { readOnly: true }, (ctx) =>
        readSignIn(ctx, 'first', crowd.somebody.email),
      ),
    )
  const gate = ({ ground: { installation, token } }: Side) =>
    repeated(() =>
      installation.pool.transaction(asInstallation, (tx) => lookUpCredential(tx, hashToken(token), { isLast: true }), {
        readOnly: true,
        lane: 'bench',
      }),
    )
  const line = async (what: string, of: (side: Side) => () => Promise<number>) => {
    const compared = await compare(of(large), of(small), rounds)
    const title = `people: ${what}, ${many} accounts in the workspace against ${few}`
    return ratioLine(title, { ...compared, unit: 'ms' }, 'at most', 1.1)
  }
  return [await line('the look-up of a sign-in', signIn), await line('the look-up of the gate', gate)]
}
