/** jq itself, compiled to WebAssembly. The package has no types of its own. */
declare module 'jq-web' {
  interface Jq {
    /** What jq prints for the JSON text. Throws an Error with jq's words, and `exitCode N` in its message, if it fails. */
    raw(json: string, filter: string, flags?: readonly string[]): string
  }
  const loading: Promise<Jq>
  export default loading
}
