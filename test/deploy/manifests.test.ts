/**
 * deploy/compose and deploy/kubernetes, as much as can be tried without the programs that run them: their settings are
 * settings of svc, what they name is there, the paths that are asked answer, and the SQL makes a database that svc accepts.
 */
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { environment } from '../../src/core/kernel/config/config.ts'
import { findSuperuser, holdEmbedded } from '../../src/core/kernel/database/embedded.ts'
import { urlOf } from '../kit/daemon.ts'
import { temporaryFolder, wipe } from '../kit/embedded-processes.ts'
import { shows } from '../kit/needs.ts'
import { type Home, temporaryHome } from '../kit/svc.ts'

// biome-ignore-start lint/suspicious/noExplicitAny: documents of others' shapes
type Doc = any

const answers = (program: string, ...args: readonly string[]) => spawnSync(program, args).status === 0
const read = (path: string) => readFileSync(join('deploy', path), 'utf8')
const compose: Doc = parse(read('compose/compose.yaml'), { merge: true })
const kustomization: Doc = parse(read('kubernetes/kustomization.yaml'))
const objects: Doc[] = (kustomization.resources as string[]).flatMap((name) =>
  parseAllDocuments(read(`kubernetes/${name}`)).map((document) => document.toJS()),
)
const containerfile = read('Containerfile')
const settings = Object.keys(environment.shape)

const ofKind = (kind: string): Doc[] => objects.filter((object) => object.kind === kind)
const podsOf = (): [string, Doc][] =>
  objects.filter((object) => object.spec?.template).map((object) => [object.metadata.name, object.spec.template])
const containersOf = ({ spec }: Doc): Doc[] => [...(spec.initContainers ?? []), ...spec.containers]
const labelsMatch = (selector: Doc, labels: Doc) =>
  Object.entries(selector).every(([key, value]) => labels[key] === value)

describe('compose', () => {
  const services = Object.entries<Doc>(compose.services)

  test('sets what svc reads, and nothing else', () => {
    for (const [name, service] of services.filter(([name]) => name !== 'database'))
      for (const variable of Object.keys(service.environment ?? {})) expect(settings, name).toContain(variable)
    expect(compose.services.prepare.environment.SVC_DATABASE_OWNER_URL).toContain('svc_owner')
    expect(compose.services.daemon.environment.SVC_DATABASE_OWNER_URL, 'the daemon has no owner').toBeUndefined()
  })

  test('mounts volumes that it declares, and waits for services that it has', () => {
    const isFile = (source: string) => source.startsWith('.')
    for (const [name, service] of services) {
      const sources = (service.volumes ?? []).map((volume: string) => volume.split(':')[0])
      for (const source of sources.filter((one: string) => !isFile(one)))
        expect(Object.keys(compose.volumes), name).toContain(source)
      for (const source of sources.filter(isFile))
        expect(readdirSync('deploy/compose'), name).toContain(source.slice(2))
      for (const other of Object.keys(service.depends_on ?? {})) expect(Object.keys(compose.services)).toContain(other)
    }
  })

  test('gives the places to the user of the image', () => {
    const [user] = /^USER (\d+):/m.exec(containerfile)?.slice(1) ?? []
    const { entrypoint } = compose.services.places
    expect([entrypoint[5], entrypoint[7]]).toEqual([user, user])
    expect(compose.services.daemon.tmpfs[1]).toContain(`uid=${user},gid=${user}`)
  })
})

const hasKubectl = shows('the manifests as Kubernetes reads them', 'kubectl', answers('kubectl', 'version', '--client'))

describe('kubernetes', () => {
  test('every file is named by the kustomization', () => {
    const files = readdirSync('deploy/kubernetes').filter((name) => name !== 'kustomization.yaml')
    expect([...kustomization.resources].sort()).toEqual(files.sort())
  })

  test.runIf(hasKubectl)('kubectl builds it', () => {
    const built = spawnSync('kubectl', ['kustomize', 'deploy/kubernetes'], { encoding: 'utf8' })
    expect(built).toMatchObject({ status: 0, stderr: '' })
    expect(parseAllDocuments(built.stdout)).toHaveLength(objects.length)
    expect(built.stdout.match(/image: .+/g)?.every((line) => line.includes('registry.example.org/svc:'))).toBe(true)
  })

  test('pods run as the user of the image, with nothing that a restricted namespace refuses', () => {
    const [user] = /^USER (\d+):/m.exec(containerfile)?.slice(1) ?? []
    expect(podsOf().map(([name]) => name)).toEqual(['svc-migrate', 'svc'])
    for (const [name, pod] of podsOf()) {
      expect(pod.spec.securityContext, name).toMatchObject({
        runAsNonRoot: true,
        runAsUser: Number(user),
        fsGroup: Number(user),
        seccompProfile: { type: 'RuntimeDefault' },
      })
      for (const container of containersOf(pod))
        expect(container.securityContext, container.name).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        })
    }
  })

  test('containers mount volumes of their pod, and write only there', () => {
    const templates = ofKind('StatefulSet').flatMap(({ spec }) => spec.volumeClaimTemplates)
    for (const [name, pod] of podsOf()) {
      const volumes = [...pod.spec.volumes, ...templates.map(({ metadata }) => metadata)].map((one) => one.name)
      for (const container of containersOf(pod))
        for (const { name: mounted } of container.volumeMounts) expect(volumes, name).toContain(mounted)
    }
    const claims = podsOf().flatMap(([, { spec }]) =>
      spec.volumes.map((one: Doc) => one.persistentVolumeClaim?.claimName),
    )
    expect(claims.filter(Boolean)).toEqual(ofKind('PersistentVolumeClaim').map(({ metadata }) => metadata.name))
    const image = containerfile.match(/(SVC_DATA_DIR|XDG_CACHE_HOME)=(\S+)/g)?.map((pair) => pair.split('=')[1])
    for (const [name, pod] of podsOf()) {
      const mounts = pod.spec.containers[0].volumeMounts.map(({ mountPath }: Doc) => mountPath)
      expect(mounts, name).toEqual(expect.arrayContaining(image ?? ['none']))
    }
  })

  test('sets what svc reads; the secrets are those that the page makes', () => {
    const page = readFileSync('docs/deploying.md', 'utf8')
    for (const [name, pod] of podsOf())
      for (const container of containersOf(pod)) {
        for (const { name: variable } of container.env ?? []) expect(settings, name).toContain(variable)
        for (const { secretRef } of container.envFrom ?? []) expect(page).toContain(`secret generic ${secretRef.name} `)
      }
    expect(page).toContain('secret generic svc-keyring ')
  })

  test('services find the pods, and probes and services the ports', () => {
    const [daemon] = ofKind('StatefulSet')
    const { labels } = daemon.spec.template.metadata
    const ports = daemon.spec.template.spec.containers[0].ports.map(({ name }: Doc) => name)
    for (const { spec } of ofKind('Service')) {
      expect(labelsMatch(spec.selector, labels)).toBe(true)
      for (const { targetPort } of spec.ports) expect(ports).toContain(targetPort)
    }
    expect(labelsMatch(ofKind('PodDisruptionBudget')[0].spec.selector.matchLabels, labels)).toBe(true)
    expect(labelsMatch(daemon.spec.selector.matchLabels, ofKind('Job')[0].spec.template.metadata.labels)).toBe(false)
    expect(ofKind('Service').map(({ metadata }) => metadata.name)).toContain(daemon.spec.serviceName)
    for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
      const { path, port } = daemon.spec.template.spec.containers[0][probe].httpGet
      expect([port, ['/healthz', '/readyz'].includes(path)], probe).toEqual(['health', true])
    }
    const [ingress] = ofKind('Ingress')
    for (const { backend } of ingress.spec.rules[0].http.paths)
      expect(ofKind('Service').map(({ metadata }) => metadata.name)).toContain(backend.service.name)
  })

  test('a pod has the time to drain', () => {
    const { spec } = ofKind('StatefulSet')[0].spec.template
    const notice = spec.containers[0].env.find(({ name }: Doc) => name === 'SVC_DRAIN_NOTICE_SECONDS').value
    expect(spec.terminationGracePeriodSeconds).toBeGreaterThan(Number(notice) + 10)
  })
})
// biome-ignore-end lint/suspicious/noExplicitAny: documents of others' shapes

const hasPsql = shows('the SQL of compose', 'psql (apt-get install postgresql-client)', answers('psql', '--version'))

describe.runIf(hasPsql)('the SQL of compose', () => {
  let folder: string
  let home: Home
  let env: NodeJS.ProcessEnv
  let made: ReturnType<typeof spawnSync>
  let release: () => Promise<void>

  beforeAll(async () => {
    folder = await temporaryFolder()
    const dataDir = join(folder, 'data')
    const held = await holdEmbedded(dataDir)
    release = held.release
    const superuser = { ...(await findSuperuser(dataDir))!, host: '127.0.0.1', database: 'postgres' }
    const psql = (...args: string[]) =>
      spawnSync('psql', ['-v', 'ON_ERROR_STOP=1', '-q', ...args, urlOf(superuser)], {
        encoding: 'utf8',
        env: { ...process.env, SVC_OWNER_PASSWORD: "own'er", SVC_DAEMON_PASSWORD: 'dae"mon' },
      })
    psql('-c', 'drop database svc', '-c', 'drop role svc_owner', '-c', 'drop role svc_daemon')
    made = psql('-f', 'deploy/compose/database.sql')
    home = temporaryHome()
    env = {
      SVC_DATABASE_OWNER_URL: urlOf({ ...superuser, user: 'svc_owner', password: "own'er", database: 'svc' }),
      SVC_DATABASE_URL: urlOf({ ...superuser, user: 'svc_daemon', password: 'dae"mon', database: 'svc' }),
      SVC_KEYRING_FILE: join(home.folder, 'keyring.json'),
      SVC_PORT: '0',
    }
  }, 60_000)
  afterAll(async () => {
    await release()
    await wipe(folder, join(folder, 'data'))
    home.remove()
  })

  test('makes logins with which svc migrates and finds nothing to complain of', async () => {
    expect(made).toMatchObject({ status: 0, stderr: '' })
    expect(await home.svc(['keyring', 'init'], { env })).toMatchObject({ code: 0 })
    expect(await home.svc(['db', 'migrate'], { env })).toMatchObject({ code: 0 })
    const { stdout } = await home.svc(['doctor', '--json'], { env })
    const { checks } = JSON.parse(stdout) as { checks: { check: string; state: string }[] }
    const ofDatabase = ['database', 'login', 'rights', 'migrations', 'queue']
    expect(checks.filter(({ check }) => ofDatabase.includes(check)).map(({ check, state }) => [check, state])).toEqual(
      ofDatabase.map((check) => [check, 'ok']),
    )
  }, 60_000)
})
