/** The register of rules: the handlers of all areas in one object. Does not compile while one is missing. */

import { aiHandlers } from '../areas/ai/handlers.ts'
import { auditHandlers } from '../areas/audit/handlers.ts'
import { authHandlers } from '../areas/auth/handlers.ts'
import { backupHandlers } from '../areas/backup/handlers.ts'
import { commentsHandlers } from '../areas/comments/handlers.ts'
import { consentsHandlers } from '../areas/consents/handlers.ts'
import { containersHandlers } from '../areas/containers/handlers.ts'
import { eventsHandlers } from '../areas/events/handlers.ts'
import { groupsHandlers } from '../areas/groups/handlers.ts'
import { identityHandlers } from '../areas/identity/handlers.ts'
import { itemsHandlers } from '../areas/items/handlers.ts'
import { jobsHandlers } from '../areas/jobs/handlers.ts'
import { journalHandlers } from '../areas/journal/handlers.ts'
import { keyringHandlers } from '../areas/keyring/handlers.ts'
import { mailHandlers } from '../areas/mail/handlers.ts'
import { mediaHandlers } from '../areas/media/handlers.ts'
import { membershipsHandlers } from '../areas/memberships/handlers.ts'
import { metaHandlers } from '../areas/meta/handlers.ts'
import { notificationsHandlers } from '../areas/notifications/handlers.ts'
import { operatorsHandlers } from '../areas/operators/handlers.ts'
import { privacyHandlers } from '../areas/privacy/handlers.ts'
import { restoresHandlers } from '../areas/restores/handlers.ts'
import { retentionHandlers } from '../areas/retention/handlers.ts'
import { retentionRuleHandlers } from '../areas/retention-rules/handlers.ts'
import { searchHandlers } from '../areas/search/handlers.ts'
import { settingsHandlers } from '../areas/settings/handlers.ts'
import { structureHandlers } from '../areas/structure/handlers.ts'
import { templatesHandlers } from '../areas/templates/handlers.ts'
import { tenantsHandlers } from '../areas/tenants/handlers.ts'
import { webhooksHandlers } from '../areas/webhooks/handlers.ts'
import type { Operations } from '../contract/operations.ts'
import type { HandlersOf } from '../kernel/request/handler.ts'

export const handlers: HandlersOf<Operations> = {
  ...aiHandlers,
  ...auditHandlers,
  ...authHandlers,
  ...backupHandlers,
  ...commentsHandlers,
  ...consentsHandlers,
  ...containersHandlers,
  ...eventsHandlers,
  ...identityHandlers,
  ...itemsHandlers,
  ...searchHandlers,
  ...jobsHandlers,
  ...journalHandlers,
  ...keyringHandlers,
  ...mailHandlers,
  ...mediaHandlers,
  ...membershipsHandlers,
  ...groupsHandlers,
  ...metaHandlers,
  ...notificationsHandlers,
  ...operatorsHandlers,
  ...privacyHandlers,
  ...restoresHandlers,
  ...retentionHandlers,
  ...retentionRuleHandlers,
  ...settingsHandlers,
  ...structureHandlers,
  ...templatesHandlers,
  ...tenantsHandlers,
  ...webhooksHandlers,
}
