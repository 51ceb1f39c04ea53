/** Events of a workspace itself. Spec: Workspace; decisions 4 and 5. */
import { z } from 'zod'
import { defineEvents, exampleId } from '../event.ts'
import { quotaNames } from '../quotas.ts'
import { int64, moment, uuid } from '../vocabulary.ts'
import { tenantStates } from './operations.ts'

const who = { id: uuid, slug: z.string() }
const state = z.object({ ...who, state: z.enum(tenantStates) })
const particulars = { display_name: z.string(), default_locale: z.string(), default_time_zone: z.string() }
const acme = { id: exampleId(1), slug: 'acme' }
const ofTenant = { subject: '/tenants/{id}', kind: 'tenant', container: null } as const

export const tenantEvents = defineEvents({
  'work.tenant.provisioned': {
    when: 'a workspace was provisioned',
    ...ofTenant,
    data: state,
    example: { ...acme, state: 'ACTIVE' },
  },
  'work.tenant.changed': {
    when: "a workspace's name, locale or time zone was changed",
    ...ofTenant,
    data: z.object({
      ...who,
      ...particulars,
      previous: z.object(particulars).partial().describe('the members that changed, as they were'),
    }),
    example: {
      ...acme,
      display_name: 'Acme Ltd',
      default_locale: 'en',
      default_time_zone: 'Europe/Zurich',
      previous: { default_time_zone: 'UTC' },
    },
  },
  'work.tenant.suspended': {
    when: 'a workspace was suspended',
    ...ofTenant,
    data: state,
    example: { ...acme, state: 'SUSPENDED' },
  },
  'work.tenant.resumed': {
    when: 'a workspace was resumed',
    ...ofTenant,
    data: state,
    example: { ...acme, state: 'ACTIVE' },
  },
  'work.tenant.quotas_changed': {
    when: "a workspace's ceilings were changed",
    ...ofTenant,
    data: z.object({
      ...who,
      quotas: z
        .partialRecord(z.enum(quotaNames), int64.nullable())
        .describe('the ceilings that moved; null inherits again'),
    }),
    example: { ...acme, quotas: { items: 5000, ai_tokens_per_day: null } },
  },
  'work.tenant.deletion_requested': {
    when: 'the deletion of a workspace was asked for',
    ...ofTenant,
    data: z.object({ ...state.shape, purge_after: moment }),
    example: { ...acme, state: 'PENDING_DELETION', purge_after: '2026-10-01T09:00:00.000Z' },
  },
  'work.tenant.deletion_cancelled': {
    when: 'the deletion of a workspace was cancelled',
    ...ofTenant,
    data: state,
    example: { ...acme, state: 'ACTIVE' },
  },
  'work.tenant.restored': {
    when: 'a workspace came back from a backup, was rewound, or a rewind was undone: what was read of it before is to be read anew',
    ...ofTenant,
    data: z.object({
      ...who,
      restore_id: uuid.describe('the restore'),
      snapshot_at: moment.describe('the moment that it has now'),
      counts: z
        .object({
          comes_back: z.int().describe('rows that came back'),
          changes_back: z.int().describe('rows that changed back'),
          goes_away: z.int().describe('rows that went'),
        })
        .describe('rows of all kinds'),
    }),
    example: {
      ...acme,
      restore_id: exampleId(2),
      snapshot_at: '2026-09-01T02:00:00.000Z',
      counts: { comes_back: 3, changes_back: 12, goes_away: 1 },
    },
  },
  'work.tenant.password_opened': {
    when: 'a workspace was let sign in with passwords for some hours',
    ...ofTenant,
    data: z.object({ ...who, until: moment }),
    example: { ...acme, until: '2026-09-02T09:00:00.000Z' },
  },
  'work.tenant.password_closed': {
    when: 'a password opening was closed before its end',
    ...ofTenant,
    data: z.object(who),
    example: acme,
  },
})
