/** Statements that are wrong, each in one way, for prepared.test.ts to catch. Never run. */
import type { Part } from '../../src/core/kernel/database/statement.ts'
import type { Tx } from '../../src/core/kernel/database/transaction.ts'

interface Offence {
  readonly wrong: (tx: Tx, isFirst: boolean) => unknown
  /** What the test says of it. */
  readonly caught: RegExp
}

const idsWhere = (tx: Tx, which: Part) => tx<{ id: string }[]>`select id from label where ${which}`

export const offences: Readonly<Record<string, Offence>> = {
  'a piece that one of two callers gives': {
    wrong: (tx) => [idsWhere(tx, tx.part`version > 1`), idsWhere(tx, tx.part`colour = 'red'`)],
    caught: /column "colour" does not exist/,
  },
  'a piece of the other branch': {
    wrong: (tx, isFirst) =>
      tx<{ id: string }[]>`select id from label ${isFirst ? tx.part`order by id` : tx.part`order by colour`}`,
    caught: /column "colour" does not exist/,
  },
  'a column that the table does not have': {
    wrong: (tx) => tx`delete from label where colour = 'red'`,
    caught: /column "colour" does not exist/,
  },
  'a written column that the table does not have': {
    wrong: (tx) => tx`insert into label ${tx.rows([], 'id', 'colour')}`,
    caught: /column "colour" of relation "label" does not exist/,
  },
  'a value of another type': {
    wrong: (tx, isFirst) => tx`select from label where version = ${isFirst}`,
    caught: /operator does not exist: integer = boolean/,
  },
  'a member without a column': {
    wrong: (tx) => tx<{ id: string; name: string }[]>`select id from label`,
    caught: /^name is not answered$/,
  },
  'a column without a member': {
    wrong: (tx) => tx<{ id: string }[]>`select id, name from label`,
    caught: /^name is answered and not in the row$/,
  },
  'a number said to be text': {
    wrong: (tx) => tx.last<{ version: string }[]>`select version from label`,
    caught: /^version is never string$/,
  },
  'a bigint said to be safe': {
    wrong: (tx) => tx<{ count: number }[]>`select count(*) as count from label`,
    caught: /^count may be bigint$/,
  },
  'a moment said to be a Date': {
    wrong: (tx) => tx<{ created_at: Date }[]>`select created_at from label`,
    caught: /^created_at is never object$/,
  },
  'two columns of one name': {
    wrong: (tx) => tx<{ id: string }[]>`select id, container_id as id from label`,
    caught: /^id is answered twice$/,
  },
  'a column that may be null': {
    wrong: (tx) => tx<[{ description: string }]>`select description from label where id = ${'id'}`,
    caught: /^description may be null$/,
  },
  'a column of an outer join': {
    wrong: (tx) => tx<{ name: string }[]>`
      select h.name from container c left join container h on h.tenant_id = c.tenant_id and h.id = c.parent_id`,
    caught: /^name may be null$/,
  },
  'a word that the column does not take': {
    wrong: (tx) => tx<{ state: 'OPEN' | 'DONE' | 'LOST' }[]>`select state from item`,
    caught: /^state is never 'LOST'$/,
  },
  'a word that the row does not know': {
    wrong: (tx) => tx<{ state: 'OPEN' }[]>`select state from item`,
    caught: /^state may be 'DONE'$/,
  },
  'a piece that cannot be followed': {
    wrong: (tx) => tx`select from label where ${[tx.part`true`].reduce((all, one) => tx.part`${all} and ${one}`)}`,
    caught: /^cannot be followed: \[tx\.part`true`\]\.reduce/,
  },
}
