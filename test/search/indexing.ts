/** The indexer of a test: over the daemon's database, and only when the test asks for it. */

import { bootInstallation } from '../../src/core/app/boot.ts'
import { indexAll } from '../../src/core/areas/search/indexer.ts'
import type { Installation } from '../../src/core/kernel/transaction/installation.ts'
import type { TestDaemon } from '../kit/daemon.ts'

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
