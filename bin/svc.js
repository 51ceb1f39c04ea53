import { enableCompileCache } from 'node:module'

enableCompileCache()
const { main } = await import('../dist/cli/main.js')
main()
