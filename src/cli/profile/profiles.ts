/**
 * Profiles: the installation that the commands of a folder call, and the credentials for it.
 *
 *    $XDG_CONFIG_HOME/svc/profiles/<name>.json     0600, in folders of 0700
 *    {"api_url":"https://…","directory":"/srv/acme","email":…,"workspace":…,"session":{…},"token":"svcp_…"}
 *
 * A profile with a folder applies to that folder and its subfolders; the nearest profile
 * wins. A file that other users can read is refused, because its secrets may be known.
 *
 * Elsewhere: renewing the session (profile-session.ts). Spec: decisions 6; T-44.
 */
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { writeWhole } from '../../core/kernel/values/write-whole.ts'
import { Failure } from '../failure.ts'

export interface ProfileSession {
  readonly session_id: string
  readonly access_token: string
  readonly access_expires_at: string
  readonly refresh_token: string
  readonly refresh_expires_at: string
}

export interface Profile {
  readonly name: string
  readonly api_url: string
  /** The folder whose commands use the profile; absent: it is used only with --profile. */
  readonly directory?: string | undefined
  readonly workspace?: string | undefined
  readonly email?: string | undefined
  readonly session?: ProfileSession | undefined
  /** A personal access token, for operator commands. */
  readonly token?: string | undefined
  readonly token_id?: string | undefined
}

const nameShape = /^[a-z0-9][a-z0-9-]{0,39}$/

/** Refuses an invalid name, because names become file names and are printed. */
export function checkProfileName(name: string): string {
  if (nameShape.test(name)) return name
  throw new Failure(
    'usage',
    'A profile name has 1 to 40 lower-case letters, digits and dashes, and begins with a letter or a digit.',
  )
}

const profilesFolder = (env: NodeJS.ProcessEnv = process.env) => {
  const home = env['XDG_CONFIG_HOME']
  return join(home?.startsWith('/') ? home : join(homedir(), '.config'), 'svc', 'profiles')
}

const profileFile = (name: string) => join(profilesFolder(), `${checkProfileName(name)}.json`)

export const lockFile = (name: string) => profileFile(name).replace(/\.json$/, '.lock')

/** All profiles, ordered by name. */
export function listProfiles(): Profile[] {
  return fileNames()
    .map((file) => file.slice(0, -'.json'.length))
    .filter((name) => nameShape.test(name))
    .sort()
    .flatMap((name) => findProfile(name) ?? [])
}

function fileNames(): string[] {
  try {
    return readdirSync(profilesFolder()).filter((file) => file.endsWith('.json'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

/** The profile of that name. Fails (usage) if others can read the file, or if it is damaged. */
export function findProfile(name: string): Profile | undefined {
  const file = profileFile(name)
  let text: string
  try {
    refuseReadableByOthers(file)
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  try {
    const profile = JSON.parse(text) as Omit<Profile, 'name'>
    if (typeof profile.api_url !== 'string') throw new TypeError('no api_url')
    return { ...profile, name }
  } catch {
    throw new Failure(
      'usage',
      `The profile file ${file} is damaged.`,
      `Remove it with \`svc profiles remove ${name}\` and sign in again.`,
    )
  }
}

/** Fails (usage), with the remedy, if others can read a file of secrets. */
export function refuseReadableByOthers(file: string): void {
  const { mode } = statSync(file)
  if ((mode & 0o077) === 0) return
  throw new Failure(
    'usage',
    `Other users can read ${file} (mode ${(mode & 0o777).toString(8)}).`,
    `Run: chmod 600 ${file}`,
  )
}

/** The profile of the folder, or of its nearest parent that has one. */
export function profileOf(directory: string, profiles: readonly Profile[] = listProfiles()): Profile | undefined {
  for (let folder = resolve(directory); ; folder = dirname(folder)) {
    const found = profiles.find((profile) => profile.directory === folder)
    if (found || folder === dirname(folder)) return found
  }
}

/** Writes the profile whole or not at all; the folder it names leaves any other profile. */
export async function saveProfile({ name, ...profile }: Profile): Promise<void> {
  const file = profileFile(name)
  if (profile.directory !== undefined) await leaveFolder(profile.directory, name)
  await writeWhole(file, `${JSON.stringify(profile, null, 2)}\n`)
}

async function leaveFolder(directory: string, keeper: string): Promise<void> {
  for (const other of listProfiles()) {
    if (other.directory === directory && other.name !== keeper) await saveProfile({ ...other, directory: undefined })
  }
}

/** Removes the file, whole or not; answers whether there was one. */
export function removeProfile(name: string): boolean {
  const file = profileFile(name)
  const known = fileNames().includes(`${name}.json`)
  for (const path of [file, lockFile(name)]) rmSync(path, { force: true })
  return known
}

/** The URL of an installation, without a trailing slash. Fails (usage) for anything but http and https, and for a user or password in it. */
export function checkApiUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:'
  if (!url || !isHttp)
    throw new Failure(
      'usage',
      'The API URL must begin with http:// or https://.',
      'For example: --api-url https://svc.example.org',
    )
  if (url.username || url.password)
    throw new Failure('usage', 'The API URL must not contain a user or a password.', 'Use `svc login` or SVC_TOKEN.')
  if (url.search || url.hash) throw new Failure('usage', 'The API URL must not contain a query or a fragment.')
  return `${url.origin}${url.pathname.replace(/\/(api\/v1\/?)?$/, '')}`
}
