/**
 * A real S3 server: OpenStack Swift with its s3api, as Debian packages it
 * (`apt-get install swift-proxy swift-account swift-container swift-object memcached`).
 * It verifies AWS Signature Version 4. Everything it keeps is in one temporary folder.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { shows } from './needs.ts'
import { freePorts, type Running, runServer } from './outside-server.ts'

const programs = [
  '/usr/bin/swift-proxy-server',
  '/usr/bin/swift-account-server',
  '/usr/bin/swift-container-server',
  '/usr/bin/swift-object-server',
  '/usr/bin/swift-ring-builder',
  '/usr/bin/memcached',
]

export const hasSwift = shows(
  'a real S3 store',
  'Swift (apt-get install swift-proxy swift-account swift-container swift-object memcached)',
  programs.every((program) => existsSync(program)) && existsSync('/etc/swift/swift.conf'),
)

export interface Swift {
  /** `http://127.0.0.1:PORT` */
  readonly endpoint: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** Makes the stored objects unreachable, and reachable again. */
  stopObjects(): Promise<void>
  stop(): Promise<void>
}

const kinds = ['account', 'container', 'object'] as const

export async function startSwift(): Promise<Swift> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-swift-'))
  const [memcached = 0, proxy = 0, ...ports] = await freePorts(2 + kinds.length)
  mkdirSync(join(folder, 'devices', 'd1'), { recursive: true })
  const running: Running[] = []
  const start = async (command: string, args: string[], port: number) => {
    const server = await runServer(command, args, port, folder)
    running.push(server)
    return server
  }
  const { username } = userInfo()
  await start('/usr/bin/memcached', ['-l', '127.0.0.1', '-p', String(memcached), '-u', username, '-m', '16'], memcached)
  let objects: Running | undefined
  for (const [at, kind] of kinds.entries()) {
    const port = ports[at] ?? 0
    makeKeyring(folder, kind, port)
    const conf = join(folder, `${kind}.conf`)
    writeFileSync(conf, storageConf(folder, kind, port, username))
    objects = await start(`/usr/bin/swift-${kind}-server`, [conf], port)
  }
  const conf = join(folder, 'proxy.conf')
  writeFileSync(conf, proxyConf(folder, proxy, memcached, username))
  await start('/usr/bin/swift-proxy-server', [conf], proxy)
  return {
    endpoint: `http://127.0.0.1:${proxy}`,
    accessKeyId: 'test:tester',
    secretAccessKey: 'testing',
    async stopObjects() {
      await objects?.stop()
    },
    async stop() {
      for (const server of running.reverse()) await server.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function makeKeyring(folder: string, kind: string, port: number): void {
  const builder = join(folder, `${kind}.builder`)
  const run = (...args: string[]) =>
    execFileSync('/usr/bin/swift-ring-builder', [builder, ...args], { stdio: 'ignore', cwd: folder })
  run('create', '4', '1', '1')
  run('add', `r1z1-127.0.0.1:${port}/d1`, '1')
  run('rebalance')
}

const storageConf = (folder: string, kind: string, port: number, user: string) => `
[DEFAULT]
devices = ${folder}/devices
mount_check = false
fallocate_reserve = 0
bind_ip = 127.0.0.1
bind_port = ${port}
workers = 0
user = ${user}
swift_dir = ${folder}
recon_cache_path = ${folder}
[pipeline:main]
pipeline = ${kind}-server
[app:${kind}-server]
use = egg:swift#${kind}
`

const proxyConf = (folder: string, port: number, memcached: number, user: string) => `
[DEFAULT]
bind_ip = 127.0.0.1
bind_port = ${port}
workers = 0
user = ${user}
swift_dir = ${folder}
[pipeline:main]
pipeline = catch_errors gatekeeper cache listing_formats bulk s3api tempauth copy slo dlo proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:gatekeeper]
use = egg:swift#gatekeeper
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:${memcached}
[filter:listing_formats]
use = egg:swift#listing_formats
[filter:bulk]
use = egg:swift#bulk
[filter:s3api]
use = egg:swift#s3api
location = us-east-1
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = testing .admin
[filter:copy]
use = egg:swift#copy
[filter:slo]
use = egg:swift#slo
[filter:dlo]
use = egg:swift#dlo
`
