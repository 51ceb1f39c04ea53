/**
 * Calls straight on the database: the same rules as the daemon's, as the operating
 * system's user, who is what the journal then names. Works with the daemon down.
 *
 * While a daemon admits traffic it asks, or fails where nobody can be asked, because two ways
 * to change one thing at the same time surprise people; --while-serving says that it is meant. It logs in as the
 * daemon does, so it can do no more than the daemon's rules. Spec: decisions 6; T-44.
 */

import { type Booted, bootInstallation } from '../../core/app/boot.ts'
import { performForAnswer } from '../../core/app/perform.ts'
import type { Answer, Operation, Sent } from '../../core/contract/operation.ts'
import { type Config, readConfig } from '../../core/kernel/config/config.ts'
import { placeOf } from '../../core/kernel/config/mail-settings.ts'
import { recoveryActor } from '../../core/kernel/values/actor.ts'
import { Failure } from '../failure.ts'
import { onInterruption } from '../interruption.ts'
import type { Caller, Tell } from './caller.ts'
import { agreeWhileServing } from './while-serving.ts'

/** Boots the installation of this configuration. Fails (conflict) while a daemon serves it, unless `whileServing`. */
export async function openRecoveryCaller(whileServing: boolean, tell: Tell): Promise<Caller> {
  const config = readConfig()
  const booted = await bootInstallation(config, { works: false, applicationName: 'svc recovery', note: tell })
  try {
    await agreeWhileServing(booted.installation, {
      isMeant: whileServing,
      effect: 'What is done here is done beside it.',
      remedy: '`svc login` works through it; --while-serving works beside it.',
      note: tell,
    })
  } catch (error) {
    await booted.close()
    throw error
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
      return performForAnswer(booted.installation, operation, actor, sent)
    },
    async work(tenantId, jobId) {
      const { exportTenantJob } = await import('../../core/areas/backup/export-job.ts')
      await exportTenantJob.run(booted.installation, { tenantId, jobId })
    },
    async reseal() {
      const { resealUntil } = await import('../../core/areas/keyring/reseal.ts')
      await resealUntil(booted.installation, Number.POSITIVE_INFINITY)
    },
    async close() {
      stopHeeding()
      await booted.close()
    },
  }
}

const refusedHere = (reason: string) =>
  new Failure(
    'notAllowed',
    `This cannot be done directly on the database: ${reason}.`,
    '`svc login` signs in to the daemon.',
  )

/** Queued mails go when a daemon works the queue; this process only says where to. */
const mailGoes = ({ mail }: Config) =>
  mail.relay
    ? `through ${placeOf(mail)}, by a daemon that works the queue`
    : `into ${mail.folder}, by a daemon that works the queue`

const nameOf = ({ installation: { address } }: Booted) => `${address.database} on ${address.host}`
