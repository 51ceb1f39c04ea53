/**
 * Completion scripts: a table from the words typed so far to the words that may follow, written out as one case for each, so
 * that a Tab starts no program. Only the names that an installation knows are asked for, by a command that lists them
 * (docs/decisions/0294).
 */
export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

export interface CompletedCommand {
  readonly words: readonly string[]
  readonly flags: readonly CompletedFlag[]
  /** What its argument is, by its name: `workspace`. */
  readonly args: readonly CompletedArgument[]
}

interface CompletedFlag {
  /** With its dashes. */
  readonly name: string
  /** Undefined: the flag takes no value. */
  readonly values?: Values | undefined
}

interface CompletedArgument {
  readonly values: Values
}

/**
 * What is offered of the answer. A name comes from the installation, and bash expands the words that it is given: `$(…)` in
 * one would run on a Tab.
 */
const plainNames = "tail -n +2 | LC_ALL=C grep -x '[A-Za-z0-9][A-Za-z0-9._-]*'"

/** Words that are known when the script is made, or the kind of those that are asked for when they are needed. */
export type Values = readonly string[] | AskedKind

/** What is asked, of which the first column is offered. */
const asked = {
  workspaces: 'tenants list --fields slug',
  profiles: 'profiles list --fields name',
  webhooks: 'webhooks list --fields id',
  tokens: 'tokens list --fields id',
  sessions: 'sessions list --fields id',
} as const
export type AskedKind = keyof typeof asked

/** The kind of names that an argument or a flag of this name takes. */
export const kindNamed = (name: string): AskedKind | undefined => {
  const kind = `${name}s`
  return kind in asked ? (kind as AskedKind) : undefined
}

/** The script for the shell. */
export function completionScript(shell: Shell, bin: string, commands: readonly CompletedCommand[]): string {
  const table = { followers: followersOf(commands), values: valuesOf(commands) }
  if (shell === 'fish') return fish(bin, table)
  return shell === 'zsh' ? `autoload -U +X bashcompinit && bashcompinit\n${bash(bin, table)}` : bash(bin, table)
}

interface Table {
  readonly followers: ReadonlyMap<string, Followers>
  /** From `tenants list --state` to what may be its value. */
  readonly values: ReadonlyMap<string, Values>
}

interface Followers {
  readonly words: readonly string[]
  readonly kind?: AskedKind | undefined
}

/** From `tenants quotas` to `set show`, and from a whole command to its flags and what its first argument is. */
function followersOf(commands: readonly CompletedCommand[]): ReadonlyMap<string, Followers> {
  const followers = new Map<string, { words: Set<string>; kind?: AskedKind }>()
  const add = (prefix: string, words: readonly string[], kind?: AskedKind) => {
    const known = followers.get(prefix) ?? { words: new Set<string>() }
    for (const word of words) known.words.add(word)
    followers.set(prefix, kind === undefined ? known : { ...known, kind })
  }
  for (const { words, flags, args } of commands) {
    for (const [at, word] of words.entries()) add(words.slice(0, at).join(' '), [word])
    const first = args[0]?.values ?? []
    const names = flags.map(({ name }) => name)
    if (typeof first === 'string') add(words.join(' '), names, first)
    else add(words.join(' '), [...first, ...names])
  }
  return new Map([...followers].map(([prefix, { words, kind }]) => [prefix, { words: [...words].sort(), kind }]))
}

const valuesOf = (commands: readonly CompletedCommand[]): ReadonlyMap<string, Values> =>
  new Map(
    commands.flatMap(({ words, flags }) =>
      flags.flatMap(({ name, values }) =>
        values === undefined ? [] : [[`${words.join(' ')} ${name}`, values] as const],
      ),
    ),
  )

/** What a case sets: words, or the kind of names to ask for. */
const setting = (values: Values) => (typeof values === 'string' ? `kind=${values}` : `words='${values.join(' ')}'`)

function bash(bin: string, { followers, values }: Table): string {
  const cases = [...followers]
    .map(([prefix, { words, kind }]) => `    '${prefix}') words='${words.join(' ')}'${kind ? ` kind=${kind}` : ''} ;;`)
    .join('\n')
  const flagCases = [...values].map(([prefix, of]) => `    '${prefix}') ${setting(of)} ;;`).join('\n')
  const askedCases = Object.entries(asked)
    .map(([kind, line]) => `    ${kind}) set -- ${line} ;;`)
    .join('\n')
  return `_${bin}_names() {
  case $1 in
${askedCases}
  esac
  # An installation that is not reached offers nothing.
  ${bin} "$@" -o csv --quiet 2>/dev/null </dev/null | ${plainNames}
}
_${bin}_complete() {
  local path='' word words='' kind='' previous
  previous=\${COMP_WORDS[COMP_CWORD-1]}
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case $word in -*) ;; *) path="\${path:+$path }$word" ;; esac
  done
  case "$path $previous" in
${flagCases}
  esac
  # An argument is no command: fall back to the longest path that is known.
  while [ -z "$words$kind" ]; do
    case $path in
${cases}
    esac
    [ -n "$words" ] || [ -z "$path" ] && break
    case $path in *' '*) path=\${path% *} ;; *) path='' ;; esac
  done
  case \${COMP_WORDS[COMP_CWORD]} in -*) kind='' ;; esac
  [ -z "$kind" ] || words="$words $(_${bin}_names "$kind")"
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _${bin}_complete ${bin}
`
}

function fish(bin: string, { followers, values }: Table): string {
  const split = (words: readonly string[]) => `string split ' ' -- '${words.join(' ')}'`
  const names = (kind: AskedKind) => `${bin} ${asked[kind]} -o csv --quiet 2>/dev/null </dev/null | ${plainNames}`
  const said = (of: Values) => (typeof of === 'string' ? names(of) : split(of))
  const flagCases = [...values]
    .map(([prefix, of]) => `    case '${prefix}'\n      ${said(of)}\n      return`)
    .join('\n')
  const cases = [...followers]
    .map(([prefix, { words, kind }]) => {
      const more = kind ? `\n      string match -q -- '-*' (commandline -ct); or ${names(kind)}` : ''
      return `    case '${prefix}'\n      ${split(words)}${more}`
    })
    .join('\n')
  return `function __${bin}_words
  set -l typed (commandline -opc)[2..-1]
  set -l path (string join ' ' -- (string match -v -- '-*' $typed))
  switch "$path $typed[-1]"
${flagCases}
  end
  switch "$path"
${cases}
  end
end
complete -c ${bin} -f -a '(__${bin}_words)'
`
}
