/** The caster's answers, each head in one write: some clients only read the first packet. */
const server = 'NTRIP rtk-base/1.0'

const date = (now_ms: number) => (now_ms > 0 ? `Date: ${new Date(now_ms).toUTCString()}\r\n` : '')

/** The head before the stream. */
export function streamHead(version: 1 | 2, chunked: boolean, now_ms: number): string {
  if (version === 1) return 'ICY 200 OK\r\n\r\n'
  const coding = chunked ? 'Transfer-Encoding: chunked\r\n' : ''
  return (
    `HTTP/1.1 200 OK\r\nNtrip-Version: Ntrip/2.0\r\nServer: ${server}\r\n${date(now_ms)}` +
    'Cache-Control: no-store, no-cache, max-age=0\r\nPragma: no-cache\r\nConnection: close\r\n' +
    `Content-Type: gnss/data\r\n${coding}\r\n`
  )
}

/** @param browser a reader that takes HTTP only */
export function tableReply(version: 1 | 2, browser: boolean, table: string, now_ms: number): string {
  const length = `Content-Length: ${Buffer.byteLength(table)}\r\nConnection: close\r\n\r\n${table}`
  if (version === 2) {
    return `HTTP/1.1 200 OK\r\nNtrip-Version: Ntrip/2.0\r\nServer: ${server}\r\n${date(now_ms)}Content-Type: gnss/sourcetable\r\n${length}`
  }
  const first = browser ? 'HTTP/1.1 200 OK' : 'SOURCETABLE 200 OK'
  return `${first}\r\nServer: ${server}\r\n${date(now_ms)}Content-Type: text/plain\r\n${length}`
}

const reasons: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  409: 'Conflict',
  503: 'Service Unavailable',
}

/** Errors defined for bases by NTRIP 1. */
const sourceErrors: Readonly<Record<number, string>> = {
  401: 'Bad Password',
  403: 'Not Allowed',
  404: 'Mount Point Taken or Invalid',
  409: 'Mount Point Taken or Invalid',
}

/**
 * @param text for a person
 * @param method SOURCE is answered in one line of NTRIP 1
 * @param realm the mountpoint that a login is wanted for
 */
export function errorReply(status: number, text: string, version: 1 | 2, method = '', realm = ''): string {
  if (method === 'SOURCE') return `ERROR - ${sourceErrors[status] ?? 'Bad Request'}\r\n`
  const first = `HTTP/1.${version === 2 ? 1 : 0} ${status} ${reasons[status] ?? 'Error'}`
  const login = status === 401 ? `WWW-Authenticate: Basic realm="/${realm}", charset="UTF-8"\r\n` : ''
  const mark = version === 2 ? 'Ntrip-Version: Ntrip/2.0\r\n' : ''
  const body = `${text}\r\n`
  return `${first}\r\n${mark}Server: ${server}\r\n${login}Content-Type: text/plain\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`
}
