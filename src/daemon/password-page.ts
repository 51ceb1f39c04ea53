/**
 * The page behind the link of a mail: a form for a new password.
 *
 * The token is in the fragment (`#`) of the address. Browsers do not send fragments to
 * servers, so the token is in no log. The script removes it from the address bar and sends
 * it in a body. The page loads nothing, runs one script, which its policy allows by its hash,
 * and can call only this daemon.
 *
 * The page is in English only and is meant to be replaced: SVC_PUBLIC_URL may lead to a client's own page.
 */
import { createHash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'

export const passwordPagePath = '/set-password'

const script = `
const token = location.hash.slice(1)
history.replaceState(null, '', location.pathname)
const form = document.querySelector('form')
const said = document.querySelector('output')
const says = {
  'auth.reset_invalid': 'This link was already used, or has expired. Request a new one.',
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
  const password = form.elements.password.value
  const answer = await window.fetch('/api/v1/auth/password:reset', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token, password }),
  }).catch(() => undefined)
  if (answer && answer.status === 204) {
    form.hidden = true
    said.textContent = 'Your new password is set. Sign in with it.'
    return
  }
  const problem = answer ? await answer.json().catch(() => ({})) : {}
  const broken = (problem.errors || []).map(({ code, params }) => (rules[code] ? rules[code](params) : code))
  said.textContent = (says[problem.code] || 'That did not work. Try again. ') + broken.join(', ')
})
`

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<title>Set a new password</title>
</head>
<body>
<main>
<h1>Set a new password</h1>
<form>
<p><label>New password <input name="password" type="password" autocomplete="new-password" required maxlength="1024"></label></p>
<p><button>Set it</button></p>
</form>
<p><output></output></p>
</main>
<script>${script}</script>
</body>
</html>
`

const policy = [
  "default-src 'none'",
  `script-src 'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

export function addPasswordPage(app: FastifyInstance): void {
  app.get(passwordPagePath, { config: { label: 'set_password' } }, (_, reply) =>
    reply
      .header('content-security-policy', policy)
      .header('referrer-policy', 'no-referrer')
      .header('x-content-type-options', 'nosniff')
      .header('cache-control', 'no-store')
      .type('text/html; charset=utf-8')
      .send(page),
  )
}
