/** Signed images, as a plugin that installs them needs them (`rtk-base/image`): verify and unpack, keys. */
export { keyId, readPublicKey } from './keys.js'
export type { ImageManifest } from './manifest.js'
export { type UnpackOptions, unpackImage } from './unpack.js'
