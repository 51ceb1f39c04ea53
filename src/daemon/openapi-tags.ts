/** The areas as tags of the document, in groups; their sentences are the contract's (contract/areas.ts). */
import { areaGroups } from '../core/contract/areas.ts'

interface Tag {
  readonly name: string
  readonly description: string
}

/** The tags of these areas in the order of the groups. */
export const tagsOf = (areas: ReadonlySet<string>): readonly Tag[] =>
  Object.values(areaGroups)
    .flatMap((group) => Object.entries(group))
    .filter(([name]) => areas.has(name))
    .map(([name, description]) => ({ name, description }))

/** The groups as pages that show OpenAPI documents read them. */
export const tagGroupsOf = (areas: ReadonlySet<string>) =>
  Object.entries(areaGroups)
    .map(([name, tags]) => ({ name, tags: Object.keys(tags).filter((tag) => areas.has(tag)) }))
    .filter(({ tags }) => tags.length > 0)
