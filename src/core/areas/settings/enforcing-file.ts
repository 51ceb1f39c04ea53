/**
 * The enforcing file: a file sets the installation's settings, instead of the operators.
 *
 *    start, SIGHUP ──▶ read whole ──▶ validated whole ──▶ one transaction writes the changes ──▶ every daemon obeys
 *                          └─ any fault: nothing is written, the settings in force stay, the faults are reported
 *
 * The format is YAML 1.2 or JSON, which is a subset of it, with the members of `PUT /admin/settings`.
 * The values are written into the same rows as an operator's. So two daemons that read the file at
 * different moments cannot disagree for long, and a reader needs only the database.
 *
 * An empty file is a fault and does not mean "nothing decided": a broken write leaves an empty file.
 *
 * If SVC_SETTINGS_FILE is unset, the file's values stay, and operators can change them again.
 *
 * Spec: InstanceSettings (source, is_enforced_from_file); decisions 4 and 6.
 */
import { open } from 'node:fs/promises'
import { Problem } from '../../contract/problem.ts'
import type { SettingsDocument } from '../../contract/settings/operations.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import type { SystemActor } from '../../kernel/values/actor.ts'
import { ConfigurationError } from '../../kernel/values/configuration-error.ts'
import { faultLine, parseSettings } from './document.ts'
import { lockLevel, replaceDecisions, vetDocument } from './replacement.ts'

const largestBytes = 262_144
const system: SystemActor = { kind: 'SYSTEM', job: 'settings_file' }

/** A file that is refused. Each fault is one line for people: the place and the rule. */
export class SettingsFileRefused extends ConfigurationError {
  readonly faults: readonly string[]
  constructor(path: string, faults: readonly string[]) {
    super(`The settings file ${path} is refused, and nothing of it is in force. ${faults.join('; ')}.`)
    this.faults = faults
  }
}

/**
 * Applies the configured file, or ends the enforcement of a file that is no longer configured. Answers the names of the
 * changed settings. Throws SettingsFileRefused.
 */
export async function settleSettings(installation: Installation): Promise<readonly string[]> {
  const path = installation.config.settingsFile ?? null
  const document = path === null ? undefined : await readSettingsFile(path)
  try {
    if (document) await vetDocument(installation, document)
    return await installation.transaction(system, {}, async (ctx) => {
      const level = await lockLevel(ctx)
      if (document) return (await replaceDecisions(ctx, document, level, path)).moved
      if (level.file !== null)
        await ctx.tx`update installation set settings_version = settings_version + 1, settings_file = null`
      return []
    })
  } catch (error) {
    if (path !== null && error instanceof Problem && error.errors)
      throw new SettingsFileRefused(path, error.errors.map(faultLine))
    throw error
  }
}

/** Reads a whole file. Throws SettingsFileRefused: unreadable, too large, not YAML, or against the schema. */
async function readSettingsFile(path: string): Promise<SettingsDocument> {
  const parsed = await parseSettings(await textOf(path))
  if ('faults' in parsed) throw new SettingsFileRefused(path, parsed.faults)
  return parsed.document
}

async function textOf(path: string): Promise<string> {
  try {
    const file = await open(path, 'r')
    try {
      const { size } = await file.stat()
      if (size > largestBytes) throw new SettingsFileRefused(path, [`it is larger than ${largestBytes} bytes`])
      return new TextDecoder('utf-8', { fatal: true }).decode(await file.readFile())
    } finally {
      await file.close()
    }
  } catch (error) {
    if (error instanceof SettingsFileRefused) throw error
    const { code } = error as NodeJS.ErrnoException
    throw new SettingsFileRefused(path, [
      code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? 'it is not UTF-8' : `it cannot be read (${code ?? 'unknown'})`,
    ])
  }
}
