/**
 * The reverse proxies of deploy/proxies, each as a process in front of daemons on loopback. What is shipped is run: only
 * addresses, ports and the places of files are exchanged, and each of them has to be there.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { freePorts, type Running, runServer } from './outside-server.ts'
import { openClient } from './proxied-load.ts'

export type ProxyName = 'nginx' | 'HAProxy' | 'Caddy' | 'Traefik'

const shipped = join(import.meta.dirname, '../../deploy/proxies')

interface Kind {
  readonly program: string
  /** How it says its version. */
  readonly version: readonly string[]
  readonly files: readonly string[]
  readonly args: (folder: string) => readonly string[]
  /** What stands in the files, and what stands there in a test. */
  readonly places: (folder: string, port: number) => readonly (readonly [string, string])[]
}

const kinds: Readonly<Record<ProxyName, Kind>> = {
  nginx: {
    program: 'nginx',
    version: ['-v'],
    files: ['nginx.conf'],
    args: (folder) => ['-p', folder, '-e', 'stderr', '-c', join(folder, 'main.conf')],
    places: (folder, port) => [
      ['listen 443 ssl', `listen 127.0.0.1:${port} ssl`],
      ['/etc/nginx/svc', join(folder, 'svc')],
    ],
  },
  HAProxy: {
    program: 'haproxy',
    version: ['-v'],
    files: ['haproxy.cfg'],
    args: (folder) => ['-db', '-f', join(folder, 'haproxy.cfg')],
    places: (folder, port) => [
      ['bind :443', `bind 127.0.0.1:${port}`],
      ['/etc/haproxy/svc', join(folder, 'svc')],
    ],
  },
  Caddy: {
    program: 'caddy',
    version: ['version'],
    files: ['Caddyfile'],
    args: (folder) => ['run', '--adapter', 'caddyfile', '--config', join(folder, 'Caddyfile')],
    places: (folder, port) => [
      // A certificate of the test's own, and no second listener for plain HTTP.
      ['admin off', 'admin off\n\tauto_https off'],
      ['svc.example.org {', `https://127.0.0.1:${port} {\n\ttls ${join(folder, 'svc.crt')} ${join(folder, 'svc.key')}`],
    ],
  },
  Traefik: {
    program: 'traefik',
    version: ['version'],
    files: ['traefik.yml', 'traefik-svc.yml'],
    args: (folder) => [`--configFile=${join(folder, 'traefik.yml')}`],
    places: (folder, port) => [
      ['address: ":443"', `address: "127.0.0.1:${port}"`],
      ['/etc/traefik/', `${folder}/`],
    ],
  },
}

export const proxyNames = Object.keys(kinds) as ProxyName[]

/** The version of the proxy that is installed here; undefined if there is none. One that was built from source has none. */
export function installedProxy(name: ProxyName): string | undefined {
  const { program, version } = kinds[name]
  const { status, stdout, stderr } = spawnSync(program, version, { encoding: 'utf8' })
  return status === 0 ? (/(?<!go|\d)\d+\.\d+\.\d+/.exec(`${stdout}${stderr}`)?.[0] ?? 'without a version') : undefined
}

export interface RunningProxy {
  readonly address: string
  output(): string
  stop(): Promise<void>
}

const shippedDaemons = ['10.0.0.11:8080', '10.0.0.12:8080', '10.0.0.13:8080']

/** Starts the proxy with its shipped configuration before the daemons on these three ports. */
export async function runProxy(name: ProxyName, daemonPorts: readonly number[]): Promise<RunningProxy> {
  const kind = kinds[name]
  const folder = mkdtempSync(join(tmpdir(), 'svc-proxy-'))
  const [port = 0] = await freePorts(1)
  certify(folder)
  const places = [
    ...kind.places(folder, port),
    ...shippedDaemons.map((shipped, at) => [shipped, `127.0.0.1:${daemonPorts[at]}`] as const),
  ]
  const unseen = new Set(places.map(([from]) => from))
  for (const file of kind.files) {
    let text = readFileSync(join(shipped, file), 'utf8')
    for (const [from, to] of places) {
      if (text.includes(from)) unseen.delete(from)
      text = text.replaceAll(from, to)
    }
    writeFileSync(join(folder, file), text)
  }
  if (unseen.size > 0) throw new Error(`deploy/proxies has no ${[...unseen].join(', ')} for ${name}`)
  if (name === 'nginx') writeFileSync(join(folder, 'main.conf'), aroundNginx(folder))

  const running: Running = await runServer(kind.program, kind.args(folder), port, folder)
  const address = `https://127.0.0.1:${port}`
  // Some listen before they know their daemons.
  const client = openClient(address)
  while ((await client.call('GET', '/readyz')).status !== 200) await pause(100)
  client.close()
  return {
    address,
    output: running.output,
    async stop() {
      await running.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** What Debian's /etc/nginx/nginx.conf says around a file of conf.d; one process, which the test can end. */
function aroundNginx(folder: string): string {
  mkdirSync(join(folder, 'temp'))
  const kept = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  return `
daemon off; master_process off; pid ${folder}/nginx.pid; error_log stderr warn;
events { worker_connections 1024; }
http {
  access_log off;
  ${kept.map((what) => `${what}_temp_path ${folder}/temp/${what};`).join(' ')}
  include ${folder}/nginx.conf;
}`
}

/** A certificate for the run; HAProxy reads it and its key from one file. */
function certify(folder: string): void {
  const [key, certificate] = [join(folder, 'svc.key'), join(folder, 'svc.crt')]
  const how = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  execFileSync('openssl', [...how, '-subj', '/CN=127.0.0.1', '-keyout', key, '-out', certificate], { stdio: 'pipe' })
  writeFileSync(join(folder, 'svc.pem'), readFileSync(certificate, 'utf8') + readFileSync(key, 'utf8'))
}
