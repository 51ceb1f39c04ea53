/** What the API says of itself. Spec: decisions 1, Problems. */
import { z } from 'zod'
import { defineOperations } from '../operation.ts'

export const metaOperations = defineOperations('meta', {
  listProblems: {
    method: 'GET',
    path: '/meta/problems',
    summary: 'Every problem code with its status and the names of its parameters',
    spec: 'decisions 1, Problems',
    success: {
      status: 200,
      fixed: true,
      answer: z.object({
        data: z.array(
          z.object({ code: z.string(), status: z.int(), params: z.array(z.string()) }).meta({ id: 'ProblemCode' }),
        ),
      }),
    },
    needs: { caller: 'anyone', rate: { perSource: { calls: 600, seconds: 60 } } },
    recovery: 'allowed',
  },
})
