/** What is served is what the contract names: same method, same path, same success status. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { Operation } from '../../src/core/contract/operation.ts'
import { operations } from '../../src/core/contract/operations.ts'

const lines = readFileSync(new URL('./named-operations.txt', import.meta.url), 'utf8').split('\n')
const named = new Map(
  lines
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [area, method, path, success] = line.split(' ')
      return [`${method} ${path}`, { area, success }]
    }),
)
const unlistedAreas = /not list by path: (.*)\./.exec(lines.join('\n'))?.[1]?.split(', ') ?? []
/** What the contract leaves to us in an area that it lists by path, and why it is there. */
const ours: Readonly<Record<string, string>> = {
  'GET /containers/{containerId}/board': 'the first screen of every client, in one call',
  'GET /accounts': 'the directory of the workspace, and how an account is found by its address',
  'POST /accounts/{accountId}:disable': 'the end of an account at once',
  'POST /accounts/{accountId}:enable': 'the way back',
  'DELETE /accounts/{accountId}/identities/{identityId}': 'an identity that is lost, or was connected by mistake',
  'DELETE /accounts/{accountId}/addresses/{addressId}': 'an address that is lost, or was added by mistake',
  'GET /admin/notice': 'what the operators say to everybody',
  'PUT /admin/notice': 'how they say it',
  'GET /ai/models': 'what a workspace sees of the models offered',
  'POST /ai/models/{modelId}:choose': 'its switch',
  'POST /ai/models/{modelId}:unchoose': 'the way back',
  'POST /containers/{containerId}/labels/{labelId}:restore': 'what makes the deletion of a label undoable',
  'GET /accounts/me/notifications': 'what people were told, for every front end',
  'POST /accounts/me/notifications:mark-read': 'the end of the red dot',
  'PUT /privacy/consent-texts/{kind}': 'what people are asked to agree to',
  'GET /groups/{groupId}/members': 'who is in a group, and why',
  'PUT /groups/{groupId}/members/{accountId}': 'members come one by one: idempotent, and nobody undoes another’s act',
  'DELETE /groups/{groupId}/members/{accountId}': 'the way back',
  'GET /admin/tenants/{tenantId}/statistics': 'what `svc tenants stats` asks',
  'GET /admin/tenants/{tenantId}': 'one of the list, by its id; what If-Match of the change takes',
  'PATCH /admin/tenants/{tenantId}': 'what `svc tenants update` changes',
  'POST /admin/ai-providers/{providerId}:test': 'what `svc ai-providers test` asks',
  'GET /integrations/webhooks/{webhookId}/deliveries/{deliveryId}': 'one of the list, by its id',
  'GET /privacy/requests/{requestId}': 'one of the list, by its id',
  'GET /privacy/requests/{requestId}/package': 'what a granted ACCESS or PORTABILITY is for',
  'GET /admin/privacy/overdue': 'what `svc privacy overdue` asks: counts, which are all that operators see',
  'GET /backups': 'the backups, each of which the specification shows by its id',
  'DELETE /backups/{backupId}': 'the end of one',
  'GET /restores': 'the restores, each of which the specification shows by its id',
  'POST /restores/{restoreId}:apply': 'what carries out the plan that was shown',
  'POST /restores/{restoreId}:undo': 'the way back',
  'GET /admin/mails': 'what `svc mail list` asks',
  'POST /admin/mails/{mailId}:resend': 'what `svc mail resend` asks',
  'GET /admin/deliveries/stats': 'what `svc deliveries stats` asks',
  'GET /admin/deliveries/{deliveryId}': 'the flight recorder, for operators',
}
const served: readonly Operation[] = Object.values(operations)

describe('the operations served', () => {
  test('the list names all 217', () => expect(named.size).toBe(217))

  test.each(served.map((operation) => [`${operation.method} ${operation.path}`, operation] as const))(
    '%s is in the specification',
    (key, operation) => {
      if (unlistedAreas.includes(operation.area) || key in ours) return
      expect(
        named.get(key),
        'the specification names no such operation: if it is ours, give it a row in `ours` of this file',
      ).toBeDefined()
      expect(named.get(key)?.area).toBe(operation.area)
    },
  )

  test('what is ours is served, and in no contract', () => {
    const keys = served.map(({ method, path }) => `${method} ${path}`)
    expect(Object.keys(ours).filter((key) => !keys.includes(key) || named.has(key))).toEqual([])
  })

  test('a status that the contract lists is the one answered', () => {
    const differing = served.filter((operation) => {
      const listed = named.get(`${operation.method} ${operation.path}`)?.success
      return listed !== undefined && listed !== '-' && listed !== String(operation.success.status)
    })
    expect(differing.map(({ id }) => id)).toEqual([])
  })

  test('no two operations share a method and a path', () => {
    const keys = served.map((operation) => `${operation.method} ${operation.path}`)
    expect(new Set(keys).size).toBe(keys.length)
  })
})
