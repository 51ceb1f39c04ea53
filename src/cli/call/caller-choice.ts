/**
 * Which way a command takes: the API, or the database directly.
 *
 *    --recovery                          the database
 *    SVC_API_URL and SVC_TOKEN           the API, with that token
 *    --profile, or this folder's         the API, as that profile says
 *    nothing, and no SVC_DATABASE_URL    the embedded installation, directly
 *
 * A token is sent only to the installation it was given for: --api-url may name another
 * one only together with SVC_TOKEN. Spec: decisions 6.
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
  /** A command that begins an installation may make the embedded one. */
  readonly makes?: boolean
}

/** The caller of this command. Fails (usage) where it is not clear which installation is meant. */
export async function openCaller(choice: Choice, tell: Tell): Promise<Caller> {
  const env = loadEnvironment()
  if (choice.recovery) return openDatabase(choice, env, tell)
  const target = apiTargetOf(choice, env, tell)
  if (target) return apiCaller(target)
  if (env['SVC_DATABASE_URL']) {
    throw new Failure(
      'usage',
      'SVC_DATABASE_URL is set, but there is no profile and no SVC_API_URL with SVC_TOKEN.',
      '`svc login` signs in to the daemon; --recovery works directly on the database.',
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

/** A command in the wrong folder must not make a new, empty database there, unless it is one that begins an installation. */
function requireInstallation(choice: Choice, env: NodeJS.ProcessEnv): string {
  const dataDir = resolve(env['SVC_DATA_DIR'] || '.svc')
  if (choice.makes || existsSync(join(dataDir, 'postgres.json'))) return dataDir
  throw new Failure(
    'usage',
    `Nothing is configured here: no profile, no SVC_API_URL, and no installation in ${dataDir}.`,
    '`svc up` makes one here; `svc login --api-url URL` signs in to another.',
  )
}

/** The API and what signs the calls; undefined where nothing names one. */
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
      throw new Failure('usage', `There is no token for ${apiUrl}.`, 'Set SVC_TOKEN, or sign in with `svc login`.')
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

/** The profile that was named, which must exist, or the one of this folder. */
export function chosenProfile(choice: Pick<Choice, 'profile'>): Profile | undefined {
  if (choice.profile === undefined) return profileOf(process.cwd())
  const profile = findProfile(checkProfileName(choice.profile))
  if (!profile)
    throw new Failure('usage', `There is no profile "${choice.profile}".`, '`svc profiles list` shows them.')
  return profile
}

/** A token is printable ASCII; anything else would end up in a header line. */
export function checkToken(token: string): string {
  if (/^[!-~]{1,4096}$/.test(token)) return token
  throw new Failure('usage', 'The token holds characters that no token has.', 'Copy it again, without line breaks.')
}

/** What signs an anonymous call, such as signing in. */
export const anonymousTarget = (apiUrl: string, tell: Tell): ApiTarget => ({ apiUrl, credentials: noCredentials, tell })
