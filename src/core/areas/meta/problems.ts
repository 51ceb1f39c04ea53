/** Answers the registry of problems. Spec: decisions 1, Problems. */

import type { metaOperations as ops } from '../../contract/meta/operations.ts'
import type { Answer } from '../../contract/operation.ts'
import { type ProblemCode, problems } from '../../contract/problem.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'

type Row = { status: number; params?: readonly string[]; optionalParams?: readonly string[] }

const registry = {
  data: (Object.entries(problems) as [ProblemCode, Row][]).map(([code, row]) => ({
    code,
    status: row.status,
    params: [...(row.params ?? []), ...(row.optionalParams ?? [])],
  })),
}

export async function listProblems(_: Ctx): Promise<Answer<typeof ops.listProblems>> {
  return registry
}
