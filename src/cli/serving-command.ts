/**
 * A command that stays and serves: with --json it prints its answer as soon as it is
 * ready, on one line, because whoever started it reads on until then and not to the end.
 */
import { writeJson } from '../core/kernel/values/json.ts'
import type { Daemon, DaemonRole } from '../daemon/main.ts'
import { BaseCommand } from './base-command.ts'
import { type Ending, exitCodes, Failure } from './failure.ts'
import { printable } from './render/printable.ts'

export abstract class ServingCommand extends BaseCommand {
  override logJson(value: unknown): void {
    process.stdout.write(`${printable(writeJson(value) ?? '')}\n`)
  }

  /** Starts the daemon of this process. Fails as `svc daemon` ends where it cannot be started. */
  protected async serve(role: DaemonRole): Promise<Daemon> {
    const { serveUntilSignal, startFailure } = await import('../daemon/main.ts')
    return serveUntilSignal(role).catch((error: unknown) => {
      const { line, code } = startFailure(error)
      throw new Failure(endingWith(code), line)
    })
  }
}

const endingWith = (code: number) =>
  (Object.keys(exitCodes) as Ending[]).find((ending) => exitCodes[ending] === code) ?? 'failed'
