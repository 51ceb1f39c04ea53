/**
 * SIGHUP reads the keyring file and the settings file again. A refused file changes nothing
 * and is logged. Reloads run one after another, so that the newest files are in force.
 *
 * Spec: house rules on the keyring; decisions 4, InstallationSettings.
 */

import type { Booted } from '../core/app/boot.ts'
import { SettingsFileRefused, settleSettings } from '../core/areas/settings/enforcing-file.ts'
import type { Installation } from '../core/kernel/transaction/installation.ts'
import { ConfigurationError } from '../core/kernel/values/configuration-error.ts'
import type { Log } from './log.ts'

export function reloading(booted: Booted, log: Log): () => Promise<void> {
  let last = Promise.resolve()
  return () => {
    last = last.then(() => readKeyringAgain(booted, log)).then(() => readSettingsAgain(booted.installation, log))
    return last
  }
}

async function readKeyringAgain({ installation: { keyring }, rereadKeyring }: Booted, log: Log): Promise<void> {
  try {
    for (const line of await rereadKeyring()) log.warn(line)
    log.info('the keyring was read again', { keys: keyring.ids.length, current: keyring.current })
  } catch (error) {
    const event = 'the keyring was not read again; the previous one stays in use'
    if (error instanceof ConfigurationError) log.warn(event, { reason: error.message })
    else log.failure(event, error)
  }
}

async function readSettingsAgain(installation: Installation, log: Log): Promise<void> {
  const file = installation.config.settingsFile
  if (file === undefined) return
  try {
    const moved = await settleSettings(installation)
    log.info('the settings file is in force', { file, moved: moved.join(' ') })
  } catch (error) {
    const event = 'the settings file is refused; the previous settings stay in force'
    if (error instanceof SettingsFileRefused) log.warn(event, { file, faults: error.faults.join('; ') })
    else log.failure('reading the settings file', error)
  }
}
