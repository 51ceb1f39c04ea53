/** The operator register. Spec: Admin, rules 2 and 3; decisions 4. */
import { z } from 'zod'
import { defineOperations } from '../operation.ts'
import { moment, slug, text, uuid } from '../vocabulary.ts'

const Operator = z
  .object({
    account_id: uuid,
    name: z.string().nullable(),
    address: z.string().nullable(),
    sign_in_name: z.string().nullable(),
    kind: z.enum(['PERSON', 'SERVICE']),
    workspace: z.object({ id: uuid, slug: z.string() }),
    added_at: moment,
    added_by: uuid.nullable(),
    probation_until: moment.nullable().describe('null: a full operator'),
  })
  .meta({ id: 'Operator' })
export type Operator = z.output<typeof Operator>

const OperatorAdd = z
  .strictObject({
    account_id: uuid.optional(),
    workspace: slug.optional().describe("the workspace's slug, used with email"),
    email: text(1, 254)
      .optional()
      .describe('the address or the sign-in name with which the account signs in, inside the workspace'),
  })
  .meta({ id: 'OperatorAdd' })

export const operatorOperations = defineOperations('admin', {
  listOperators: {
    method: 'GET',
    path: '/admin/operators',
    summary: 'The operator register',
    spec: 'Admin: installation settings, operators',
    success: { status: 200, answer: z.object({ data: z.array(Operator) }) },
    needs: { caller: 'operator' },
    recovery: 'allowed',
  },
  addOperator: {
    method: 'POST',
    path: '/admin/operators',
    summary: 'Enter an account in the operator register',
    spec: 'Admin, rule 2',
    body: OperatorAdd,
    success: { status: 204 },
    needs: { caller: 'operator', whileRegisterEmpty: 'scope alone', stepUp: 'when sent' },
    refuses: ['admin.operator_not_active', 'not_found'],
    recovery: 'allowed',
    assumed: [
      'account_id, or workspace and email, but not both: 422 otherwise; an account nobody knows is 404',
      'without a step-up the account is on probation for SVC_OPERATOR_PROBATION_HOURS; entered once more with one it is full at once',
      'a caller who enters the empty register is full; an account that it names besides is on probation unless a step-up was sent',
    ],
  },
  removeOperator: {
    method: 'DELETE',
    path: '/admin/operators/{accountId}',
    summary: 'Remove an account from the operator register',
    spec: 'Admin, rule 3',
    params: z.strictObject({ accountId: uuid }),
    success: { status: 204 },
    needs: { caller: 'operator', stepUp: 'when sent' },
    refuses: ['admin.operator_last', 'admin.operator_not_registered'],
    recovery: 'allowed',
    assumed: [
      'the last operator is the last who can act: not on probation, with an active account in an active workspace, and, if a service account, with a token that carries admin:tenants',
    ],
  },
})
