/**
 * A request and an answer of each operation, by area. The files are what test/contract/examples.test.ts sent to a daemon
 * and received; only the document loads them.
 */
import type { Area } from '../areas.ts'
import admin from './admin.json' with { type: 'json' }
import ai from './ai.json' with { type: 'json' }
import audit from './audit.json' with { type: 'json' }
import auth from './auth.json' with { type: 'json' }
import backup from './backup.json' with { type: 'json' }
import comments from './comments.json' with { type: 'json' }
import containers from './containers.json' with { type: 'json' }
import identity from './identity.json' with { type: 'json' }
import items from './items.json' with { type: 'json' }
import jobs from './jobs.json' with { type: 'json' }
import media from './media.json' with { type: 'json' }
import meta from './meta.json' with { type: 'json' }
import privacy from './privacy.json' with { type: 'json' }
import retention from './retention.json' with { type: 'json' }
import structure from './structure.json' with { type: 'json' }
import templates from './templates.json' with { type: 'json' }
import views from './views.json' with { type: 'json' }
import webhooks from './webhooks.json' with { type: 'json' }

export interface OperationExample {
  /** Of the path and of the query, by name. */
  readonly params?: Readonly<Record<string, unknown>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly body?: unknown
  readonly answer?: unknown
}

const byArea: Readonly<Record<Area, Readonly<Record<string, OperationExample>>>> = {
  admin,
  ai,
  audit,
  auth,
  backup,
  comments,
  containers,
  identity,
  items,
  jobs,
  media,
  meta,
  privacy,
  retention,
  structure,
  templates,
  views,
  webhooks,
}

/** Undefined for an operation that is too new to have one; a test asks for it. */
export const exampleFor = ({ area, id }: { readonly area: Area; readonly id: string }): OperationExample | undefined =>
  byArea[area][id]
