/**
 * Completion scripts: a table from the words typed so far to the words that may follow,
 * written out as one case for each, so that no program is started on a Tab.
 */
export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

export interface CompletedCommand {
  readonly words: readonly string[]
  readonly flags: readonly string[]
}

/** The script for the shell. */
export function completionScript(shell: Shell, bin: string, commands: readonly CompletedCommand[]): string {
  const followers = followersOf(commands)
  if (shell === 'fish') return fish(bin, followers)
  return shell === 'zsh' ? `autoload -U +X bashcompinit && bashcompinit\n${bash(bin, followers)}` : bash(bin, followers)
}

/** From `tenants quotas` to `set show`, and from a whole command to its flags. */
function followersOf(commands: readonly CompletedCommand[]): ReadonlyMap<string, readonly string[]> {
  const followers = new Map<string, Set<string>>()
  const add = (prefix: string, ...words: readonly string[]) =>
    followers.set(prefix, new Set([...(followers.get(prefix) ?? []), ...words]))
  for (const { words, flags } of commands) {
    for (const [at, word] of words.entries()) add(words.slice(0, at).join(' '), word)
    add(words.join(' '), ...flags)
  }
  return new Map([...followers].map(([prefix, words]) => [prefix, [...words].sort()]))
}

function bash(bin: string, followers: ReadonlyMap<string, readonly string[]>): string {
  const cases = [...followers].map(([prefix, words]) => `    '${prefix}') words='${words.join(' ')}' ;;`).join('\n')
  return `_${bin}_complete() {
  local path='' word words=''
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case $word in -*) ;; *) path="\${path:+$path }$word" ;; esac
  done
  # An argument is no command: fall back to the longest path that is known.
  while :; do
    case $path in
${cases}
    esac
    [ -n "$words" ] || [ -z "$path" ] && break
    case $path in *' '*) path=\${path% *} ;; *) path='' ;; esac
  done
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _${bin}_complete ${bin}
`
}

function fish(bin: string, followers: ReadonlyMap<string, readonly string[]>): string {
  const cases = [...followers]
    .map(([prefix, words]) => `    case '${prefix}'\n      string split ' ' -- '${words.join(' ')}'`)
    .join('\n')
  return `function __${bin}_words
  set -l path (string join ' ' -- (string match -v -- '-*' (commandline -opc)[2..-1]))
  switch "$path"
${cases}
  end
end
complete -c ${bin} -f -a '(__${bin}_words)'
`
}
