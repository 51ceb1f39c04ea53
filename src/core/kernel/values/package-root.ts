/** Where the package lies: from its sources and from dist/, whose files lie elsewhere than their sources. */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The nearest folder above with a package.json. */
function packageRootOf(folder: string): string {
  const above = dirname(folder)
  return existsSync(join(folder, 'package.json')) || above === folder ? folder : packageRootOf(above)
}

export const packageRoot = packageRootOf(import.meta.dirname)
