/** The check of a prompt, by the API's own schema and in the words of its problems. */
import type { z } from 'zod'
import type { Violation } from '../../core/contract/problem.ts'
import { violationsOf } from '../../core/kernel/request/violations.ts'
import { ruleInWords } from '../render/problem.ts'
import type { Check } from './prompts.ts'

/** Checks one member of a body. */
export function checkOf(body: z.ZodObject, member: string): Check {
  const schema = body.shape[member] as z.ZodType
  return (value) => {
    const parsed = schema.safeParse(value)
    if (parsed.success) return true
    const [first] = violationsOf(parsed.error) as [Violation]
    return `It ${ruleInWords(first.code, first.params)}.`
  }
}
