import postgres from 'postgres'
import { describe, expect, inject, test } from 'vitest'
import { addressOf, pgOptions, postgresOptions } from '../../../src/core/kernel/database/address.ts'
import { testDatabase } from '../../kit/database.ts'

const plain = { host: 'db.example', port: 5432, database: 'svc', user: 'anna', password: 'secret', ssl: false }

describe('an address from a URL', () => {
  test.each([
    ['postgres://anna:secret@db.example/svc', plain],
    ['postgresql://anna:secret@db.example:5433/svc', { ...plain, port: 5433 }],
    ['postgres://anna:p%40ss%2Fw%25rd@db.example/svc', { ...plain, password: 'p@ss/w%rd' }],
    ['postgres://anna@db.example', { ...plain, database: 'anna', password: undefined }],
    ['postgres://anna:secret@[::1]:5433/svc', { ...plain, host: '::1', port: 5433 }],
    ['postgres://anna:secret@/svc?host=/run/pg%20here&port=6000', { ...plain, host: '/run/pg here', port: 6000 }],
    ['postgres://anna:secret@%2Frun%2Fpg/svc', { ...plain, host: '/run/pg' }],
    ['postgres:///svc?host=/run/pg&user=anna&password=secret', { ...plain, host: '/run/pg' }],
    ['postgres://anna:secret@db.example/svc?sslmode=disable', plain],
    ['postgres://anna:secret@db.example/svc?sslmode=require', { ...plain, ssl: 'require' }],
    ['postgres://anna:secret@db.example/svc?sslmode=verify-full', { ...plain, ssl: 'verify-full' }],
    ['postgres://anna:secret@db.example/svc?sslmode=verify-ca', { ...plain, ssl: 'verify-full' }],
    ['postgres://anna:secret@db.example/svc?application_name=x', plain],
  ])('%s', (url, address) => {
    expect(addressOf(url)).toEqual(address)
  })

  test.each([
    ['mysql://anna:secret@db.example/svc', 'not of the form'],
    ['postgres://anna:secret/x@db.example/svc', 'not of the form'],
    ['postgres://anna:secret%zz@db.example/svc', '%25'],
    ['postgres://anna:secret@db.example:70000/svc', 'between 1 and 65535'],
    ['postgres://anna:secret@db.example:0/svc', 'between 1 and 65535'],
    ['postgres://db.example/svc', 'names no user'],
    ['postgres://anna:secret@db.example/svc?sslmode=prefer', 'disable, require or verify-full'],
    ['postgres://anna:secret@db.example/svc?sslmode=__proto__', 'disable, require or verify-full'],
    ['postgres://anna:secret@db.example/svc?options=-csearch_path', '?options='],
  ])('%s is refused in one line without the password', (url, said) => {
    const refusal = refusalOf(url)
    expect(refusal).toContain(said)
    expect(refusal).not.toContain('secret')
    expect(refusal).not.toContain('\n')
  })
})

function refusalOf(url: string): string {
  try {
    return `accepted: ${JSON.stringify(addressOf(url))}`
  } catch (error) {
    return (error as Error).message
  }
}

describe('the drivers get there', () => {
  test('through the socket and through the port, with postgres.js', async () => {
    const { daemon } = inject('cluster')
    for (const host of [daemon.host, '127.0.0.1']) {
      const sql = postgres({ ...postgresOptions({ ...daemon, host }), max: 1 })
      expect(await sql`select current_user::text as who, inet_client_addr() is null as local`).toEqual([
        { who: 'svc_daemon', local: host.startsWith('/') },
      ])
      await sql.end()
    }
  })

  test('postgres.js keeps an IPv6 address whole instead of cutting it at its colons', () => {
    const sql = postgres(postgresOptions({ ...plain, host: '::1', port: 5433 }))
    expect(sql.options).toMatchObject({ host: ['::1'], port: [5433] })
  })

  test('pg is told the folder of a socket, and to check certificates unless told not to', () => {
    expect(pgOptions({ ...plain, host: '/run/pg', ssl: 'require' })).toEqual({
      ...plain,
      host: '/run/pg',
      ssl: false,
      options: '-c jit=off',
    })
    expect(pgOptions({ ...plain, ssl: 'require' }).ssl).toEqual({ rejectUnauthorized: false })
    expect(pgOptions({ ...plain, ssl: 'verify-full' }).ssl).toEqual({ rejectUnauthorized: true })
    expect(pgOptions({ ...plain, ssl: true }).ssl).toEqual({ rejectUnauthorized: true })
  })
})

test('a test database is a copy of its own and goes away while somebody is connected', async () => {
  const [one, other] = await Promise.all([testDatabase(), testDatabase()])
  await one.sql`create table only_here (id integer)`
  expect(await other.sql`select to_regclass('only_here') is null as absent`).toEqual([{ absent: true }])
  const left = postgres({ ...postgresOptions(one.daemon), max: 1, onnotice: () => undefined })
  await left`select 1`
  await one.drop()
  expect(await other.sql`select 1 from pg_database where datname = ${one.daemon.database}`).toHaveLength(0)
  await other.drop()
  await left.end()
})
