/** The default name of a new profile. */
import { basename } from 'node:path'
import { listProfiles, type Profile } from './profiles.ts'

/** The name of the profile that the folder has already, else an unused name derived from the folder's name. */
export function profileNameFor(directory: string, profiles: readonly Profile[] = listProfiles()): string {
  const present = profiles.find((profile) => profile.directory === directory)
  if (present) return present.name
  const wished =
    basename(directory)
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-+|-+$/g, '')
      .slice(0, 30) || 'default'
  const taken = new Set(profiles.map(({ name }) => name))
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? wished : `${wished}-${number}`
    if (!taken.has(name)) return name
  }
}
