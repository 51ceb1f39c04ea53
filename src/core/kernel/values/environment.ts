/** The environment that settings are read from. Apart from config.ts, so that `svc` reads it without loading schemas. */
import { existsSync } from 'node:fs'

/** Reads `.env` of the working folder under the environment; the environment wins. */
export function loadEnvironment(): NodeJS.ProcessEnv {
  if (existsSync('.env')) process.loadEnvFile('.env')
  return process.env
}
