import { BaseCommand } from '../../base-command.ts'
import { listProfiles, type Profile, profileOf } from '../../profile/profiles.ts'
import { type Column, table } from '../../render/table.ts'

export default class ProfilesList extends BaseCommand {
  static override summary = 'List the profiles; * marks the profile of this folder'
  static override examples = ['<%= config.bin %> profiles list']

  async run(): Promise<unknown> {
    await this.parse(ProfilesList)
    const profiles = listProfiles()
    const here = profileOf(process.cwd(), profiles)?.name
    const columns: readonly Column<Profile>[] = [
      { head: '', cell: ({ name }) => (name === here ? '*' : ' '), whole: true },
      { head: 'NAME', cell: ({ name }) => name, whole: true },
      { head: 'INSTALLATION', cell: (profile) => profile.api_url },
      { head: 'AS', cell: (profile) => profile.email ?? '' },
      { head: 'WORKSPACE', cell: (profile) => profile.workspace ?? '' },
      { head: 'ADMIN', cell: (profile) => (profile.token ? 'yes' : 'no') },
      { head: 'FOLDER', cell: (profile) => profile.directory ?? '' },
    ]
    await this.show(() => table(profiles, columns, 'There is no profile. `svc login` makes one.'))
    return { data: profiles.map((profile) => ({ ...withoutSecrets(profile), is_here: profile.name === here })) }
  }
}

const withoutSecrets = ({ session: _, token, ...rest }: Profile) => ({ ...rest, has_token: token !== undefined })
