/**
 * What the reader types to run svc here, for hints that can be copied: `npx svc` if npx started this process, as in a
 * checkout, else `svc`. Outside a checkout, `npx svc` would fetch a stranger's package. Ours; docs/decisions/0303.
 */

/** npx says in the environment which command it runs; processes below another command of npx inherit that, too. */
export function typedName({ npm_lifecycle_event, npm_lifecycle_script = '' }: NodeJS.ProcessEnv): 'svc' | 'npx svc' {
  return npm_lifecycle_event === 'npx' && /^["']?svc["']?( |$)/.test(npm_lifecycle_script) ? 'npx svc' : 'svc'
}

// In backquotes, behind a colon, or at the beginning of a line: where a sentence has a command, and not the service's name.
const commands = /(`|: |^ *)svc (?=[a-z]|--)/gm

/** A message whose commands are as the reader types them. */
export function asTyped(message: string, env: NodeJS.ProcessEnv = process.env): string {
  const name = typedName(env)
  return name === 'svc' ? message : message.replace(commands, (_, before: string) => `${before}${name} `)
}
