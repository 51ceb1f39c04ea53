import { resolve } from 'node:path'
import { Args, Flags } from '@oclif/core'
import { BaseCommand } from '../../base-command.ts'
import { Failure } from '../../failure.ts'
import { findProfile, saveProfile } from '../../profile/profiles.ts'

export default class ProfilesUse extends BaseCommand {
  static override summary = 'Use a profile for the commands of this folder and its subfolders'
  static override examples = [
    '<%= config.bin %> profiles use production',
    '<%= config.bin %> profiles use production --directory ~',
  ]
  static override args = { name: Args.string({ ignoreStdin: true, required: true, description: "the profile's name" }) }
  static override flags = {
    directory: Flags.directory({
      summary: 'The folder; default: the working folder.',
      exists: true,
      helpValue: 'FOLDER',
    }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ProfilesUse)
    const profile = findProfile(args.name)
    if (!profile)
      throw new Failure('notFound', `There is no profile "${args.name}".`, '`svc profiles list` shows all profiles.')
    const directory = resolve(flags.directory ?? '.')
    await saveProfile({ ...profile, directory })
    this.tell(`Commands in ${directory} and below now use ${profile.name} (${profile.api_url}).`)
  }
}
