/** Pieces of SQL whose names come from the catalog. Values are always bound. */

export const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`

/** `a."x", a."y"` */
export const listed = (names: readonly string[], alias?: string) =>
  names.map((name) => (alias === undefined ? quoted(name) : `${alias}.${quoted(name)}`)).join(', ')

/** `a."x" = b."x" and …` */
export const sameKey = (names: readonly string[], one: string, other: string) =>
  names.map((name) => `${one}.${quoted(name)} = ${other}.${quoted(name)}`).join(' and ')
