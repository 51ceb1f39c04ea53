/** The areas of the API: a sentence each for readers of the reference, in groups by who needs them. */

export const areaGroups = {
  'Working on boards': {
    containers: 'Hubs and the collections in them: where work lies, and who sees it.',
    structure: 'The buckets, labels and custom fields of a collection.',
    items: 'Items are what is to be done: create, change, move, assign, complete and search them.',
    comments: 'Comments on items, with replies, mentions and reactions.',
    media: 'Files: upload them, attach them to items, and read them.',
    templates: 'Templates of items and boards, and what is made from them.',
    views: 'Questions about items that are kept: a filter, an order and a layout.',
    ai: 'Summaries by the AI model that the workspace chose.',
  },
  People: {
    auth: 'Sign in, sessions, passwords, second factors, tokens and invitations.',
    identity: 'The accounts of the workspace, the own one, and the roles of accounts.',
    privacy: 'What people ask about their personal data, what they agree and object to, and restrictions of accounts.',
  },
  Integrating: {
    webhooks: 'Targets that events are posted to, each delivery, and pulling events instead.',
    meta: 'The server and the workspace, every problem code and every type of event, as data.',
    jobs: 'How far a long piece of work is.',
    audit: 'The trail of a workspace: who changed what, and when.',
  },
  Operating: {
    backup: 'Where archives of workspaces are written, and what lies there.',
    retention: 'How long things are kept, legal holds, what a deletion takes with it, and what it removed.',
    admin: 'For operators of the installation: workspaces, quotas, offers, settings, keys and the journal.',
  },
} as const

type Groups = typeof areaGroups
/** An area that is not in a group does not compile. */
export type Area = { [Group in keyof Groups]: keyof Groups[Group] }[keyof Groups]
