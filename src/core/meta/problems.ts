/** Answers the registry of problems. Spec: decisions 1, Problems. */
import type { Ctx } from '../context.ts'
import type { Answer } from '../operation.ts'
import { type ProblemCode, problems } from '../problem.ts'
import type { metaOperations as ops } from './contract.ts'

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
