import { Args } from '@oclif/core'
import { BaseCommand } from '../base-command.ts'
import { completionScript, type Shell, shells } from '../completion-script.ts'

export default class Completion extends BaseCommand {
  static override summary = 'Print a completion script for a shell'
  static override description =
    'The script lists the commands and flags of this release. Print it again after an upgrade.'
  static override examples = [
    '<%= config.bin %> completion bash > /etc/bash_completion.d/svc',
    'source <(<%= config.bin %> completion zsh)',
  ]
  static override args = {
    shell: Args.string({ ignoreStdin: true, required: true, options: [...shells], description: 'the shell' }),
  }

  async run(): Promise<unknown> {
    const { args } = await this.parse(Completion)
    // oclif loads plugins concurrently, so their order differs from run to run.
    const commands = this.config.commands
      .filter(({ hidden }) => !hidden)
      .toSorted((one, other) => (one.id < other.id ? -1 : 1))
      .map(({ id, flags }) => ({ words: id.split(':'), flags: Object.keys(flags).map((name) => `--${name}`) }))
    const script = completionScript(args.shell as Shell, this.config.bin, commands)
    if (!this.jsonEnabled()) process.stdout.write(script)
    return { shell: args.shell, script }
  }
}
