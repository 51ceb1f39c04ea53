/** What the areas of the API are, for readers of the reference: a sentence each, in groups by who needs them. */

interface Tag {
  readonly name: string
  readonly description: string
}

const groups = {
  'Working on boards': {
    containers: 'Hubs and the collections in them: where work lives, and who sees it.',
    structure: 'The columns, labels and custom fields of a collection.',
    items: 'Items: what is to be done. Create, change, move, assign, complete, search, and change many at once.',
    comments: 'Comments on items: replies, mentions and reactions.',
    media: 'Files: upload them, attach them to items, and read them.',
    templates: 'Templates of items and boards, and what is made from them.',
    views: 'Kept questions about items: a filter, an order and a layout.',
    ai: 'Summaries by the AI model that the workspace chose.',
  },
  People: {
    auth: 'Sign in, sessions, passwords, second factors, tokens and invitations.',
    identity: 'The accounts of a workspace, its identity providers, and the own account.',
  },
  Integrating: {
    webhooks: 'Targets that events are posted to, and what became of each delivery.',
    meta: 'Every problem code and every type of event, as data.',
    jobs: 'How far a long piece of work is.',
    audit: 'The trail of a workspace: who changed what, and when.',
  },
  Operating: {
    backup: 'Where archives of workspaces are written, and what lies there.',
    retention: 'Legal holds: what keeps data from being deleted.',
    admin: 'For operators of the installation: workspaces, quotas, offers, settings, keys and the journal.',
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, string>>>>

const all = Object.values(groups).flatMap((areas) =>
  Object.entries(areas).map(([name, description]): Tag => ({ name, description })),
)

/** The tags of these areas in the order of the groups. Throws for an area that no group has. */
export function tagsOf(areas: ReadonlySet<string>): readonly Tag[] {
  const unknown = [...areas].filter((area) => !all.some(({ name }) => name === area))
  if (unknown.length > 0) throw new Error(`The area ${unknown.join(', ')} needs its line in src/daemon/openapi-tags.ts`)
  return all.filter(({ name }) => areas.has(name))
}

/** The groups as pages that show OpenAPI documents read them. */
export const tagGroupsOf = (areas: ReadonlySet<string>) =>
  Object.entries(groups)
    .map(([name, tags]) => ({ name, tags: Object.keys(tags).filter((tag) => areas.has(tag)) }))
    .filter(({ tags }) => tags.length > 0)
