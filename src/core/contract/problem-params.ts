/**
 * What the parameters of problems are, by name: a name means the same in every problem. From this table and the problems'
 * own come the schemas of refusals in the OpenAPI document, so that a client that has found the code knows its parameters.
 */
import { z } from 'zod'
import { type ProblemCode, problems } from './problem.ts'
import { int64, moment, uuid } from './vocabulary.ts'

const text = z.string()

type Rows = (typeof problems)[ProblemCode]
type Named<Member extends string> = Rows extends infer Row
  ? Row extends Readonly<Record<Member, readonly (infer Name extends string)[]>>
    ? Name
    : never
  : never
/** Every name that a problem has. One that is missing below does not compile. */
type ParamName = Named<'params'> | Named<'optionalParams'>

const problemParams = {
  account_id: uuid.describe('The account.'),
  accepted: text.describe('What is taken: the media type, or the kind of credential.'),
  allow: text.describe('The methods that the path serves, separated by commas.'),
  because: z.enum(['START', 'AGE']).describe('START: it is a start password. AGE: it is too old.'),
  challenge_expires_at: moment.describe('Until when the challenge serves.'),
  challenge_token: text.describe('What a code is sent with instead of the password, to POST /auth/sessions:verify.'),
  category: text.describe('The category of notifications.'),
  bound: z.enum(['LEVELS', 'CHILDREN', 'ITEMS']).describe('What there would be too much of.'),
  count: z.int().describe('How many there are.'),
  current_etag: text.describe('The entity tag of what is there now.'),
  due_at: moment.describe('When the deadline ended.'),
  expected: z.int().describe('The number that would confirm it.'),
  hash: text.describe('The hash of the plan that is current.'),
  hold_id: uuid.describe('The legal hold.'),
  kind: text.describe('The kind that it has.'),
  limit: int64.describe('The ceiling.'),
  link_token: text.describe('Joins the identity to an account, with POST /auth/sessions:link.'),
  limit_bytes: z.int().describe('The largest body, in bytes.'),
  more: z.literal(true).describe('There are more errors than the 20 that are listed.'),
  provider_ids: text.describe('The ids of the identity providers, separated by commas.'),
  quota: text.describe('The name of the quota.'),
  reason: text.describe('A code of what went wrong.'),
  request_id: uuid.nullable().describe('The request that is open.'),
  restore_id: uuid.describe('The restore.'),
  role: text.describe('The role that is needed.'),
  scope: text.describe('The scope that the token lacks.'),
  size_bytes: z.int().describe('The size that was declared, in bytes.'),
  source: text.describe('The file that decides.'),
  state: text.describe('The state that it is in.'),
  terms_version: text.nullable().describe('The version of the terms that is current; null if there is none.'),
  type: text.describe('The type that it has.'),
  until: moment.describe('When it ends.'),
  used: int64.describe('How much is used.'),
  version: z.int().describe('The version that is current; 0: there is none.'),
  window_seconds: z.int().describe('The time that the limit counts, in seconds.'),
  withdraw_at: moment.describe('When the offer ends.'),
  workspace_count: z.int().describe('How many workspaces it concerns.'),
} as const satisfies Readonly<Record<ParamName, z.ZodType>>

/** The parameters of a problem as a schema. */
export function paramsOf(code: ProblemCode): z.ZodObject {
  const row = problems[code] as {
    readonly params?: readonly ParamName[]
    readonly optionalParams?: readonly ParamName[]
  }
  const members = [
    ...(row.params ?? []).map((name) => [name, problemParams[name]] as const),
    ...(row.optionalParams ?? []).map((name) => [name, problemParams[name].optional()] as const),
  ]
  return z.object(Object.fromEntries(members))
}
