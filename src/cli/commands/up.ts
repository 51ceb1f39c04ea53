import { type Config, readConfig } from '../../core/kernel/config/config.ts'
import { placeOf } from '../../core/kernel/config/mail-settings.ts'
import { hasEmbedded } from '../call/database.ts'
import { lineOf } from '../doctor/finding.ts'
import { listenFault, urlOf } from '../doctor/server.ts'
import { Failure } from '../failure.ts'
import {
  checkAnswers,
  type DoneSetUp,
  freePort,
  keepProfile,
  setUpOnce,
  workspaceWithoutOperator,
} from '../first-run/first-run.ts'
import { wayToOperator } from '../first-run/single-mode.ts'
import { setUpAnswers, setUpFlags } from '../input/set-up-answers.ts'
import { onInterruption } from '../interruption.ts'
import { adminTokenDays } from '../profile/admin-token.ts'
import { type Profile, profileOf } from '../profile/profiles.ts'
import { ServingCommand } from '../serving-command.ts'

export default class Up extends ServingCommand {
  static override summary = 'Make an installation in this folder, set it up, and run it until Ctrl-C'
  static override description =
    'The first run makes an embedded PostgreSQL and a keyring below .svc, asks for the first workspace and its owner, ' +
    `and stores a profile for this folder with a session and an admin token (valid for ${adminTokenDays} days). Every later run only starts the daemon. With --json it prints one object on one line when it is ready.`
  static override examples = [
    '<%= config.bin %> up',
    '<%= config.bin %> up --workspace acme --workspace-name "Acme Ltd" --owner-name Ada --owner-email ada@acme.example --password-file ada.password',
  ]
  static override flags = setUpFlags

  async run(): Promise<unknown> {
    const { flags } = await this.parse(Up)
    process.env['SVC_LOG_LEVEL'] ||= 'warn' // so that the log does not hide the messages for the user
    const config = readConfig()
    const port = await choosePort(config)
    process.env['SVC_PORT'] = String(port)

    // The questions come before anything is made, so that Ctrl-C leaves nothing behind.
    const isNew = !config.database && !hasEmbedded(config)
    const answers = isNew ? await setUpAnswers(flags) : undefined
    if (answers) checkAnswers(answers)

    const { bootInstallation } = await import('../../core/app/boot.ts')
    const booted = await bootInstallation(config, { works: false, applicationName: 'svc up', note: this.note })
    const stopHeeding = onInterruption(() => booted.close())
    try {
      const done = await setUpOnce(booted, async () => answers ?? (await setUpAnswers(flags)))
      const ownerless = await workspaceWithoutOperator(booted)
      const { address } = await this.serve('all')
      process.once('SIGINT', () => this.tell('Stopping, within 10 s. `svc up` in this folder starts it again.'))
      this.log(`listening on ${address}`)
      if (ownerless !== undefined) this.note(wayToOperator(ownerless, 'ADDRESS'))
      return await this.tellNext(urlOf(config.host, port), config, done)
    } finally {
      // Released only after the daemon holds the database, so that it is not stopped in between.
      stopHeeding()
      await booted.close()
    }
  }

  private async tellNext(apiUrl: string, { mail }: Config, done: DoneSetUp | undefined): Promise<unknown> {
    if (done) this.tell(`Set up: workspace ${done.workspace}. Its owner ${done.email} is the first operator.`)
    const profile = done ? await this.kept(apiUrl, done) : profileOf(process.cwd())
    const isHere = profile?.api_url === apiUrl
    if (profile && isHere)
      this.tell(`Commands in ${profile.directory} and below act as ${profile.email} (profile ${profile.name}).`)
    if (profile && !isHere)
      this.tell(`This folder's profile ${profile.name} is for another installation: ${profile.api_url}.`)
    this.tell(
      mail.relay ? `Mail goes to ${placeOf(mail)}.` : `Mail is written to ${mail.folder}. Set SVC_SMTP_URL to send it.`,
    )
    this.tell(`API reference: ${apiUrl}/docs`)
    this.tell(`Next, in another terminal: ${isHere ? 'svc tenants list' : `svc login --api-url ${apiUrl}`}`)
    this.tell('Ctrl-C stops it; `svc up` starts it again.')
    return {
      api_url: apiUrl,
      set_up: done ? { workspace: done.workspace, owner_email: done.email } : null,
      profile: isHere ? profile.name : null,
    }
  }

  /** The daemon serves already, so a profile that cannot be stored is only a warning; `svc login` makes one later. */
  private kept(apiUrl: string, done: DoneSetUp): Promise<Profile | undefined> {
    return keepProfile(apiUrl, done, this.note).catch((error: unknown) => {
      this.note(`The profile for this folder could not be stored: ${lineOf(error)}`)
      return undefined
    })
  }
}

/** The configured port, or a free one for 0. Fails before anything is made if the port cannot be used. */
async function choosePort({ host, port }: Config): Promise<number> {
  if (port === 0) return freePort(host)
  const fault = await listenFault(host, port)
  if (fault === 'EADDRINUSE')
    throw new Failure(
      'failed',
      `The port ${port} on ${host} is in use.`,
      'Stop the program that uses it, or set SVC_PORT.',
    )
  if (fault)
    throw new Failure('usage', `Cannot listen on ${host} port ${port} (${fault}).`, 'Check SVC_HOST and SVC_PORT.')
  return port
}
