/** docs/events.md, from the catalog of events. */

import type { EventDeclaration } from '../src/core/contract/event.ts'
import { typeOf } from '../src/core/contract/event.ts'
import { catalog } from '../src/core/contract/event-catalog.ts'
import { dataSchemaOf } from '../src/core/contract/event-schema.ts'
import { keyOf, meanings } from '../src/core/contract/meanings/meanings.ts'
import { exampleOf } from '../src/core/kernel/outbox/cloud-event.ts'
import { writeJson } from '../src/core/kernel/values/json.ts'
import { table } from './tables.ts'

const namespace = 'svc'
const declared = Object.entries(catalog) as [string, EventDeclaration][]

interface MemberSchema {
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly MemberSchema[]
  readonly items?: MemberSchema
  readonly description?: string
  readonly properties?: Readonly<Record<string, MemberSchema>>
  readonly required?: readonly string[]
}

export function eventPage(): string {
  return `# Events

Every change of state writes an event, in the transaction that makes the change: both are there, or neither is.
An event is a [CloudEvent 1.0](https://cloudevents.io) in the JSON format. What a webhook is sent, what the pull
endpoint answers and what the daemon itself reads are the same text, byte for byte.

\`\`\`json
${whole()}
\`\`\`

- \`id\` is the event's, and stays the same however often it is delivered: drop what you have seen.
- \`type\` is \`{namespace}.{name}.v1\`. The namespace is \`SVC_EVENT_NAMESPACE\`, \`${namespace}\` unless it was set.
- \`source\` is the workspace, \`subject\` the resource's path below \`/api/v1\`.
- \`actor\` is the account that did it, or \`recovery\`, \`system\` where nobody signed in did.
- \`data\` is the resource after the change. Members may be added to it; none is taken away or changes its meaning
  without another version of the type.

\`GET /api/v1/meta/event-types\` answers this page as data, with a JSON Schema of each \`data\`.
[webhooks.md](webhooks.md) says how to receive them.

${table(
  ['Type', 'Written when'],
  declared.map(([name, { when }]) => [`[\`${typeOf(namespace, name)}\`](#${anchorOf(name)})`, when]),
)}

${declared.map(([name, event]) => section(name, event)).join('\n')}`
}

const anchorOf = (name: string) => typeOf(namespace, name).replaceAll('.', '')

function whole(): string {
  const [name, event] = declared[0] as [string, EventDeclaration]
  return JSON.stringify(JSON.parse(exampleOf(typeOf(namespace, name), event)), null, 2)
}

function section(name: string, { when, subject, data, example }: EventDeclaration): string {
  const { properties = {}, required = [] } = dataSchemaOf(data) as MemberSchema
  const place = [data.meta()?.id ?? 'data']
  const said = (member: string) => meanings.get(keyOf([...place, member]) ?? '') ?? ''
  const rows = Object.entries(properties).map(([member, schema]) => [
    `\`${member}\``,
    kindOf(schema) + (required.includes(member) ? '' : ', may be absent'),
    schema.description ?? said(member),
  ])
  return `## ${typeOf(namespace, name)}

Written when ${when}. Subject: \`${subject}\`.

${table(['Member of data', 'Value', ''], rows)}

\`\`\`json
${writeJson(example, 2)}
\`\`\`
`
}

/** A short description of a member's values; the JSON Schema of the API has the details. */
function kindOf(schema: MemberSchema): string {
  if (schema.const !== undefined) return `\`${String(schema.const)}\``
  if (schema.enum) return schema.enum.map((value) => `\`${String(value)}\``).join(', ')
  if (schema.anyOf) return [...new Set(schema.anyOf.map(kindOf))].join(' or ')
  if (schema.type === 'array') return `list of ${schema.items ? kindOf(schema.items) : 'anything'}`
  if (Array.isArray(schema.type)) return schema.type.join(' or ')
  return schema.format ?? (schema.type as string | undefined) ?? 'anything'
}
