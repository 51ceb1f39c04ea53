/** The head of a request is read in one way only: its host, its target, its headers of one value. Spec: decisions 2; RFC 9112, 3.2 and 6.1. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readHost } from '../../src/daemon/host.ts'
import { pathOfTarget } from '../../src/daemon/request-head.ts'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { person, setUp, workspace } from '../kit/people.ts'

let daemon: TestDaemon
let token: string
beforeAll(async () => {
  daemon = await testDaemon({ config: { baseDomain: 'svc.example' } })
  const { tenantId } = await setUp(daemon, 'acme')
  await workspace(daemon, 'other')
  token = (await person(daemon, tenantId)).token
})
afterAll(() => daemon.close())

/** Status and first fault of one request on a connection of its own. */
async function sent(target: string, headers: readonly string[], rest = ''): Promise<readonly [number, string?]> {
  const answer = await daemon.raw(
    `${rest === '' ? 'GET' : 'POST'} ${target} HTTP/1.1\r\nConnection: close\r\n${headers.map((line) => `${line}\r\n`).join('')}\r\n${rest}`,
  )
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1])
  const code = /"errors":\[\{[^}]*?"code":"([^"]+)"/.exec(answer)?.[1]
  expect(answer).toMatch(/^connection: close\r$/im)
  return code === undefined ? [status] : [status, code]
}

const me = '/api/v1/accounts/me'
const asAcme = (host: string) => sent(me, [`Host: ${host}`, `Authorization: Bearer ${token}`])

describe('Host', () => {
  test.each([
    'acme.svc.example',
    'ACME.SVC.Example',
    'acme.svc.example.',
    'acme.svc.example:8080',
    'acme.svc.example.:8080',
    'acme.svc.example:',
    'svc.example',
    '127.0.0.1',
    '[::1]:8080',
    'elsewhere.example',
    'docker_name',
  ])('%s serves a token of the workspace', async (host) => {
    expect(await asAcme(host)).toEqual([200])
  })

  test.each([
    'other.svc.example',
    'OTHER.svc.example',
    'other.svc.example.',
    'other.svc.example:443',
    'x.acme.svc.example',
  ])('%s is the subdomain of another workspace: 401', async (host) => {
    expect(await asAcme(host)).toEqual([401])
  })

  test.each([
    'other.svc.example..',
    'other.svc.example...',
    'other.svc..example',
    '.svc.example',
    '.',
    'other.svc.example:x',
    'other.svc.example:80:80',
    'other.svc.example:70000',
    'other.svc.example:123456',
    'ada@other.svc.example',
    'ada:pw@other.svc.example',
    'other.svc.example/',
    'other.svc.example?',
    'other.svc.example#',
    'other%2esvc.example',
    'other.svc.example, acme.svc.example',
    '[other.svc.example]',
    '[::1',
    '::1',
    '[::1]x',
    '[:::]',
    `${'a'.repeat(64)}.svc.example`,
    `${'a.'.repeat(127)}svc.example`,
  ])('%s is no host: 400', async (host) => {
    expect(await asAcme(host)).toEqual([400, 'value.format'])
    expect(readHost(host)).toBe(undefined)
  })

  test('is read as name and port', () => {
    expect(readHost('ACME.svc.example.:08080')).toEqual({ name: 'acme.svc.example', port: 8080 })
    expect(readHost('[2001:DB8::1]')).toEqual({ name: '[2001:db8::1]', port: undefined })
    expect(readHost('')).toEqual({ name: '', port: undefined })
  })
})

describe('a target that names its host', () => {
  test.each<[target: string, host: string, wanted: readonly [number, string?]]>([
    ['http://acme.svc.example', 'acme.svc.example', [200]],
    ['http://ACME.svc.example.:80', 'acme.svc.example', [200]],
    ['https://acme.svc.example', 'acme.svc.example:443', [200]],
    ['HTTP://acme.svc.example', 'acme.svc.example', [200]],
    ['http://other.svc.example', 'other.svc.example', [401]],
    ['http://other.svc.example', 'acme.svc.example', [400, 'host.mismatch']],
    ['http://acme.svc.example', 'other.svc.example', [400, 'host.mismatch']],
    ['http://other.svc.example', '', [400, 'host.mismatch']],
    ['http://acme.svc.example:8080', 'acme.svc.example', [400, 'host.mismatch']],
    ['http://other.svc.example..', 'acme.svc.example', [400, 'value.format']],
    ['http://acme.svc.example@other.svc.example', 'acme.svc.example', [400, 'value.format']],
    ['http://ada@acme.svc.example', 'acme.svc.example', [400, 'value.format']],
  ])('%s with Host: %s', async (target, host, wanted) => {
    expect(await sent(`${target}${me}`, [`Host: ${host}`, `Authorization: Bearer ${token}`])).toEqual(wanted)
  })

  test('without a Host header, as HTTP/1.0 allows, is refused', async () => {
    const answer = await daemon.raw(
      `GET http://other.svc.example${me} HTTP/1.0\r\nAuthorization: Bearer ${token}\r\n\r\n`,
    )
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
  })

  test('has a path like any other', async () => {
    expect(await sent('http://acme.svc.example/nowhere', ['Host: acme.svc.example'])).toEqual([404])
    expect(await sent('http://acme.svc.example/api/v1/auth/password', ['Host: acme.svc.example'])).toEqual([405])
    expect(['/a', 'http://h', 'http://h?b', 'http://h/a?b', '*', 'a'].map((target) => pathOfTarget(target))).toEqual([
      '/a',
      '/',
      '/?b',
      '/a?b',
      '*',
      'a',
    ])
  })

  test('signs in on the workspace that it names, and on no other', async () => {
    const body = JSON.stringify({ email: 'owner@acme.example', password: 'correct horse battery' })
    const signIn = (target: string, host: string) =>
      sent(
        `${target}/api/v1/auth/sessions`,
        [`Host: ${host}`, 'Content-Type: application/json', `Content-Length: ${body.length}`],
        body,
      )
    expect(await signIn('http://acme.svc.example', 'acme.svc.example')).toEqual([201])
    expect(await signIn('http://acme.svc.example', 'elsewhere.example')).toEqual([400, 'host.mismatch'])
  })
})

describe('a header of one value', () => {
  test.each([
    ['Authorization', 'Bearer a'],
    ['authorization', 'Bearer a'],
    ['Idempotency-Key', '0190c9d2-7a3b-7cde-8f01-23456789abcd'],
    ['X-Service-Step-Up', 'svcu_x'],
    ['Content-Type', 'application/json'],
  ])('%s is refused where it comes twice, also with one value', async (name, value) => {
    const line = `${name}: ${value}`
    expect(await sent(me, ['Host: x', line, line])).toEqual([400, 'header.repeated'])
    expect((await sent(me, ['Host: x', line]))[1]).toBe(undefined)
  })

  test('the first of two tokens does not serve', async () => {
    expect(await sent(me, ['Host: x', `Authorization: Bearer ${token}`, 'Authorization: Bearer b'])).toEqual([
      400,
      'header.repeated',
    ])
  })

  test('If-None-Match is a list, and may come twice', async () => {
    expect(
      await sent(me, ['Host: x', `Authorization: Bearer ${token}`, 'If-None-Match: "7"', 'If-None-Match: "1"']),
    ).toEqual([304])
  })
})

describe('Transfer-Encoding', () => {
  const post = (coding: readonly string[], version = '1.1') =>
    daemon.raw(
      `POST /api/v1/auth/sessions HTTP/${version}\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n${coding.map((line) => `Transfer-Encoding: ${line}\r\n`).join('')}\r\n2\r\n{}\r\n0\r\n\r\n`,
    )

  test.each([
    [['gzip, chunked']],
    [['gzip,chunked']],
    [['identity, chunked']],
    [['x, y, chunked']],
    [['gzip', 'chunked']],
    [['chunked', 'chunked']],
    [['chunked;a=b']],
    [['"chunked"']],
  ])('%j is refused, and the connection ends', async (coding) => {
    const answer = await post(coding)
    expect(answer.match(/HTTP\/1\.1 \d{3}/g)).toEqual(['HTTP/1.1 400'])
    expect(answer).toMatch(/^connection: close\r$/im)
    expect(answer).toContain('"code":"request.malformed"')
  })

  test('is refused in HTTP/1.0, which has none', async () => {
    expect(await post(['chunked'], '1.0')).toMatch(/^HTTP\/1\.1 400 /)
  })

  test.each([['chunked'], ['Chunked'], [' chunked ']])('%j is read', async (coding) => {
    expect(await post([coding])).toMatch(/^HTTP\/1\.1 422 /)
  })
})
