import { kindOf, messageOf, RtkError, type RtkErrorCode } from '../../errors.js'

const byCode: Readonly<Record<string, readonly [RtkErrorCode, string]>> = {
  ECONNREFUSED: ['RTK_ERR_FETCH_REFUSED', 'the connection was refused: nothing listens there'],
  ENOTFOUND: ['RTK_ERR_FETCH_UNREACHABLE', 'the host name is not known'],
  EAI_AGAIN: ['RTK_ERR_FETCH_UNREACHABLE', 'the host name could not be looked up: no name server answers'],
  EHOSTUNREACH: ['RTK_ERR_FETCH_UNREACHABLE', 'no route to the host'],
  ENETUNREACH: ['RTK_ERR_FETCH_UNREACHABLE', 'no route to its network'],
  ECONNRESET: ['RTK_ERR_FETCH_ANSWER', 'the server cut the connection off'],
  EPIPE: ['RTK_ERR_FETCH_ANSWER', 'the server cut the connection off'],
  UND_ERR_SOCKET: ['RTK_ERR_FETCH_ANSWER', 'the server cut the connection off'],
  ETIMEDOUT: ['RTK_ERR_FETCH_TIMEOUT', 'no connection in time'],
}

const notTls = /^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST)$/
const notTlsText = /wrong version number|packet length too long/
const certificateCode = /^(ERR_TLS_CERT|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_(GET|VERIFY|DECODE)|ERR_SSL|EPROTO)/

/** The innermost error with a code: fetch wraps it in "fetch failed". */
function rootOf(error: unknown): unknown {
  let found = error
  for (let next = error; next instanceof Error; next = next.cause) {
    // Several addresses of one name were tried.
    if (next instanceof AggregateError && next.errors.length > 0) return rootOf(next.errors[0])
    if (next instanceof RtkError || typeof (next as NodeJS.ErrnoException).code === 'string') found = next
  }
  return found
}

/** fetch refuses ports of other protocols, with an error without a code. */
function isForbiddenPort(error: unknown): boolean {
  return error instanceof Error && (error.message === 'bad port' || isForbiddenPort(error.cause))
}

/** The failure of `where` as a coded error with a message in plain words. */
export function failure(error: unknown, where: string): RtkError {
  const cause = rootOf(error)
  const code = (cause as NodeJS.ErrnoException).code ?? ''
  if (cause instanceof RtkError) return new RtkError(kindOf(cause), `${where}: ${cause.message}`, { cause: error })
  const [known, text] = byCode[code] ?? []
  if (known) return new RtkError(known, `${where}: ${text}`, { cause: error })
  if (isForbiddenPort(error)) {
    const text = `port ${new URL(where).port} is not allowed for HTTP`
    return new RtkError('RTK_ERR_FETCH_URL', `${where}: ${text}`, { cause: error })
  }
  if (notTls.test(code) || (code === 'EPROTO' && notTlsText.test(messageOf(cause)))) {
    const text = 'the server there does not speak https'
    return new RtkError('RTK_ERR_FETCH_ANSWER', `${where}: ${text}`, { cause: error })
  }
  if (certificateCode.test(code)) {
    const reason = `its certificate is not trusted: ${messageOf(cause)}`
    return new RtkError('RTK_ERR_FETCH_CERTIFICATE', `${where}: ${reason}`, { cause: error })
  }
  return new RtkError('RTK_ERR_FETCH_ANSWER', `${where}: ${messageOf(cause)}`, { cause: error })
}
