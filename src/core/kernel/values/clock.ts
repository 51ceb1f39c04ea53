/** The process's clocks. Tests use others. The database's clock also decides what is due. */
export interface Clock {
  /** The time of day, in milliseconds since 1970. May jump. */
  now(): number
  /** Seconds since some moment of the past. Never jumps; means nothing in another process. */
  monotonicSeconds(): number
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicSeconds: () => performance.now() / 1000,
}
