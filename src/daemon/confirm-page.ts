/**
 * The page behind the link that confirms an address. The link alone confirms nothing: whoever opens it signs in with the
 * account that gets the address. The session is for this one call, and ends with it.
 */
const fields = `<p><label>Your address or sign-in name <input name="email" autocomplete="username" required maxlength="254"></label></p>
<p><label>Your password <input name="password" type="password" autocomplete="current-password" required maxlength="1024"></label></p>
<p><label>The code of your authenticator app, if you have one <input name="totp" autocomplete="one-time-code" inputmode="numeric" maxlength="6"></label></p>
<p><button>Confirm</button></p>`

const script = `
const token = location.hash.slice(1)
const workspace = new URLSearchParams(location.search).get('workspace')
history.replaceState(null, '', location.pathname + location.search)
const form = document.querySelector('form')
const said = document.querySelector('output')
const says = {
  'auth.confirmation_invalid': 'This link was already used, has expired, or is for another account. Ask for a new one.',
  'account.address_taken': 'Another account has this address by now.',
  'auth.sign_in_failed': 'The address or the password is wrong.',
  'auth.second_factor_required': 'The code of your authenticator app is needed, too.',
  'auth.second_factor_failed': 'The code is wrong, or was used. Wait for the next one.',
}
const call = (method, path, body, bearer) => window.fetch('/api/v1' + path, {
  method,
  headers: {
    ...(body ? { 'content-type': 'application/json' } : {}),
    ...(bearer ? { authorization: 'Bearer ' + bearer } : {}),
  },
  ...(body ? { body: JSON.stringify(body) } : {}),
}).catch(() => undefined)
const failed = async (answer) => {
  const problem = answer ? await answer.json().catch(() => ({})) : {}
  said.textContent = says[problem.code] || 'That did not work. Try again.'
}
form.addEventListener('submit', async (event) => {
  event.preventDefault()
  said.textContent = ''
  const { email, password, totp } = form.elements
  const proof = { email: email.value.trim(), password: password.value }
  if (workspace) proof.workspace = workspace
  if (totp.value.trim() !== '') proof.totp = totp.value.trim()
  const entered = await call('POST', '/auth/sessions', proof)
  if (!entered || !entered.ok) return failed(entered)
  const bearer = (await entered.json()).access_token
  const confirmed = await call('POST', '/auth/address:confirm', { token }, bearer)
  await call('DELETE', '/auth/sessions', undefined, bearer)
  if (!confirmed || !confirmed.ok) return failed(confirmed)
  form.hidden = true
  said.textContent = 'The address is confirmed.'
})
`

export const confirmPage = {
  path: '/confirm-address',
  label: 'confirm_address',
  title: 'Confirm your address',
  fields: `<p>Sign in with the account that gets the address. If you sign in without a password, open the link's token in your own application.</p>\n${fields}`,
  script,
} as const
