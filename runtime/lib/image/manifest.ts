/**
 * An image has three parts. Line 1 is the manifest in JSON. Line 2 is the Ed25519 signature of the bytes of line 1, in
 * base64. The rest is the payload, a gzip tar. All decisions (hardware, version, paths) rest on the signed manifest and
 * are made before the payload is read.
 */

import { type KeyObject, sign, verify } from 'node:crypto'
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import { updateErrors } from '../../../schemas/services/update.js'
import { RtkError } from '../../errors.js'
import { keyId } from './keys.js'

export const imageFormat = 1
/** The largest line 1, bytes. */
export const largestManifest = 1_048_576
/** Base64 of 64 bytes. */
const signaturePattern = /^[A-Za-z0-9+/]{86}==$/
export const signatureLength = 88

const Digest = Type.String({ pattern: '^[0-9a-f]{64}$' })
const Name = Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$' })
const Version = Type.String({ pattern: '^\\d+\\.\\d+\\.\\d+(-[0-9A-Za-z.-]+)?$', maxLength: 64 })

export const ImageManifest = Type.Object(
  {
    format: Type.Literal(imageFormat),
    type: Type.Union([Type.Literal('bundle'), Type.Literal('plugin')]),
    /** For `plugin` the plugin's name, for `bundle` (the service with its plugins) the name of the variant. */
    name: Name,
    version: Version,
    /** Devices that the image is for: values of `hardware` in their variants. */
    hardware: Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { minItems: 1, maxItems: 32 }),
    /** `linux-arm64`, `linux-x64`, `linux-arm`; `any` if nothing in it is native. */
    arch: Type.String({ pattern: '^(any|linux-(x64|arm64|arm))$' }),
    /** The signing key: see `keyId`. */
    key: Type.String({ pattern: '^[0-9a-f]{16}$' }),
    /** For `bundle`: names of further variants that accept it. */
    replaces: Type.Optional(Type.Array(Name, { minItems: 1, maxItems: 32 })),
    /** The image is accepted even if a newer version is running. */
    downgrade: Type.Optional(Type.Literal(true)),
    /** Once this image is confirmed (a plugin: installed), images older than `minVersion` are refused. */
    minVersion: Type.Optional(Version),
    /** Public keys (SPKI PEM) that are also trusted after this bundle has been confirmed. */
    newKeys: Type.Optional(Type.Array(Type.String({ maxLength: 256 }), { maxItems: 4 })),
    /** For `plugin`: `esp.sha256` of the bundle that it is for. Other bundles refuse it. */
    bundle: Type.Optional(Digest),
    payload: Type.Object({ size: Type.Integer({ minimum: 1 }), sha256: Digest }, { additionalProperties: false }),
    files: Type.Array(
      Type.Object(
        { path: Type.String({ minLength: 1, maxLength: 255 }), size: Type.Integer({ minimum: 0 }), sha256: Digest },
        { additionalProperties: false },
      ),
      { minItems: 1, maxItems: 8_192 },
    ),
  },
  { additionalProperties: false },
)
export type ImageManifest = Static<typeof ImageManifest>

const wrong = (text: string) => new RtkError(updateErrors.RTK_ERR_IMAGE, `the image is not valid: ${text}`)

/** Printable ASCII, relative, without `.` and `..`: safe on every file system and in every message. */
export function isSafePath(path: string): boolean {
  if (!/^[!-~]+$/.test(path) || path.includes('\\')) return false
  return path.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
}

/** Lines 1 and 2, with their line ends. */
export function signedHead(manifest: Omit<ImageManifest, 'key'>, privateKey: KeyObject): Buffer {
  const whole = { ...manifest, key: keyId(privateKey) }
  if (!Value.Check(ImageManifest, whole)) {
    const [first] = Value.Errors(ImageManifest, whole)
    throw wrong(`${first?.instancePath} ${first?.message}`)
  }
  const line = Buffer.from(JSON.stringify(whole))
  return Buffer.concat([line, Buffer.from(`\n${sign(null, line, privateKey).toString('base64')}\n`)])
}

/**
 * Signature first, then the content: an unsigned manifest is not even parsed.
 * @param keys public keys by id
 * @throws RTK_ERR_IMAGE
 */
export function readHead(line: Buffer, signature: string, keys: ReadonlyMap<string, KeyObject>): ImageManifest {
  if (!signaturePattern.test(signature))
    throw wrong(
      'its second line is not a signature; send the file itself, with curl --data-binary and not as a form (-F)',
    )
  const bytes = Buffer.from(signature, 'base64')
  // The last digit has bits that mean nothing.
  if (bytes.toString('base64') !== signature)
    throw wrong(
      'its second line is not a signature; send the file itself, with curl --data-binary and not as a form (-F)',
    )
  if (keys.size === 0)
    throw new RtkError(updateErrors.RTK_ERR_IMAGE, 'this device trusts no key: set ota.keys in its variant')
  if (![...keys.values()].some((key) => verify(null, line, key, bytes))) {
    throw new RtkError(
      updateErrors.RTK_ERR_IMAGE,
      'the image is not signed by a key that this device trusts, or was changed',
    )
  }
  let value: unknown
  try {
    value = JSON.parse(line.toString('utf8'))
  } catch {
    throw wrong('its manifest is not JSON')
  }
  if (!Value.Check(ImageManifest, value)) {
    const [first] = Value.Errors(ImageManifest, value)
    throw wrong(`manifest ${first?.instancePath ?? ''} ${first?.message ?? ''}`)
  }
  const seen = new Set<string>()
  for (const { path } of value.files) {
    if (!isSafePath(path)) throw wrong(`the path ${JSON.stringify(path)} is not allowed`)
    if (seen.has(path)) throw wrong(`it contains ${path} twice`)
    seen.add(path)
  }
  return value
}
