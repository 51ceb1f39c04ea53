/**
 * The time of day that is stored and signed: the database's, so that all daemons of an installation agree, whatever the
 * clocks of their hosts say (kernel/database/clock.ts measures it, decision 0193).
 *
 * From one measurement to the next it goes on by the host's monotonic clock, so that a clock that is set meanwhile
 * changes nothing. A process that has no database has the time of its host.
 */

/** What the database's clock said when the monotonic clock began; undefined until it was measured. */
let origin: number | undefined

/** In milliseconds since 1970, whole. */
export const timeNow = (): number => (origin === undefined ? Date.now() : Math.floor(origin + performance.now()))

export const dateNow = (): Date => new Date(timeNow())

/** Whether the database's clock was measured. */
export const isTimeKept = (): boolean => origin !== undefined

/** The database's clock said `time`, in ms since 1970, when the monotonic clock of this process said `at`. */
export function keepTime(time: number, at: number): void {
  origin = time - at
}
