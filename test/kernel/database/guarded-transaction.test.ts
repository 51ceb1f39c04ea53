/** What a transaction promises to the rule inside it, and what it refuses. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Connection, connect } from '../../../src/core/kernel/database/connection.ts'
import { openPool, type Pool, type PoolOptions } from '../../../src/core/kernel/database/pool.ts'
import { runTransaction, TransactionOver, type Tx } from '../../../src/core/kernel/database/transaction.ts'
import { type OwnCluster, ownCluster } from './own-cluster.ts'
import { packetProxy } from './packet-proxy.ts'
import { into, makeWorkspaces, watchProcess, workspaces } from './two-workspaces.ts'

const [a, b] = workspaces
const applicationName = 'svc-guard'

let cluster: OwnCluster
let pool: Pool
const watched = watchProcess()
beforeAll(async () => {
  cluster = await ownCluster({ fsync: 'off' })
  await makeWorkspaces(cluster.superuser)
  await cluster.superuser.unsafe(`
    create table note (id int primary key, body text, data jsonb, at timestamptz, constraint body_taken unique (body));
    grant all on note to svc_login`)
  pool = opened({ size: 2 })
})
beforeEach(() => cluster.superuser`truncate note, ledger`)
afterAll(async () => {
  await pool.close()
  await cluster.remove()
  watched.stop()
  expect(watched.uncaught).toEqual([])
})

function opened(options: Omit<PoolOptions, 'applicationName'>): Pool {
  return openPool(cluster.address('svc_login'), { applicationName, ...options })
}

/** Runs a test on a pool of its own and closes it. */
async function withPool(options: Omit<PoolOptions, 'applicationName'>, run: (pool: Pool) => Promise<void>) {
  const own = opened(options)
  await run(own).finally(() => own.close(0))
}

async function statementsOf(opening: string, work: (tx: Tx) => Promise<unknown>): Promise<string[]> {
  const limits = { statementMs: 5_000, lockMs: 2_000, idleInTransactionMs: 10_000 }
  const connection = await connect(cluster.address('svc_login'), { applicationName, ...limits })
  const sent: string[] = []
  const send: Connection['send'] = (statement, failed) => {
    sent.push(statement.text)
    return connection.send(statement, failed)
  }
  await runTransaction({ ...connection, alive: true, send }, opening, work, {})
  await connection.end()
  return sent
}

const notes = async () => (await cluster.superuser`select id from note order by id`).map((row) => row['id'] as number)
const insert = (tx: Tx, id: number) => tx`insert into note (id) values (${id})`

describe('the end of a transaction', () => {
  test('commits what the work did, and gives back what it returned', async () => {
    expect(await pool.transaction('', async (tx) => (await insert(tx, 1)).count)).toBe(1)
    expect(await notes()).toEqual([1])
  })

  test('a throw rolls back and is thrown on as it was', async () => {
    const mine = new Error('mine')
    const work = async (tx: Tx) => {
      await insert(tx, 1)
      throw mine
    }
    await expect(pool.transaction('', work)).rejects.toBe(mine)
    expect(await notes()).toEqual([])
  })

  test('a violated constraint is thrown with its name', async () => {
    const work = (tx: Tx) => tx`insert into note (id, body) values (1, 'x'), (2, 'x')`
    await expect(pool.transaction('', work)).rejects.toMatchObject({ code: '23505', constraint_name: 'body_taken' })
  })

  test('a swallowed failure fails the transaction with that failure', async () => {
    const work = async (tx: Tx) => {
      await insert(tx, 1)
      await insert(tx, 1).catch(() => {})
    }
    await expect(pool.transaction('', work)).rejects.toMatchObject({ code: '23505' })
    expect(await notes()).toEqual([])
  })

  test('a statement nobody awaited counts: it is committed, and its failure fails the transaction', async () => {
    await pool.transaction('', async (tx) => void insert(tx, 1))
    expect(await notes()).toEqual([1])
    await expect(pool.transaction('', async (tx) => void insert(tx, 1))).rejects.toMatchObject({ code: '23505' })
    await expect(pool.transaction('', async (tx) => void tx`select ${undefined as never}`)).rejects.toThrow(TypeError)
  })

  test('a handle that was kept is refused, also while another transaction has the connection', async () => {
    await withPool({ size: 1 }, async (single) => {
      let kept: Tx | undefined
      await single.transaction('', async (tx) => {
        kept = tx
      })
      await single.transaction(into(a), async (tx) => {
        await tx`select 1`
        await expect(insert(kept!, 1)).rejects.toThrow(TransactionOver)
        await expect(kept!.text('select 1')).rejects.toThrow(TransactionOver)
        await expect(kept!.switch(into(b))).rejects.toThrow(TransactionOver)
        await expect(kept!.savepoint(async () => {})).rejects.toThrow(TransactionOver)
        expect(await tx`select current_setting('app.tenant_id') as t`).toEqual([{ t: a }])
      })
    })
    expect(await notes()).toEqual([])
  })

  test('a rule cannot end it or leave settings behind by statement', async () => {
    for (const work of [
      (tx: Tx) => tx`commit`,
      (tx: Tx) => tx`  ROLLBACK`,
      (tx: Tx) => tx`set role postgres`,
      (tx: Tx) => tx.text('select 1; commit'),
    ]) {
      await expect(pool.transaction('', work)).rejects.toThrow(/the pool owns the transaction/)
    }
  })
})

describe('reading', () => {
  test('the opening, the query and the commit leave in one packet', async () => {
    const proxy = await packetProxy(cluster.address('svc_login'))
    const single = openPool(proxy.address, { size: 1, applicationName })
    const read = () =>
      single.transaction(into(a), (tx) => tx.last`select count(*) as n from ledger where tenant_id = ${a}`, {
        readOnly: true,
      })
    await read() // connects and plans
    proxy.sent()

    expect(await read()).toEqual([{ n: 0 }])
    const packets = proxy.sent()
    expect(packets).toHaveLength(1)
    expect(packets[0]).toMatch(/^Q....begin read only; set local role svc_probe; .*Q....commit\0$/s)

    await single.close()
    await proxy.close()
  })

  test('nothing follows last()', async () => {
    const work = async (tx: Tx) => {
      const rows = await tx.last`select 1 as one`
      await expect(tx`select 2`).rejects.toThrow(TransactionOver)
      return rows
    }
    expect(await pool.transaction('', work, { readOnly: true })).toEqual([{ one: 1 }])
  })

  test('last() is refused where something may be written, and its failure is thrown where not', async () => {
    await expect(pool.transaction('', (tx) => tx.last`select 1`)).rejects.toThrow(TypeError)
    const failing = (tx: Tx) => tx.last`select 1 / ${0}::int`
    await expect(pool.transaction('', failing, { readOnly: true })).rejects.toMatchObject({ code: '22012' })
    const invalid = (tx: Tx) => tx.last`select ${undefined as never}`
    await expect(pool.transaction('', invalid, { readOnly: true })).rejects.toThrow(TypeError)
    expect(await pool.transaction('', (tx) => tx`select 1 as one`)).toEqual([{ one: 1 }])
  })

  test('a transaction that only reads cannot write', async () => {
    const work = (tx: Tx) => insert(tx, 1)
    await expect(pool.transaction('', work, { readOnly: true })).rejects.toMatchObject({ code: '25006' })
  })

  test('repeatable read sees one moment', async () => {
    const counts = await pool.transaction(
      '',
      async (tx) => {
        const before = await tx`select id from note`
        await cluster.superuser`insert into note (id) values (1)`
        return [before.length, (await tx`select id from note`).length]
      },
      { isolation: 'repeatable read', readOnly: true },
    )
    expect(counts).toEqual([0, 0])
  })
})

describe('savepoints and switching', () => {
  test('a throw undoes only its savepoint', async () => {
    await pool.transaction('', async (tx) => {
      await insert(tx, 1)
      const doubled = tx.savepoint(async () => {
        await insert(tx, 2)
        await insert(tx, 2)
      })
      await expect(doubled).rejects.toMatchObject({ code: '23505' })
      await tx.savepoint(() => insert(tx, 3))
    })
    expect(await notes()).toEqual([1, 3])
  })

  test('role and workspace change inside a transaction, and only by set local', async () => {
    await pool.transaction(into(a), async (tx) => {
      await tx.switch(into(b))
      expect(await tx`select current_setting('app.tenant_id') as t`).toEqual([{ t: b }])
    })
    await pool.transaction(into(a), async (tx) => {
      void tx.switch(into(b))
      void tx.switch(into(a))
      void tx.switch(into(b))
      const texts: string[] = []
      await tx.copyOut(
        "copy (select current_setting('app.tenant_id')) to stdout",
        (row) => void texts.push(String(row)),
      )
      expect(texts.join('')).toContain(b)
    })
    const refused = [
      'set role svc_probe',
      "set local app.x = '';commit",
      "set local app.x = 'a''b'",
      'select 1',
      'set local role a b',
    ]
    for (const opening of refused) {
      await expect(pool.transaction(opening, async () => {})).rejects.toThrow(TypeError)
      await expect(pool.transaction('', (tx) => tx.switch(opening))).rejects.toThrow(TypeError)
    }
  })

  test('a role that is wanted for no statement is not set', async () => {
    const sent = await statementsOf(into(a), async (tx) => {
      void tx.switch(into(b))
      void tx.switch(into(a))
      await tx`select 1`
      void tx.switch(into(b))
    })
    expect(sent.slice(1)).toEqual(['select 1', 'commit'])
  })

  test('what is undone to a savepoint takes its roles along, those that were set and those that were only wanted', async () => {
    const tenant = async (tx: Tx) => (await tx<{ t: string }[]>`select current_setting('app.tenant_id') as t`)[0]?.t
    const failing = (tx: Tx, work: () => Promise<unknown>) =>
      tx
        .savepoint(async () => {
          await work()
          throw new Error('mine')
        })
        .catch(() => {})
    await pool.transaction(into(a), async (tx) => {
      await failing(tx, async () => {
        void tx.switch(into(b))
        expect(await tenant(tx)).toBe(b)
      })
      expect(await tenant(tx)).toBe(a)
      await failing(tx, async () => void tx.switch(into(b)))
      expect(await tenant(tx)).toBe(a)
      // Wanted before it, set inside it: after it, it has to be set again.
      void tx.switch(into(b))
      await failing(tx, () => tenant(tx))
      expect(await tenant(tx)).toBe(b)
    })
  })
})

describe('collisions', () => {
  test('work that collided runs again from its start', async () => {
    await cluster.superuser`insert into note (id, body) values (1, '0')`
    const bump = async (tx: Tx) => {
      const [row] = await tx<{ body: string }[]>`select body from note where id = 1`
      await tx`update note set body = ${String(Number(row!.body) + 1)} where id = 1`
    }
    const both = () => pool.transaction('', bump, { isolation: 'repeatable read' })
    for (let round = 0; round < 20; round += 1) await Promise.all([both(), both()])
    expect(await cluster.superuser`select body from note`).toEqual([{ body: '40' }])
  })

  test.each([true, false])(
    'of two that got the same place in an order, one runs again; awaited: %s',
    async (isAwaited) => {
      await cluster.superuser`create unique index note_in_order on note (data)`
      await cluster.superuser`insert into note (id, data) values (1, '"a"')`
      let runs = 0
      await pool.transaction('', async (tx) => {
        runs += 1
        const sent = tx`insert into note (id, data) values (2, ${tx.json(runs === 1 ? 'a' : 'b')})`
        if (isAwaited) await sent
      })
      expect(runs).toBe(2)
      expect(await cluster.superuser`select data from note order by id`).toEqual([{ data: 'a' }, { data: 'b' }])
      await cluster.superuser`drop index note_in_order`
    },
  )

  test('another value that is taken is no collision', async () => {
    let runs = 0
    const work = async (tx: Tx) => {
      runs += 1
      await tx`insert into note (id, body) values (1, 'x'), (2, 'x')`
    }
    await expect(pool.transaction('', work)).rejects.toMatchObject({ code: '23505' })
    expect(runs).toBe(1)
  })

  test('after three more attempts it is unavailable', async () => {
    let runs = 0
    const work = (tx: Tx) => {
      runs += 1
      return tx.text(`do $$ begin raise exception 'again' using errcode = '40P01'; end $$`)
    }
    await expect(pool.transaction('', work)).rejects.toMatchObject({
      name: 'DatabaseUnavailable',
      cause: { code: '40P01' },
    })
    expect(runs).toBe(4)
  })
})

describe('the session', () => {
  test('belongs to us by name, speaks UTC and looks for tables in public only', async () => {
    const [row] = await pool.transaction(
      '',
      (tx) => tx`
      select current_setting('application_name') as name, current_setting('TimeZone') as zone,
        current_setting('search_path') as path, current_setting('statement_timeout') as statement,
        current_setting('lock_timeout') as lock, current_setting('idle_in_transaction_session_timeout') as idle`,
    )
    const limits = { statement: '5s', lock: '2s', idle: '10s' }
    expect(row).toEqual({ name: applicationName, zone: 'UTC', path: 'public', ...limits })
  })

  test('refuses to write outside of a transaction that said so', async () => {
    const [row] = await pool.transaction(
      '',
      (tx) => tx`
      select setting, source from pg_settings where name = 'default_transaction_read_only'`,
    )
    expect(row).toEqual({ setting: 'on', source: 'client' })
  })
})
