/** Packages of personal data: all that names a person, or what the person provided. Spec: Keeping, 2, K2 and Packages. */
import { z } from 'zod'
import { defineOperations } from '../operation.ts'
import { uuid } from '../vocabulary.ts'

/** How often one can be fetched. */
export const mostFetches = 5

export const privacyPackageOperations = defineOperations('privacy', {
  getPrivacyPackage: {
    method: 'GET',
    path: '/privacy/requests/{requestId}/package',
    summary: 'Fetch the package of a granted ACCESS or PORTABILITY: a zip of JSON Lines and files',
    spec: 'Keeping, 2, K2',
    params: z.strictObject({ requestId: uuid }),
    success: { status: 200, bytes: true },
    needs: { caller: 'account', stepUp: true },
    refuses: ['privacy.package_not_ready', 'privacy.package_gone', 'auth.role_required', 'media.store_failed'],
    recovery: { refused: "what people ask of their workspace is the workspace's own affair" },
    assumed: [
      'the person fetches it; ADMIN with `workspace:admin` where the person cannot sign in, under the ceiling: else 403 auth.role_required',
      'each call counts, also one for a range; with If-None-Match as well',
    ],
  },
})
