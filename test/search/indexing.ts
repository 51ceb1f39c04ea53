/** The indexer of a test: over the daemon's database, and only when the test asks for it. */

import { bootInstallation } from '../../src/core/app/boot.ts'
import { indexAll } from '../../src/core/areas/search/indexer.ts'
import type { SearchAnswer } from '../../src/core/contract/search/operations.ts'
import type { Installation } from '../../src/core/kernel/transaction/installation.ts'
import type { Desk } from '../items/desk.ts'
import type { TestDaemon } from '../kit/daemon.ts'
import type { Person } from '../kit/people.ts'

export interface Indexing {
  readonly installation: Installation
  /** Indexes everything that waits. */
  catchUp(): Promise<void>
  close(): Promise<void>
}

/** Indexes everything that waits, once. */
export async function indexed(daemon: Pick<TestDaemon, 'config'>): Promise<void> {
  const indexing = await openIndexing(daemon)
  await indexing.catchUp().finally(() => indexing.close())
}

/** Searches as a MEMBER, or as whoever is named, behind all changes so far. Throws for a refusal. */
export const searcher =
  (desk: Pick<Desk, 'ask' | 'people'>, { catchUp }: Pick<Indexing, 'catchUp'>) =>
  async (query: string, members: object = {}, as: Person = desk.people.MEMBER): Promise<SearchAnswer> => {
    await catchUp()
    const { status, json, text } = await desk.ask('POST /search', { query, ...members }, { as })
    if (status !== 200) throw new Error(`${status} ${text}`)
    return json
  }

export async function openIndexing({ config }: Pick<TestDaemon, 'config'>): Promise<Indexing> {
  const booted = await bootInstallation(config, {
    works: false,
    isDaemon: false,
    applicationName: 'svc indexing',
    note: () => {},
  })
  const { installation } = booted
  return { installation, catchUp: () => indexAll(installation), close: () => booted.close() }
}
