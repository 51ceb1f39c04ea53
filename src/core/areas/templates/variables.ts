/**
 * Variables in the texts of a template: `{{key}}`, and `{{key=default}}` where a default serves.
 *
 *    'Call {{customer}} on {{day=Monday}}'  with { customer: 'Acme' }  ──▶  'Call Acme on Monday'
 *
 * Whatever has another form stays as it is written. A value is put in once: braces in it are text.
 * Spec: items 7 and 12, Templates; docs/decisions/0226.
 */
import { refuseMember } from '../../contract/problem.ts'
import type { TemplateContent, TemplateItem } from '../../contract/templates/content.ts'
import type { TemplateListed } from '../../contract/templates/operations.ts'

type Variables = TemplateListed['variables']

const variable = /\{\{([a-z][a-z0-9_]{0,49})(?:=([^{}]{0,200}))?\}\}/g

/** The variables of a content, in their order; of several defaults the first counts. */
export function variablesIn({ items }: TemplateContent): Variables {
  const found = new Map<string, string | null>()
  for (const text of items.flatMap(textsOf))
    for (const [, key = '', given] of text.matchAll(variable)) found.set(key, found.get(key) ?? given ?? null)
  return [...found].map(([key, value]) => ({ key, default: value }))
}

const textsOf = ({ title, description, custom_fields: fields }: TemplateItem): string[] =>
  [title, description, ...Object.values(fields)].filter((text) => typeof text === 'string')

/** Puts values into the texts. Refuses request.invalid for a value that is missing, and for one of no variable. */
export function fillerOf(variables: Variables, values: Readonly<Record<string, string>>): (text: string) => string {
  const stranger = Object.keys(values).find((key) => !variables.some((one) => one.key === key))
  if (stranger !== undefined) refuseMember(`/values/${stranger}`, 'reference.unknown')
  const filled = new Map(variables.map((one) => [one.key, values[one.key] ?? one.default]))
  const missing = variables.find(({ key }) => filled.get(key) === null)
  if (missing) refuseMember(`/values/${missing.key}`, 'member.required')
  return (text) => text.replaceAll(variable, (_, key: string) => filled.get(key) ?? '')
}
