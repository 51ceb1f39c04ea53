/**
 * Calls directly on the database, by the same rules as the daemon. The actor is the user of
 * the operating system, and the journal names that user. It works while no daemon runs.
 *
 * While a daemon admits traffic, the first change asks for confirmation, and without a terminal it fails, because changes
 * from two sides at the same time surprise people; --while-serving confirms. Reading asks nothing.
 * It uses the daemon's database login, so it has the daemon's rights and no more. Spec: decisions 6; T-44.
 */

import { type Booted, bootInstallation } from '../../core/app/boot.ts'
import { performForAnswer } from '../../core/app/perform.ts'
import { type Answer, isRead, type Operation, type Sent } from '../../core/contract/operation.ts'
import { type Config, readConfig } from '../../core/kernel/config/config.ts'
import { placeOf } from '../../core/kernel/config/mail-settings.ts'
import type { Backlog } from '../../core/kernel/transaction/sweep.ts'
import { recoveryActor } from '../../core/kernel/values/actor.ts'
import { Failure } from '../failure.ts'
import { onInterruption } from '../interruption.ts'
import type { Caller, Inspected, Tell } from './caller.ts'
import { agreeWhileServing } from './while-serving.ts'

/** Opens the installation of this configuration. A change fails (conflict) while a daemon serves it, unless `whileServing`. */
export async function openRecoveryCaller(whileServing: boolean, tell: Tell): Promise<Caller> {
  const config = readConfig()
  const booted = await bootInstallation(config, { works: false, applicationName: 'svc recovery', note: tell })
  let agreed = whileServing
  const agree = async () => {
    if (agreed) return
    await agreeWhileServing(booted.installation, {
      isMeant: false,
      effect: 'This command would work on the database at the same time.',
      remedy: 'Sign in to it with `svc login`, or add --while-serving to work on the database at the same time.',
      note: tell,
    })
    agreed = true
  }
  const actor = recoveryActor()
  const stopHeeding = onInterruption(() => booted.close())
  return {
    where: booted.embedded ? `the embedded installation in ${config.dataDir}` : `the database ${nameOf(booted)}`,
    way: 'database',
    mode: config.mode,
    mailGoes: mailGoes(config),
    async call<O extends Operation>(operation: O, sent: Sent<O>): Promise<Answer<O>> {
      if (operation.recovery !== 'allowed') throw refusedHere(operation.recovery.refused)
      if (!isRead(operation)) await agree()
      return performForAnswer(booted.installation, operation, actor, sent)
    },
    workspaceOfJob: (jobId) =>
      booted.installation.transaction(actor, { readOnly: true }, async ({ tx }) => {
        const [job] = await tx.last<{ tenant_id: string }[]>`select tenant_id from job where id = ${jobId}`
        return job?.tenant_id
      }),
    async work(tenantId, jobId) {
      const [{ awaitedJobs }, { restoreJob }] = await Promise.all([
        import('../../core/areas/backup/jobs.ts'),
        import('../../core/areas/restores/restore-job.ts'),
      ])
      // Each takes only a job of its own kind.
      for (const job of [...awaitedJobs, restoreJob]) await job.run(booted.installation, { tenantId, jobId })
    },
    async reseal() {
      const { resealUntil } = await import('../../core/areas/keyring/reseal.ts')
      await resealUntil(booted.installation, Number.POSITIVE_INFINITY)
    },
    inspect: () => inspect(booted),
    async close() {
      stopHeeding()
      await booted.close()
    },
  }
}

async function inspect({ installation }: Booted): Promise<Inspected> {
  const [{ lookAtGate }, { lookAtLedger }, { sweeps }, { backlogsOf }, { measureClock }] = await Promise.all([
    import('../../core/areas/recovery/gate.ts'),
    import('../../core/areas/recovery/ledger/ledger-status.ts'),
    import('../../core/areas/auth/sign-in/sweeps.ts'),
    import('../../core/kernel/transaction/sweep.ts'),
    import('../../core/kernel/database/clock.ts'),
  ])
  const backlogs = installation.transaction({ kind: 'SYSTEM', job: 'sweep_expired' }, { readOnly: true }, ({ tx }) =>
    tx.text<Backlog[]>(backlogsOf(sweeps)),
  )
  const [gate, ledger, waiting, clockAheadMs] = await Promise.all([
    lookAtGate(installation),
    lookAtLedger(installation),
    backlogs,
    measureClock(installation.pool),
  ])
  return { gate, ledger, sweeps: waiting, clockAheadMs }
}

const refusedHere = (reason: string) =>
  new Failure(
    'notAllowed',
    `This command cannot work directly on the database: ${reason}.`,
    '`svc login` signs in to the daemon.',
  )

/** What a daemon will do with queued mail; this process sends none. */
const mailGoes = ({ mail }: Config) =>
  mail.relay ? `sends it through ${placeOf(mail)}` : `writes it to ${mail.folder}`

const nameOf = ({ installation: { address } }: Booted) => `${address.database} on ${address.host}`
