import { Flags } from '@oclif/core'
import { BaseCommand } from '../base-command.ts'

export default class Daemon extends BaseCommand {
  static override summary = 'Run the daemon in the foreground'
  static override description =
    'Logs JSON to stderr and prints `listening on …` once it is ready; SIGTERM drains within 10 s. Configuration comes from the environment and .env.'
  static override examples = ['<%= config.bin %> daemon', '<%= config.bin %> daemon --role worker']
  static override enableJsonFlag = false
  static override flags = {
    role: Flags.string({
      summary: 'Serve the API, work jobs off, or both.',
      options: ['api', 'worker', 'all'] as const,
      default: 'all',
    }),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(Daemon)
    const { runDaemon } = await import('../../daemon/main.ts')
    await runDaemon({ role: flags.role as 'api' | 'worker' | 'all' })
  }
}
