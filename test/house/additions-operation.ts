/** An operation, as somebody would add it: the address of the service's own time. Counted and tried by places.test.ts. */
import { expect } from 'vitest'
import type * as Handlers from '../../src/core/app/handlers.ts'
import type * as Operations from '../../src/core/contract/operations.ts'
import type * as OpenApi from '../../src/daemon/openapi.ts'
import type { Addition } from './places.ts'

export const operation: Addition = {
  kind: 'operation',
  places: [
    {
      path: 'src/core/contract/meta/operations.ts',
      changes: [
        [
          "export const metaOperations = defineOperations('meta', {\n",
          `export const metaOperations = defineOperations('meta', {
  tellTime: {
    method: 'GET',
    path: '/meta/time',
    summary: 'The time of the service',
    spec: 'ours',
    success: { status: 200, answer: z.object({ now: z.string() }) },
    needs: { caller: 'anyone', rate: { perSource: { calls: 600, seconds: 60 } } },
    recovery: 'allowed',
  },
`,
        ],
      ],
    },
    {
      path: 'src/core/areas/meta/time.ts',
      text: `/** The time of the service. */
import type { metaOperations as ops } from '../../contract/meta/operations.ts'
import type { Answer } from '../../contract/operation.ts'

export async function tellTime(): Promise<Answer<typeof ops.tellTime>> {
  return { now: new Date().toISOString() }
}
`,
    },
    {
      path: 'src/core/areas/meta/handlers.ts',
      changes: [
        [
          "import { listProblems } from './problems.ts'\n",
          "import { listProblems } from './problems.ts'\nimport { tellTime } from './time.ts'\n",
        ],
        ['  listProblems,\n', '  listProblems,\n  tellTime,\n'],
      ],
    },
  ],
  register: 'src/core/areas/meta/handlers.ts',
  async check(copy) {
    const { operations } = await copy.load<typeof Operations>('src/core/contract/operations.ts')
    const { handlers } = await copy.load<typeof Handlers>('src/core/app/handlers.ts')
    const { openApiDocument } = await copy.load<typeof OpenApi>('src/daemon/openapi.ts')
    expect(Object.keys(operations)).toContain('tellTime')
    expect(Object.keys(handlers)).toContain('tellTime')
    const { paths } = openApiDocument(Object.values(operations))
    expect(paths).toHaveProperty(['/api/v1/meta/time'])
  },
}
