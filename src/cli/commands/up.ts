import type { Booted } from '../../core/boot.ts'
import { readConfig } from '../../core/config.ts'
import { adminTokenDays } from '../admin-token.ts'
import { BaseCommand } from '../base-command.ts'
import { hasEmbedded } from '../database.ts'
import { listenFault, urlOf } from '../doctor/server.ts'
import { Failure } from '../failure.ts'
import { checkAnswers, type DoneSetUp, freePort, keepProfile, setUpOnce } from '../first-run.ts'
import { profileOf } from '../profiles.ts'
import { setUpAnswers, setUpFlags } from '../set-up-answers.ts'

export default class Up extends BaseCommand {
  static override summary = 'Make an installation in this folder, set it up, and serve it until Ctrl-C'
  static override description =
    'The first time it makes an embedded PostgreSQL and a keyring below .svc, asks for the first workspace and its owner, ' +
    `and keeps a profile for this folder with a session and an admin token (${adminTokenDays} days). Afterwards it just serves.`
  static override examples = [
    '<%= config.bin %> up',
    '<%= config.bin %> up --workspace acme --workspace-name "Acme Ltd" --owner-name Ada --owner-email ada@acme.example --password-file ada.password',
  ]
  static override enableJsonFlag = false
  static override flags = setUpFlags

  async run(): Promise<void> {
    const { flags } = await this.parse(Up)
    process.env['SVC_LOG_LEVEL'] ||= 'warn' // whoever sits in front of it wants to read what is said here
    const config = readConfig()
    const port = config.port === 0 ? await freePort(config.host) : config.port
    process.env['SVC_PORT'] = String(port)
    const fault = await listenFault(config.host, port)
    if (fault === 'EADDRINUSE')
      throw new Failure(
        'failed',
        `The port ${port} on ${config.host} is in use.`,
        'Stop what listens there, or set SVC_PORT.',
      )
    if (fault)
      throw new Failure(
        'usage',
        `Cannot listen on ${config.host} port ${port} (${fault}).`,
        'Check SVC_HOST and SVC_PORT.',
      )

    // Asked before anything is made, so that a Ctrl-C leaves nothing behind.
    const isNew = !config.database && !hasEmbedded(config)
    const answers = isNew ? await setUpAnswers(flags) : undefined
    if (answers) checkAnswers(answers)
    const { bootInstallation } = await import('../../core/boot.ts')
    const booted = await bootInstallation(config, { works: false, applicationName: 'svc up', note: this.note })
    const done = await setUpOnce(booted, async () => answers ?? (await setUpAnswers(flags))).catch(
      async (error: unknown) => {
        await booted.close()
        throw error
      },
    )
    await this.serve(booted, urlOf(config.host, port), done)
  }

  private async serve(booted: Booted, apiUrl: string, done: DoneSetUp | undefined): Promise<void> {
    const { runDaemon } = await import('../../daemon/main.ts')
    // The database is held until the daemon holds it too, so that it is not stopped in between.
    await runDaemon({ role: 'all' }).finally(() => booted.close())
    if (process.exitCode) return
    const profile = done ? await keepProfile(apiUrl, done, this.note) : profileOf(process.cwd())
    if (done) this.tell(`Set up: workspace ${done.workspace}, owned by ${done.email}, who is its first operator.`)
    if (profile && profile.api_url !== apiUrl)
      this.tell(
        `This folder's profile ${profile.name} is for ${profile.api_url}; for this one: svc login --api-url ${apiUrl}`,
      )
    else if (profile)
      this.tell(
        `Commands in ${profile.directory ?? 'this folder'} act as ${profile.email ?? 'you'} (profile ${profile.name}).`,
      )
    this.tell(`API reference: ${apiUrl}/docs`)
    this.tell(
      profile
        ? 'Next, in another terminal: svc tenants list'
        : `Next, in another terminal: svc login --api-url ${apiUrl}`,
    )
    this.tell('Ctrl-C stops it; `svc up` starts it again.')
  }
}
