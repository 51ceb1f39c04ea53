/**
 * Makes text of other people safe for a terminal: names may contain escape sequences that
 * move the cursor, and direction marks that change how a line reads.
 */

// C0, DEL, C1; zero-width and direction marks; line and paragraph separators; lone surrogates.
const unsafe =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|\p{Surrogate}/gu

/** The text with every unsafe character as an escape, e.g. `\u001b`. */
export const printable = (text: string) =>
  text.replace(unsafe, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)

/**
 * The same for text of several lines. The escapes are valid in JSON strings, so a JSON text
 * keeps its meaning.
 */
export const printableLines = (text: string) => text.split('\n').map(printable).join('\n')
