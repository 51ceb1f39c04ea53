/** The rules of this area, by operation. */

import type { customFieldOperations } from '../../contract/structure/custom-fields.ts'
import type { bucketOperations, labelOperations } from '../../contract/structure/operations.ts'
import { type HandlersOf, withWork } from '../../kernel/request/handler.ts'
import { createBucket, updateBucket } from './buckets/change.ts'
import { deleteBucket, moveOut } from './buckets/deletion.ts'
import { listBuckets } from './buckets/list.ts'
import { reorderBucket } from './buckets/order.ts'
import { createCustomField, deleteCustomField, updateCustomField } from './custom-fields/definition.ts'
import { listCustomFields } from './custom-fields/list.ts'
import { createLabel, deleteLabel, restoreLabel, updateLabel } from './labels/label.ts'
import { listLabels } from './labels/list.ts'

export const structureHandlers = {
  listBuckets,
  createBucket,
  updateBucket,
  deleteBucket: withWork((_installation, _actor, deletion, run) => moveOut(deletion, run), deleteBucket),
  reorderBucket,
  listLabels,
  createLabel,
  updateLabel,
  deleteLabel,
  restoreLabel,
  listCustomFields,
  createCustomField,
  updateCustomField,
  deleteCustomField,
} satisfies HandlersOf<typeof bucketOperations & typeof labelOperations & typeof customFieldOperations>
