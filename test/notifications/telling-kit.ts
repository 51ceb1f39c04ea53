/** The notifier of a test: over the daemon's database, and only when the test asks for it. */
import { bootInstallation } from '../../src/core/app/boot.ts'
import { tellAll } from '../../src/core/areas/notifications/notifier.ts'
import type { Notification } from '../../src/core/contract/notifications/operations.ts'
import type { Installation } from '../../src/core/kernel/transaction/installation.ts'
import type { Desk } from '../items/desk.ts'
import type { TestDaemon } from '../kit/daemon.ts'
import type { Person } from '../kit/people.ts'

export interface Telling {
  readonly installation: Installation
  /** Tells everything that waits. */
  tell(): Promise<void>
  /** What the account is shown, after everything that waits was told. */
  shown(as: Person, query?: string): Promise<{ data: Notification[]; unread_count: number; next_cursor: string | null }>
  /** Of what is shown: category, name of the event, count. */
  brief(as: Person, query?: string): Promise<string[]>
  /** Everything is told and removed, so that a test sees its own alone. */
  clean(): Promise<void>
  close(): Promise<void>
}

const boot = ({ config }: Pick<TestDaemon, 'config'>) =>
  bootInstallation(config, { works: false, isDaemon: false, applicationName: 'svc telling', note: () => {} })

/** Tells everything that waits, once. */
export async function told(daemon: Pick<TestDaemon, 'config'>): Promise<void> {
  const booted = await boot(daemon)
  await tellAll(booted.installation).finally(() => booted.close())
}

export async function openTelling(desk: Desk): Promise<Telling> {
  const booted = await boot(desk.daemon)
  const { installation } = booted
  const { sql } = desk.daemon.db
  const shown: Telling['shown'] = async (as, query = '') => {
    await tellAll(installation)
    const { status, json, text } = await desk.ask(`GET /accounts/me/notifications?${query}` as 'GET /x', undefined, {
      as,
    })
    if (status !== 200) throw new Error(`${status} ${text}`)
    return json
  }
  return {
    installation,
    shown,
    tell: () => tellAll(installation),
    async brief(as, query) {
      const { data } = await shown(as, query)
      return data.map(({ category, event_type, count }) => `${category} ${event_type.slice(4, -3)} ${count}`)
    },
    async clean() {
      await tellAll(installation)
      await sql`delete from notification`
      await sql`delete from notification_preference`
    },
    close: () => booted.close(),
  }
}
