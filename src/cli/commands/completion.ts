import { Args, type Command } from '@oclif/core'
import { BaseCommand } from '../base-command.ts'
import { completionScript, kindNamed, type Shell, shells, type Values } from '../completion-script.ts'

export default class Completion extends BaseCommand {
  static override summary = 'Print a completion script for a shell'
  static override description =
    'The script knows the commands, flags and fixed values of this release; print it again after an upgrade. Workspaces, profiles and ids it asks the installation for.'
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
      .map(({ id, flags, args }) => ({
        words: id.split(':'),
        flags: Object.entries(flags).map(([name, flag]) => ({ name: `--${name}`, values: valuesOf(name, flag) })),
        args: Object.entries(args).map(([name, arg]) => ({ values: arg.options ?? kindNamed(name) ?? [] })),
      }))
    const script = completionScript(args.shell as Shell, this.config.bin, commands)
    if (!this.jsonEnabled()) process.stdout.write(script)
    return { shell: args.shell, script }
  }
}

/** Undefined: the flag takes no value, or any. */
const valuesOf = (name: string, flag: Command.Flag.Cached): Values | undefined =>
  flag.type === 'option' ? (flag.options ?? kindNamed(name)) : undefined
