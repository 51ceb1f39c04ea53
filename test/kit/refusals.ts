/**
 * Which refusals of an operation the tests have seen over HTTP, for the line at the end of a run (tally.ts). With
 * SVC_TEST_REFUSALS=FILE the run also writes those that an operation declares and no test has raised, and those that were
 * answered although the operation does not declare them.
 */
import { writeFileSync } from 'node:fs'
import type { Operation } from '../../src/core/contract/operation.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { refusalsMetBy } from '../../src/daemon/met-refusals.ts'

const all: readonly Operation[] = Object.values(operations)
/** The fewest names of a path first, so that `/accounts/me` is no account's id. */
const routes = all
  .map((operation) => ({ operation, path: `/api/v1${operation.path}` }))
  .sort((one, other) => one.path.split('{').length - other.path.split('{').length)
  .map(({ operation, path }) => ({
    operation,
    matches: new RegExp(`^${path.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{\w+\}/g, '[^/:]+')}$`),
  }))

export function summaryOfRefusals(lines: Iterable<string>): string {
  const seen = new Map<string, Set<string>>()
  for (const line of lines) {
    const [method, path = '', code = ''] = line.split(' ')
    const found = routes.find(({ operation, matches }) => operation.method === method && matches.test(path))
    if (found) seen.set(found.operation.id, (seen.get(found.operation.id) ?? new Set()).add(code))
  }
  const declared = all.flatMap(({ id, refuses = [] }) => refuses.map((code) => ({ id, code })))
  const unraised = declared.filter(({ id, code }) => !seen.get(id)?.has(code))
  const undeclared = all.flatMap((operation) => {
    const met = new Set<string>(refusalsMetBy(operation).map(({ code }) => code))
    return [...(seen.get(operation.id) ?? [])]
      .filter((code) => !met.has(code))
      .map((code) => ({ id: operation.id, code }))
  })
  const file = process.env['SVC_TEST_REFUSALS']
  const listed = (title: string, of: readonly { id: string; code: string }[]) =>
    [title, ...of.map(({ id, code }) => `  ${id} ${code}`)].join('\n')
  if (file) writeFileSync(file, `${listed('not raised:', unraised)}\n${listed('not declared:', undeclared)}\n`)
  return (
    `${declared.length - unraised.length} of the ${declared.length} refusals that operations declare were answered over HTTP, ` +
    `and ${undeclared.length} that they do not declare`
  )
}
