/** Sets the settings of an installation for a test, as a whole, as the operator at the database. */

import { operations } from '../../src/core/contract/operations.ts'
import type { SettingsDocument } from '../../src/core/contract/settings/operations.ts'
import type { TestInstallation } from './installation.ts'

export const decide = (test: TestInstallation, body: SettingsDocument) =>
  test.asRecovery(operations.replaceSettings, { body })

export const decideNothing = (test: TestInstallation) => decide(test, {})
