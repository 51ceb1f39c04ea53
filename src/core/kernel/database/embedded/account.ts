/**
 * The user that runs the server. Without root it is the current user. PostgreSQL refuses root,
 * so under root it is the first existing user of `svc`, `postgres` and `nobody`. No user is
 * created. `nobody` comes last because other programs run as it, too; a separate user for svc
 * is safer. The user must have a name, because initdb looks it up.
 *
 * An existing database keeps its owner, even if another user would be chosen today.
 */
import { spawn } from 'node:child_process'
import { readFile, stat } from 'node:fs/promises'
import { failures } from './failure.ts'

export interface Account {
  readonly name: string
  readonly uid: number
  readonly gid: number
}

/** What a program said and how it ended; `code` is undefined when it could not be started. */
export interface Ran {
  readonly code: number | null | undefined
  readonly output: string
}

const candidates = ['svc', 'postgres', 'nobody']

/** The user to run a new server as; undefined means as ourselves. */
export async function serverAccount(): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const accounts = await listAccounts()
  const found = candidates
    .map((name) => accounts.find((account) => account.name === name && account.uid > 0))
    .find(Boolean)
  if (!found) throw failures.account()
  return found
}

/** The user an existing database belongs to; undefined means it is ours. */
export async function accountOfOwner(
  folder: string,
  owner: { uid: number; gid: number },
): Promise<Account | undefined> {
  if (owner.uid === process.getuid?.()) return undefined
  if (process.getuid?.() !== 0) throw failures.foreign(folder, owner.uid)
  const name = (await listAccounts()).find((account) => account.uid === owner.uid)?.name
  return { name: name ?? String(owner.uid), uid: owner.uid, gid: owner.gid }
}

/** The same for an existing cluster. */
export const accountOfCluster = async (cluster: string) => accountOfOwner(cluster, await stat(cluster))

async function listAccounts(): Promise<Account[]> {
  const passwd = await readFile('/etc/passwd', 'utf8')
  return passwd.split('\n').flatMap((row) => {
    const [name, , uid, gid] = row.split(':')
    return name && uid && gid ? [{ name, uid: Number(uid), gid: Number(gid) }] : []
  })
}

/**
 * How every PostgreSQL program is started: as its user, in its own session (so that Ctrl-C on a
 * terminal does not reach it), from a folder that every user can enter, and without our
 * environment, whose PG… variables and languages would change what the programs do.
 */
export function startingAs(account: Account | undefined) {
  return {
    ...(account && { uid: account.uid, gid: account.gid }),
    detached: true,
    cwd: '/',
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
  } as const
}

/** Runs a program to its end. */
export function runAs(
  account: Account | undefined,
  program: string,
  args: readonly string[],
  input = '',
): Promise<Ran> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { ...startingAs(account), stdio: 'pipe' })
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text))
    child.on('error', (error) => resolve({ code: undefined, output: error.message }))
    child.on('close', (code) => resolve({ code, output }))
    child.stdin.on('error', () => undefined) // a program that ends early says why in its output
    child.stdin.end(input)
  })
}

/** Whether the server's user can enter the folder. Asks the kernel, which also knows access lists and mounts. */
export async function canReach(account: Account | undefined, folder: string): Promise<boolean> {
  if (!account) return true
  return (await runAs(account, '/bin/sh', ['-c', 'cd -- "$1"', 'sh', folder])).code === 0
}
