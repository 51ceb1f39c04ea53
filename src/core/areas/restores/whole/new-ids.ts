/**
 * New ids for all that a NEW takes, with every reference rewritten while it is laid out.
 *
 *    0190c9d2-7a3b-7cde-8f01-23456789abcd
 *    └─ moment, order ──────┘ └─ 48 bits, each id's changed in the same way
 *
 * An id keeps the bits by which rows are in order, and the change is the restore's own: laid out again after a crash, every row
 * has the id that it had. Nothing is remembered, whatever the archive's size. In texts, mentions and links to files are
 * rewritten, and nothing else: a person may have written down an id of another system. Spec: Keeping, 3 (NEW).
 */
import { createHash } from 'node:crypto'
import { installationScope } from '../../../contract/vocabulary.ts'
import type { Rewrite } from '../../backup/loading/loader.ts'
import type { Cell } from '../../backup/loading/raw-line.ts'

const uuids = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
/** `<@id>` of a comment, and paths of files. */
const inTexts = /(<@|\/media\/)([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})/g
const texts: Readonly<Record<string, readonly string[]>> = {
  item: ['description'],
  comment: ['body'],
  container: ['description'],
}

export type NewId = (id: string) => string

/** `was`, `is`: the workspace's own id, in the archive and now. */
export function newIds(restoreId: string, was: string, is: string): NewId {
  const salt = createHash('sha256').update(`svc/restore-new/v1 ${restoreId}`).digest()
  const [high, low] = [salt.readUIntBE(0, 3), salt.readUIntBE(3, 3)]
  const changed = (digits: string, by: number) => (Number.parseInt(digits, 16) ^ by).toString(16).padStart(6, '0')
  return (id) => {
    if (id === installationScope) return id
    if (id === was) return is
    return `${id.slice(0, 24)}${changed(id.slice(24, 30), high)}${changed(id.slice(30), low)}`
  }
}

/** Rewrites values as they are loaded. Fields come before the values of items, so which of these are accounts is known then. */
export function rewriteIds(newId: NewId): Rewrite {
  const ofPeople = new Set<string>()
  let field = ''
  const asIds: Cell = (raw) => raw.replace(uuids, newId)
  const asField: Cell = (raw) => {
    field = raw
    return asIds(raw)
  }
  return ({ table }, { name, type }) => {
    if (table === 'custom_field') {
      if (name === 'id') return asField
      if (name === 'options') return undefined
      if (name === 'kind')
        return (raw) => {
          if (raw === '"USER"') ofPeople.add(field)
          return raw
        }
    }
    if (table === 'item_field_value') {
      if (name === 'field_id') return asField
      // A value that somebody typed is one of ours only where its field is of accounts.
      if (type === 'jsonb') return (raw) => (ofPeople.has(field) ? asIds(raw) : raw)
    }
    if (type === 'uuid') return remembering(asIds)
    if (type === 'uuid[]' || type === 'jsonb') return asIds
    if (texts[table]?.includes(name))
      return (raw) => raw.replace(inTexts, (_, before: string, id: string) => before + newId(id))
    return undefined
  }
}

/** Rows beside each other often refer to the same one. */
function remembering(change: Cell): Cell {
  let was = ''
  let is = ''
  return (raw) => {
    if (raw !== was) {
      was = raw
      is = change(raw)
    }
    return is
  }
}
