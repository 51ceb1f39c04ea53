/** One of each kind of thing, as somebody would add it: reminders of items. Counted and tried by places.test.ts. */
import { expect } from 'vitest'
import type * as Jobs from '../../src/core/app/jobs.ts'
import type * as Entities from '../../src/core/areas/backup/entities.ts'
import type * as Kinds from '../../src/core/areas/mail/kinds.ts'
import type * as SealedKinds from '../../src/core/contract/sealed-kinds.ts'
import type * as Tables from '../../src/core/contract/tables.ts'
import type * as LockClasses from '../../src/core/kernel/database/lock-classes.ts'
import type * as Migrate from '../../src/core/kernel/database/migrate.ts'
import { migrationNames } from '../../src/core/kernel/database/migration-names.ts'
import { openPool } from '../../src/core/kernel/database/pool.ts'
import type * as RemovalOrder from '../../src/core/kernel/database/removal-order.ts'
import { testDatabase } from '../kit/database.ts'
import { event, obligation, quota } from './additions-events.ts'
import { operation } from './additions-operation.ts'
import { readCatalog } from './catalog.ts'
import type * as CatalogRules from './catalog-rules.ts'
import { rules as rulesWithout } from './catalog-rules.ts'
import type { Addition } from './places.ts'

/** Numbers may have gaps, which other branches fill. */
const nextMigration = `${String(Number(migrationNames().at(-1)?.slice(0, 4)) + 1).padStart(4, '0')}_item_reminder`

const table: Addition = {
  kind: 'table',
  places: [
    {
      path: `migrations/${nextMigration}.sql`,
      text: `-- Old code  runs: only an addition.
create table item_reminder (
  tenant_id uuid not null references tenant (id),
  id uuid not null,
  item_id uuid not null,
  at timestamptz not null,
  primary key (tenant_id, id),
  foreign key (tenant_id, item_id) references item (tenant_id, id)
);
select workspace_table('item_reminder');
`,
    },
    {
      path: 'src/core/contract/tables.ts',
      changes: [
        [
          "  item_label: { export: 'item_labels', content: true },",
          "  item_label: { export: 'item_labels', content: true },\n  item_reminder: { export: 'item_reminders', since: 'at' },",
        ],
      ],
    },
  ],
  async check(copy) {
    const db = await testDatabase()
    const pool = openPool(db.daemon, { size: 1, applicationName: 'places' })
    try {
      const { migrate } = await copy.load<typeof Migrate>('src/core/kernel/database/migrate.ts')
      const { queueNames } = await copy.load<typeof Jobs>('src/core/app/jobs.ts')
      expect(await migrate(db.owner, db.daemon, queueNames)).toEqual([nextMigration])

      const catalog = await readCatalog(db.sql)
      const { rules } = await copy.load<typeof CatalogRules>('test/house/catalog-rules.ts')
      expect(rules.flatMap(({ breaks }) => breaks(catalog))).toEqual([])
      // Without its line the house says what to write, and where.
      const missing = rulesWithout.filter(({ breaks }) => breaks(catalog).length > 0)
      expect(missing.map(({ breaks }) => breaks(catalog))).toEqual([['item_reminder']])
      expect(missing[0]?.why).toContain("write NAME: { export: 'entity' }")
      expect(missing[0]?.why).toContain('into workspaceTables in src/core/contract/tables.ts')

      const { readRemovalOrder } = await copy.load<typeof RemovalOrder>('src/core/kernel/database/removal-order.ts')
      const { readEntities } = await copy.load<typeof Entities>('src/core/areas/backup/entities.ts')
      const order = await pool.transaction('', (tx) => readRemovalOrder(tx))
      const entities = await pool.transaction('', (tx) => readEntities(tx, 'TENANT_EXPORT'))
      expect(order.indexOf('item_reminder')).toBeLessThan(order.indexOf('item'))
      const reminders = entities.findIndex(({ name }) => name === 'item_reminders')
      expect(reminders).toBeGreaterThan(entities.findIndex(({ name }) => name === 'items'))
      expect(entities[reminders]?.columns.map(({ name }) => name)).toEqual(['id', 'item_id', 'at'])
    } finally {
      await pool.close()
      await db.drop()
    }
  },
}

const job: Addition = {
  kind: 'job',
  places: [
    {
      path: 'src/core/areas/tenants/jobs.ts',
      changes: [
        [
          '/** The jobs of this area. */',
          `/** Reminds the people of a workspace. */
export const remindPeople = defineJob({
  name: 'remind_people',
  payload: z.object({ tenantId: z.guid() }),
  retryLimit: 5,
  async run(installation, { tenantId }) {
    await installation.transaction({ kind: 'SYSTEM', job: 'remind_people' }, { tenantId }, async () => undefined)
  },
})

/** The jobs of this area. */`,
        ],
        ['endForgottenOpenings]', 'endForgottenOpenings, remindPeople]'],
      ],
    },
  ],
  use: {
    path: 'src/core/areas/tenants/reminding.ts',
    text: `import type { Ctx } from '../../kernel/transaction/context.ts'
import { remindPeople } from './jobs.ts'
export const remind = (ctx: Ctx, tenantId: string) => ctx.enqueue(remindPeople, { tenantId })
`,
  },
  async check(copy) {
    const { jobs, queueNames } = await copy.load<typeof Jobs>('src/core/app/jobs.ts')
    expect(queueNames).toContain('remind_people')
    expect(jobs.find(({ name }) => name === 'remind_people')).toMatchObject({ retryLimit: 5 })
  },
}

const mail: Addition = {
  kind: 'mail',
  places: [
    {
      path: 'src/core/areas/mail/texts/reminder.ts',
      text: `import type { InEveryLanguage, Text } from './language.ts'
const said: Text = { subject: 'Due: {workspace}', says: ['Something in {workspace} is due at {moment}.'] }
export const due: InEveryLanguage = {
  en: said, de: said, fr: said, es: said, it: said, nl: said,
  pt: said, pl: said, sv: said, da: said, cs: said, ja: said,
}
`,
    },
    {
      path: 'src/core/areas/mail/kinds.ts',
      changes: [
        [
          "import * as secondFactor from './texts/second-factor.ts'",
          "import * as reminder from './texts/reminder.ts'\nimport * as secondFactor from './texts/second-factor.ts'",
        ],
        [
          '} as const satisfies',
          "  reminder_due: { to: 'account', when: 'something that it asked to be reminded of is due', texts: reminder.due },\n} as const satisfies",
        ],
      ],
    },
  ],
  use: {
    path: 'src/core/areas/items/reminder-mail.ts',
    text: `import type { Ctx } from '../../kernel/transaction/context.ts'
import { tellAccount } from '../mail/jobs.ts'
export const remind = (ctx: Ctx, tenantId: string, accountId: string, noticeId: string, at: string) =>
  tellAccount(ctx, { tenantId, accountId, noticeId, name: 'reminder_due', at })
`,
  },
  async check(copy) {
    const { kindOf, mailNames } = await copy.load<typeof Kinds>('src/core/areas/mail/kinds.ts')
    expect(mailNames).toContain('reminder_due')
    expect(kindOf('reminder_due' as Kinds.MailName).texts.ja.subject).toBe('Due: {workspace}')
  },
}

const sealedValue: Addition = {
  kind: 'sealed value',
  places: [
    {
      path: 'src/core/contract/sealed-kinds.ts',
      changes: [
        [
          '} as const satisfies',
          `  'reminder.secret': {
    holds: 'what a reminder that leaves the installation is signed with',
    owner: 'item',
    ifLost: 'set the reminder again',
  },
} as const satisfies`,
        ],
      ],
    },
  ],
  use: {
    path: 'src/core/areas/items/reminder-secret.ts',
    text: `import type { Ctx } from '../../kernel/transaction/context.ts'
import { storeSealed } from '../../kernel/transaction/sealed-values.ts'
export const keep = (ctx: Ctx, tenantId: string, itemId: string, secret: string) =>
  storeSealed(ctx, { tenantId, kind: 'reminder.secret', ownerId: itemId }, secret)
`,
  },
  async check(copy) {
    const { sealedKinds } = await copy.load<typeof SealedKinds>('src/core/contract/sealed-kinds.ts')
    const { workspaceTables } = await copy.load<typeof Tables>('src/core/contract/tables.ts')
    const { owner } = new Map<string, SealedKinds.SealedKindDeclaration>(Object.entries(sealedKinds)).get(
      'reminder.secret',
    )!
    expect(workspaceTables).toHaveProperty(owner)
  },
}

const lockClass: Addition = {
  kind: 'lock class',
  places: [
    {
      path: 'src/core/kernel/database/lock-classes.ts',
      changes: [['} as const', '  reminders: 7399,\n} as const']],
    },
  ],
  use: {
    path: 'src/core/areas/items/reminder-lock.ts',
    text: `import { lockClasses } from '../../kernel/database/lock-classes.ts'
import type { Tx } from '../../kernel/database/transaction.ts'
export const lockReminders = (tx: Tx, tenantId: string) =>
  tx\`select pg_advisory_xact_lock(\${lockClasses.reminders}, hashtext(\${tenantId}))\`
`,
  },
  async check(copy) {
    const { lockClasses } = await copy.load<typeof LockClasses>('src/core/kernel/database/lock-classes.ts')
    const numbers = Object.values(lockClasses)
    expect(numbers).toContain(7399)
    expect(new Set(numbers).size).toBe(numbers.length)
  },
}

export const additions: readonly Addition[] = [
  operation,
  table,
  job,
  event,
  mail,
  sealedValue,
  lockClass,
  quota,
  obligation,
]
