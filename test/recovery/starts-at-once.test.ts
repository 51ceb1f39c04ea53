/** Daemons that start at the same moment take nothing of each other's for a rewind of the database. */
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { lookAtGate } from '../../src/core/areas/recovery/gate.ts'
import { detectRewind, recordHeartbeats } from '../../src/core/areas/recovery/rewind-detection.ts'
import { type TestInstallation, testInstallation } from '../kit/installation.ts'

const rounds = 8
const daemons = 20
const starts = 6
/** About as long as one start takes to remove a witness. */
const apartMs = 4

let own: TestInstallation
beforeAll(async () => {
  own = await testInstallation()
})
afterAll(() => own.close())

test('the witnesses that one of them removes are no evidence for the others', async () => {
  const { installation } = own
  const fail = (error: unknown) => {
    throw error
  }
  for (let round = 0; round < rounds; round += 1) {
    const before = await Promise.all(Array.from({ length: daemons }, () => recordHeartbeats(installation, fail)))
    await Promise.all(before.map((daemon) => daemon.close()))
    const started = Array.from({ length: starts }, (_, nth) =>
      pause(nth * apartMs).then(() => detectRewind(installation)),
    )
    expect((await Promise.all(started)).filter((rewind) => rewind !== undefined)).toEqual([])
  }
  expect((await lookAtGate(installation)).gated_at).toBeNull()
})
