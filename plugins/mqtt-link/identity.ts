import { X509Certificate } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'

export interface IdentityFiles {
  /** PEM file of the authority that signed the broker's certificate; the system's authorities when left out. */
  ca?: string | undefined
  /** PEM files of the device's own certificate and key. */
  cert?: string | undefined
  key?: string | undefined
}

/** `mqtt.state.cert`: UTC seconds and the serial number in hexadecimal; zero and empty without a certificate. */
export interface CertificateInfo {
  from: number
  until: number
  serial: string
}

export interface Identity {
  ca?: Buffer
  cert?: Buffer
  key?: Buffer
  info: CertificateInfo
  /** Trouble that does not keep the link from being tried. */
  warning: string
}

export const noCertificate: CertificateInfo = { from: 0, until: 0, serial: '' }

/** Reads the files anew for every attempt, so that exchanged ones are used. Rejects with a text that names the file. */
export async function readIdentity(files: IdentityFiles): Promise<Identity> {
  const identity: Identity = { info: noCertificate, warning: '' }
  for (const part of ['ca', 'cert', 'key'] as const) {
    const path = files[part]
    if (path === undefined || path === '') continue
    try {
      identity[part] = await readFile(path)
      if (part === 'key' && ((await stat(path)).mode & 0o077) !== 0)
        identity.warning = `the key ${path} can be read by others: chmod 600 it`
    } catch (error) {
      throw new Error(`the ${part} file cannot be read: ${(error as Error).message}`)
    }
  }
  if ((identity.cert === undefined) !== (identity.key === undefined))
    throw new Error('cert and key go together: set both')
  if (identity.cert !== undefined) identity.info = certificateInfo(identity.cert, files.cert ?? '')
  return identity
}

function certificateInfo(pem: Buffer, path: string): CertificateInfo {
  try {
    const { validFrom, validTo, serialNumber } = new X509Certificate(pem)
    return { from: Date.parse(validFrom) / 1000, until: Date.parse(validTo) / 1000, serial: serialNumber }
  } catch (error) {
    throw new Error(`${path} is no PEM certificate: ${(error as Error).message}`)
  }
}
