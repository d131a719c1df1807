import { useEffect, useRef, useState } from 'preact/hooks'
import { t } from '../../i18n/index.js'
import { entryText, hostForRover, type RoverLoginList } from '../../model/rover-login.js'
import { useLoaded } from '../../parts/loaded.js'
import { QrCode } from '../../parts/qr-code.js'
import { api } from '../../station/api.js'

const load = () => api.get<{ url: string }[]>('/addresses')

/** All that a rover needs, to be typed in or scanned. The password is shown this once. */
export function EnterThis(props: { list: RoverLoginList; user: string; password: string; close: () => void }) {
  const { close, list, password, user } = props
  const { mounts, port } = list
  const [chosen, setMount] = useState('')
  const { value: addresses = [] } = useLoaded(load)
  const [isCopied, setCopied] = useState(false)
  const title = useRef<HTMLHeadingElement>(null)
  useEffect(() => title.current?.focus(), [])
  const mount = chosen || (mounts[0] ?? '')
  const rows = [
    [t('logins.entry.host'), hostForRover(location.hostname, addresses)],
    [t('logins.entry.port'), String(port)],
    [t('logins.entry.mount'), mount],
    [t('logins.entry.user'), user],
    [t('logins.entry.password'), password],
    [t('logins.entry.version'), t('logins.entry.versions')],
  ] as const
  const text = entryText(rows)
  // Browsers have no clipboard for a page without https.
  const clipboard = globalThis.isSecureContext ? navigator.clipboard : undefined
  return (
    <div class="command" role="status">
      <h3 ref={title} tabIndex={-1}>
        {t('logins.enter')}
      </h3>
      {mounts.length > 1 && (
        <label>
          {t('links.mount')}
          <select value={mount} onChange={({ currentTarget }) => setMount(currentTarget.value)}>
            {mounts.map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </select>
        </label>
      )}
      <div class="enter-this">
        <dl class="entries">
          {rows.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
        <QrCode text={text} label={t('logins.code')} />
      </div>
      <p class="quiet">{t('logins.once')}</p>
      <p class="quiet">{t('logins.outside')}</p>
      <div class="buttons">
        {clipboard && (
          <button type="button" onClick={() => void clipboard.writeText(text).then(() => setCopied(true))}>
            {t(isCopied ? 'logins.copied' : 'logins.copy')}
          </button>
        )}
        <button type="button" onClick={close}>
          {t('logins.another')}
        </button>
      </div>
    </div>
  )
}
