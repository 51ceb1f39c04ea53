/** An installation that runs its jobs and keeps its log: for tests of the mail that leaves it. */
import { randomUUIDv7 } from 'node:crypto'
import { jobs } from '../../src/core/app/jobs.ts'
import { openLedgerCopies } from '../../src/core/areas/recovery/ledger/ledger-copies.ts'
import { tenantOperations } from '../../src/core/contract/tenants/operations.ts'
import { openInstallation } from '../../src/core/kernel/transaction/installation.ts'
import { openLog } from '../../src/daemon/log.ts'
import { startWorker } from '../../src/daemon/worker.ts'
import { freshSlug, type TestInstallation, testInstallation } from './installation.ts'

export interface Mailing {
  readonly test: TestInstallation
  /** The daemon's log so far. */
  log(): string
  /** A workspace without accounts. */
  workspace(given?: {
    readonly displayName?: string
    readonly locale?: string
    readonly zone?: string
  }): Promise<string>
  /** An account of the workspace; answers its address. */
  account(tenantId: string, given?: AccountGiven): Promise<string>
  open(tenantId: string, more?: { readonly requester?: string; readonly reason?: string }): Promise<unknown>
  close(tenantId: string): Promise<unknown>
  /** States of the workspace's jobs of that name, sorted. */
  states(tenantId: string, job: 'tell_administrators' | 'send_mail' | 'end_password_opening'): Promise<string[]>
  /** Starts at once the jobs that wait for their next attempt or their time. */
  hurry(tenantId: string): Promise<void>
  end(): Promise<void>
}

export interface AccountGiven {
  readonly role?: 'OWNER' | 'ADMIN' | 'MEMBER' | 'COMMENTER' | 'VIEWER'
  readonly state?: 'INVITED' | 'ACTIVE' | 'DISABLED'
  readonly kind?: 'PERSON' | 'SERVICE'
  readonly name?: string
}

export async function mailing(env: NodeJS.ProcessEnv): Promise<Mailing> {
  const test = await testInstallation({ env })
  const { config, address, keyring } = test.installation
  const lines: string[] = []
  const log = openLog('info', { write: (line) => lines.push(line) })
  const working = openInstallation(config, address, keyring, {
    works: true,
    applicationName: 'svc test worker',
    copies: openLedgerCopies,
  })
  const worker = await startWorker(working, jobs, log)
  const { oracle } = test

  return {
    test,
    log: () => lines.join(''),

    async workspace({ displayName = 'Acme', locale = 'en', zone = 'UTC' } = {}) {
      const id = randomUUIDv7()
      await oracle`
        insert into tenant (id, slug, display_name, state, default_locale, default_time_zone)
        values (${id}, ${freshSlug('mail')}, ${displayName}, 'ACTIVE', ${locale}, ${zone})`
      return id
    },

    async account(tenantId, { role = 'OWNER', state = 'ACTIVE', kind = 'PERSON', name = 'Ada' } = {}) {
      const id = randomUUIDv7()
      const email = kind === 'PERSON' ? `${id}@people.example` : null
      await oracle`
        insert into account (tenant_id, id, kind, state, email, email_fold, display_name)
        values (${tenantId}, ${id}, ${kind}, ${state}, ${email}, ${email}, ${name})`
      await oracle`insert into membership (tenant_id, id, account_id, role) values (${tenantId}, ${randomUUIDv7()}, ${id}, ${role})`
      return email ?? ''
    },

    open: (tenantId, more) =>
      test.asRecovery(tenantOperations.openPassword, {
        tenantId,
        body: { requester: 'Ruth', reason: 'their provider is down', ...more },
      }),
    close: (tenantId) => test.asRecovery(tenantOperations.closePassword, { tenantId }),

    async states(tenantId, job) {
      const rows = await oracle<{ state: string }[]>`
        select state::text as state from pgboss.job where name = ${job} and data ->> 'tenantId' = ${tenantId} order by 1`
      return rows.map(({ state }) => state)
    },
    async hurry(tenantId) {
      await oracle`update pgboss.job set start_after = now() where state in ('created', 'retry') and data ->> 'tenantId' = ${tenantId}`
    },

    async end() {
      await worker.close()
      await working.close()
      await test.close()
    },
  }
}
