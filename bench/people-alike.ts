/**
 * Whether an answer's time tells that somebody has an address: asking for a taken one against a free one, a forgotten password,
 * and a wrong password, of an address that somebody has against one that nobody has. Targets: people 10, "one duration".
 */
import { randomUUIDv7 } from 'node:crypto'
import postgres from 'postgres'
import { perform } from '../src/core/app/perform.ts'
import { hasherFor } from '../src/core/areas/auth/password/hashing-lane.ts'
import { hashPassword } from '../src/core/areas/auth/password/password.ts'
import { passwordOperations, sessionOperations } from '../src/core/contract/auth/operations.ts'
import { addressOperations } from '../src/core/contract/identity/addresses.ts'
import { postgresOptions } from '../src/core/kernel/database/address.ts'
import { anyone, recoveryActor } from '../src/core/kernel/values/actor.ts'
import type { Ground } from './ground.ts'
import { compare, elapsedMs } from './rounds.ts'
import { type Line, ratioLine } from './table.ts'

const rounds = 15
const callsARound = 25

export async function alike(ground: Ground): Promise<Line[]> {
  const sql = postgres({ ...postgresOptions(ground.superuser), max: 1, onnotice: () => undefined })
  try {
    const known = await sql<{ id: string; email: string }[]>`
      select id, email from account where tenant_id = ${ground.tenantId} and kind = 'PERSON' and state = 'ACTIVE' and email like '%@crowd.example'
      order by id limit ${callsARound}`
    const hash = await hashPassword(hasherFor(recoveryActor(), ''), 'correct horse battery staple')
    await sql`update account set password_hash = ${hash} where id in ${sql(known.map(({ id }) => id))}`
    // Both are asked for again in each round: what is asked twice within a minute costs less, whoever has it.
    const free = known.map(() => `${randomUUIDv7()}@nowhere.example`)
    const addressOf = { known: (n: number) => known[n]!.email, nobody: (n: number) => free[n]! }
    const line = async (what: string, call: (email: string, n: number) => Promise<unknown>) => {
      const round = (emailOf: (n: number) => string) => async () => {
        await forget(sql, ground)
        return elapsedMs(async () => {
          for (let n = 0; n < callsARound; n += 1) await call(emailOf(n), n)
        })
      }
      const compared = await compare(round(addressOf.known), round(addressOf.nobody), rounds)
      return ratioLine(`people: ${what}, against one that nobody has`, { ...compared, unit: 'ms' }, 'at most', 1.1)
    }
    return [
      await line('asking for an address that somebody else has', (email, n) => ask(ground, known, email, n)),
      await line('a forgotten password of an address that somebody has', (email) =>
        perform(ground.installation, passwordOperations.forgetPassword, anyone, {
          body: { workspace: 'first', email },
        }),
      ),
      await line('a wrong password of an address that somebody has', (email) =>
        perform(ground.installation, sessionOperations.signIn, anyone, {
          body: { workspace: 'first', email, password: 'not the password' },
        }).catch(() => undefined),
      ),
    ]
  } finally {
    await sql.end()
  }
}

/** Another account than the one that has the address asks. */
function ask(
  { installation, actor }: Ground,
  known: readonly { readonly id: string }[],
  email: string,
  n: number,
): Promise<unknown> {
  const accountId = known[(n + 1) % known.length]!.id
  const by = { ...actor, elevatedUntil: '2100-01-01T00:00:00.000Z' }
  return perform(installation, addressOperations.addAddress, by, { params: { accountId }, body: { email } })
}

/** What the rounds before have left: mails and failures are counted. */
async function forget(sql: postgres.Sql, { tenantId }: Ground): Promise<void> {
  await sql`delete from address_confirmation where tenant_id = ${tenantId}`
  await sql`delete from account_address where tenant_id = ${tenantId} and held_fold is null`
  await sql`delete from failed_sign_in where tenant_id = ${tenantId}`
}
