/** The request that `svc api` sends, built from its flags. */
import { readFileSync } from 'node:fs'
import { readJson, writeJson } from '../../core/kernel/values/json.ts'
import { Failure } from '../failure.ts'
import { readStdin } from '../input/secret-input.ts'
import { unreadable } from '../input/unreadable.ts'
import type { Outgoing } from './api-caller.ts'

export interface RawFlags {
  readonly 'raw-field'?: string[] | undefined
  readonly field?: string[] | undefined
  readonly input?: string | undefined
  readonly header?: string[] | undefined
}

/** The path relative to /api/v1, with or without that prefix. Fails (usage) for whole URLs and for paths with dot segments. */
export function rawPath(path: string): string {
  const below = path.replace(/^\/?api\/v1(?=\/)/, '')
  const climbs = below.split(/[/?]/).some((segment) => segment === '..' || segment === '.')
  if (/^[a-z]+:/i.test(below) || below.startsWith('//') || climbs || !/^[!-~]+$/.test(below)) {
    throw new Failure('usage', 'The path must be relative to /api/v1.', 'For example: svc api GET /accounts/me')
  }
  return below.startsWith('/') ? below : `/${below}`
}

export async function outgoingOf(method: string, path: string, flags: RawFlags): Promise<Outgoing> {
  const headers = Object.fromEntries((flags.header ?? []).map(readHeader))
  const { 'content-type': named, ...rest } = headers
  const mediaType = named ?? (method === 'PATCH' ? 'application/merge-patch+json' : 'application/json')
  const fields = await fieldsOf(flags)
  if (method === 'GET') {
    if (flags.input !== undefined) throw new Failure('usage', 'A GET takes no body.', 'Use -f for its query.')
    return { method, path: withQuery(path, fields), headers: rest }
  }
  const body =
    flags.input === undefined
      ? Object.keys(fields).length > 0
        ? writeJson(fields)
        : undefined
      : await readInput(flags.input)
  return { method, path, headers: rest, body, mediaType }
}

/** The path with these members in its query; they replace members of the same name. */
export function withQuery(path: string, members: Readonly<Record<string, unknown>>): string {
  const [pathname, search = ''] = path.split('?')
  const query = new URLSearchParams(search)
  for (const [name, value] of Object.entries(members))
    query.set(name, typeof value === 'string' ? value : (writeJson(value) ?? ''))
  return query.size === 0 ? (pathname ?? '') : `${pathname}?${query}`
}

async function fieldsOf(flags: RawFlags): Promise<Record<string, unknown>> {
  const raw = (flags['raw-field'] ?? []).map((field) => split(field, '='))
  const typed: [string, unknown][] = []
  for (const field of flags.field ?? []) {
    const [name, value] = split(field, '=')
    typed.push([name, await typedValue(value)])
  }
  return Object.fromEntries([...raw, ...typed])
}

/** The value as JSON if it is JSON, the text of a file after @, else the text itself. */
async function typedValue(value: string): Promise<unknown> {
  if (value.startsWith('@')) return readInput(value.slice(1))
  try {
    return readJson(value)
  } catch {
    return value
  }
}

function readHeader(header: string): [string, string] {
  const [name, value] = split(header, ':')
  if (!/^[A-Za-z0-9-]+$/.test(name) || !/^[\t -~]*$/.test(value))
    throw new Failure('usage', 'A header must have the form "Name: value".')
  if (name.toLowerCase() === 'authorization')
    throw new Failure(
      'usage',
      'A token must not be an argument, because every user of this machine can read it.',
      'Set SVC_TOKEN, or use a profile.',
    )
  return [name.toLowerCase(), value.trim()]
}

function split(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator)
  if (at < 1) throw new Failure('usage', `"${text}" does not have the form NAME${separator}VALUE.`)
  return [text.slice(0, at), text.slice(at + 1)]
}

async function readInput(file: string): Promise<string> {
  try {
    return file === '-' ? await readStdin() : readFileSync(file, 'utf8')
  } catch (error) {
    throw unreadable(`the file ${file}`, error)
  }
}
