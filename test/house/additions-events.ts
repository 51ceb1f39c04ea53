/** An event, a quota and an obligation, as somebody would add them: reminders of items. Counted and tried by places.test.ts. */
import { expect } from 'vitest'
import type * as All from '../../src/core/areas/recovery/obligations/all.ts'
import type * as Catalog from '../../src/core/contract/event-catalog.ts'
import type * as Quotas from '../../src/core/contract/quotas.ts'
import type * as RecoveryChecks from '../../src/core/contract/recovery-checks.ts'
import type * as SettingsOperations from '../../src/core/contract/settings/operations.ts'
import type * as EventRows from '../../src/core/kernel/outbox/event-row.ts'
import type { Addition } from './places.ts'

const tenantId = '0199c0de-0000-7000-8000-000000000001'
const id = '0199c0de-0000-7000-8000-000000000002'

export const event: Addition = {
  kind: 'event',
  places: [
    {
      path: 'src/core/contract/items/events.ts',
      changes: [
        [
          "  'work.item.deleted':",
          "  'work.item.reminded': { when: 'the people of an item were reminded of it', ...whole },\n  'work.item.deleted':",
        ],
      ],
    },
  ],
  use: {
    path: 'src/core/areas/items/reminding.ts',
    text: `import type { Ctx } from '../../kernel/transaction/context.ts'
import { readItem } from './item.ts'
export const tellReminded = async (ctx: Ctx, itemId: string) =>
  ctx.record('work.item.reminded', await readItem(ctx, itemId), { people: 2 })
`,
  },
  async check(copy) {
    const { catalog } = await copy.load<typeof Catalog>('src/core/contract/event-catalog.ts')
    const { eventRow } = await copy.load<typeof EventRows>('src/core/kernel/outbox/event-row.ts')
    const name = 'work.item.reminded' as Catalog.EventName
    const data = { ...(catalog[name].example as Catalog.NewEvent<'work.item.changed'>['data']), id }
    const told = { name, data } as Catalog.NewEvent
    const row = eventRow('svc', tenantId, { kind: 'SYSTEM', job: 'remind' }, new Date(), told)
    expect(row.type).toBe('svc.work.item.reminded.v1')
    expect(JSON.parse(row.body)).toMatchObject({ subject: `/items/${id}` })
  },
}

export const quota: Addition = {
  kind: 'quota',
  register: 'src/core/areas/tenants/quotas.ts',
  places: [
    {
      path: 'src/core/contract/quotas.ts',
      changes: [['  media_bytes: {', '  item_reminders: { ceiling: 500 },\n  media_bytes: {']],
    },
    {
      path: 'src/core/areas/items/item-count.ts',
      changes: [
        [
          '\n} satisfies Partial<QuotaCounts>',
          `
  item_reminders: {
    async used({ tx }, tenantId) {
      const [row] = await tx<{ count: number }[]>\`
        select count(*)::int as count from item where tenant_id = \${tenantId} and due_at is not null\`
      return row?.count ?? 0
    },
  },
} satisfies Partial<QuotaCounts>`,
        ],
      ],
    },
  ],
  use: {
    path: 'src/core/areas/items/reminder-count.ts',
    text: `import type { Ctx } from '../../kernel/transaction/context.ts'
import { spend } from '../settings/quotas.ts'
import { itemQuotas } from './item-count.ts'
export const countReminder = (ctx: Ctx) => spend(ctx, itemQuotas, 'item_reminders', ctx.account)
`,
  },
  async check(copy) {
    const { quotaNames } = await copy.load<typeof Quotas>('src/core/contract/quotas.ts')
    const { settingsOperations } = await copy.load<typeof SettingsOperations>(
      'src/core/contract/settings/operations.ts',
    )
    expect(quotaNames).toContain('item_reminders')
    const { body } = settingsOperations.replaceSettings
    expect(body.safeParse({ quotas: { item_reminders: 7 } }).success).toBe(true)
    expect(body.safeParse({ quotas: { item_errors: 7 } }).success).toBe(false)
  },
}

export const obligation: Addition = {
  kind: 'obligation',
  register: 'src/core/areas/recovery/obligations/all.ts',
  places: [
    {
      path: 'src/core/contract/obligation.ts',
      changes: [
        [
          '  tokens: [',
          "  reminders: [z.strictObject({ act: z.literal('reminder.cancelled'), tenant_id: uuid, id: uuid })],\n  tokens: [",
        ],
      ],
    },
    {
      path: 'src/core/areas/recovery/obligations/reminders.ts',
      text: `/** Cancelled reminders: none goes out for an item whose reminder was cancelled. */
import { type ObligationRules, oneByOne, read, type Step } from './obligation.ts'

export const reminders: ObligationRules<'reminders', ReadonlyMap<string, string>, 'reminder.cancel'> = {
  words: { 'reminder.cancel': 'cancel the reminder' },
  desired: (lines) => new Map(lines.map(({ act }) => [act.id, act.tenant_id])),
  isSo: (tx, { tenant_id, id }) =>
    tx\`select exists (select from item where tenant_id = \${tenant_id} and id = \${id} and due_at is null) as is_so\`,
  async plan(planning, desired) {
    const ids = [...desired.keys()]
    const due = await read(
      planning,
      ({ tx }) => tx<{ tenant_id: string; id: string }[]>\`
        select tenant_id, id from item where id in \${tx.list(ids)} and due_at is not null\`,
    )
    return due.map((row): Step<'reminder.cancel'> => ({
      what: 'reminder.cancel',
      ...row,
      hindered_by: null,
      is_uncertain: false,
    }))
  },
  repeat: ({ installation, actor }, _desired, steps) =>
    oneByOne(steps, async ({ tenant_id: tenantId, id }) => {
      await installation.transaction(actor, { tenantId }, ({ tx }) =>
        tx\`update item set due_at = null where tenant_id = \${tenantId} and id = \${id}\`,
      )
      return null
    }),
}
`,
    },
    {
      path: 'src/core/areas/recovery/obligations/all.ts',
      changes: [
        [
          "import { tokens } from './tokens.ts'",
          "import { reminders } from './reminders.ts'\nimport { tokens } from './tokens.ts'",
        ],
        ['const all = { holds, ', 'const all = { holds, reminders, '],
      ],
    },
  ],
  use: {
    path: 'src/core/areas/items/reminder-cancelling.ts',
    text: `import type { Ctx } from '../../kernel/transaction/context.ts'
export const cancelReminder = (ctx: Ctx, tenant_id: string, id: string) =>
  ctx.recordObligation({ act: 'reminder.cancelled', tenant_id, id })
`,
  },
  async check(copy) {
    const { acceptableCodes } = await copy.load<typeof RecoveryChecks>('src/core/contract/recovery-checks.ts')
    expect(acceptableCodes).toContain('reminders')
    const all = await copy.load<typeof All>('src/core/areas/recovery/obligations/all.ts')
    const act = { act: 'reminder.cancelled', tenant_id: tenantId, id } as unknown as Parameters<
      typeof all.isSo
    >[1]['act']
    const line = { seq: 1, at: '2026-11-20T12:00:00.000Z', mac: '', act, isSettled: true }
    expect(all.desiredStateOf([line])).toMatchObject({ reminders: new Map([[id, tenantId]]), tokens: new Map() })
    const what = 'reminder.cancel'
    const step = { what, tenant_id: tenantId, id, hindered_by: null, is_uncertain: false }
    expect(all.wordsOf(step)).toBe('cancel the reminder')
    expect(all.stepsOf('reminders' as 'tokens', [step])).toEqual([step])
  },
}
