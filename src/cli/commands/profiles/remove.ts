import { Args } from '@oclif/core'
import { BaseCommand } from '../../base-command.ts'
import { Failure } from '../../failure.ts'
import { removeProfile } from '../../profile/profiles.ts'

export default class ProfilesRemove extends BaseCommand {
  static override summary = 'Remove a profile from this machine, without calling the server'
  static override description = '`logout` also ends its session and revokes its token.'
  static override examples = ['<%= config.bin %> profiles remove production']
  static override args = { name: Args.string({ ignoreStdin: true, required: true, description: "the profile's name" }) }

  async run(): Promise<void> {
    const { args } = await this.parse(ProfilesRemove)
    if (!removeProfile(args.name))
      throw new Failure('notFound', `There is no profile "${args.name}".`, '`svc profiles list` shows all profiles.')
    this.tell(`Profile ${args.name} is removed from this machine. Its session stays valid until it expires.`)
  }
}
