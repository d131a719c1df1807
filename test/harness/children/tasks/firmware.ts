/** Tasks about the firmware: a version that fails, from a file, and a good one, from an address. */
import { compare, textWith } from '../browser-rig.js'
import type { Player } from './player.js'

/** @param file a newer version that ends at its start @param url of a good one, `good` */
export async function firmwareTasks(player: Player, file: string, url: string, good: string): Promise<void> {
  const { button, field, group, hands, page, tab, tap } = player
  const { version } = (await player.info()).esp
  await player.task('firmware from a file; it takes itself back, and says why', 3, async () => {
    await tap(group('Device'))
    await tap(tab('Update'))
    await field('Signed image (.img)').setInputFiles(file)
    await tap(button('Upload and install'))
    await player.says('the steps are shown', '.steps', /Restart[\s\S]*On trial/)
    await player.says('it took itself back', 'main', /The last update took itself back/)
    const why = await textWith(page, '.preview', /given up/)
    compare('with its reason', /given up: .*did not come up.*runs again/s.test(why) || why, true)
    compare('the version before runs', (await player.info()).esp.version, version)
  })
  await player.task('firmware from an address', 3, async () => {
    await tap(group('Device'))
    await tap(tab('Update'))
    await hands.enter(field('URL of the signed image'), url)
    await tap(button('Download and install'))
    await player.says('another version answers', '[role=alert]', /now runs another version/)
    compare('it is that one', (await player.info()).esp.version, good)
  })
}
