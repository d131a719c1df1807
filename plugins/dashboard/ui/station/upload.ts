/** `POST /update-firmware?esp` with progress, which `fetch` does not have over HTTP/1.1. */
export interface Upload {
  /** Ends it. */
  abort(): void
  /** What the station says; rejects with its reason. */
  readonly done: Promise<string>
}

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
    request.upload.onprogress = ({ loaded, total }) => progress(total > 0 ? loaded / total : 0)
    request.onload = () => {
      const { message = '', help = '', version = '' } = answer()
      if (request.status === 200) resolve(version)
      else reject(new Error([message, help].filter(Boolean).join(' ')))
    }
    // The station may refuse while bytes are still on their way: then there is an answer all the same.
    request.onerror = () => reject(new Error(answer().message || 'the connection to the station was lost: try again'))
    request.onabort = () => reject(new Error('stopped'))
    request.open('POST', '/update-firmware?esp')
    request.send(file)
  })
  return { abort: () => request.abort(), done }
}
