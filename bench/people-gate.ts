/**
 * The gate's look-up, for an account without groups and for one with 20, against the same look-up as it was before groups: by
 * the account alone. Its statements are run bare, so that nothing but the database is compared. Targets: people 9.
 */
import { randomUUIDv7 } from 'node:crypto'
import postgres from 'postgres'
import { type DatabaseAddress, postgresOptions } from '../src/core/kernel/database/address.ts'
import { asInstallation } from '../src/core/kernel/database/roles.ts'
import { hashToken, mintToken } from '../src/core/kernel/values/token.ts'
import { lookUpCredential } from '../src/daemon/credential.ts'
import { openBarePool } from './bare-pool.ts'
import type { Ground } from './ground.ts'
import { type Recorded, recorded } from './recording.ts'
import { elapsedMs, median, medians } from './rounds.ts'
import { type Line, ratioLine } from './table.ts'

const groups = 20
/** One session differs from another by more than the groups do: by where its plans and rows lie in memory. */
const sessions = 12
const rounds = 25
const looksARound = 50

export async function groupedGate({ installation, superuser, tenantId }: Ground): Promise<Line[]> {
  const sql = postgres({ ...postgresOptions(superuser), max: 1, onnotice: () => undefined })
  const lookUp = (token: string) =>
    recorded(installation, (on) =>
      on.pool.transaction(asInstallation, (tx) => lookUpCredential(tx, hashToken(token), { isLast: true }), {
        readOnly: true,
        lane: 'bench',
      }),
    )
  try {
    const [alone, grouped] = [await member(sql, tenantId, 0), await member(sql, tenantId, groups)]
    await sql`vacuum analyze`
    const withoutGroups = await lookUp(alone)
    const withGroups = await lookUp(grouped)
    const before = asBefore(withoutGroups)
    const [none, twenty, today] = await inSessions(installation.address, [withoutGroups, withGroups, before])
    return [
      ratioLine(
        'people: the gate, of an account without groups, against before',
        { ours: none, bare: today, unit: '/s' },
        'at least',
        0.98,
      ),
      ratioLine(
        `people: the gate, of an account with ${groups} groups, against before`,
        { ours: twenty, bare: today, unit: '/s' },
        'at least',
        0.9,
      ),
    ]
  } finally {
    await sql.end()
  }
}

type Three<T> = readonly [T, T, T]

/** Look-ups a second of each of them, the medians of sessions in which each of them is the first in turn. */
async function inSessions(address: DatabaseAddress, all: Three<Recorded>): Promise<Three<number>> {
  const figures = all.map((): number[] => [])
  for (let session = 0; session < sessions; session += 1) {
    const order = all.map((_, at) => (at + session) % all.length)
    const bare = openBarePool(address, 1)
    const round = (at: number) => async () => {
      const ms = await elapsedMs(async () => {
        for (let n = 0; n < looksARound; n += 1) await bare.run(all[at]!)
      })
      return looksARound / (ms / 1000)
    }
    const found = await medians(order.map(round), rounds)
    await bare.close()
    for (const [turn, at] of order.entries()) figures[at]!.push(found[turn]!)
  }
  return figures.map(median) as unknown as Three<number>
}

/** An account with a role of its own and so many groups, each with a role; answers a token of it. */
async function member(sql: postgres.Sql, tenantId: string, count: number): Promise<string> {
  const accountId = randomUUIDv7()
  const { token, hash, last4 } = mintToken('personal')
  const ids = Array.from({ length: count }, () => randomUUIDv7())
  const email = `${accountId}@gate.example`
  await sql`
    insert into account (tenant_id, id, kind, state, email, email_fold, group_ids)
    values (${tenantId}, ${accountId}, 'PERSON', 'ACTIVE', ${email}, ${email}, ${ids}::uuid[])`
  await sql`insert into membership (tenant_id, id, account_id, role) values (${tenantId}, ${randomUUIDv7()}, ${accountId}, 'VIEWER')`
  await sql`
    insert into credential (tenant_id, id, account_id, kind, hash, last4, name, scopes)
    values (${tenantId}, ${randomUUIDv7()}, ${accountId}, 'PERSONAL', ${hash}, ${last4}, 'gate', 'workspace:read')`
  for (const id of ids) {
    await sql`
      insert into account_group (tenant_id, id, name, name_fold, member_count) values (${tenantId}, ${id}, ${id}, ${id}, 1)`
    await sql`insert into group_member (tenant_id, group_id, account_id, source) values (${tenantId}, ${id}, ${accountId}, 'DIRECT')`
    await sql`insert into membership (tenant_id, id, group_id, role) values (${tenantId}, ${randomUUIDv7()}, ${id}, 'MEMBER')`
  }
  return token
}

const byGroupsToo = 'e.holder_id = any ((array[a.id] || a.group_ids))'

/** The look-up that knows no groups. Throws where the gate asks otherwise by now. */
function asBefore(statements: Recorded): Recorded {
  if (!statements.some(({ text }) => text.includes(byGroupsToo))) throw new Error('the gate asks for groups otherwise')
  return statements.map((statement) => ({
    ...statement,
    text: statement.text.replace(byGroupsToo, 'e.holder_id = a.id'),
  }))
}
