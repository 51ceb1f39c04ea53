/** Each kind of sealed value belongs to rows that a purge knows, and is declared once. */
import { describe, expect, test } from 'vitest'
import { sealedKinds } from '../../src/core/contract/sealed-kinds.ts'
import { installationTables, workspaceTables } from '../../src/core/contract/tables.ts'
import { sourceFiles } from './source.ts'

describe.each(Object.entries(sealedKinds))('%s', (kind, { owner, holds, ifLost }) => {
  test('has a name that counts and associated data can carry', () => expect(kind).toMatch(/^[a-z_]+\.[a-z_]+$/))

  test('belongs to rows of a table that is known', () =>
    expect(owner in workspaceTables || owner in installationTables).toBe(true))

  test('says what it holds and what to do', () => expect(Math.min(holds.length, ifLost.length)).toBeGreaterThan(10))

  test('is stored and opened by somebody', () => {
    const users = sourceFiles('src').filter(
      ({ path, text }) => path !== 'src/core/contract/sealed-kinds.ts' && text.includes(`'${kind}'`),
    )
    expect(users.map(({ path }) => path)).not.toEqual([])
  })
})
