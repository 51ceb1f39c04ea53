import { defineConfig, mergeConfig } from 'vitest/config'
import { importsOf, sourceFiles } from './test/house/source.ts'
import base from './vitest.config.ts'

/**
 * The units: every test file that needs no database, no process and no built command line, itself or through what
 * it imports of the tests. The compiler's API is a process, which reads all sources. What is a unit is read from the
 * imports, so that no list has to be kept.
 */
const files = sourceFiles('test')
const importsByPath = new Map(files.map((file) => [file.path, importsOf(file).map(({ to }) => to)]))
const costly = (path: string) =>
  /^(node:child_process|postgres|pg|typescript\/unstable\/sync)$|\/core\/kernel\/database\/embedded/.test(path)

function isCostly(path: string, seen = new Set<string>()): boolean {
  if (seen.has(path)) return false
  seen.add(path)
  return costly(path) || (importsByPath.get(path) ?? []).some((to) => isCostly(to, seen))
}

const units = files.map(({ path }) => path).filter((path) => path.endsWith('.test.ts') && !isCostly(path))

// They work all the time and wait for nothing.
const merged = mergeConfig(base, { test: { maxWorkers: 2 } })
export default defineConfig({ ...merged, test: { ...merged.test, include: units, globalSetup: [] } })
