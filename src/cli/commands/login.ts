import { resolve } from 'node:path'
import { Flags } from '@oclif/core'
import { type Session, sessionOperations } from '../../core/contract/auth/operations.ts'
import { provingOperations } from '../../core/contract/auth/proving.ts'
import { tokenOperations } from '../../core/contract/auth/tokens.ts'
import { identityOperations } from '../../core/contract/identity/operations.ts'
import type { Answer } from '../../core/contract/operation.ts'
import { Problem } from '../../core/contract/problem.ts'
import { loadEnvironment } from '../../core/kernel/values/environment.ts'
import { BaseCommand } from '../base-command.ts'
import { apiCaller } from '../call/api-caller.ts'
import type { Caller } from '../call/caller.ts'
import { anonymousTarget, checkToken } from '../call/caller-choice.ts'
import { profileCredentials } from '../call/credentials.ts'
import { Failure } from '../failure.ts'
import { askText, askYesNo, isInteractive } from '../input/prompts.ts'
import { checkOf } from '../input/schema-check.ts'
import { type Codes, codesFrom, proofFlags, withSecondFactor } from '../input/second-factor-input.ts'
import { readSecret, secretOrAsk } from '../input/secret-input.ts'
import { adminTokenDays, mintAdminToken } from '../profile/admin-token.ts'
import { profileNameFor } from '../profile/profile-name.ts'
import { checkApiUrl, checkProfileName, findProfile, type Profile, saveProfile } from '../profile/profiles.ts'

type OwnAccount = Answer<typeof identityOperations.getOwnAccount>

export default class Login extends BaseCommand {
  static override summary = 'Sign in, and use the session for the commands of this folder'
  static override description =
    'Makes a profile with a session. For operators it can also create an access token for admin commands, ' +
    `valid for ${adminTokenDays} days. With a second factor, the session and the token each need a code. A service account gives its token instead of a password (--token-stdin).`
  static override examples = [
    '<%= config.bin %> login --api-url https://svc.example.org',
    '<%= config.bin %> login --workspace acme --email ada@acme.example --password-file ada.password --admin',
    '<%= config.bin %> login --workspace acme --email bench-3 --password-file start.password --new-password-file my.password',
    '<%= config.bin %> login --token-stdin < token',
  ]
  static override flags = {
    'api-url': Flags.string({
      summary: 'The URL of the installation; default: SVC_API_URL, else http://127.0.0.1:8080.',
      helpValue: 'URL',
    }),
    workspace: Flags.string({ summary: "The workspace's slug." }),
    email: Flags.string({ summary: 'Your e-mail address, or the name that you sign in with.' }),
    ...proofFlags,
    'new-password-file': Flags.string({
      summary: 'Read the password that replaces a start password, or one that is too old, from a file of mode 0600.',
      helpValue: 'FILE',
    }),
    'token-stdin': Flags.boolean({
      summary: 'Read an access token from standard input and store it, instead of signing in.',
      exclusive: ['token-file', 'password-stdin', 'password-file'],
    }),
    'token-file': Flags.string({
      summary: 'Read an access token from a file of mode 0600 and store it, instead of signing in.',
      helpValue: 'FILE',
      exclusive: ['password-stdin', 'password-file'],
    }),
    admin: Flags.boolean({
      summary: 'Also create an access token for admin commands; default: on a terminal, operators are asked.',
      allowNo: true,
    }),
    profile: Flags.string({
      summary: "The profile's name; default: derived from the folder's name.",
      helpValue: 'NAME',
    }),
    directory: Flags.directory({
      summary: 'The folder whose commands use the profile, with its subfolders; default: the working folder.',
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
        `A profile named ${name} exists already, for ${known.api_url}.`,
        `Choose another --profile, or run \`svc logout --profile ${name}\` first.`,
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
    const proof = { workspace, email, password }
    const { session, inForce } = await entered(anonymous, proof, codes, flags['new-password-file'])
    const known = findProfile(begun.name)
    // Signing in again as the same account keeps its admin token; a new token replaces it below.
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
            `You are an operator. Also create a token for admin commands, valid for ${adminTokenDays} days?`,
            true,
          ))))
    if (!wantsToken) return this.told(profile, account)
    const caller = apiCaller({ apiUrl: begun.api_url, credentials: profileCredentials(profile), tell: this.note })
    const { token, id } = await mintAdminToken(caller, inForce, codes)
    if (profile.token_id)
      await caller.call(tokenOperations.revokeToken, { tokenId: profile.token_id }).catch(unlessGone)
    const withToken = { ...profile, token, token_id: id }
    await saveProfile(withToken)
    return this.told(withToken, account)
  }

  /** --admin cannot be met: ends the session that was begun for it, and stores nothing. */
  private async refuseAdmin(profile: Profile): Promise<never> {
    const caller = apiCaller({ apiUrl: profile.api_url, credentials: profileCredentials(profile), tell: this.note })
    await caller.call(sessionOperations.signOut, {})
    throw new Failure(
      'notAllowed',
      `${profile.email} is not an operator and cannot have an admin token. The session was ended.`,
      'Sign in without --admin, or ask an operator to run `svc operators add`.',
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
      this.tell('The installation requires a second factor. Set one up before you do anything else.')
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

/** Signs in; the second factor, where there is one, is shown with the challenge, and the password not sent again. */
function signedIn(caller: Caller, body: Proof, codes: Codes): Promise<Session> {
  let challenge: string | undefined
  return withSecondFactor(codes, async (shown) => {
    if (challenge !== undefined)
      return caller.call(provingOperations.verifySignIn, { body: { challenge_token: challenge, ...shown } })
    return caller.call(sessionOperations.signIn, { body: { ...body, ...shown } }).catch((error: unknown) => {
      const { challenge_token: token } = error instanceof Problem ? error.params : {}
      if (typeof token === 'string') challenge = token
      throw error
    })
  })
}

/** A token that has ended already needs no revocation. */
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
  readonly 'new-password-file'?: string | undefined
}

interface Proof {
  readonly workspace: string
  readonly email: string
  readonly password: string
}

/**
 * Signs in. A start password, or one that is too old, is replaced by the new one of the file or of the prompt. Answers the password
 * that is in force then, too.
 */
async function entered(
  caller: Caller,
  proof: Proof,
  codes: Codes,
  newPasswordFile: string | undefined,
): Promise<{ readonly session: Session; readonly inForce: string }> {
  const { signInWithNewPassword } = sessionOperations
  try {
    return { session: await signedIn(caller, proof, codes), inForce: proof.password }
  } catch (error) {
    const isExpired = error instanceof Problem && error.code === 'auth.password_expired'
    if (!isExpired || (newPasswordFile === undefined && !isInteractive())) throw error
  }
  const new_password = await secretOrAsk(
    { file: newPasswordFile },
    'password',
    'New password (at least 12 characters):',
    'usage',
    checkOf(signInWithNewPassword.body, 'new_password'),
  )
  const session = await withSecondFactor(codes, (shown) =>
    caller.call(signInWithNewPassword, { body: { ...proof, new_password, ...shown } }),
  )
  return { session, inForce: new_password }
}

async function signInAnswers(flags: SignInFlags): Promise<Proof> {
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

/** Every host on the way can read a password that is sent over plain HTTP. */
function warnWhenPlain(apiUrl: string, note: (line: string) => void): void {
  const { protocol, hostname } = new URL(apiUrl)
  if (protocol === 'http:' && !loopback.test(hostname))
    note(`Warning: ${apiUrl} is not encrypted; others can read passwords and tokens on the way. Use https.`)
}
