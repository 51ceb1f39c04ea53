/** What a server and a workspace are, for a client that has just met them. Spec: people 6, Meta. */
import { z } from 'zod'
import { defineOperations } from '../operation.ts'
import { type QuotaName, quotaNames } from '../quotas.ts'
import { int64, moment, slug, uuid } from '../vocabulary.ts'

const Server = z
  .object({
    contract_version: z.string().describe('of this contract; it changes only with the path `/api/v1`'),
    time: moment.describe("by the database's clock, which decides what is stored"),
    mode: z.enum(['multi', 'single']).describe('whether there are many workspaces, or a single one'),
    event_namespace: z.string().describe('the first part of every event type'),
    capabilities: z
      .object({
        mail: z
          .enum(['RELAY', 'FOLDER'])
          .describe('FOLDER: mails are written to a folder, and reach nobody by themselves'),
        oauth: z.boolean().describe('whether other apps can ask people for consent'),
        scim: z.boolean().describe('whether a directory can provision accounts'),
        ai: z.boolean().describe('whether the installation offers a model'),
        media: z.boolean().describe('whether files are taken'),
      })
      .describe('what the server can do'),
    limits: z
      .object({
        body_bytes: z.int().describe('the largest body of any operation; many take less'),
        page_size: z.int().describe('the largest page of lists that name no other'),
        idempotency_hours: z.int().describe('how long a repeated `Idempotency-Key` gets the first answer'),
        event_days: z.int().describe('how long events can be pulled'),
      })
      .describe('the bounds of requests and answers'),
    locales: z.array(z.string()).describe('the languages of mails'),
  })
  .meta({ id: 'Server' })

const WorkspaceQuota = z.object({
  value: int64.describe('the ceiling that counts; 0: none'),
  used: int64.nullable().describe('null: shown to administrators'),
})

const WorkspaceFacts = z
  .object({
    server_version: z.string().describe('the release that answers'),
    workspace: z.object({
      id: uuid,
      slug,
      display_name: z.string(),
      default_locale: z.string(),
      default_time_zone: z.string(),
    }),
    quotas: z.object(
      Object.fromEntries(quotaNames.map((name) => [name, WorkspaceQuota])) as Record<QuotaName, typeof WorkspaceQuota>,
    ),
    managed_accounts: z.boolean(),
    private_hubs: z.boolean(),
  })
  .meta({ id: 'WorkspaceFacts' })
export type WorkspaceFacts = z.output<typeof WorkspaceFacts>

export const serverOperations = defineOperations('meta', {
  getServer: {
    method: 'GET',
    path: '/meta/server',
    summary: 'What this server is and can, for a client before anybody has signed in',
    spec: 'people 6, M1',
    success: { status: 200, answer: Server },
    needs: { caller: 'anyone', rate: { perSource: { calls: 600, seconds: 60 } } },
    recovery: 'allowed',
    assumed: [
      'no version of the product: strangers would read from it which faults it has',
      '`limits.body_bytes` is the largest of the three bounds of bodies',
      '`oauth` and `scim` are false until they are served',
    ],
  },
})

export const workspaceFactOperations = defineOperations('meta', {
  getWorkspace: {
    method: 'GET',
    path: '/meta/workspace',
    summary: 'What the own workspace is and may use',
    spec: 'people 6, M2',
    success: { status: 200, answer: WorkspaceFacts },
    needs: { caller: 'workspace', scope: 'workspace:read', role: 'VIEWER', within: 'container' },
    recovery: { refused: '`svc tenants list` and `svc tenants quotas` show it' },
    assumed: ['`used` is shown to an ADMIN or OWNER, null to everybody else'],
  },
})
