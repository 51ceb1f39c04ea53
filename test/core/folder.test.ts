/** Folders are made with what is missing above them, and a place that takes none says so at once. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeFolder } from '../../src/core/folder.ts'

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

test('a file in the way, and a place that takes no folders, are told', () => {
  writeFileSync(join(base, 'file'), '')
  expect(() => makeFolder(join(base, 'file'), 0o700)).toThrow('EEXIST')
  expect(() => makeFolder(join(base, 'file', 'a'), 0o700)).toThrow('ENOTDIR')
  expect(() => makeFolder('/proc/svc', 0o700)).toThrow('ENOENT')
  expect(() => makeFolder('/proc/svc/a/b', 0o700)).toThrow('ENOENT')
})
