/** Ceilings are refused in one place, so that no area counts against one in a way of its own. */
import { expect, test } from 'vitest'
import { type SourceFile, sourceFiles } from './source.ts'

const refuses = ({ text }: SourceFile) => /(?:refuse|new Problem)\(\s*'quota\.exceeded'/.test(text)

test('only `spend` and the tally under it refuse quota.exceeded, and the rate of calls before there is a transaction', () => {
  expect(refuses({ path: 'src/core/areas/a/b.ts', text: "refuse('quota.exceeded', { quota, limit, used })" })).toBe(
    true,
  )
  const refusing = sourceFiles('src').filter(refuses)
  expect(refusing.map(({ path }) => path).sort(), 'use spend(ctx, quotas, name, …)').toEqual([
    'src/core/areas/settings/quotas.ts',
    'src/core/contract/problem.ts',
    'src/daemon/rate.ts',
  ])
})
