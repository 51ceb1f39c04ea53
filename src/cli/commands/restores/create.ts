import { Flags } from '@oclif/core'
import { type NewRestore, type Restore, restoreOperations } from '../../../core/contract/backup/restores.ts'
import { CallerCommand } from '../../base-command.ts'
import type { Caller } from '../../call/caller.ts'
import { Failure } from '../../failure.ts'
import { findTarget } from '../../find/backup-targets.ts'
import { isId } from '../../find/pick.ts'
import { followRestore } from '../../follow/restores.ts'
import { proofFlags } from '../../input/second-factor-input.ts'
import { readSecret } from '../../input/secret-input.ts'
import { planned } from '../../render/restore.ts'

export default class RestoresCreate extends CallerCommand {
  static override summary = 'Prepare a restore from a backup: as itself, or as a new workspace'
  static override description =
    'Nothing is changed yet: the archive is read and checked, and the plan is shown. `restores apply` carries it out. Without --new the ' +
    'workspace comes back as itself, which takes that it is gone. A workspace that is there is rewound by `tenants rewind`. ' +
    'With --recovery this command does the work itself.'
  static override examples = [
    '<%= config.bin %> restores create --backup 0190c9d2-7a3b-7cde-8f01-23456789abcd --new acme-copy --name "Acme, copy" --owner ada@acme.example',
    '<%= config.bin %> restores create --target disk --path tenants/0190c9d2-7a3b-7cde-8f01-23456789abcd/20261126T020000Z-0190c9d2-7a3b-7cde-8f01-23456789abce-1',
  ]
  static override flags = {
    backup: Flags.string({ summary: "The backup's id.", helpValue: 'ID', exclusive: ['target', 'path'] }),
    target: Flags.string({ summary: "The backup target's name or id.", helpValue: 'TARGET', dependsOn: ['path'] }),
    path: Flags.string({ summary: 'The archive there, as `backup-targets backups` shows it.', dependsOn: ['target'] }),
    new: Flags.string({
      summary: 'Make a new workspace with this slug.',
      helpValue: 'SLUG',
      dependsOn: ['name', 'owner'],
    }),
    name: Flags.string({ summary: "The new workspace's display name.", helpValue: 'NAME' }),
    owner: Flags.string({ summary: 'The address of its owner, who is invited by mail.', helpValue: 'ADDRESS' }),
    'identity-file': Flags.string({
      summary: 'A file with the age identity of a recipient, where the keyring lacks the key.',
      helpValue: 'FILE',
    }),
    'accept-foreign': Flags.boolean({ summary: 'Take an archive that this installation did not sign.' }),
    ...proofFlags,
  }

  async run(): Promise<Restore> {
    const { flags } = await this.parse(RestoresCreate)
    const caller = await this.open(flags)
    const source = await sourceOf(caller, flags)
    const fresh = flags.new
    const identity = identityIn(await readSecret({ file: flags['identity-file'] }, 'identity'))
    const body: NewRestore = {
      into: fresh === undefined ? 'ITSELF' : 'NEW',
      source,
      ...(fresh === undefined
        ? {}
        : { new: { slug: fresh, display_name: flags.name ?? fresh, owner_email: flags.owner ?? '' } }),
      ...(identity === undefined ? {} : { identity }),
      ...(flags['accept-foreign'] ? { accept_foreign: true } : {}),
    }
    const asked = await this.callProven(caller, restoreOperations.createRestore, { body }, flags)
    const restore = await followRestore(caller, asked)
    this.log(restore.plan ? await planned(restore.plan) : restore.id)
    const apply = `restores apply ${restore.id} --plan ${restore.plan?.hash ?? 'HASH'}`
    this.tell(`\nNothing was changed. To continue: ${this.following(apply, flags)}`)
    return restore
  }
}

interface SourceFlags {
  readonly backup?: string | undefined
  readonly target?: string | undefined
  readonly path?: string | undefined
}

async function sourceOf(
  caller: Caller,
  { backup, target, path }: SourceFlags,
): Promise<NonNullable<NewRestore['source']>> {
  if (backup !== undefined) return { backup_id: backup }
  if (target === undefined || path === undefined)
    throw new Failure('usage', 'Name the backup with --backup, or its place with --target and --path.')
  return { target_id: isId(target) ? target : (await findTarget(caller, target)).id, path }
}

/** The identity itself, of a file as `age-keygen` writes it. */
function identityIn(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const line = text.split(/\r?\n/).find((one) => one.startsWith('AGE-SECRET-KEY-'))
  if (line === undefined) throw new Failure('usage', 'The identity file has no age identity.')
  return line.trim()
}
