/**
 * Text that others wrote, made safe for a terminal: names may hold escape sequences that
 * move the cursor, and direction marks that make a line read as another one.
 */

// C0, DEL, C1; zero-width and direction marks; line and paragraph separators; lone surrogates.
const unsafe =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|\p{Surrogate}/gu

/** The text with every unsafe character written out, e.g. `\u001b`. */
export const printable = (text: string) =>
  text.replace(unsafe, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)

/**
 * The same for text of several lines. What is written out is a JSON escape as well, so a
 * JSON text means the same before and after.
 */
export const printableLines = (text: string) => text.split('\n').map(printable).join('\n')
