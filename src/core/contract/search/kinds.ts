/** What is found by its words. Spec: Work on boards, 2, N4. */

/**
 * The kinds of results, in the order in which their documents are made: comments and files behind the items that they are on. Each is
 * registered in areas/search/kinds.ts.
 */
export const searchKinds = ['ITEM', 'CONTAINER', 'COMMENT', 'MEDIA'] as const
export type SearchKind = (typeof searchKinds)[number]

/** What an event may have changed: one document, or what many documents name. */
export type SearchSubject = SearchKind | 'LABEL' | 'FIELD'
