/** The pages of docs/, followed in a terminal on a host with its own PostgreSQL: each command, as it stands there. */
import { afterAll, beforeAll, describe, test } from 'vitest'
import { asAda, type Ground, openGround } from '../docs/ground.ts'
import { played } from '../docs/stories.ts'
import { follow } from '../docs/story.ts'

let ground: Ground
beforeAll(async () => {
  ground = await openGround()
}, 120_000)
afterAll(() => ground.remove(), 60_000)

describe.each(played)('$page', (story) => {
  test('is as it says', async () => {
    // The first page makes the installation; Ada is there after it.
    if (story !== played[0] && ground.pid() === 0) throw new Error('there is no installation')
    const terminal = await (story === played[0] ? ground.terminal({ env: {} }) : asAda(ground))
    await follow(story, ground, terminal)
    await terminal.close()
  }, 300_000)
})
