/** Reads the guides below docs/api and runs their examples; the convention stands in docs/api/README.md. */
import { randomUUID } from 'node:crypto'
import type { Answered, TestDaemon } from '../kit/daemon.ts'

export interface Example {
  /** Of the request's block, counted from one. */
  readonly line: number
  readonly request: Message
  readonly answer: Message
}

interface Message {
  /** The request line, or the status line. */
  readonly first: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: string | undefined
}

/** Values by name; an answer adds to them. */
export type Known = Map<string, string>

/** The examples of a guide. Throws where a request has no answer behind it. */
export function examplesIn(markdown: string): Example[] {
  const blocks: { line: number; message: Message }[] = []
  for (const match of markdown.matchAll(/^```http\n([\s\S]*?)^```$/gm))
    blocks.push({ line: markdown.slice(0, match.index).split('\n').length, message: messageOf(match[1] ?? '') })
  return blocks.flatMap(({ line, message }, at) => {
    if (at % 2 === 1) return []
    const answer = blocks[at + 1]?.message
    if (!/^[A-Z]+ \//.test(message.first) || !answer || !/^[0-9]{3}\b/.test(answer.first))
      throw new Error(`line ${line}: a request and its answer are expected`)
    return [{ line, request: message, answer }]
  })
}

function messageOf(text: string): Message {
  const [head = '', ...rest] = text.trimEnd().split('\n\n')
  const [first = '', ...lines] = head.split('\n')
  const headers = lines.map((line) => {
    const [, name = '', value = ''] = /^([\w-]+): (.*)$/.exec(line) ?? []
    return [name.toLowerCase(), value] as const
  })
  return { first, headers, body: rest.length > 0 ? rest.join('\n\n') : undefined }
}

/** Sends the request of an example, and answers how the answer differs from what the guide shows; empty where it does not. */
export async function run(daemon: TestDaemon, { request, answer }: Example, known: Known): Promise<string[]> {
  const [method = '', path = ''] = filled(request.first, known).split(' ')
  const headers = Object.fromEntries(request.headers.map(([name, value]) => [name, filled(value, known)]))
  const answered = await daemon.call(method, `/api/v1${path}`, {
    ...('authorization' in headers ? {} : { token: known.get('owner') }),
    ...(request.body === undefined ? {} : { body: filled(request.body, known) }),
    headers,
  })
  return differences(answered, answer, known)
}

function filled(text: string, known: Known): string {
  return text.replace(/\{\{(\w+)\}\}/g, (_, name: string) => {
    const value = name === 'uuid' ? randomUUID() : known.get(name)
    if (value === undefined) throw new Error(`{{${name}}} is not known here`)
    return value
  })
}

function differences(answered: Answered, shown: Message, known: Known): string[] {
  const status = Number(shown.first.slice(0, 3))
  return [
    ...(answered.status === status ? [] : [`answered ${answered.status} ${answered.text}, shown ${status}`]),
    ...bodyDifferences(answered, shown.body, known),
    // Behind the body, whose ids they may name.
    ...shown.headers.flatMap(([name, value]) =>
      compared(`header ${name}`, String(answered.headers[name]), value, known),
    ),
  ]
}

function bodyDifferences({ text, json }: Answered, shown: string | undefined, known: Known): string[] {
  if (shown === undefined) return text === '' ? [] : [`answered a body: ${text}`]
  return compared('body', json, shapeOf(shown), known)
}

const more = '…'

/** The JSON of an answer, in which `…` stands for what is not shown. */
function shapeOf(text: string): unknown {
  const quoted = text
    .replace(/,(\s*)…(\s*\})/g, `,$1"${more}": "${more}"$2`)
    .replace(/\{(\s*)…(\s*\})/g, `{$1"${more}": "${more}"$2`)
    .replace(/([[,:]\s*)…/g, `$1"${more}"`)
  return JSON.parse(quoted)
}

function compared(at: string, value: unknown, shape: unknown, known: Known): string[] {
  if (shape === more) return []
  if (typeof shape === 'string') return comparedText(at, value, shape, known)
  if (Array.isArray(shape)) return comparedList(at, value, shape, known)
  if (typeof shape === 'object' && shape !== null) return comparedObject(at, value, shape, known)
  return Object.is(value, shape) ? [] : [differs(at, value, shape)]
}

function comparedText(at: string, value: unknown, shape: string, known: Known): string[] {
  const [, name] = /^\{\{(\w+)\}\}$/.exec(shape) ?? []
  if (name !== undefined && !known.has(name) && typeof value === 'string') {
    known.set(name, value)
    return []
  }
  return value === filled(shape, known) ? [] : [differs(at, value, filled(shape, known))]
}

function comparedList(at: string, value: unknown, shape: readonly unknown[], known: Known): string[] {
  if (!Array.isArray(value)) return [differs(at, value, shape)]
  const isOpen = shape.at(-1) === more
  const elements = isOpen ? shape.slice(0, -1) : shape
  if (isOpen ? value.length < elements.length : value.length !== elements.length)
    return [`${at} has ${value.length} elements, shown ${elements.length}`]
  return elements.flatMap((element, index) => compared(`${at}[${index}]`, value[index], element, known))
}

function comparedObject(at: string, value: unknown, shape: object, known: Known): string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [differs(at, value, shape)]
  const { [more]: isOpen, ...members } = shape as Record<string, unknown>
  const hidden = isOpen === undefined ? Object.keys(value).filter((name) => !(name in members)) : []
  return [
    ...hidden.map((name) => `${at}.${name} is not shown`),
    ...Object.entries(members).flatMap(([name, member]) =>
      compared(`${at}.${name}`, (value as Record<string, unknown>)[name], member, known),
    ),
  ]
}

const differs = (at: string, value: unknown, shape: unknown) =>
  `${at} is ${JSON.stringify(value)}, shown ${JSON.stringify(shape)}`
