import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * Moves the files of a build into the folder that commands run from, which may run meanwhile: one that is the same stays as it
 * is, a changed one takes its place at once, and what the build no longer has goes last. `from` is gone then.
 */
export function replaceFiles(from, to) {
  const files = globSync('**/*.js', { cwd: from })
  for (const file of files) {
    const [source, target] = [join(from, file), join(to, file)]
    if (existsSync(target) && readFileSync(target).equals(readFileSync(source))) continue
    mkdirSync(dirname(target), { recursive: true })
    renameSync(source, target)
  }
  for (const file of globSync('**/*.js', { cwd: to })) if (!files.includes(file)) rmSync(join(to, file))
  rmSync(from, { recursive: true })
}
