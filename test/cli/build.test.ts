/** A build takes no file from under a command that runs. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { replaceFiles } from '../../scripts/replace-files.js'

let base: string
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'svc-build-'))
})
afterEach(() => rmSync(base, { recursive: true }))

const put = (path: string, text: string) => {
  mkdirSync(join(base, path, '..'), { recursive: true })
  writeFileSync(join(base, path), text)
}

test('the same file stays, a changed one is replaced, one that is gone goes', () => {
  for (const [name, text] of [
    ['a.js', 'same'],
    ['deep/b.js', 'old'],
    ['shared/gone-1.js', 'x'],
  ] as const)
    put(`dist/${name}`, text)
  for (const [name, text] of [
    ['a.js', 'same'],
    ['deep/b.js', 'new'],
    ['shared/new-2.js', 'y'],
  ] as const)
    put(`next/${name}`, text)
  const before = statSync(join(base, 'dist/a.js')).ino
  replaceFiles(join(base, 'next'), join(base, 'dist'))
  expect(statSync(join(base, 'dist/a.js')).ino).toBe(before)
  expect(readFileSync(join(base, 'dist/deep/b.js'), 'utf8')).toBe('new')
  expect(readdirSync(join(base, 'dist/shared'))).toEqual(['new-2.js'])
  expect(readdirSync(base)).toEqual(['dist'])
})
