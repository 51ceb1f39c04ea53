import { randomUUID } from 'node:crypto'
import { Flags } from '@oclif/core'
import { itemTrashOperations } from '../../../core/contract/items/trash.ts'
import type { JobRef } from '../../../core/contract/jobs/operations.ts'
import { Problem } from '../../../core/contract/problem.ts'
import { CallerCommand } from '../../base-command.ts'
import type { Caller } from '../../call/caller.ts'
import { findCollection } from '../../find/containers.ts'
import { followJob } from '../../follow/jobs.ts'
import { confirmByName } from '../../input/prompts.ts'

/** More than any trash has: the refusal says how many rows it has. */
const noCount = 2_147_483_647

interface Narrowed {
  readonly container_id?: string
  readonly deleted_before?: string
}

export default class TrashEmpty extends CallerCommand {
  static override summary = 'Purge what is in the trash; nothing brings it back'
  static override description =
    'Purges what is in containers in which you are ADMIN, and waits for the end. What is deleted meanwhile stays.'
  static override examples = [
    '<%= config.bin %> trash empty --plan',
    '<%= config.bin %> trash empty --collection Roadmap --before 2030-05-02T00:00:00Z --confirm 12',
  ]
  static override flags = {
    collection: Flags.string({ summary: 'Only items of this collection, by its name or id.' }),
    before: Flags.string({ summary: 'Only what was deleted before this moment.', helpValue: 'MOMENT' }),
    plan: Flags.boolean({ summary: 'Print how many rows would be purged, and purge nothing.' }),
    confirm: Flags.string({ summary: 'Confirm without a prompt: the number of rows.', helpValue: 'ROWS' }),
  }

  async run(): Promise<JobRef | { rows: number }> {
    const { flags } = await this.parse(TrashEmpty)
    const caller = await this.open(flags)
    const narrowed: Narrowed = {
      ...(flags.collection === undefined ? {} : { container_id: await findCollection(caller, flags.collection) }),
      ...(flags.before === undefined ? {} : { deleted_before: flags.before }),
    }
    const looked = await ask(caller, narrowed, noCount)
    const rows = typeof looked === 'number' ? looked : 0
    if (flags.plan || rows === 0) {
      this.log(rows === 0 ? 'Nothing of this is in the trash.' : `${rowsInWords(rows)} of the trash would be purged.`)
      return { rows }
    }
    await confirmByName(
      String(rows),
      `Will purge ${rowsInWords(rows)} of the trash. Nothing brings back what is purged.`,
      flags.confirm,
    )
    const queued = await ask(caller, narrowed, rows, 'or fail')
    const job = await followJob(caller, queued)
    await this.show(() => `Purged ${rowsInWords(Number(job.result?.purged ?? 0))}.`)
    return job
  }
}

const rowsInWords = (count: number) => (count === 1 ? '1 row' : `${count} rows`)

/** Asks for the trash to be emptied: the job, or how many rows it has instead of so many. */
async function ask(caller: Caller, narrowed: Narrowed, count: number): Promise<JobRef | number>
async function ask(caller: Caller, narrowed: Narrowed, count: number, how: 'or fail'): Promise<JobRef>
async function ask(caller: Caller, narrowed: Narrowed, count: number, how?: 'or fail'): Promise<JobRef | number> {
  try {
    const body = { ...narrowed, confirm_count: count }
    return await caller.call(itemTrashOperations.emptyTrash, { body, idempotencyKey: randomUUID() })
  } catch (error) {
    const isOther = !(error instanceof Problem && error.code === 'trash.count_mismatch')
    if (isOther || how === 'or fail') throw error
    return Number(error.params['expected'])
  }
}
