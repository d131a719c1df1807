/** What a person has to know of the store, in words. Pure. */
import { messageOf } from '../../errors.js'
import { diskRemedy } from '../files/durable-file.js'
import type { Found } from './generations.js'
import type { StoreTrouble } from './snapshot.js'

/** Of the files as they were read. */
export function lossTrouble(
  { snapshot, loss, finding, kept, founded, asOf }: Found,
  folder: string,
): StoreTrouble | undefined {
  const inFolder = `the settings in ${folder}`
  const copies = kept.length > 0 ? `; the damaged files are kept as ${kept.join(' and ')}` : ''
  if (loss === 'newer') {
    const files = kept.length > 0 ? `; the files are kept as ${kept.join(' and ')}` : ''
    const used =
      snapshot.number > 0
        ? `those of ${asOf} are used, and every change since then is lost`
        : 'there are none from before, so defaults are used'
    return {
      code: 'store-newer',
      text: `${inFolder} were written by a newer version, which no longer runs, and cannot be read by this version: ${used}; check position, passwords and connections${files}`,
    }
  }
  if (loss === 'newest')
    return {
      code: 'store-damaged',
      text: `${finding}: ${inFolder} are those of the other copy, the last changes may be lost; check them${copies}`,
    }
  if (loss === 'everything')
    return {
      code: 'store-reset',
      text: `${inFolder} are lost (${finding}): defaults are used and passwords are gone, set them again${copies}`,
    }
  if (snapshot.number > 0 || !founded) return undefined
  return {
    code: 'store-reset',
    text: `${inFolder} were deleted: defaults are used and passwords are gone, set them again`,
  }
}

export const foreignTrouble = (folder: string): StoreTrouble => ({
  code: 'store-changed',
  text: `the files in ${folder} were deleted or changed by another program: the settings are written again`,
})

export const lateTrouble: StoreTrouble = {
  code: 'store-unreadable',
  text: 'the settings could not be read at the start: restart the service, so that it uses them',
}

/** @param isLoaded the files could be read */
export function failureTrouble(error: unknown, folder: string, isLoaded: boolean): StoreTrouble {
  const reason = messageOf(error)
  const until = 'every change is refused until then; the store retries automatically'
  const advice = diskRemedy(error, folder)
  return isLoaded
    ? { code: 'store-unwritable', text: `settings cannot be written (${reason}): ${until}`, advice }
    : { code: 'store-unreadable', text: `settings cannot be read (${reason}): defaults are used, ${until}`, advice }
}
