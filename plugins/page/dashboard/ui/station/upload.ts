/** A file on its way to the station, with progress, which `fetch` does not have over HTTP/1.1. */
export interface Upload<T> {
  /** Ends it. */
  abort(): void
  /** The station's answer; rejects with its reason. */
  readonly done: Promise<T>
}

export interface UploadTarget {
  readonly method: 'POST' | 'PUT'
  readonly path: string
  /** Told if the connection is lost, or if it was stopped. */
  readonly lost: string
  readonly stopped: string
}

/** A link that broke silently: nothing left this device for this time. The station itself gives up after a minute. */
const stall_ms = 45_000

/** @param progress gets the part that has left this device, 0 to 1 */
export function upload<T>(target: UploadTarget, file: Blob, progress: (share: number) => void): Upload<T> {
  const request = new XMLHttpRequest()
  const done = new Promise<T>((resolve, reject) => {
    const answer = () => {
      try {
        return JSON.parse(request.responseText) as { message?: string; help?: string }
      } catch {
        return { message: request.responseText }
      }
    }
    const lost = () => reject(new Error(answer().message || target.lost))
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
      const found = answer()
      if (request.status === 200) resolve(found as T)
      else reject(new Error([found.message, found.help].filter(Boolean).join(' ')))
    }
    // The station may refuse while bytes are still on their way: then there is an answer all the same.
    request.onerror = lost
    request.onabort = () => reject(new Error(target.stopped))
    request.open(target.method, target.path)
    request.send(file)
    watch()
  })
  return { abort: () => request.abort(), done }
}
