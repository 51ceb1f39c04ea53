/**
 * Loaded before a process begins (`NODE_OPTIONS=--import …`): its host's clock is ahead by WRONG_CLOCK_MS. Elapsed time
 * stays true, as on a host whose clock was set wrong.
 */
const aheadMs = Number(process.env['WRONG_CLOCK_MS'])
const HostDate = Date

class WrongDate extends HostDate {
  constructor(...given: readonly unknown[]) {
    super(...((given.length === 0 ? [HostDate.now() + aheadMs] : given) as [number]))
  }

  static override now(): number {
    return HostDate.now() + aheadMs
  }
}
globalThis.Date = WrongDate as DateConstructor
