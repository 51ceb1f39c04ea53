/**
 * The one fold that names and addresses are compared by.
 *
 * Without regard to case or accents: compatibility decomposition, combining marks
 * dropped, lower, upper and again lower case (which makes ẞ, ß and ss, ς and σ equal), and
 * decomposed once more. It is computed here and stored beside the name, so the API and
 * the database cannot differ, whatever collation the server was built with.
 *
 * Spec: Resources, Bucket and Label; decisions 3.
 */
export const caseFold = (name: string) => strip(strip(name).toLowerCase().toUpperCase().toLowerCase())

const strip = (value: string) => value.normalize('NFKD').replace(/\p{M}+/gu, '')
