import { t } from '../i18n/index.js'

/** `POST /update-firmware?esp` with progress, which `fetch` does not have over HTTP/1.1. */
export interface Upload {
  /** Ends it. */
  abort(): void
  /** The station's answer; rejects with its reason. */
  readonly done: Promise<string>
}

/** A link that broke silently: nothing left this device for this time. The station itself gives up after a minute. */
const stall_ms = 45_000

export function upload(file: Blob, progress: (share: number) => void): Upload {
  const request = new XMLHttpRequest()
  const done = new Promise<string>((resolve, reject) => {
    const answer = () => {
      try {
        return JSON.parse(request.responseText) as { message?: string; help?: string; version?: string }
      } catch {
        return { message: request.responseText }
      }
    }
    const lost = () => reject(new Error(answer().message || t('update.lost')))
    let stalled = setTimeout(() => {}, 0)
    const watch = () => {
      clearTimeout(stalled)
      stalled = setTimeout(() => {
        lost()
        request.abort()
      }, stall_ms)
    }
    request.upload.onprogress = ({ loaded, total }) => {
      watch()
      progress(total > 0 ? loaded / total : 0)
    }
    // From then on the station works.
    request.upload.onload = () => clearTimeout(stalled)
    request.onloadend = () => clearTimeout(stalled)
    request.onload = () => {
      const { message = '', help = '', version = '' } = answer()
      if (request.status === 200) resolve(version)
      else reject(new Error([message, help].filter(Boolean).join(' ')))
    }
    // The station may refuse while bytes are still on their way: then there is an answer all the same.
    request.onerror = lost
    request.onabort = () => reject(new Error(t('update.stopped')))
    request.open('POST', '/update-firmware?esp')
    request.send(file)
    watch()
  })
  return { abort: () => request.abort(), done }
}
