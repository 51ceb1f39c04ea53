/** Lines of the log: an object each, with the level as a word and the moment as a text. */
import { expect, test } from 'vitest'
import { openLog } from '../../src/daemon/log.ts'

test('levels are words, and only lines of the level that is asked for are written', () => {
  const written = (level: 'trace' | 'info' | 'warn' | 'error') => {
    const lines: string[] = []
    const log = openLog(level, { write: (line) => void lines.push(line) })
    log.info('happened', { count: 1 })
    log.warn('is late')
    log.failure('has failed', new Error('why'))
    log.fatal('ends', new Error('why'))
    return lines.map((line) => JSON.parse(line) as { level: unknown; event: string; time: unknown })
  }
  const all = written('info')
  expect(all.map(({ level, event }) => [level, event])).toEqual([
    ['info', 'happened'],
    ['warn', 'is late'],
    ['error', 'has failed'],
    ['fatal', 'ends'],
  ])
  expect(written('warn').map(({ level }) => level)).toEqual(['warn', 'error', 'fatal'])
  for (const { time } of all) expect(new Date(String(time)).toISOString()).toBe(time)
})
