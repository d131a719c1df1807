/**
 * For a plugin that installs updates (`rtk-base/image`): verify and unpack a signed image, read keys. An image is an update
 * of the service or of one plugin.
 */
export { keyId, readPublicKey } from './keys.js'
export type { ImageManifest } from './manifest.js'
export { readImageHead, type UnpackOptions, unpackImage } from './unpack.js'
