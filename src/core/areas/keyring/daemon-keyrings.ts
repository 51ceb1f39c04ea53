/**
 * Which keys the running daemons know, announced through the database.
 *
 * A key may become current only when every running daemon holds it: all daemons must be able to
 * open a value that one of them seals. So each daemon holds one shared advisory lock as a daemon,
 * one for each key of its keyring, and one for the key that it seals under. The locks end with the
 * daemon, however it ends, so no clean-up is needed.
 *
 *    7305/1          a daemon runs
 *    7305/2          taken exclusively while a keyring is compared with the others
 *    7306/<key>      it holds this key: id and bytes, as 31 bits of their hash
 *    7307/<key>      it seals under this key
 *
 * Spec: decisions 4, Keyring; docs/decisions/0060.
 */

import { createHash } from 'node:crypto'
import { lockClasses } from '../../kernel/database/lock-classes.ts'
import type { LockName } from '../../kernel/database/shared-lock.ts'
import { placeOfSign, type SignOfLife } from '../../kernel/database/sign-of-life.ts'
import type { Tx } from '../../kernel/database/transaction.ts'
import type { Keyring } from '../../kernel/sealing/keyring.ts'

const daemonLock: LockName = { lockClass: lockClasses.runningDaemon, key: 1 }
const knows = lockClasses.knownKey
const sealsUnder = lockClasses.sealingKey

/**
 * Tells the other daemons which keys this process holds; renew the sign of life when `held` has changed. The process
 * seals under the first keyring's current key.
 */
export const announceKeyring = (life: SignOfLife, held: () => readonly [Keyring, ...Keyring[]]) =>
  life.tell(() => {
    const [keyring] = held()
    const keys = new Set(held().flatMap((one) => one.ids.map((id) => numberOf(one, id))))
    return [
      daemonLock,
      ...[...keys].map((key) => ({ lockClass: knows, key })),
      { lockClass: sealsUnder, key: numberOf(keyring, keyring.current) },
    ]
  })

/** The same id with other bytes is another key. */
const numberOf = (keyring: Keyring, id: string) =>
  createHash('sha256').update(`${id}\n`).update(keyring.checkValue(id)).digest().readUInt32BE() >>> 1

/**
 * Until the end of the transaction no other process compares a keyring with the running ones, so two processes cannot
 * miss each other.
 */
export const holdKeyringsStill = (tx: Tx) => tx`select pg_advisory_xact_lock(${lockClasses.runningDaemon}, 2)`

interface Holder {
  /** That of its sign of life. */
  readonly name: string
}

/** Running daemons that do not hold the key, as `HOST PID`. */
export async function findUnaware(tx: Tx, keyring: Keyring, keyId: string): Promise<readonly string[]> {
  const holders = await tx<Holder[]>`
    select distinct a.application_name as name from pg_locks d join pg_stat_activity a on a.pid = d.pid
    where d.locktype = 'advisory' and d.granted and d.objsubid = 2 and d.classid = ${lockClasses.runningDaemon}::int::oid and d.objid = 1
      and d.database = (select oid from pg_database where datname = current_database())
      and not exists (
        select from pg_locks k where k.pid = d.pid and k.locktype = 'advisory' and k.granted and k.objsubid = 2
          and k.classid = ${knows}::int::oid and k.objid = ${numberOf(keyring, keyId)}::int::oid)
    order by name`
  return holders.map(placeOf)
}

/** Running daemons that seal under a key which this keyring lacks, as `HOST PID`. */
export async function findAhead(tx: Tx, keyring: Keyring): Promise<readonly string[]> {
  const holders = await tx<(Holder & { key: string })[]>`
    select a.application_name as name, k.objid::text as key from pg_locks k join pg_stat_activity a on a.pid = k.pid
    where k.locktype = 'advisory' and k.granted and k.objsubid = 2 and k.classid = ${sealsUnder}::int::oid
      and k.database = (select oid from pg_database where datname = current_database())
    order by name`
  const known = new Set(keyring.ids.map((id) => String(numberOf(keyring, id))))
  return holders.filter(({ key }) => !known.has(key)).map(placeOf)
}

/** Running daemons that seal under this key, as `HOST PID`. */
export async function findSealers(tx: Tx, keyring: Keyring, keyId: string): Promise<readonly string[]> {
  const holders = await tx<Holder[]>`
    select a.application_name as name from pg_locks k join pg_stat_activity a on a.pid = k.pid
    where k.locktype = 'advisory' and k.granted and k.objsubid = 2
      and k.classid = ${sealsUnder}::int::oid and k.objid = ${numberOf(keyring, keyId)}::int::oid
      and k.database = (select oid from pg_database where datname = current_database())
    order by name`
  return holders.map(placeOf)
}

const placeOf = ({ name }: Holder) => placeOfSign(name)
