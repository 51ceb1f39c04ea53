/**
 * Entity tags: the version of a representation, in quotes, and lists of such tags.
 *
 * A tag may contain a comma or a star, so a list is parsed tag by tag.
 * Spec: decisions 1, ETag; RFC 9110, 8.8.3 and 13.1.
 */

export const etagOf = (version: number) => `"${version}"`

/** What may stand between the quotes of a tag. */
const tag = '(W/)?"[!#-~\\u0080-\\u00ff]*"'

/** The pattern of If-Match in the OpenAPI document: `*`, or tags. */
export const ifMatchPattern = `^(\\*|${tag}([ \\t]*,[ \\t]*${tag})*)$`

const ifMatchShape = new RegExp(ifMatchPattern)

export const isIfMatch = (header: string) => ifMatchShape.test(header)

/** Whether If-Match names this tag, compared strongly: a weak one never does. */
export const isMatched = (ifMatch: string, etag: string) => ifMatch === '*' || tagsOf(ifMatch).includes(etag)

/** Whether If-None-Match names this tag, compared weakly: `W/"3"` names version 3 as well. */
export function isUnchanged(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  return ifNoneMatch === '*' || tagsOf(ifNoneMatch).some((named) => named.replace(/^W\//, '') === etag)
}

const tagsOf = (list: string): readonly string[] => list.match(/(?:W\/)?"[^"]*"/g) ?? []
