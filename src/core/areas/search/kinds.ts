/**
 * The kinds of what is found, one object each. A further kind is its object here, its name in contract/search/kinds.ts, and
 * `searched` in the declarations of the events that change its words.
 */
import type { SearchKind } from '../../contract/search/kinds.ts'
import type { KindOfDocument } from './kind.ts'
import { commentKind } from './kinds/comment.ts'
import { containerKind } from './kinds/container.ts'
import { itemKind } from './kinds/item.ts'
import { mediaKind } from './kinds/media.ts'

export const kindsOfDocuments: Readonly<Record<SearchKind, KindOfDocument>> = {
  ITEM: itemKind,
  CONTAINER: containerKind,
  COMMENT: commentKind,
  MEDIA: mediaKind,
}
