/**
 * Chooses how a command reaches the installation: over the API, or directly on the database.
 *
 *    --recovery                          the database
 *    SVC_API_URL and SVC_TOKEN           the API, with that token
 *    --profile, or this folder's         the API, as that profile says
 *    nothing, and no SVC_DATABASE_URL    the embedded installation, directly
 *
 * A token is sent only to the installation that it belongs to: --api-url may name another
 * installation only together with SVC_TOKEN. Spec: decisions 6.
 */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { loadEnvironment } from '../../core/kernel/values/environment.ts'
import { Failure } from '../failure.ts'
import { checkApiUrl, checkProfileName, findProfile, type Profile, profileOf } from '../profile/profiles.ts'
import { type ApiTarget, apiCaller } from './api-caller.ts'
import type { Caller, Tell } from './caller.ts'
import { noCredentials, profileCredentials, tokenCredentials } from './credentials.ts'

export interface Choice {
  readonly recovery?: boolean | undefined
  readonly whileServing?: boolean | undefined
  readonly profile?: string | undefined
  readonly apiUrl?: string | undefined
  /** Whether the command may create the embedded installation. */
  readonly makes?: boolean
}

/** The caller of this command. Fails (usage) if it is unclear which installation is meant. */
export async function openCaller(choice: Choice, tell: Tell): Promise<Caller> {
  const env = loadEnvironment()
  if (choice.recovery) return openDatabase(choice, env, tell)
  const target = apiTargetOf(choice, env, tell)
  if (target) return apiCaller(target)
  if (env['SVC_DATABASE_URL']) {
    throw new Failure(
      'usage',
      'SVC_DATABASE_URL is set, but this folder has no profile, and SVC_API_URL and SVC_TOKEN are not set.',
      'Sign in to the daemon with `svc login`, or work directly on the database with --recovery.',
    )
  }
  const dataDir = requireInstallation(choice, env)
  tell(`No profile and no SVC_API_URL: working directly on the embedded installation in ${dataDir}.`)
  return openDatabase(choice, env, tell)
}

async function openDatabase(choice: Choice, env: NodeJS.ProcessEnv, tell: Tell): Promise<Caller> {
  if (!env['SVC_DATABASE_URL']) requireInstallation(choice, env)
  const { openRecoveryCaller } = await import('./recovery-caller.ts')
  return openRecoveryCaller(choice.whileServing === true, tell)
}

/** A command in the wrong folder must not create an empty database there; only `makes` allows that. */
function requireInstallation(choice: Choice, env: NodeJS.ProcessEnv): string {
  const dataDir = resolve(env['SVC_DATA_DIR'] || '.svc')
  if (choice.makes || existsSync(join(dataDir, 'postgres.json'))) return dataDir
  throw new Failure(
    'usage',
    `No installation is configured for this folder: it has no profile, SVC_API_URL is not set, and ${dataDir} holds no installation.`,
    '`svc up` makes an installation here; `svc login --api-url URL` signs in to another one.',
  )
}

/** The API and its credentials; undefined if nothing names an API. */
export function apiTargetOf(choice: Choice, env: NodeJS.ProcessEnv, tell: Tell): ApiTarget | undefined {
  const named = choice.apiUrl ?? (choice.profile === undefined ? env['SVC_API_URL'] : undefined)
  const apiUrl = named ? checkApiUrl(named) : undefined
  const token = env['SVC_TOKEN']
  if (token && choice.profile === undefined) {
    if (!apiUrl) throw new Failure('usage', 'SVC_TOKEN is set, but SVC_API_URL is not.', 'Set both, or neither.')
    return { apiUrl, credentials: tokenCredentials(checkToken(token), 'the token in SVC_TOKEN'), tell }
  }
  const profile = chosenProfile(choice)
  if (!profile) {
    if (apiUrl)
      throw new Failure('usage', `No token is known for ${apiUrl}.`, 'Set SVC_TOKEN, or sign in with `svc login`.')
    return undefined
  }
  if (apiUrl && checkApiUrl(profile.api_url) !== apiUrl) {
    throw new Failure(
      'usage',
      `Profile ${profile.name} belongs to ${profile.api_url}, not to ${apiUrl}.`,
      'Name another --profile, or set SVC_TOKEN.',
    )
  }
  return { apiUrl: checkApiUrl(profile.api_url), credentials: profileCredentials(profile), tell }
}

/** The named profile, which must exist, else the profile of this folder. */
export function chosenProfile(choice: Pick<Choice, 'profile'>): Profile | undefined {
  if (choice.profile === undefined) return profileOf(process.cwd())
  const profile = findProfile(checkProfileName(choice.profile))
  if (!profile)
    throw new Failure('usage', `There is no profile "${choice.profile}".`, '`svc profiles list` shows all profiles.')
  return profile
}

/** A token is printable ASCII. Other characters must not get into a header line. */
export function checkToken(token: string): string {
  if (/^[!-~]{1,4096}$/.test(token)) return token
  throw new Failure(
    'usage',
    'The token contains characters that a token cannot have.',
    'Copy it again, without line breaks.',
  )
}

/** The target of an anonymous call, such as signing in. */
export const anonymousTarget = (apiUrl: string, tell: Tell): ApiTarget => ({ apiUrl, credentials: noCredentials, tell })
