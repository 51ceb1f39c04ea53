/**
 * The case folding for the comparison of names and addresses.
 *
 * It ignores case and accents: compatibility decomposition, removal of combining marks,
 * lower, upper and again lower case (which makes ẞ, ß and ss, ς and σ equal), and another
 * decomposition. It is computed here and stored beside the name, so that the API and the
 * database cannot differ, whatever the server's collation is.
 *
 * Spec: Resources, Bucket and Label; decisions 3.
 */
export const caseFold = (name: string) => strip(strip(name).toLowerCase().toUpperCase().toLowerCase())

const strip = (value: string) => value.normalize('NFKD').replace(/\p{M}+/gu, '')
