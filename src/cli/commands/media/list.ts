import { Flags } from '@oclif/core'
import { type Media, mediaOperations } from '../../../core/contract/media/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { pagesOf } from '../../call/caller.ts'
import { mediaColumns } from '../../render/media.ts'
import { table } from '../../render/table.ts'

export default class MediaList extends CallerCommand {
  static override summary = 'List your files, the newest first; as an ADMIN those of the workspace'
  static override examples = [
    '<%= config.bin %> media list',
    '<%= config.bin %> media list --largest --loose --max 20 --json',
  ]
  static override flags = {
    largest: Flags.boolean({ summary: 'The largest first.' }),
    loose: Flags.boolean({ summary: 'Only files that nothing carries.' }),
    max: Flags.integer({ summary: 'The maximum number of files.', min: 1, default: 200 }),
  }

  async run(): Promise<{ data: Media[] }> {
    const { flags } = await this.parse(MediaList)
    const caller = await this.open(flags)
    const asked = {
      sort: flags.largest ? ('SIZE' as const) : ('CREATED' as const),
      size: Math.min(flags.max, 200),
      ...(flags.loose ? { is_attached: 'false' as const } : {}),
    }
    const found: Media[] = []
    for await (const page of pagesOf(caller, mediaOperations.listMedia, asked)) {
      found.push(...page.data)
      if (found.length >= flags.max) break
    }
    const data = found.slice(0, flags.max)
    await this.show(() => table(data, mediaColumns, 'There is no file. `svc media put FILE` uploads one.'))
    return { data }
  }
}
