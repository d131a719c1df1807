/** Function that a plugin's bundle calls for each of its `?client` imports (host module `rtk-base/client-bundle`). */
import { gunzipSync } from 'node:zlib'
import type { ClientBundle } from '../../schemas/services/runtime.js'

/** The form of a browser bundle in a plugin's code. */
interface PackedClient {
  entry: string
  styles: string[]
  files: { name: string; type: string; packed: boolean; data: string }[]
}

/** Unpacks a program for the browser. */
export function clientBundle({ entry, styles, files }: PackedClient): ClientBundle {
  return {
    entry,
    styles,
    files: files.map(({ name, type, packed, data }) => {
      const stored = Buffer.from(data, 'base64')
      let bytes: Uint8Array | undefined = packed ? undefined : stored
      return {
        name,
        type,
        immutable: true,
        gzip: packed ? stored : undefined,
        get bytes() {
          bytes ??= gunzipSync(stored)
          return bytes
        },
      }
    }),
  }
}
