/** The variables in force for this folder: their values, without secrets, and where each comes from. */
import { existsSync, readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { environment, isSecretVariable } from '../../core/kernel/config/config.ts'
import { loadEnvironment } from '../../core/kernel/values/environment.ts'

export interface Setting {
  readonly name: string
  /** Null: not set, and without a default. */
  readonly value: string | null
  readonly from: 'environment' | '.env' | 'default' | 'not set'
}

/** Read by commands alone. */
const ofCommands = ['SVC_API_URL', 'SVC_TOKEN']
const mask = '********'

/** Every variable, in the order of the documentation; also one that is not known, where it is set. */
export function settingsInForce(): Setting[] {
  const before = new Set(Object.keys(process.env))
  const file = existsSync('.env') ? parseEnv(readFileSync('.env', 'utf8')) : {}
  const env = loadEnvironment()
  const known = [...Object.keys(environment.shape), ...ofCommands]
  const others = Object.keys(env).filter((name) => name.startsWith('SVC_') && !known.includes(name))
  return [...known, ...others].map((name) => {
    const value = env[name]
    if (value === undefined || value === '') return unset(name)
    const from = before.has(name) || !(name in file) ? 'environment' : '.env'
    return { name, value: masked(name, value), from }
  })
}

function unset(name: string): Setting {
  const value = name in environment.shape ? defaultOf(name as keyof typeof environment.shape) : undefined
  return value === undefined ? { name, value: null, from: 'not set' } : { name, value, from: 'default' }
}

function defaultOf(name: keyof typeof environment.shape): string | undefined {
  const read = environment.shape[name].safeParse(undefined)
  return read.success && read.data !== undefined ? String(read.data) : undefined
}

/** A name that is not known may be a mistyped one, so what it holds may be a secret, too. */
function masked(name: string, value: string): string {
  const isKnown = name in environment.shape || ofCommands.includes(name)
  if (name === 'SVC_TOKEN' || isSecretVariable(name) || !isKnown) return mask
  // A URL that is not one shows nothing: the password may be anywhere in it.
  if (!/_URL$/.test(name)) return value
  if (!URL.canParse(value)) return mask
  const url = new URL(value)
  if (url.password !== '') url.password = mask
  for (const parameter of url.searchParams.keys())
    if (/password|secret|token|key$/i.test(parameter)) url.searchParams.set(parameter, mask)
  return url.href
}
