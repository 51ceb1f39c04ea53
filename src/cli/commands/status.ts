import { setTimeout as pause } from 'node:timers/promises'
import { Flags } from '@oclif/core'
import { CallerCommand } from '../base-command.ts'
import type { Caller } from '../call/caller.ts'
import { exitCodes, Failure } from '../failure.ts'
import { type Status as Installation, statusOf } from '../follow/status.ts'
import { checkApiUrl } from '../profile/profiles.ts'
import { attentionIn, statusScreen } from '../render/status.ts'

export default class Status extends CallerCommand {
  static override summary = 'Show on one screen how the installation is, and what needs attention'
  static override description =
    'Workspaces, requests, deliveries, jobs, sweeps, ledger and clock. For operators. Exits 8 if something needs attention. Over the API the numbers of requests, jobs and sweeps are those of the daemon that answers; "not told here" stands where its metrics are on another listener (SVC_HEALTH_PORT): name it with --metrics-url.'
  static override examples = [
    '<%= config.bin %> status',
    '<%= config.bin %> status --watch',
    '<%= config.bin %> status --jq .deliveries.dead',
    '<%= config.bin %> status --recovery',
  ]
  static override flags = {
    watch: Flags.boolean({ char: 'w', summary: 'Show it again and again, until Ctrl-C.' }),
    every: Flags.integer({
      summary: 'Seconds between two looks of --watch.',
      min: 1,
      max: 3600,
      default: 5,
      helpValue: 'SECONDS',
    }),
    'metrics-url': Flags.string({
      summary: 'Where the daemon has its metrics: http://10.0.0.5:9090/metrics',
      helpValue: 'URL',
    }),
  }

  async run(): Promise<Installation | undefined> {
    const { flags } = await this.parse(Status)
    const given = flags['metrics-url']
    const sources = { metricsUrl: given === undefined ? undefined : checkApiUrl(given) }
    const caller = await this.open(flags)
    if (flags.watch) return this.watch(caller, sources, flags.every)
    const status = await statusOf(caller, sources)
    this.log(statusScreen(status))
    if (attentionIn(status).length > 0) process.exitCode = exitCodes.findings
    return status
  }

  /** Looks until a signal ends the process. An installation that is not reached now may be reached later. */
  private async watch(
    caller: Caller,
    sources: { metricsUrl: string | undefined },
    seconds: number,
  ): Promise<undefined> {
    for (let before: Installation | undefined; ; await pause(seconds * 1000)) {
      try {
        const status = await statusOf(caller, sources)
        const known = before
        this.printEntry(status, () => `${clear()}${statusScreen(status, known)}\n`)
        before = status
      } catch (error) {
        if (!(error instanceof Failure) || error.ending !== 'unreached') throw error
        this.note(`${new Date().toISOString()} ${error.message} Looking again in ${seconds} s.`)
      }
    }
  }
}

/** On a terminal one screen takes the place of the one before. */
const clear = () => (process.stdout.isTTY ? '\u001b[H\u001b[2J' : '')
