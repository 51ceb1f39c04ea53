import { resolve } from 'node:path'
import { Flags } from '@oclif/core'
import { sessionOperations } from '../../core/contract/auth/operations.ts'
import { tokenOperations } from '../../core/contract/auth/tokens.ts'
import { identityOperations } from '../../core/contract/identity/operations.ts'
import type { Answer } from '../../core/contract/operation.ts'
import { Problem } from '../../core/contract/problem.ts'
import { loadEnvironment } from '../../core/kernel/values/environment.ts'
import { BaseCommand } from '../base-command.ts'
import { apiCaller } from '../call/api-caller.ts'
import { anonymousTarget, checkToken } from '../call/caller-choice.ts'
import { profileCredentials } from '../call/credentials.ts'
import { Failure } from '../failure.ts'
import { askText, askYesNo, isInteractive } from '../input/prompts.ts'
import { checkOf } from '../input/schema-check.ts'
import { codesFrom, proofFlags, withSecondFactor } from '../input/second-factor-input.ts'
import { readSecret, secretOrAsk } from '../input/secret-input.ts'
import { adminTokenDays, mintAdminToken } from '../profile/admin-token.ts'
import { profileNameFor } from '../profile/profile-name.ts'
import { checkApiUrl, checkProfileName, findProfile, type Profile, saveProfile } from '../profile/profiles.ts'

type OwnAccount = Answer<typeof identityOperations.getOwnAccount>

export default class Login extends BaseCommand {
  static override summary = 'Sign in, and let the commands of this folder act as you'
  static override description =
    'Makes a profile with a session. For operators it also mints an access token for admin commands, ' +
    `valid ${adminTokenDays} days. Where the account has a second factor, each of the two takes a code. A service account gives its token instead of a password (--token-stdin).`
  static override examples = [
    '<%= config.bin %> login --api-url https://svc.example.org',
    '<%= config.bin %> login --workspace acme --email ada@acme.example --password-file ada.password --admin',
    '<%= config.bin %> login --token-stdin < token',
  ]
  static override flags = {
    'api-url': Flags.string({
      summary: 'The installation; SVC_API_URL, then http://127.0.0.1:8080 where absent.',
      helpValue: 'URL',
    }),
    workspace: Flags.string({ summary: "The workspace's slug." }),
    email: Flags.string({ summary: 'The address you sign in with.' }),
    ...proofFlags,
    'token-stdin': Flags.boolean({
      summary: 'Keep the access token on standard input instead of signing in.',
      exclusive: ['token-file', 'password-stdin', 'password-file'],
    }),
    'token-file': Flags.string({
      summary: 'Keep the access token in this file of mode 0600 instead of signing in.',
      helpValue: 'FILE',
      exclusive: ['password-stdin', 'password-file'],
    }),
    admin: Flags.boolean({
      summary: 'Mint an access token for admin commands as well; on a terminal operators are asked.',
      allowNo: true,
    }),
    profile: Flags.string({ summary: "The profile's name; made from the folder's where absent.", helpValue: 'NAME' }),
    directory: Flags.directory({
      summary: 'The folder whose commands use it, with all below; the working folder where absent.',
      exists: true,
      helpValue: 'FOLDER',
    }),
  }

  async run(): Promise<unknown> {
    const { flags } = await this.parse(Login)
    const apiUrl = checkApiUrl(flags['api-url'] ?? (loadEnvironment()['SVC_API_URL'] || 'http://127.0.0.1:8080'))
    warnWhenPlain(apiUrl, this.note)
    const directory = resolve(flags.directory ?? '.')
    const name = checkProfileName(flags.profile ?? profileNameFor(directory))
    const known = findProfile(name)
    if (known && checkApiUrl(known.api_url) !== apiUrl) {
      throw new Failure(
        'conflict',
        `There is a profile ${name} already, for ${known.api_url}.`,
        `Choose another --profile, or \`svc logout --profile ${name}\` first.`,
      )
    }
    const given = await readSecret({ stdin: flags['token-stdin'], file: flags['token-file'] }, 'token')
    const begun = { name, api_url: apiUrl, directory }
    return given === undefined
      ? this.withPassword(begun, flags)
      : this.withToken({ ...begun, token: checkToken(given) })
  }

  private async withToken(profile: Profile): Promise<unknown> {
    const account = await this.ownAccount(profile)
    const kept = {
      ...profile,
      email: account.email ?? account.display_name ?? undefined,
      workspace: account.workspace.slug,
    }
    await saveProfile(kept)
    return this.told(kept, account)
  }

  private async withPassword(begun: Profile, flags: SignInFlags): Promise<unknown> {
    const { workspace, email, password } = await signInAnswers(flags)
    const codes = codesFrom(flags['code-file'])
    const anonymous = apiCaller(anonymousTarget(begun.api_url, this.note))
    const session = await withSecondFactor(codes, (shown) =>
      anonymous.call(sessionOperations.signIn, { body: { workspace, email, password, ...shown } }),
    )
    const known = findProfile(begun.name)
    // Signing in again keeps the admin token of the same account; a new one takes its place below.
    const isSame = known?.workspace === workspace && known.email === email
    const profile: Profile = {
      ...begun,
      workspace,
      email,
      session,
      ...(isSame ? { token: known.token, token_id: known.token_id } : {}),
    }
    const account = await this.ownAccount(profile)
    if (flags.admin && !account.is_operator) await this.refuseAdmin(profile)
    await saveProfile(profile)
    const mustEnrol = account.second_factor_demanded && account.second_factor === null
    const wantsToken =
      !mustEnrol &&
      (flags.admin ??
        (account.is_operator &&
          profile.token === undefined &&
          isInteractive() &&
          (await askYesNo(
            `You are an operator. Also keep a token for admin commands, for ${adminTokenDays} days?`,
            true,
          ))))
    if (!wantsToken) return this.told(profile, account)
    const caller = apiCaller({ apiUrl: begun.api_url, credentials: profileCredentials(profile), tell: this.note })
    const { token, id } = await mintAdminToken(caller, password, codes)
    if (profile.token_id)
      await caller.call(tokenOperations.revokeToken, { tokenId: profile.token_id }).catch(unlessGone)
    const withToken = { ...profile, token, token_id: id }
    await saveProfile(withToken)
    return this.told(withToken, account)
  }

  /** What was asked for cannot be had: the session that was begun for it is ended, and nothing is kept. */
  private async refuseAdmin(profile: Profile): Promise<never> {
    const caller = apiCaller({ apiUrl: profile.api_url, credentials: profileCredentials(profile), tell: this.note })
    await caller.call(sessionOperations.signOut, {})
    throw new Failure(
      'notAllowed',
      `${profile.email} is no operator, so there is no admin token to keep. The session was ended again.`,
      'Sign in without --admin, or have an operator run `svc operators add`.',
    )
  }

  private ownAccount(profile: Profile): Promise<OwnAccount> {
    return apiCaller({ apiUrl: profile.api_url, credentials: profileCredentials(profile), tell: this.note }).call(
      identityOperations.getOwnAccount,
      {},
    )
  }

  private told({ name, api_url, directory, email, workspace, token }: Profile, account: OwnAccount): unknown {
    this.tell(`Signed in to ${api_url} as ${email} of ${workspace} (profile ${name}, for ${directory} and below).`)
    if (account.is_operator && !token && (account.second_factor || !account.second_factor_demanded))
      this.tell('Admin commands need a token: svc login --admin')
    if (account.second_factor_demanded && account.second_factor === null) {
      this.tell('The installation demands a second factor of you; until then you are served nothing else.')
      this.tell('Next: svc mfa enroll')
    } else this.tell(`Next: ${token ? 'svc tenants list' : 'svc api GET /accounts/me'}`)
    return {
      name,
      api_url,
      directory,
      email,
      workspace,
      account_id: account.id,
      is_operator: account.is_operator,
      has_admin_token: token !== undefined,
    }
  }
}

/** A token that has ended already needs no revoking. */
function unlessGone(error: unknown): void {
  if (!(error instanceof Problem) || error.status !== 404) throw error
}

interface SignInFlags {
  readonly workspace?: string | undefined
  readonly email?: string | undefined
  readonly admin?: boolean | undefined
  readonly 'password-stdin'?: boolean
  readonly 'password-file'?: string | undefined
  readonly 'code-file'?: string | undefined
}

async function signInAnswers(flags: SignInFlags): Promise<{ workspace: string; email: string; password: string }> {
  if ((flags.workspace === undefined || flags.email === undefined) && !isInteractive()) {
    throw new Failure('usage', 'Signing in needs a workspace and an address.', 'Give --workspace and --email.')
  }
  const { body } = sessionOperations.signIn
  const workspace = flags.workspace ?? (await askText('Workspace (its slug):', checkOf(body, 'workspace')))
  const email = flags.email ?? (await askText('E-mail address:', checkOf(body, 'email')))
  const password = await secretOrAsk(
    { stdin: flags['password-stdin'], file: flags['password-file'] },
    'password',
    'Password:',
  )
  return { workspace, email, password }
}

const loopback = /^(localhost|127(\.\d+){3}|\[::1\])$/

/** A password over plain HTTP is read by everybody in between. */
function warnWhenPlain(apiUrl: string, note: (line: string) => void): void {
  const { protocol, hostname } = new URL(apiUrl)
  if (protocol === 'http:' && !loopback.test(hostname))
    note(`Warning: ${apiUrl} is not encrypted; passwords and tokens can be read on the way. Use https.`)
}
