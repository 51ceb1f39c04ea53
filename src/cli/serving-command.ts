/**
 * A command that keeps running and serves. With --json it prints its answer on one line as
 * soon as it is ready, because the program that started it waits for that line.
 */
import { writeJson } from '../core/kernel/values/json.ts'
import type { Daemon, DaemonRole } from '../daemon/daemon.ts'
import { BaseCommand } from './base-command.ts'
import { type Ending, exitCodes, Failure } from './failure.ts'
import { printable } from './render/printable.ts'

export abstract class ServingCommand extends BaseCommand {
  override logJson(value: unknown): void {
    process.stdout.write(`${printable(writeJson(value) ?? '')}\n`)
  }

  /** Starts the daemon in this process. A failed start fails with the exit code of `svc daemon`. */
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
