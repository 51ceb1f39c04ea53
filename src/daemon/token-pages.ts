/**
 * The pages behind the links of mails: a form for a new password, one to join a workspace, and one that confirms an address
 * (confirm-page.ts).
 *
 * The token is in the fragment (`#`) of the address. Browsers do not send fragments to
 * servers, so the token is in no log. The script removes it from the address bar and sends
 * it in a body. A page loads nothing, runs one script, which its policy allows by its hash,
 * and can call only this daemon.
 *
 * The pages are in English only and are meant to be replaced: SVC_PUBLIC_URL may lead to a client's own pages.
 */
import { createHash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { confirmPage } from './confirm-page.ts'

interface TokenPage {
  readonly path: string
  /** How its calls are counted. */
  readonly label: string
  readonly title: string
  /** The call below `/api/v1` that takes the token and the password. */
  readonly call: string
  readonly button: string
  readonly done: string
  /** The code of a token that serves no more, and what is said then. */
  readonly over: readonly [code: string, says: string]
  readonly asksName?: true
}

const pages: readonly TokenPage[] = [
  {
    path: '/set-password',
    label: 'set_password',
    title: 'Set a new password',
    call: '/auth/password:reset',
    button: 'Set it',
    done: 'Your new password is set. Sign in with it.',
    over: ['auth.reset_invalid', 'This link was already used, or has expired. Request a new one.'],
  },
  {
    path: '/join',
    label: 'join',
    title: 'Join',
    call: '/auth/invitations:redeem',
    button: 'Join',
    done: 'You have joined. Sign in with your address and this password.',
    over: ['auth.invitation_invalid', 'This link was already used, or has expired. Ask for a new invitation.'],
    asksName: true,
  },
]

export const tokenPagePaths: readonly string[] = [...pages, confirmPage].map(({ path }) => path)

const scriptOf = ({ call, done, over: [code, says] }: TokenPage) => `
const token = location.hash.slice(1)
history.replaceState(null, '', location.pathname)
const form = document.querySelector('form')
const said = document.querySelector('output')
const says = {
  '${code}': '${says}',
  'request.invalid': 'This password is not accepted. The rules: ',
}
const rules = {
  'text.too_short': ({ minimum }) => 'at least ' + minimum + ' characters',
  'text.too_long': ({ maximum }) => 'at most ' + maximum + ' characters',
  'password.lowercase': () => 'a lower-case letter',
  'password.uppercase': () => 'an upper-case letter',
  'password.digit': () => 'a digit',
  'password.symbol': () => 'a character that is neither a letter nor a digit',
  'password.common': () => 'not a common password',
  'password.context': () => 'not your own name or address',
  'password.used_before': () => 'not a password that you had before',
}
form.addEventListener('submit', async (event) => {
  event.preventDefault()
  said.textContent = ''
  const body = { token, password: form.elements.password.value }
  const name = form.elements.display_name
  if (name && name.value.trim() !== '') body.display_name = name.value.trim()
  const answer = await window.fetch('/api/v1${call}', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }).catch(() => undefined)
  if (answer && answer.ok) {
    form.hidden = true
    said.textContent = '${done}'
    return
  }
  const problem = answer ? await answer.json().catch(() => ({})) : {}
  const broken = (problem.errors || []).map(({ code, params }) => (rules[code] ? rules[code](params) : code))
  said.textContent = (says[problem.code] || 'That did not work. Try again. ') + broken.join(', ')
})
`

const nameField = '<p><label>Your name <input name="display_name" autocomplete="name" maxlength="200"></label></p>\n'

const fieldsOf = (
  page: TokenPage,
) => `${page.asksName ? nameField : ''}<p><label>New password <input name="password" type="password" autocomplete="new-password" required maxlength="1024"></label></p>
<p><button>${page.button}</button></p>`

interface Page {
  readonly path: string
  readonly label: string
  readonly title: string
  readonly fields: string
  readonly script: string
}

const pageOf = ({ title, fields, script }: Page) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<title>${title}</title>
</head>
<body>
<main>
<h1>${title}</h1>
<form>
${fields}
</form>
<p><output></output></p>
</main>
<script>${script}</script>
</body>
</html>
`

const policyOf = (script: string) =>
  [
    "default-src 'none'",
    `script-src 'sha256-${createHash('sha256').update(script).digest('base64')}'`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

export function addTokenPages(app: FastifyInstance): void {
  const served: Page[] = pages.map((page) => ({ ...page, fields: fieldsOf(page), script: scriptOf(page) }))
  for (const page of [...served, confirmPage]) {
    const [html, policy] = [pageOf(page), policyOf(page.script)]
    app.get(page.path, { config: { label: page.label } }, (_, reply) =>
      reply
        .header('content-security-policy', policy)
        .header('referrer-policy', 'no-referrer')
        .header('x-content-type-options', 'nosniff')
        .header('cache-control', 'no-store')
        .type('text/html; charset=utf-8')
        .send(html),
    )
  }
}
