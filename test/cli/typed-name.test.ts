/** Hints can be copied: they name the program as it was typed. */
import { expect, test } from 'vitest'
import { asTyped, typedName } from '../../src/cli/typed-name.ts'
import { temporaryHome } from '../kit/svc.ts'

const npx = { npm_lifecycle_event: 'npx', npm_lifecycle_script: "'svc' 'tenants' 'list'" }

test('npx says what it runs; other commands of npx, and scripts, count for nothing', () => {
  expect(typedName(npx)).toBe('npx svc')
  expect(typedName({ npm_lifecycle_event: 'npx', npm_lifecycle_script: 'svc' })).toBe('npx svc')
  expect(typedName({})).toBe('svc')
  expect(typedName({ npm_lifecycle_event: 'npx', npm_lifecycle_script: 'vitest run' })).toBe('svc')
  expect(typedName({ npm_lifecycle_event: 'test', npm_lifecycle_script: 'svc up' })).toBe('svc')
})

test('commands are replaced, and the name of the service is not', () => {
  const said =
    'Next: `svc up` serves it.\nTo let them in: svc tenants resume acme\nsvc --help\nThe svc daemon; a newer svc is fine.'
  expect(asTyped(said, npx)).toBe(
    'Next: `npx svc up` serves it.\nTo let them in: npx svc tenants resume acme\nnpx svc --help\nThe svc daemon; a newer svc is fine.',
  )
  expect(asTyped(said, {})).toBe(said)
})

test('errors and help name it so, too', async () => {
  const home = temporaryHome(npx)
  const unknown = await home.svc(['tenant', 'lst'], { ownProcess: true })
  expect(unknown.stderr).toContain('`npx svc help` lists the commands.')
  expect((await home.svc(['tenants', 'suspend', '--help'], { ownProcess: true })).stdout).toContain(
    '$ npx svc tenants suspend',
  )
  home.remove()
})
