/**
 * Types of the files that a plugin imports (`rtk-base/client`): texts, bytes and programs for the browser. It is not a
 * client of a station. Add it to `types` in tsconfig.json (`"types": ["node", "rtk-base/client"]`), or to one file:
 * `/// <reference types="rtk-base/client" />`.
 */

declare module '*.txt' {
  const text: string
  export default text
}
declare module '*.md' {
  const text: string
  export default text
}
declare module '*.html' {
  const text: string
  export default text
}
declare module '*.css' {
  const text: string
  export default text
}
declare module '*.svg' {
  const text: string
  export default text
}
declare module '*.csv' {
  const text: string
  export default text
}
declare module '*.pem' {
  const text: string
  export default text
}

/** Any file, as its bytes. */
declare module '*?bytes' {
  const bytes: Uint8Array<ArrayBuffer>
  export default bytes
}
declare module '*.png' {
  const bytes: Uint8Array<ArrayBuffer>
  export default bytes
}
declare module '*.jpg' {
  const bytes: Uint8Array<ArrayBuffer>
  export default bytes
}
declare module '*.webp' {
  const bytes: Uint8Array<ArrayBuffer>
  export default bytes
}
declare module '*.ico' {
  const bytes: Uint8Array<ArrayBuffer>
  export default bytes
}
declare module '*.woff2' {
  const bytes: Uint8Array<ArrayBuffer>
  export default bytes
}
declare module '*.wasm' {
  const bytes: Uint8Array<ArrayBuffer>
  export default bytes
}

/**
 * A program for a `Worker`, bundled with everything that it imports: its URL. For a plugin that runs unbundled, in tests, the program
 * exports it: `export default import.meta.url`.
 */
declare module '*?thread' {
  const url: string
  export default url
}

/** A program for the browser, bundled with everything that it imports. */
declare module '*?client' {
  const client: import('rtk-base/plugin').ClientBundle
  export default client
}
