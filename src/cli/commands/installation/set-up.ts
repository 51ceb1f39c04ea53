import { Flags } from '@oclif/core'
import { setUpOperations } from '../../../core/contract/auth/operations.ts'
import { Problem } from '../../../core/contract/problem.ts'
import { BaseCommand } from '../../base-command.ts'
import { apiCaller } from '../../call/api-caller.ts'
import type { Caller } from '../../call/caller.ts'
import { anonymousTarget } from '../../call/caller-choice.ts'
import { secretOrAsk } from '../../input/secret-input.ts'
import { type SetUpAnswers, setUpAnswers, setUpFlags } from '../../input/set-up-answers.ts'
import { checkApiUrl } from '../../profile/profiles.ts'

export default class InstallationSetUp extends BaseCommand {
  static override summary = 'Create the first workspace and its owner, and make the owner an operator'
  static override description =
    'Works directly on the database, also while a daemon serves it, and needs no set-up token. With --api-url it calls a daemon instead and asks for the set-up token: the daemon wrote it to set-up.token in SVC_DATA_DIR when it started.'
  static override examples = [
    '<%= config.bin %> installation set-up',
    '<%= config.bin %> installation set-up --workspace acme --workspace-name "Acme Ltd" --owner-name Ada --owner-email ada@acme.example --password-file ada.password',
  ]
  static override flags = {
    ...setUpFlags,
    'api-url': Flags.string({ summary: 'Set up through this daemon.', helpValue: 'URL' }),
    'set-up-token-file': Flags.string({
      summary: 'Read the set-up token from a file of mode 0600.',
      helpValue: 'FILE',
      dependsOn: ['api-url'],
    }),
    'while-serving': Flags.boolean({
      summary: 'Taken, and not needed: nobody can be using an installation that is not set up.',
      exclusive: ['api-url'],
      hidden: true,
    }),
  }

  async run(): Promise<unknown> {
    const { flags } = await this.parse(InstallationSetUp)
    const answers = await setUpAnswers(flags)
    const caller = await this.callerFor(flags, answers)
    try {
      const token =
        caller.way === 'database'
          ? 'not asked for'
          : await secretOrAsk(
              { file: flags['set-up-token-file'] },
              'set-up-token',
              'The set-up token (set-up.token in SVC_DATA_DIR of the daemon):',
            )
      const done = await caller
        .call(setUpOperations.setUpInstallation, { body: { set_up_token: token, ...answers } })
        .catch((error: unknown) => {
          if (error instanceof Problem && error.code === 'admin.multi_mode_required')
            this.tell(
              'The installation already has its one workspace. After its owner has joined: svc operators add WORKSPACE ADDRESS --recovery',
            )
          throw error
        })
      const apiUrl = flags['api-url']
      this.tell(
        `Set up ${apiUrl ?? caller.where}: workspace ${done.tenant.slug}. Its owner ${answers.owner.email} is the first operator.`,
      )
      const login = `svc login --workspace ${done.tenant.slug} --email ${answers.owner.email}`
      this.tell(
        apiUrl === undefined
          ? `Next: ${login} --api-url URL, with a daemon (svc daemon) serving at that URL`
          : `Next: ${login} --api-url ${apiUrl}`,
      )
      return done
    } finally {
      await caller.close()
    }
  }

  private async callerFor(flags: { 'api-url'?: string | undefined }, answers: SetUpAnswers): Promise<Caller> {
    if (flags['api-url'] !== undefined) return apiCaller(anonymousTarget(checkApiUrl(flags['api-url']), this.note))
    // Before anything is opened, which may make the embedded installation: a slug that breaks a rule leaves nothing behind.
    const { checkAnswers } = await import('../../first-run/first-run.ts')
    checkAnswers(answers)
    const { openRecoveryCaller } = await import('../../call/recovery-caller.ts')
    // A daemon that serves is the usual case here, and nobody can be using it yet: no question.
    return openRecoveryCaller(true, this.note)
  }
}
