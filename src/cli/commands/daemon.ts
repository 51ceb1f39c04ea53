import { Flags } from '@oclif/core'
import { ServingCommand } from '../serving-command.ts'

export default class Daemon extends ServingCommand {
  static override summary = 'Run the daemon in the foreground'
  static override description =
    'Logs JSON to stderr and prints `listening on …` when it is ready. With --json it prints one object on one line instead, with the path of the set-up token until the installation is set up. SIGTERM finishes the requests under way, within 10 s, and ends it. Configuration comes from the environment and .env.'
  static override examples = ['<%= config.bin %> daemon', '<%= config.bin %> daemon --role worker']
  static override flags = {
    role: Flags.string({
      summary: 'api serves requests, worker runs jobs, all does both.',
      options: ['api', 'worker', 'all'] as const,
      default: 'all',
    }),
  }

  async run(): Promise<unknown> {
    const { flags } = await this.parse(Daemon)
    const { address, setUpTokenFile } = await this.serve(flags.role as 'api' | 'worker' | 'all')
    if (setUpTokenFile !== undefined) {
      const { setUpLine } = await import('../../daemon/set-up-token.ts')
      this.log(setUpLine(setUpTokenFile))
    }
    this.log(`listening on ${address}`)
    return { api_url: address, set_up_token_file: setUpTokenFile ?? null }
  }
}
