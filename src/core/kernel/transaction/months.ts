/**
 * Tables whose rows lie in months, by their ids: a month is dropped whole once nobody needs a row of it.
 *
 *    months_over ──each──▶ is a row needed? ──no──▶ drop_month ──▶ is one needed now? ──no──▶ commit
 *                             └─yes─▶ it stays                       └─yes─▶ roll back, it stays
 *
 * The second look is behind the table's lock, which whoever makes a row needed has to wait for. So none of them is lost.
 * Spec: docs/decisions/0523.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { Actor } from '../values/actor.ts'
import type { Ctx } from './context.ts'
import type { Installation } from './installation.ts'

/** The partitioned tables; monthly_tables() in the database. */
export type MonthlyTable = 'delivery' | 'delivery_attempt' | 'outbox_event'

/** A month that is over, and the ids between which its rows lie. */
export interface Month {
  readonly place: string
  readonly first_id: string
  readonly end_id: string
}

export interface Dropping {
  readonly table: MonthlyTable
  /** Months whose ids are all below this one. */
  readonly below: string
  /** Whether a row of the month has to stay; asked as the installation. */
  readonly isNeeded: (ctx: Ctx, month: Month) => Promise<boolean>
}

/** How much longer than asked for a row is stored at most, where its month goes whole. */
export const longestMonthDays = 31

/** How often the table's lock is tried for, each time for 200 ms, before its months are left to the next sweep. */
const tries = 5
const pauseMs = 200

/** Drops the months that nobody needs, one by one. */
export async function dropMonths(installation: Installation, actor: Actor, dropping: Dropping): Promise<void> {
  const { table, below, isNeeded } = dropping
  const asked = { readOnly: true }
  const months = await installation.transaction(
    actor,
    asked,
    (ctx) => ctx.tx<Month[]>`select place, first_id, end_id from months_over(${table}, ${below}::uuid) order by end_id`,
  )
  for (const month of months) {
    if (await installation.transaction(actor, asked, (ctx) => isNeeded(ctx, month))) continue
    let isSettled = false
    for (let attempt = 1; attempt <= tries && !isSettled; attempt += 1) {
      if (attempt > 1) await pause(pauseMs)
      isSettled = await dropped(installation, actor, dropping, month)
    }
    if (!isSettled) return
  }
}

class StillNeeded extends Error {}

/** Whether there is nothing more to try: the month is gone, or has turned out to be needed. */
async function dropped(installation: Installation, actor: Actor, { table, isNeeded }: Dropping, month: Month) {
  try {
    return await installation.transaction(actor, {}, async (ctx) => {
      const [row] = await ctx.tx<{ is_dropped: boolean }[]>`select drop_month(${table}, ${month.place}) as is_dropped`
      if (row?.is_dropped !== true) return false
      if (await isNeeded(ctx, month)) throw new StillNeeded()
      return true
    })
  } catch (error) {
    if (error instanceof StillNeeded) return true
    throw error
  }
}

/** Makes the months to come, where they are missing. */
export const makeMonths = (installation: Installation, actor: Actor): Promise<unknown> =>
  installation.transaction(actor, {}, ({ tx }) => tx`select make_months()`)
