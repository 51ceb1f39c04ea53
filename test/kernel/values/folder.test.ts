/** Folders are made with what is missing above them, and a place that takes none says so at once. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeFolder } from '../../../src/core/kernel/values/folder.ts'

let base: string
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'svc-folder-')))
})
afterEach(() => rmSync(base, { recursive: true }))

const modeOf = (path: string) => statSync(path).mode & 0o777

test('makes all that is missing, in one mode, and answers the highest', () => {
  expect(makeFolder(join(base, 'a', 'b', 'c'), 0o700)).toBe(join(base, 'a'))
  for (const path of ['a', 'a/b', 'a/b/c']) expect(modeOf(join(base, path))).toBe(0o700)
})

test('what is there stays as it is', () => {
  mkdirSync(join(base, 'a'), { mode: 0o750 })
  symlinkSync(join(base, 'a'), join(base, 'link'))
  expect(makeFolder(join(base, 'a'), 0o700)).toBeUndefined()
  expect(makeFolder(join(base, 'link'), 0o700)).toBeUndefined()
  expect(modeOf(join(base, 'a'))).toBe(0o750)
  expect(makeFolder(join(base, 'link', 'b'), 0o700)).toBe(join(base, 'link', 'b'))
})

test('a file in the way is told', () => {
  writeFileSync(join(base, 'file'), '')
  expect(() => makeFolder(join(base, 'file'), 0o700)).toThrow('EEXIST')
  expect(() => makeFolder(join(base, 'file', 'a'), 0o700)).toThrow('ENOTDIR')
})

// In a process of its own: what tries for ever would let no test time out.
test.each(['/proc/svc', '/proc/svc/a/b'])('%s, where no folder can be made, is told', (folder) => {
  const source = fileURLToPath(new URL('../../../src/core/kernel/values/folder.ts', import.meta.url))
  const program = `import { makeFolder } from ${JSON.stringify(source)}; makeFolder(${JSON.stringify(folder)}, 0o700)`
  const options = { encoding: 'utf8', timeout: 20_000, killSignal: 'SIGKILL' } as const
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], options)
  expect([status, stderr]).toEqual([1, expect.stringContaining("ENOENT: no such file or directory, mkdir '/proc/svc'")])
})
