/**
 * A bare oclif command line in a temporary folder: one command of compiled JavaScript, with
 * its manifest and the compile cache, on the same oclif.
 */
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryFolder } from './ground.ts'

const entry = `import { enableCompileCache } from 'node:module'
enableCompileCache()
const { execute } = await import('@oclif/core')
execute({ dir: import.meta.url })
`

const command = `import { Command } from '@oclif/core'
export default class Hello extends Command {
  static summary = 'Says hello'
  async run() {
    this.log('hello')
  }
}
`

const manifest = {
  commands: {
    hello: {
      aliases: [],
      args: {},
      flags: {},
      hasDynamicHelp: false,
      hiddenAliases: [],
      id: 'hello',
      isESM: true,
      pluginAlias: 'bare',
      pluginName: 'bare',
      pluginType: 'core',
      relativePath: ['commands', 'hello.js'],
      strict: true,
      summary: 'Says hello',
    },
  },
  version: '1.0.0',
}

/** Answers the folder; `node <folder>/run.js` runs it. */
export async function makeBareCommand(): Promise<string> {
  const folder = await temporaryFolder()
  await mkdir(join(folder, 'commands'))
  const about = {
    name: 'bare',
    version: '1.0.0',
    type: 'module',
    oclif: { bin: 'bare', dirname: 'bare', commands: './commands' },
  }
  await writeFile(join(folder, 'package.json'), JSON.stringify(about))
  await writeFile(join(folder, 'oclif.manifest.json'), JSON.stringify(manifest))
  await writeFile(join(folder, 'run.js'), entry)
  await writeFile(join(folder, 'commands', 'hello.js'), command)
  await symlink(join(import.meta.dirname, '../node_modules'), join(folder, 'node_modules'))
  return folder
}
