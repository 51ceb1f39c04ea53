/**
 * Events as they happen, for commands that stay: polled, type by type, each exactly once.
 *
 * A round asks for every type at the same time; the rounds are so far apart that they take
 * half of the calls that a workspace has by default.
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
const whatTypes = 'A type, or a pattern such as work.item.*; may be given several times.'

export const typeFlag = Flags.string({ ...someTypes, summary: `${whatTypes} Absent: every type.` })
export const changedTypesFlag = Flags.string({ ...someTypes, summary: `${whatTypes} Absent: they stay.` })
/** For what receives nothing unless it is named. */
export const requiredTypeFlag = Flags.string({ ...someTypes, summary: whatTypes, required: true })

/** The full types that are meant: `work.item.created` needs neither namespace nor version, `*` stands for any part. Fails (usage). */
export async function typesNamed(caller: Caller, named: readonly string[] | undefined): Promise<string[]> {
  const { data } = await caller.call(eventTypeOperations.listEventTypes, {})
  const all = data.map(({ type }) => type)
  const chosen = (named ?? ['*']).map((one) => {
    const found = all.filter((type) => matches(one, type))
    if (found.length > 0) return found
    throw new Failure('usage', `No event type is "${one}".`, '`svc events catalog` lists them.')
  })
  return [...new Set(chosen.flat())]
}

function matches(pattern: string, type: string): boolean {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[.\\+?^$(){}|[\]]/g, '\\$&'))
  return new RegExp(`^(?:[^.]+\\.)?${parts.join('.*')}(?:\\.v[0-9]+)?$`).test(type)
}

export interface StreamOptions {
  readonly types: readonly string[]
  /** From the oldest event kept, instead of from now on. */
  readonly fromOldest: boolean
  readonly note: (line: string) => void
  /** Is told once the place to begin at is known for every type. */
  readonly onReady?: () => void
}

/** Yields until its reader stops. After a recovery it goes on with what happens from then on, and says so. */
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
    note(`Events of ${type} may have been missed: the place to go on from is gone. Going on with what happens now.`)
    return { type, ...(await pull('now')) }
  }
}
