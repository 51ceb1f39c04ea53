/**
 * Texts that are JSON, that are not, and that readers disagree about.
 *
 * Made from a grammar of pieces rather than listed: every piece that is valid alone is
 * tried at the top, in a list and as a member, every one that is not likewise.
 */

const validScalars = [
  'null', 'true', 'false', '0', '-0', '1', '-1', '10', '1.5', '-0.1', '1e5', '1E5', '1e+5', '1e-5', '0e0', '0.0e-0', '123456789012345678901234567890', '1e400', '-1e-400',
  '""', '"a"', '"\\u0061"', '"\\u00e9"', '"\\ud83d\\ude00"', '"\\n\\t\\r\\b\\f\\/\\\\\\""', '"\\u2028"', '"é"', '"😀"', '"\u007f"', '"\u2028\u2029"', '"\ufeff"', '"//"', '"/* */"', '"null"',
]
const validCompounds = ['[]', '{}', '[[]]', '[{}]', '{"a":[]}', '{"a":{"a":{}}}', '{"":0}', '{"a":1,"b":2}', '{"a":1,"A":2}', '[1,2,3]', '[null,true,"x",1,{}]', ' [ ] ', '\n{\n}\n', '\t[\r\n1 , 2\t]', '{"\\u0061b":1}', '{"__proto__":1}', `${'['.repeat(32)}${']'.repeat(32)}`, `${'{"a":'.repeat(31)}{}${'}'.repeat(31)}`]

const brokenScalars = [
  'nul', 'Null', 'NULL', 'tru', 'True', 'FALSE', 'undefined', 'NaN', 'Infinity', '-Infinity', '+1', '01', '-01', '1.', '.5', '-.5', '1e', '1e+', '1.e5', '0x10', '0b1', '0o7', '1_000', '1,5', '--1', '- 1', '1a', '1 2', '٣', '１', '1e5.5', '0.1.2', '1/2', '-',
  "'a'", '"a', 'a"', '"', '"\\"', '"\\x41"', '"\\u12"', '"\\u12g4"', '"\\a"', '"\\', '"\\u', '"\n"', '"\t"', '"\u0000"', '"\u0001"', '"\u001f"', '`a`', '“a”', 'a', '$', '"a" "b"', '"a\r\nb"', '"\\ "', '\\u0022a\\u0022',
  '//1', '/*x*/1', '#1', '<!--1-->', 'new Date()', '(1)', 'function(){}', '@', '\u00a01', '\u20281', '\u000b1', '\u000c1', '\u00001', '1\u0000', '\ufeff1',
]
const brokenCompounds = [
  '[', ']', '{', '}', '[1', '1]', '[1,]', '[,1]', '[,]', '[1,,2]', '[1 2]', '[1;2]', '[1:2]', '[}', '{]', '[1}', '{"a":1]', '[[1]', '[1]]', '["a]', '[...]',
  '{"a"}', '{"a":}', '{:1}', '{"a" 1}', '{"a":1,}', '{,"a":1}', '{"a":1,,"b":2}', '{"a":1 "b":2}', '{"a":1;"b":2}', '{a:1}', "{'a':1}", '{1:1}', '{null:1}', '{"a"=1}', '{"a"::1}', '{"a":1}}', '{{"a":1}', '{"a":1', '{"a', '{"a":1}{"b":2}', '{"a":1}\n{"b":2}', '{"a":1}x', '{"a":1}//x', '{[]:1}', '{{}:1}', '{"a":1,"b"}', '{"a":1:2}', '{"a":"b":"c"}',
]
const refusedShapes = [
  '{"a":1,"a":2}', '{"a":1,"\\u0061":2}', '[{"b":{"a":1,"a":1}}]', '{"token":"x","token":"y"}', '{"a":{"x":1},"a":{"y":1}}', '{"":1,"":2}',
  `${'['.repeat(33)}${']'.repeat(33)}`, `${'{"a":'.repeat(33)}1${'}'.repeat(33)}`, `${'['.repeat(5000)}${']'.repeat(5000)}`, '['.repeat(100_000), `${'['.repeat(100_000)}${']'.repeat(100_000)}`, '{"a":'.repeat(100_000),
]

const inside = (pieces: readonly string[]) => pieces.flatMap((piece) => [piece, `[${piece}]`, `{"x":${piece}}`])

/** Readers must take these. */
export const validJson: readonly string[] = [...inside(validScalars), ...validCompounds]

/** Readers must refuse these; the last are refused by this API, though some readers take them. */
export const brokenJson: readonly string[] = [
  ...new Set([...inside(brokenScalars), ...brokenCompounds, ...refusedShapes].filter((text) => text !== '[]')),
].filter((text) => !isJson(text) || refusedShapes.includes(text))

/** Bytes that are no text at all, and texts in other encodings. */
export const brokenBytes: readonly (readonly [string, Buffer])[] = [
  ['a byte order mark', Buffer.from('\ufeff{}')],
  ['UTF-16 LE', Buffer.from('{"token":"x"}', 'utf16le')],
  ['UTF-16 LE with its mark', Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('{}', 'utf16le')])],
  ['UTF-16 BE with its mark', Buffer.from([0xfe, 0xff, 0, 0x7b, 0, 0x7d])],
  ['UTF-32', Buffer.from([0x7b, 0, 0, 0, 0x7d, 0, 0, 0])],
  ['Latin-1', Buffer.from('{"token":"é"}', 'latin1')],
  ...[[0x80], [0xc3], [0xc3, 0x28], [0xe2, 0x28, 0xa1], [0xe2, 0x82], [0xf0, 0x28, 0x8c, 0xbc], [0xf0, 0x90, 0x28, 0xbc], [0xf8, 0x88, 0x80, 0x80, 0x80], [0xc0, 0xaf], [0xe0, 0x80, 0xaf], [0xed, 0xa0, 0x80], [0xed, 0xbf, 0xbf], [0xf4, 0x90, 0x80, 0x80], [0xff], [0xfe]].map(
    (bytes) => [`the bytes ${Buffer.from(bytes).toString('hex')}`, Buffer.concat([Buffer.from('{"token":"'), Buffer.from(bytes), Buffer.from('"}')])] as const,
  ),
  ['gzip', Buffer.from('1f8b080000000000000aab56aa050008dda9c302000000', 'hex')],
  ['nothing but zeros', Buffer.alloc(64)],
  ['nothing but spaces', Buffer.from('   ')],
]

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
