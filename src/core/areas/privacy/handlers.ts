/** The rules of this area, by operation. */
import type { overdueOperations } from '../../contract/privacy/overdue.ts'
import type { privacyPackageOperations } from '../../contract/privacy/packages.ts'
import type { erasurePreviewOperations } from '../../contract/privacy/preview.ts'
import type { privacyRequestOperations } from '../../contract/privacy/requests.ts'
import { type HandlersOf, withWork } from '../../kernel/request/handler.ts'
import { isAccount } from '../../kernel/values/actor.ts'
import { changePrivacyRequest } from './change.ts'
import { extendPrivacyRequest } from './extension.ts'
import { getPrivacyRequest, listPrivacyRequests } from './list.ts'
import { openPrivacyRequest } from './opening.ts'
import { listOverdueRequests } from './overdue.ts'
import { countFetch, getPrivacyPackage } from './packages/fetching.ts'
import { getErasurePreview, renewSearch } from './preview/preview.ts'

export const privacyHandlers = {
  listPrivacyRequests,
  getPrivacyRequest,
  openPrivacyRequest,
  changePrivacyRequest,
  extendPrivacyRequest,
  getErasurePreview: withWork(
    (installation, actor, asked) =>
      renewSearch(asked, (work) =>
        installation.transaction(actor, isAccount(actor) ? { tenantId: actor.tenantId } : {}, work),
      ),
    getErasurePreview,
  ),
  getPrivacyPackage: withWork(countFetch, getPrivacyPackage),
  listOverdueRequests,
} satisfies HandlersOf<
  typeof privacyRequestOperations &
    typeof erasurePreviewOperations &
    typeof privacyPackageOperations &
    typeof overdueOperations
>
