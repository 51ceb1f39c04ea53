/** Short words for what the tests of templates do on a desk. */
import { expect } from 'vitest'
import type { Template } from '../../src/core/contract/templates/operations.ts'
import { type Desk, openDesk } from '../items/desk.ts'
import type { Answered } from '../kit/daemon.ts'
import type { Person } from '../kit/people.ts'

type Named = { readonly id: string }

export interface Press {
  readonly desk: Desk
  readonly hub: Named
  /** Asks for a template of an item, with other members where some are named; the ADMIN asks. */
  make(members?: object, as?: Person): Promise<Answered>
  /** The same without a content, from something. */
  makeFrom(kind: string, from: object, as?: Person): Promise<Answered>
  /** The MEMBER applies a template. */
  apply(template: Named, body?: object, as?: Person): Promise<Answered>
  /** In the desk's collection. */
  applyHere(template: Named, body?: object): Promise<Answered>
  change(template: Named, body: object, as?: Person): Promise<Answered>
  remove(template: Named, as?: Person): Promise<Answered>
  /** The number of the last event. */
  lastSeq(): Promise<number>
  /** The events behind a number, as `work.item.created`. */
  eventsSince(seq: number): Promise<string[]>
}

/** A content of one item. */
export const one = (members: object = {}) => ({ items: [{ title: 'An item', ...members }] })

/** The template that was answered. */
export async function made(answer: Promise<Answered>): Promise<Template> {
  const { status, json, text } = await answer
  expect(status, text).toBe(201)
  return json as Template
}

export const code = ({ status, json }: Answered) => [status, (json as { code?: string } | undefined)?.code]

export async function openPress(): Promise<Press> {
  const desk = await openDesk()
  const { ADMIN: admin, MEMBER: member } = desk.people
  const { sql } = desk.daemon.db
  const post = (body: object, as = admin) =>
    desk.ask('POST /templates', { name: 'Mine', kind: 'ITEM', ...body }, { as })
  const apply: Press['apply'] = ({ id }, body = {}, as = member) =>
    desk.ask(`POST /templates/${id}:apply`, body, { as })
  return {
    desk,
    hub: await desk.hub(),
    make: (members = {}, as) => post({ content: one(), ...members }, as),
    makeFrom: (kind, from, as) => post({ kind, from }, as),
    apply,
    applyHere: (template, body = {}) => apply(template, { container_id: desk.collectionId, ...body }),
    change: ({ id }, body, as = admin) => desk.ask(`PATCH /templates/${id}`, body, { as }),
    remove: ({ id }, as = admin) => desk.ask(`DELETE /templates/${id}`, undefined, { as }),
    async lastSeq() {
      const [row] =
        await sql`select coalesce(max(seq), 0)::int as seq from outbox_event where tenant_id = ${desk.tenantId}`
      return row?.['seq'] as number
    },
    async eventsSince(seq) {
      const rows =
        await sql`select type from outbox_event where tenant_id = ${desk.tenantId} and seq > ${seq} order by seq`
      return rows.map(({ type }) => String(type).slice('svc.'.length, -'.v1'.length))
    },
  }
}
