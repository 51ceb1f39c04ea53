/** The embedded server: made once, shared, and never lost to whoever is killed. */
import { spawnSync } from 'node:child_process'
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import postgres from 'postgres'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type DatabaseAddress, postgresOptions } from '../../src/core/kernel/database/address.ts'
import { serverAccount } from '../../src/core/kernel/database/embedded/account.ts'
import { packagedFolder, runnableFolder } from '../../src/core/kernel/database/embedded/binaries.ts'
import { failureIn, failures } from '../../src/core/kernel/database/embedded/failure.ts'
import { findSuperuser, holdEmbedded } from '../../src/core/kernel/database/embedded.ts'
import {
  copyPackage,
  giveAway,
  killServer,
  ordinaryUser,
  serverPid,
  startBystander,
  startHolder,
  temporaryFolder,
  until,
  userOf,
  wipe,
} from '../kit/embedded-processes.ts'

const isRoot = process.getuid?.() === 0
const fast = { settings: { fsync: 'off' } }

let outer: string
let dataDir: string

beforeEach(async () => {
  outer = await temporaryFolder()
  dataDir = join(outer, '.svc')
})
afterEach(() => wipe(outer, dataDir))

let ready: string
beforeAll(async () => {
  ready = join(await temporaryFolder(), '.svc')
  const { release } = await holdEmbedded(ready, fast)
  await release()
})
afterAll(() => rm(dirname(ready), { recursive: true, force: true }))

/** Begins with a database that was made before: a copy, as the data folder may be moved. */
const made = () => beforeEach(() => void spawnSync('cp', ['-a', ready, dataDir]))

async function ask<Row extends postgres.Row>(address: DatabaseAddress, statement: string): Promise<Row[]> {
  const sql = postgres({ ...postgresOptions(address), max: 1, onnotice: () => undefined })
  try {
    return [...(await sql.unsafe<Row[]>(statement))]
  } finally {
    await sql.end()
  }
}

describe('a new database', () => {
  test('has an owner who makes roles, a daemon who bypasses nothing, and lets both in by password only', async () => {
    const { owner, daemon, reused, where, release } = await holdEmbedded(dataDir, fast)
    expect(reused).toBe(false)
    expect(
      await ask(
        owner,
        `select rolname, rolsuper, rolbypassrls, rolcreatedb, rolcreaterole, rolinherit, rolreplication
        from pg_roles where rolname in ('svc_owner', 'svc_daemon') order by rolname`,
      ),
    ).toEqual([
      { rolname: 'svc_daemon', ...nothing },
      { rolname: 'svc_owner', ...nothing, rolcreaterole: true, rolinherit: true },
    ])
    expect(await ask({ ...daemon, host: '127.0.0.1' }, 'show data_checksums')).toEqual([{ data_checksums: 'on' }])
    for (const host of [daemon.host, '127.0.0.1']) {
      await expect(ask({ ...daemon, host, password: 'wrong' }, 'select 1')).rejects.toThrow(
        'password authentication failed',
      )
    }
    await expect(ask({ ...daemon, database: 'postgres' }, 'select 1')).rejects.toThrow('permission denied')
    expect((await stat(join(dataDir, 'postgres.json'))).mode & 0o777).toBe(0o600)
    expect((await stat(where)).mode & 0o777).toBe(0o700)
    await release()
  })

  test('lets a migration make a role, lend it to the daemon and give it a table', async () => {
    const { owner, daemon, release } = await holdEmbedded(dataDir, fast)
    await ask(owner, 'create role svc_tenant nologin; grant svc_tenant to svc_daemon; create extension pg_trgm')
    await ask(
      owner,
      'create schema a; grant create, usage on schema a to svc_tenant; create table a.b (); alter table a.b owner to svc_tenant',
    )
    await ask(owner, "alter role svc_daemon set lock_timeout = '2s'")
    await expect(ask(daemon, 'select * from a.b')).rejects.toThrow('permission denied')
    expect(await ask(daemon, 'set role svc_tenant; select current_user::text as who')).toMatchObject([
      [],
      [{ who: 'svc_tenant' }],
    ])
    await release()
  })

  test('writes neither passwords nor statements to its log', async () => {
    const { owner, daemon, where, release } = await holdEmbedded(dataDir, fast)
    await expect(ask(daemon, "select 'what people wrote'::integer")).rejects.toThrow('invalid input')
    const log = await readFile(join(dirname(where), 'server.log'), 'utf8')
    expect(log).toContain('invalid input')
    for (const secret of [owner.password!, daemon.password!, 'select ']) expect(log).not.toContain(secret)
    await release()
  })

  test('is made once when three processes start at the same time', async () => {
    const holders = [startHolder(dataDir), startHolder(dataDir), startHolder(dataDir)]
    const said = await Promise.all(holders.map((holder) => holder.said))
    expect(said.map(({ reused }) => reused).sort()).toEqual([false, true, true])
    expect(new Set(said.map(({ daemon }) => JSON.stringify(daemon))).size).toBe(1)
    await Promise.all(holders.map((holder) => holder.leave()))
    expect(await serverPid(said[0]!.where)).toBeUndefined()
  })

  test('is begun again when the first attempt was killed half-way', async () => {
    const holder = startHolder(dataDir)
    const home = join(dataDir, 'postgres')
    await until(async () => (await readdir(home).catch(() => [])).some((name) => name.includes('unfinished')))
    await holder.die('SIGKILL')
    expect(await readdir(home)).not.toContain('cluster')
    const { daemon, reused, release } = await holdEmbedded(dataDir, fast)
    expect(reused).toBe(false)
    expect(await ask(daemon, 'select 1 as one')).toEqual([{ one: 1 }])
    await release()
  })

  test('is taken as it is when only the word that it is complete was lost', async () => {
    const first = await holdEmbedded(dataDir, fast)
    await ask(first.owner, 'create table kept ()')
    await first.release()
    const file = join(dataDir, 'postgres.json')
    await writeFile(file, (await readFile(file, 'utf8')).replace('"created": true', '"created": false'))
    const second = await holdEmbedded(dataDir, fast)
    expect(await ask(second.owner, 'select * from kept')).toEqual([])
    await second.release()
  })
})

const nothing = {
  rolsuper: false,
  rolbypassrls: false,
  rolcreatedb: false,
  rolcreaterole: false,
  rolinherit: false,
  rolreplication: false,
}

describe('a server in common', () => {
  made()

  test('stays while anybody holds it and stops with the last one', async () => {
    const first = await holdEmbedded(dataDir, fast)
    const other = startHolder(dataDir)
    expect(await other.said).toMatchObject({ reused: true, daemon: first.daemon })
    const pid = await serverPid(first.where)
    await first.release()
    await first.release()
    expect(await serverPid(first.where)).toBe(pid)
    expect(await ask(first.daemon, 'select 1 as one')).toEqual([{ one: 1 }])
    await other.leave()
    expect(await serverPid(first.where)).toBeUndefined()
    expect(await readFile(join(dirname(first.where), 'server.log'), 'utf8')).toContain('database system is shut down')
  })

  test.each(['SIGKILL', 'SIGINT'] as const)(
    'outlives a %s of the only holder and its group, and is reused',
    async (signal) => {
      const holder = startHolder(dataDir)
      const { where } = await holder.said
      const pid = await serverPid(where)
      await holder.die(signal, 'group')
      const next = await holdEmbedded(dataDir, fast)
      expect(next.reused).toBe(true)
      expect(await serverPid(where)).toBe(pid)
      await next.release()
      expect(await serverPid(where)).toBeUndefined()
    },
  )

  test('is neither stopped under others by a killed holder nor kept up by one', async () => {
    const killed = startHolder(dataDir)
    const { where } = await killed.said
    const [leaving, staying] = [startHolder(dataDir), startHolder(dataDir)]
    await Promise.all([leaving.said, staying.said])
    await killed.die('SIGKILL')
    await leaving.leave()
    expect(await serverPid(where)).toBeDefined()
    await staying.leave()
    expect(await serverPid(where)).toBeUndefined()
  })

  test('comes back with everything committed after a SIGKILL of itself, at the same place', async () => {
    const holder = startHolder(dataDir) // without fsync=off
    const { where, daemon } = await holder.said
    const owner = { ...(await findSuperuser(dataDir))!, database: 'svc' }
    await ask(owner, 'create table kept (id integer); insert into kept values (7)')
    await killServer(where)
    const next = await holdEmbedded(dataDir) // or the holder was faster in bringing it back
    expect(next.daemon).toEqual(daemon)
    expect(await ask(owner, 'select id from kept')).toEqual([{ id: 7 }])
    await holder.leave()
    expect(await serverPid(where)).toBeDefined()
    await next.release()
  })

  test('is brought back by whoever holds it, at the same place, and only while somebody does', async () => {
    const { where, daemon, release } = await holdEmbedded(dataDir, fast)
    await killServer(where)
    await until(async () => (await serverPid(where)) !== undefined)
    await until(async () => (await ask(daemon, 'select 1').catch(() => [])).length === 1)
    await release()
    expect(await serverPid(where)).toBeUndefined()
  })

  test("takes back what the daemon's login changed of itself, and large objects, whenever it starts", async () => {
    const first = await holdEmbedded(dataDir, fast)
    await ask(first.daemon, "alter role svc_daemon set work_mem = '1GB'")
    await ask(first.daemon, "alter role svc_daemon in database svc set jit = 'off'")
    await ask(first.daemon, "alter role svc_daemon password 'mine'")
    await ask((await findSuperuser(dataDir))!, 'grant execute on function lo_create(oid) to public')
    await first.release()

    const again = await holdEmbedded(dataDir, fast)
    const stored = "select 1 from pg_db_role_setting where setrole = 'svc_daemon'::regrole"
    expect(await ask(again.daemon, stored)).toEqual([])
    await expect(ask(again.daemon, 'select lo_create(0)')).rejects.toThrow(/permission denied/)
    await again.release()
  })

  test('comes back when its holder and itself were killed together', async () => {
    const holder = startHolder(dataDir)
    const { where } = await holder.said
    await holder.die('SIGKILL')
    await killServer(where)
    const next = await holdEmbedded(dataDir, fast)
    expect(await ask(next.daemon, 'select 1 as one')).toEqual([{ one: 1 }])
    await next.release()
  })

  test('starts although its old number is another program of the same user now', async () => {
    const first = await holdEmbedded(dataDir, fast)
    await first.release()
    const bystander = await startBystander(await serverAccount())
    const pidFile = join(first.where, 'postmaster.pid')
    await writeFile(pidFile, `${bystander.pid}\n${first.where}\n0\n1\n\n\n\nready\n`)
    const next = await holdEmbedded(dataDir, fast)
    expect(next.reused).toBe(false)
    await next.release()
    expect(bystander.exitCode).toBeNull()
    bystander.kill()
  })

  test('moves to another port when its own is taken, and says so', async () => {
    const first = await holdEmbedded(dataDir, fast)
    await first.release()
    const thief = createServer()
    await new Promise<void>((resolve) => thief.listen(first.daemon.port, '127.0.0.1', resolve))
    const notes: string[] = []
    const next = await holdEmbedded(dataDir, { ...fast, note: (line) => notes.push(line) })
    expect(next.daemon.port).not.toBe(first.daemon.port)
    expect(notes).toEqual([expect.stringContaining(`Port ${first.daemon.port}`)])
    expect(await ask({ ...next.daemon, host: '127.0.0.1' }, 'select 1 as one')).toEqual([{ one: 1 }])
    await next.release()
    thief.close()
  })
})

describe('where it lives', () => {
  test('below a folder closed to others, root puts it where its user gets and says where', async () => {
    const closed = await temporaryFolder(0o700)
    const hidden = join(closed, '.svc')
    const notes: string[] = []
    const embedded = await holdEmbedded(hidden, { ...fast, note: (line) => notes.push(line) })
    expect(embedded.where).toMatch(isRoot ? /^\/var\/(lib|tmp)\/svc\/database-/ : /^.*\.svc\/postgres\/cluster$/)
    expect(notes).toEqual([expect.stringContaining(embedded.where)])
    expect(await userOf((await serverPid(embedded.where))!)).toBe((await serverAccount())?.uid ?? process.getuid?.())
    await embedded.release()
    expect(await holdAndLeave(hidden)).toMatchObject({ where: embedded.where, daemon: embedded.daemon })
    await wipe(closed, hidden)
  })

  test('an ordinary user runs it himself', async () => {
    await giveAway(outer)
    const holder = startHolder(dataDir, ordinaryUser)
    const said = await holder.said
    expect(said.failure).toBeUndefined()
    expect(said.serverUser).toBeUndefined()
    expect(await userOf((await serverPid(said.where))!)).toBe(ordinaryUser.uid ?? process.getuid?.())
    await holder.leave()
    expect(await serverPid(said.where)).toBeUndefined()
  })

  test('a path too long for a socket gets one elsewhere, again when that is gone', async () => {
    dataDir = join(outer, 'a'.repeat(100), '.svc')
    const first = await holdEmbedded(dataDir, fast)
    expect(first.daemon.host.length).toBeLessThan(80)
    expect((await stat(first.daemon.host)).mode & 0o777).toBe(0o700)
    await first.release()
    await rm(first.daemon.host, { recursive: true })
    const second = await holdEmbedded(dataDir, fast)
    expect(second.daemon.host).not.toBe(first.daemon.host)
    const third = await holdEmbedded(dataDir, fast)
    expect(third).toMatchObject({ reused: true, daemon: second.daemon })
    expect(await ask(third.daemon, 'select 1 as one')).toEqual([{ one: 1 }])
    await Promise.all([second.release(), third.release()])
    expect(await serverPid(third.where)).toBeUndefined()
  })

  test('a data folder with a comma, a quote and a space in its name can be used and moved', async () => {
    const first = join(outer, `a, "b' c`)
    const made = await holdEmbedded(first, fast)
    expect(await ask(made.daemon, 'select 1 as one')).toEqual([{ one: 1 }])
    await made.release()
    await rename(first, dataDir)
    const moved = await holdEmbedded(dataDir, fast)
    expect(moved.where.startsWith(dataDir)).toBe(true)
    expect(await ask(moved.daemon, 'select 1 as one')).toEqual([{ one: 1 }])
    await moved.release()
  })

  test('programs in a closed folder, without their links, run from a copy', async () => {
    const closed = await temporaryFolder(0o700)
    const packaged = await copyPackage(packagedFolder(), join(closed, 'package'))
    const account = await serverAccount()
    const notes: string[] = []
    const folder = await runnableFolder(account, outer, (line) => notes.push(line), packaged)
    // Ordinary users get into their own folder, so there the links alone are mended.
    expect(folder === packaged).toBe(!isRoot)
    expect(await runnableFolder(account, outer, (line) => notes.push(line), packaged)).toBe(folder)
    expect(notes).toHaveLength(isRoot ? 1 : 0)
    if (isRoot) await rm(folder, { recursive: true })
    await rm(closed, { recursive: true })
  })

  async function holdAndLeave(folder: string) {
    const embedded = await holdEmbedded(folder, fast)
    await embedded.release()
    return embedded
  }
})

describe('one line says what is wrong and what to do', () => {
  test('data of another PostgreSQL, data that is gone, a record nobody understands', async () => {
    const { where, release } = await holdEmbedded(dataDir, fast)
    await release()
    await writeFile(join(where, 'PG_VERSION'), '17\n')
    await expect(holdEmbedded(dataDir)).rejects.toThrow(/made by PostgreSQL 17, svc brings 18: .*SVC_DATABASE_URL/)
    await rm(where, { recursive: true })
    await expect(holdEmbedded(dataDir)).rejects.toThrow(/no longer in .*bring the folder back/)
    await writeFile(join(dataDir, 'postgres.json'), '{')
    await expect(holdEmbedded(dataDir)).rejects.toThrow(/cannot be understood/)
  })

  test('a setting that keeps the server from starting', async () => {
    const failing = holdEmbedded(dataDir, { settings: { fsync: 'off', shared_buffers: 'much' } })
    await expect(failing).rejects.toThrow(/^PostgreSQL does not start: .*shared_buffers.*server\.log\)$/)
  })

  test('a data folder that cannot be written', async () => {
    await mkdir(dataDir, { mode: 0o555 })
    await giveAway(outer)
    const said = await startHolder(dataDir, isRoot ? ordinaryUser : {}).said
    expect(said.failure).toMatch(/The data folder .* cannot be written \(EACCES\): .*SVC_DATA_DIR/)
    await writeFile(join(outer, 'file'), '')
    await expect(holdEmbedded(join(outer, 'file'))).rejects.toThrow(/cannot be written \((EEXIST|ENOTDIR)\)/)
  })

  test('a platform without binaries', () => {
    expect(() => packagedFolder('linux', 'riscv64')).toThrow(
      /no PostgreSQL binaries for linux-riscv64.*SVC_DATABASE_URL/,
    )
  })

  test('a full disk', () => {
    const output = 'LOG:  starting\nPANIC:  could not write to file "pg_wal/xlogtemp.7": No space left on device\n'
    expect(failureIn(output, '/data', failures.creation).message).toMatch(/disk that holds \/data is full/)
  })
})
