/** A wrong setting: one clear line, exit code 2, nothing started. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError'
}
