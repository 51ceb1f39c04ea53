/** Checks of the obligation ledger: it is intact, and copies of it exist. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { openLedgerCopies } from '../../core/areas/recovery/ledger/ledger-copies.ts'
import { type LedgerStatus, lookAtLedger } from '../../core/areas/recovery/ledger/ledger-status.ts'
import type { Config } from '../../core/kernel/config/config.ts'
import { asInstallation } from '../../core/kernel/database/roles.ts'
import type { Keyring } from '../../core/kernel/sealing/keyring.ts'
import { openInstallation } from '../../core/kernel/transaction/installation.ts'
import type { Identity } from '../../core/kernel/transaction/installation-identity.ts'
import type { HeldDatabase } from '../call/database.ts'
import { copySays, noCopies } from '../render/ledger.ts'
import { type Finding, fail, lineOf, ok, warn } from './finding.ts'

/** Asks every target of the installation. Call it only for a database whose checks passed. */
export async function checkLedger(config: Config, keyring: Keyring, { daemon }: HeldDatabase): Promise<Finding[]> {
  const installation = openInstallation(config, daemon, keyring, {
    works: false,
    applicationName: 'svc doctor',
    copies: openLedgerCopies,
  })
  try {
    const [known] = await installation.pool.transaction(
      asInstallation,
      (tx) => tx.last<Identity[]>`select id, epoch from installation`,
      { readOnly: true },
    )
    if (!known) return []
    Object.assign(installation.identity, known)
    const status = await lookAtLedger(installation)
    return [checkFile(status), checkCopies(config, status)]
  } catch (error) {
    return [fail('ledger', lineOf(error), 'docs/runbooks/point-in-time-recovery.md')]
  } finally {
    await installation.close()
  }
}

function checkFile({ file, lines, fault }: LedgerStatus): Finding {
  return fault === null
    ? ok('ledger', `${lines} line(s) in ${file}`)
    : fail('ledger', `${file}: ${fault}`, 'Restore it from a copy: svc recovery ledger pull --from TARGET')
}

function checkCopies(config: Config, { file, copy, copies }: LedgerStatus): Finding {
  if (copies.length === 0) return ok('ledger copies', noCopies)
  const says = `${copies.map((state) => `${state.name}: ${copySays(state)}`).join('; ')} (SVC_LEDGER_COPY=${copy})`
  const remedy = 'svc backup-targets test NAME; docs/runbooks/backup-targets.md'
  const reached = copies.filter(({ failed }) => failed === null)
  if (reached.length === 0)
    return fail(
      'ledger copies',
      says,
      copy === 'require'
        ? `Until a target is reached, holds, revocations, purges and changes of operators are refused. ${remedy}`
        : `New obligations are only on this disk. ${remedy}`,
    )
  if (copies.some(({ lines_missing }) => lines_missing !== 0)) return warn('ledger copies', says, remedy)
  return copies.every(({ kind }) => kind === 'LOCAL') && isSameDisk(file, config.backupDir)
    ? warn('ledger copies', `${says}, on the same file system as the ledger`, 'Add a target on another disk or host.')
    : ok('ledger copies', says)
}

function isSameDisk(file: string, folder: string): boolean {
  const deviceOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.dev
  const device = deviceOf(file) ?? deviceOf(join(file, '..'))
  return device !== undefined && device === deviceOf(folder)
}
