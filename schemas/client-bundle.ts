/** A program for the browser, as a plugin imports it (`./ui/main.ts?client`). */

/** One file of a browser bundle, ready to be served. */
export interface ClientFile {
  /** File name with a hash of its content. */
  readonly name: string
  /** Content type. */
  readonly type: string
  readonly bytes: Uint8Array
  /** The same compressed; undefined where that would not make it smaller. */
  readonly gzip: Uint8Array | undefined
  /** The name changes with the content, so browsers may keep it for ever. */
  readonly immutable: boolean
}

/** What `import ui from './ui/main.tsx?client'` gives. */
export interface ClientBundle {
  /** Name of the file that a page loads as a module. */
  readonly entry: string
  /** Names of the style sheets that a page links. */
  readonly styles: readonly string[]
  readonly files: readonly ClientFile[]
}
