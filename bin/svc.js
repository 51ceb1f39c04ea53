import { enableCompileCache } from 'node:module'
import { isAbsolute, join } from 'node:path'

// In the user's own folder: compiled code is run as it lies there, and anybody can write below /tmp.
const { HOME = '', XDG_CACHE_HOME = '' } = process.env
const caches = isAbsolute(XDG_CACHE_HOME) ? XDG_CACHE_HOME : join(HOME, '.cache')
if (isAbsolute(caches)) enableCompileCache(join(caches, 'svc'))
const { main } = await import('../dist/cli/main.js')
void main()
