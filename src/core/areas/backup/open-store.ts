/** From a target to its store; the module of a kind is loaded when it is needed. */
import type { Installation } from '../../kernel/transaction/installation.ts'
import type { OpenedTarget, Store } from './store.ts'

/** Connects to a target. Throws StoreFailure. */
export async function openStore(installation: Installation, target: OpenedTarget): Promise<Store> {
  switch (target.kind) {
    case 'LOCAL': {
      const { openLocal } = await import('./stores/local.ts')
      return openLocal(installation.config.backupDir, target.config.path ?? '')
    }
    case 'S3': {
      const { openS3 } = await import('./stores/s3.ts')
      return openS3(await installation.egress(), target)
    }
    case 'SFTP': {
      const { openSftp } = await import('./stores/sftp.ts')
      return openSftp(await installation.egress(), target)
    }
  }
}

/** Uses a store and closes it. */
export async function withStore<T>(
  installation: Installation,
  target: OpenedTarget,
  use: (store: Store) => Promise<T>,
): Promise<T> {
  const store = await openStore(installation, target)
  try {
    return await use(store)
  } finally {
    await store.close()
  }
}
