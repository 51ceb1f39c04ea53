/** A variable that holds a secret says so where it is declared, because `svc config show` prints all others. */
import { expect, test } from 'vitest'
import { environment, isSecretVariable } from '../../../src/core/kernel/config/config.ts'

/** Files, ids and times, whose names have the word. */
const shown = ['SVC_KEYRING_FILE', 'SVC_MEDIA_S3_ACCESS_KEY_ID', 'SVC_START_PASSWORD_DAYS']

test('every variable whose name speaks of a secret is declared as one', () => {
  const names = Object.keys(environment.shape).filter((name) => /SECRET|TOKEN|PASSWORD|PASSPHRASE|KEY/.test(name))
  expect(names.filter((name) => !isSecretVariable(name)).toSorted()).toEqual(shown)
  expect(names.filter(isSecretVariable)).toEqual(['SVC_SETUP_TOKEN', 'SVC_MEDIA_S3_SECRET_ACCESS_KEY'])
})
