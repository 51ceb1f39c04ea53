/**
 * Texts that break programs: by what they are made of, by what they look like, and by
 * what some program or other would do with them.
 */

const unstorable = ['\u0000', 'a\u0000b', '\u0000end', '\ud800', '\udc00', 'x\udbff', '\udfffy', '\ud83d', '\udc00\ud800', 'a\ud800b']

const controls = [
  ...Array.from({ length: 31 }, (_, at) => `c${String.fromCharCode(at + 1)}d`),
  '\u007f',
  '\u0080\u0085\u009b31m',
  '\u001b[31mred\u001b[0m',
  '\u001b]0;title\u0007',
  '\u001b]8;;http://evil.example\u001b\\link\u001b]8;;\u001b\\',
  '\u001bc',
  'line\r\nSet-Cookie: a=b',
  'first\nsecond',
  '\ttab\t',
  '\u2028line\u2029paragraph',
  '\b\b\b\b',
]

const invisible = ['\u200b', '\u200c\u200d', '\ufeff', 'a\ufeffb', '\u00ad', '\u2060', '\u180e', '\u3164', '\u115f\u1160', '\u00a0', '\u2003', '\u202f', '\u061c', '\u{e0041}\u{e0042}', '\ufff9a\ufffab\ufffb']

const directions = ['\u202egnp.exe', '\u2066abc\u2069', '\u202a\u202b\u202c\u202d', '\u200fאבג\u200e', 'שלום', 'مرحبا', 'a\u0590ב\u05ffc', '\u2067\u2066\u2068']

const composed = [
  'e\u0301',
  '\u00e9',
  '\u212b',
  'A\u030a',
  '\u1e9b\u0323',
  'ﬁ',
  'ﷺ',
  'İstanbul',
  'ısı',
  'ß',
  'ẞ',
  'SS',
  'ς σ Σ',
  'ŉ',
  'ǰ',
  'Z\u0351\u036b\u0343\u036a\u0302\u036b\u033d\u034f\u0334',
  'a'.concat('\u0301'.repeat(60)),
  '각',
  '\u1100\u1161\u11a8',
  'क्षि',
  'ก็็็็็็',
  'Ǆ ǅ ǆ',
]

const wide = [
  '😀',
  '👨‍👩‍👧‍👦',
  '🏳️‍🌈',
  '🇨🇭🇨🇭',
  '👍🏿',
  '1️⃣',
  '𝕳𝖊𝖑𝖑𝖔',
  '𠜎𠜱𠝹',
  '田中さんにあげて下さい',
  'Ω≈ç√∫˜µ≤≥÷',
  '\uffff',
  '\ufffe',
  '\ufdd0',
  '\ufffd',
  '\ue000',
  '\u{10ffff}',
  '\u{1fffe}',
  '😀'.repeat(60),
  '😀'.repeat(120),
  '😀'.repeat(121),
  'é'.repeat(120),
  'x'.repeat(119),
  'x'.repeat(120),
  'x'.repeat(121),
  'x'.repeat(5000),
]

const looksLikeAnother = ['аdmin', 'admіn', 'ａｄｍｉｎ', 'adm\u0131n', 'pаypal', '①②③', 'ℌℑ', '1ǀ0', '𝟎𝟏', '٣٤', '१२३', '／etc', '․․', '‥', '＜script＞', 'xn--80ak6aa92e']

const empty = ['', ' ', '  ', '\u3000', '\t', '\n', '\r\n', 'null', 'NULL', 'undefined', 'nil', 'None', 'NaN', '(null)', '-', '--', '.', '..', '...', '/', '\\', '\\N', '*', '?', '%', '_', '$', '#', ';', ',', '"', "'", '`']

const numbers = ['0', '00', '-0', '1', '-1', '+1', '1.0', '1e3', '1E400', '0x1F', '0b1', '0o7', '1_000', '1,000', '1/2', 'Infinity', '-Infinity', 'true', 'false', '9007199254740993', '9223372036854775808', '2024-02-30', '24:00', '1969-12-31T23:59:60Z', '١']

const sql = [
  "' or '1'='1",
  "'; drop table tenant; --",
  "' union select null,null--",
  '" or ""="',
  "admin'/*",
  "1; select pg_sleep(5)",
  "'||pg_sleep(5)||'",
  '$1',
  '$$',
  '$tag$x$tag$',
  "E'\\\\x00'",
  "\\'; --",
  '%27%20or%201=1',
  '{1,2}',
  '{"a":NULL}',
  '(1,2)',
  '[1,2)',
  '\\x00',
  "to_char(now(),'x')",
  'a%b_c',
]

const markup = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "javascript:alert('x')",
  '<svg/onload=alert(1)>',
  '&lt;b&gt;',
  '&#0;',
  '<!--',
  ']]>',
  '<?xml version="1.0"?><!DOCTYPE r [<!ENTITY e SYSTEM "file:///etc/passwd">]><r>&e;</r>',
  '<%= 7 * 7 %>',
  '{{7*7}}',
  '${7*7}',
  '#{7*7}',
  '[click](javascript:alert(1))',
  '=cmd|calc!A0',
  '@SUM(1+1)',
  '+1+1',
  '-2+3',
]

const shells = ['; ls', '| cat /etc/passwd', '`id`', '$(id)', '&& true', '> /tmp/x', '$HOME', '%PATH%', '${IFS}', '\\n', '--help', '-rf', '~root', '!!', '() { :;}; echo', '\r\n.\r\n', '%s%s%s%n', '%d', '%p', '{0}', '%x%x']

const paths = ['../../../etc/passwd', '..\\..\\windows', '/dev/null', 'CON', 'aux.txt', 'file:///etc/passwd', '//host/share', 'a/../b', 'C:\\', 'x\u2215y', '.git/config', '%2e%2e%2f', '....//', 'name.', 'name ', ':', 'a:b']

const names = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf', '__defineGetter__', 'then', 'length', 'arguments', 'this', 'eval', 'self', 'admin', 'root', 'system', 'anonymous', 'postgres', 'public', 'svc_tenant', 'me', 'new']

const json = ['{}', '[]', '{"a":1}', '"quoted"', '\\u0000', '\\', '\\"', '\u0001', '{"$ne":null}', '{"__proto__":{}}', '\ud83d\ude00'.concat('\\ud83d')]

const addresses = [
  'a@b',
  'a@b.c',
  '"quoted"@people.example',
  'a@[127.0.0.1]',
  'a@people.example\r\nBcc: b@people.example',
  'a@people.example,b@people.example',
  'a+tag@people.example',
  'A@PEOPLE.EXAMPLE',
  'ü@people.example',
  'a@bücher.example',
  'a..b@people.example',
  '.a@people.example',
  'a@-x.example',
  `${'a'.repeat(64)}@people.example`,
  `${'a'.repeat(65)}@people.example`,
  `a@${'b'.repeat(63)}.example`,
  `a@${'b.'.repeat(120)}example`,
  '<a@people.example>',
  'mailto:a@people.example',
]

/** What PostgreSQL cannot store, or UTF-8 cannot carry; every other text is kept as it is. */
export const unstorableStrings: readonly string[] = unstorable

export const naughtyStrings: readonly string[] = [
  ...new Set([...unstorable, ...controls, ...invisible, ...directions, ...composed, ...wide, ...looksLikeAnother, ...empty, ...numbers, ...sql, ...markup, ...shells, ...paths, ...names, ...json, ...addresses]),
]
