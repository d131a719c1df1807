/**
 * For a plugin with a web page of its own (`rtk-base/page`): serves the files of its browser bundle from memory, with the headers that keep
 * foreign code out.
 */
export { type PageParts, Pages, secured, sendFile } from './pages.js'
export { tileOrigin, tilesFault } from './tiles.js'
