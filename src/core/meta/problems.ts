/** Answers the registry of problems. Spec: decisions 1, Problems. */
import type { Ctx } from '../context.ts'
import type { Answer } from '../operation.ts'
import { type ProblemCode, problems } from '../problem.ts'
import type { metaOperations as ops } from './contract.ts'

const registry = {
  data: (Object.entries(problems) as [ProblemCode, { status: number; params?: readonly string[] }][]).map(
    ([code, { status, params }]) => ({
      code,
      status,
      params: [...(params ?? [])],
    }),
  ),
}

export async function listProblems(_: Ctx): Promise<Answer<typeof ops.listProblems>> {
  return registry
}
