/** Checks of this machine: Node, the configuration, the data folder, space, the keyring file. */
import { accessSync, constants, existsSync, statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Config, readConfig } from '../../core/kernel/config/config.ts'
import { placeOf } from '../../core/kernel/config/mail-settings.ts'
import { mistypedVariables } from '../../core/kernel/config/mistyped.ts'
import { type Keyring, readKeyring } from '../../core/kernel/sealing/keyring.ts'
import { type Finding, fail, lineOf, ok, warn } from './finding.ts'

const oldestNode = 24

export function checkNode(): Finding {
  const major = Number(process.versions.node.split('.')[0])
  return major >= oldestNode
    ? ok('node', `Node ${process.versions.node}`)
    : fail(
        'node',
        `Node ${process.versions.node} is too old`,
        `Use Node ${oldestNode} or newer. npm ci installs one, and bin/svc uses it.`,
      )
}

/** The configuration, or its first fault. */
export function checkConfiguration(): { readonly finding: Finding; readonly config: Config | undefined } {
  try {
    const config = readConfig()
    const database = config.database
      ? `PostgreSQL ${config.database.daemon.host}`
      : `embedded PostgreSQL in ${config.dataDir}`
    const [mistyped] = mistypedVariables(process.env)
    const finding =
      mistyped === undefined
        ? ok('configuration', `${config.mode} mode, ${database}`)
        : warn('configuration', mistyped, 'Correct its name in the environment or in .env, or remove it.')
    return { finding, config }
  } catch (error) {
    return {
      finding: fail('configuration', lineOf(error), 'Correct it in the environment or in .env.'),
      config: undefined,
    }
  }
}

export function checkFolder({ dataDir }: Config): Finding {
  try {
    accessSync(dataDir, constants.W_OK | constants.X_OK)
    return ok('data folder', dataDir)
  } catch (error) {
    return fail(
      'data folder',
      `${dataDir} is not writable (${(error as NodeJS.ErrnoException).code})`,
      'Make the user that runs svc its owner, or set SVC_DATA_DIR to another folder.',
    )
  }
}

const mebibyte = 1024 * 1024
const scarceMebibytes = 1024
const fullMebibytes = 256

/** PostgreSQL stops on a full disk, and must be started again after space was freed. */
export function checkSpace(folder: string): Finding {
  const { bavail, bsize } = statfsSync(existsSync(folder) ? folder : dirname(folder))
  const free = Math.floor((bavail * bsize) / mebibyte)
  const says = `${free} MiB free for ${folder}`
  if (free < fullMebibytes) return fail('disk space', says, 'Free space now: PostgreSQL stops on a full disk.')
  return free < scarceMebibytes
    ? warn('disk space', says, 'Free space soon: PostgreSQL stops on a full disk.')
    : ok('disk space', says)
}

/** Where mail goes, and whether the relay accepts the sign-in; sends no mail. */
export async function checkMail({ mail }: Config): Promise<Finding> {
  if (!mail.relay) return ok('mail', `SVC_SMTP_URL is not set; mail is written to ${mail.folder}`)
  const place = placeOf(mail)
  try {
    const { tryRelay } = await import('../../core/areas/mail/transport.ts')
    await tryRelay(mail.relay)
    return ok('mail', `the relay ${place} answers; mail is sent from ${mail.from.address}`)
  } catch (error) {
    return fail('mail', `${place}: ${lineOf(error)}`, 'docs/runbooks/mail.md')
  }
}

/** The keyring, or the fault of its file. */
export function checkKeyringFile({ keyringFile }: Config): {
  readonly finding: Finding
  readonly keyring: Keyring | undefined
} {
  try {
    const keyring = readKeyring(keyringFile)
    return {
      finding: ok('keyring file', `${keyringFile}, ${keyring.ids.length} key(s), current ${keyring.current}`),
      keyring,
    }
  } catch (error) {
    return { finding: fail('keyring file', lineOf(error), 'docs/runbooks/keyring.md'), keyring: undefined }
  }
}
