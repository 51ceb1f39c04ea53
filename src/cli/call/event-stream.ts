/**
 * Events as they happen, for commands that keep running. Each type is polled, and each
 * event is yielded exactly once.
 *
 * A round polls every type at the same time. The pause between rounds is so long that
 * polling takes half of the calls that a workspace may make by default.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { Flags } from '@oclif/core'
import { type CloudEvent, eventTypeOperations, triggerOperations } from '../../core/contract/events/operations.ts'
import { Failure } from '../failure.ts'
import type { Caller } from './caller.ts'

const secondsForEachType = 0.2
const leastSeconds = 1

const someTypes = {
  char: 't',
  helpValue: 'TYPE',
  multiple: true,
  multipleNonGreedy: true,
} as const
const whatTypes = 'An event type, or a pattern such as work.item.*; may be given several times.'

export const typeFlag = Flags.string({ ...someTypes, summary: `${whatTypes} Default: every type.` })
export const changedTypesFlag = Flags.string({ ...someTypes, summary: `${whatTypes} Default: no change.` })
/** For a webhook that receives only the given types. */
export const requiredTypeFlag = Flags.string({ ...someTypes, summary: whatTypes, required: true })

/** The full names of the given types: `work.item.created` needs neither namespace nor version, `*` matches any text. Fails (usage). */
export async function typesNamed(caller: Caller, named: readonly string[] | undefined): Promise<string[]> {
  const { data } = await caller.call(eventTypeOperations.listEventTypes, {})
  const all = data.map(({ type }) => type)
  const chosen = (named ?? ['*']).map((one) => {
    const found = all.filter((type) => matches(one, type))
    if (found.length > 0) return found
    throw new Failure('usage', `No event type matches "${one}".`, '`svc events catalog` lists them.')
  })
  return [...new Set(chosen.flat())]
}

function matches(pattern: string, type: string): boolean {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[.\\+?^$(){}|[\]]/g, '\\$&'))
  return new RegExp(`^(?:[^.]+\\.)?${parts.join('.*')}(?:\\.v[0-9]+)?$`).test(type)
}

export interface StreamOptions {
  readonly types: readonly string[]
  /** Start with the oldest stored event instead of with new events. */
  readonly fromOldest: boolean
  readonly note: (line: string) => void
  /** Called when the position to start from is known for every type. */
  readonly onReady?: () => void
}

/** Yields until its reader stops. After a recovery it continues with new events, and prints a note. */
export async function* eventsOf(caller: Caller, options: StreamOptions): AsyncGenerator<CloudEvent> {
  const { types, fromOldest } = options
  const places = new Map<string, string | undefined>()
  if (fromOldest) for (const type of types) places.set(type, undefined)
  else await Promise.all(types.map(async (type) => places.set(type, await placeNow(caller, type))))
  options.onReady?.()

  for (;;) {
    const pages = await Promise.all([...places].map(([type, since]) => pageOf(caller, type, since, options.note)))
    for (const { type, next_since } of pages) places.set(type, next_since)
    const events = pages.flatMap(({ data }) => data)
    yield* events.sort((one, other) => (one.time < other.time ? -1 : one.time > other.time ? 1 : 0))
    if (!pages.some(({ has_more }) => has_more))
      await pause(1000 * Math.max(leastSeconds, types.length * secondsForEachType))
  }
}

async function placeNow(caller: Caller, eventType: string): Promise<string> {
  return (await caller.call(triggerOperations.pullEvents, { eventType, since: 'now' })).next_since
}

async function pageOf(caller: Caller, type: string, since: string | undefined, note: (line: string) => void) {
  const pull = (from: string | undefined) =>
    caller.call(triggerOperations.pullEvents, {
      eventType: type,
      limit: 200,
      ...(from === undefined ? {} : { since: from }),
    })
  try {
    return { type, ...(await pull(since)) }
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'gone') throw error
    note(`Events of ${type} may be missing: the last position no longer exists. Continuing with new events.`)
    return { type, ...(await pull('now')) }
  }
}
