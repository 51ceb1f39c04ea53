/**
 * Processes that are ready to run a command (command-host-process.ts). Starting bin/svc costs more
 * CPU than most commands, and tests run hundreds of commands.
 *
 * Each runs one command at a time: concurrent commands run in separate processes, as they do for
 * people.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { engineFlags } from '../../scripts/engine-flags.ts'
import { bareEnvironment } from './processes.ts'

export interface HostedCommand {
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
  readonly cwd: string
  readonly input: string
}

export interface HostedEnd {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

const idle: ChildProcess[] = []

/** Runs a command to its end, in the first process that is free or in a new one. */
export async function runHosted(command: HostedCommand): Promise<HostedEnd> {
  const host = idle.pop() ?? (await startHost())
  const ended = Promise.withResolvers<HostedEnd>()
  const fail = (code: number | null) => ended.reject(new Error(`svc ${command.args.join(' ')} ended its host: ${code}`))
  host.once('message', ended.resolve)
  host.once('exit', fail)
  host.send(command)
  const end = await ended.promise
  host.off('exit', fail)
  idle.push(host)
  return end
}

async function startHost(): Promise<ChildProcess> {
  const host = fork(join(import.meta.dirname, 'command-host-process.ts'), {
    env: { ...bareEnvironment(), TZ: 'UTC' },
    execArgv: [...engineFlags],
    // No terminal, even if the tests run on one.
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  host.stderr?.on('data', (said: Buffer) => process.stderr.write(said))
  await once(host, 'message')
  // It ends with the process that started it.
  host.unref()
  host.channel?.unref()
  for (const stream of [host.stdout, host.stderr]) (stream as Socket | null)?.unref()
  return host
}
