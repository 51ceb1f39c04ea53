/**
 * Makes a folder and its missing parents, one by one.
 *
 * Node's `recursive` is not used: if a folder answers ENOENT to the creation of a file, as
 * /proc does, it never returns (seen with Node 24, on the main thread and on others).
 */
import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/** Answers the highest folder that was made; undefined where it was there already. Throws what the operating system says. */
export function makeFolder(folder: string, mode: number): string | undefined {
  try {
    mkdirSync(folder, { mode })
    return folder
  } catch (error) {
    if (isFolder(folder)) return undefined
    const above = dirname(folder)
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || above === folder) throw error
    const highest = makeFolder(above, mode)
    makeOne(folder, mode)
    return highest ?? folder
  }
}

/** Another process may make the same folder at the same time. */
function makeOne(folder: string, mode: number): void {
  try {
    mkdirSync(folder, { mode })
  } catch (error) {
    if (!isFolder(folder)) throw error
  }
}

const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
