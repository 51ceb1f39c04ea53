import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { writeWhole } from '../../../src/core/kernel/values/write-whole.ts'
import { mountDisk } from '../../kit/disk.ts'

const base = mkdtempSync(join(tmpdir(), 'svc-whole-'))
let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(base, 'case-'))
  path = join(folder, 'file.json')
})
afterAll(() => rmSync(base, { recursive: true }))

const read = () => readFileSync(path, 'utf8')
const modeOf = (file: string) => statSync(file).mode & 0o777
const runner = join(import.meta.dirname, '../../kit/write-runner.ts')

/** Writes in a process of its own; answers the signal that ended it. */
const writeAndDieAt = (failpoint: string, content: string, ...more: string[]) =>
  new Promise<NodeJS.Signals | undefined>((resolve) => {
    const env = { ...process.env, SVC_TEST: '1', SVC_FAILPOINTS: `write.${failpoint}=exit` }
    execFile(process.execPath, [runner, path, content, ...more], { env }, (error) =>
      resolve(error?.signal ?? undefined),
    )
  })

test('the file and its folder are made for the owner alone', async () => {
  path = join(folder, 'new', 'file.json')
  await writeWhole(path, 'first')
  expect([read(), modeOf(path), modeOf(join(folder, 'new'))]).toEqual(['first', 0o600, 0o700])
  expect(readdirSync(join(folder, 'new'))).toEqual(['file.json'])
})

test('a file that was open to others is not any more, and a link is replaced, not followed', async () => {
  const elsewhere = join(folder, 'elsewhere')
  writeFileSync(elsewhere, 'of another', { mode: 0o644 })
  symlinkSync(elsewhere, path)
  await writeWhole(path, 'ours')
  expect([read(), modeOf(path)]).toEqual(['ours', 0o600])
  expect(readFileSync(elsewhere, 'utf8')).toBe('of another')
})

test.each([
  ['written', 'old'],
  ['synced', 'old'],
  ['renamed', 'x'.repeat(100_000)],
])('killed once it is %s: one of the two is there, whole, and the next one is not hindered', async (step, left) => {
  writeFileSync(path, 'old')
  expect(await writeAndDieAt(step, 'x'.repeat(100_000))).toBe('SIGKILL')
  expect(read()).toBe(left)
  await writeWhole(path, 'next')
  expect(read()).toBe('next')
  const others = readdirSync(folder).filter((name) => name !== 'file.json')
  expect(others.every((name) => /^file\.json\.[0-9a-f-]{36}\.partial$/.test(name))).toBe(true)
})

test.each([
  ['synced', undefined],
  ['renamed', 'new'],
])('a first file that is killed once it is %s is whole or not there', async (step, left) => {
  expect(await writeAndDieAt(step, 'new', 'new')).toBe('SIGKILL')
  expect(readdirSync(folder).includes('file.json') ? read() : undefined).toBe(left)
})

test('a file that must not be replaced stays, and of twenty at once one is first', async () => {
  const contents = Array.from({ length: 20 }, (_, at) => `writer ${at}`)
  const ended = await Promise.allSettled(contents.map((content) => writeWhole(path, content, { replaces: false })))
  const first = ended.findIndex(({ status }) => status === 'fulfilled')
  expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  expect(read()).toBe(contents[first])
  await expect(writeWhole(path, 'later', { replaces: false })).rejects.toMatchObject({ code: 'EEXIST' })
  expect([read(), readdirSync(folder)]).toEqual([contents[first], ['file.json']])
})

test('a reader beside twenty writers finds one of them whole, at each moment', async () => {
  const contents = Array.from({ length: 20 }, (_, at) => String.fromCharCode(97 + at).repeat(200_000))
  await writeWhole(path, contents[0]!)
  let writing = true
  const written = Promise.all(contents.map((content) => writeWhole(path, content))).finally(() => (writing = false))
  let readings = 0
  for (; writing; readings += 1) {
    expect(contents.includes(read())).toBe(true)
    await new Promise(setImmediate)
  }
  await written
  expect(readings).toBeGreaterThan(0)
  expect(readdirSync(folder)).toEqual(['file.json'])
})

const disk = mountDisk(1)
test.runIf(disk)('a full disk leaves the old file whole and nothing beside it', async () => {
  onTestFinished(() => disk!.remove())
  path = join(disk!.folder, 'file.json')
  await writeWhole(path, 'old')
  disk!.fill()
  await expect(writeWhole(path, 'x'.repeat(100_000))).rejects.toMatchObject({ code: 'ENOSPC' })
  expect([read(), readdirSync(disk!.folder).sort()]).toEqual(['old', ['ballast', 'file.json']])
  disk!.makeRoom()
  await writeWhole(path, 'new')
  expect(read()).toBe('new')
})
