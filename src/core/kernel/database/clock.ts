/**
 * The database's clock against the clock of this process's host.
 *
 * What is stored or signed has the database's time (values/time.ts). A host whose clock is far off is reported all the
 * same: whatever checks certificates or identity providers' tokens there uses the host's clock.
 *
 * Each daemon announces how far its host's clock is ahead, as the key of a shared lock, so that `svc doctor` can compare
 * all of them. Decision 0193.
 */
import type { Client } from 'pg'
import { isTimeKept, keepTime } from '../values/time.ts'
import { lockClasses } from './lock-classes.ts'
import type { Pool } from './pool.ts'
import { placeOfSign, type SignOfLife } from './sign-of-life.ts'

/** Far enough for a person to be told: a half second may be the way to the database. */
export const noticeableMs = 2_000
const refreshMs = 60_000
/** A longer way to the database says too little: the time is known to half of it. */
const exactMs = 500
/** A change by less is not announced. */
const announcedMs = 1_000
const lane = { readOnly: true, lane: 'readiness' } as const

/** Measures how far the host's clock is ahead of the database's, in ms, and keeps the database's time unless the answer took long. */
export const measureClock = (pool: Pool): Promise<number> =>
  pool.transaction(
    '',
    async (tx) => {
      const [begun, host] = [performance.now(), Date.now()]
      const [row] = await tx<{ now: number }[]>`select date_part('epoch', clock_timestamp()) * 1000 as now`
      if (!row) throw new Error('a select without a row')
      const halfWay = (performance.now() - begun) / 2
      if (halfWay * 2 <= exactMs || !isTimeKept()) keepTime(row.now, begun + halfWay)
      return host + halfWay - row.now
    },
    lane,
  )

export interface FollowedClock {
  /** How far the host's clock is ahead of the database's, in ms. */
  readonly aheadMs: number
  close(): Promise<void>
}

/** Measures every minute, and announces the difference, until `close`. `onFailure`: the last measurement stays. */
export async function followClock(
  pool: Pool,
  life: SignOfLife,
  onFailure: (error: unknown) => void,
): Promise<FollowedClock> {
  let aheadMs = await measureClock(pool)
  let announced = aheadMs
  await life.tell(() => [{ lockClass: lockClasses.clock, key: keyOf(announced) }])
  const again = async () => {
    aheadMs = await measureClock(pool)
    if (Math.abs(aheadMs - announced) < announcedMs) return
    announced = aheadMs
    await life.renew()
  }
  let measuring: Promise<void> = Promise.resolve()
  const timer = setInterval(() => {
    measuring = measuring.then(again).catch(onFailure)
  }, refreshMs)
  timer.unref()
  return {
    get aheadMs() {
      return aheadMs
    },
    async close() {
      clearInterval(timer)
      await measuring
    },
  }
}

/** Tenths of a second, within what a lock's key can hold. */
const keyOf = (ms: number) => Math.max(-0x7fffffff, Math.min(0x7fffffff, Math.round(ms / 100)))

export interface DaemonClock {
  /** `HOST PID` */
  readonly daemon: string
  readonly aheadMs: number
}

/** The clocks that running daemons have announced. */
export async function findDaemonClocks(client: Client): Promise<readonly DaemonClock[]> {
  const { rows } = await client.query<{ name: string; key: string }>(
    `select a.application_name as name, k.objid::text as key
     from pg_locks k join pg_stat_activity a on a.pid = k.pid
     where k.locktype = 'advisory' and k.granted and k.objsubid = 2 and k.classid = $1::int::oid
       and k.database = (select oid from pg_database where datname = current_database())
     order by name`,
    [lockClasses.clock],
  )
  // An oid has no sign, and the key has one.
  return rows.map(({ name, key }) => ({ daemon: placeOfSign(name), aheadMs: (Number(key) | 0) * 100 }))
}

/** In words: `600 s ahead of the database's clock`. */
export const apartInWords = (aheadMs: number) =>
  `${Math.abs(aheadMs) < 10_000 ? `${Math.round(Math.abs(aheadMs))} ms` : `${Math.round(Math.abs(aheadMs) / 1000)} s`} ${aheadMs < 0 ? 'behind' : 'ahead of'} the database's clock`
