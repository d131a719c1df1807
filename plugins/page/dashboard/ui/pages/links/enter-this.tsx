import { useEffect, useRef, useState } from 'preact/hooks'
import { CopyButton } from '../../../../../../runtime/lib/page/ui/parts/copy-button.js'
import { useLoaded } from '../../../../../../runtime/lib/page/ui/parts/loaded.js'
import { t } from '../../i18n/index.js'
import { entryText, hostForRover, type RoverLoginList } from '../../model/rover-login.js'
import { QrCode } from '../../parts/qr-code.js'
import { api } from '../../station/api.js'

const load = () => api.get<{ url: string }[]>('/addresses')

/** All that a rover needs, to be typed in or scanned. The password is shown this once. */
export function EnterThis(props: { list: RoverLoginList; user: string; password: string; close: () => void }) {
  const { close, list, password, user } = props
  const { mounts, port } = list
  const [chosen, setMount] = useState('')
  const { value: addresses = [] } = useLoaded(load)
  const title = useRef<HTMLHeadingElement>(null)
  useEffect(() => title.current?.focus(), [])
  const mount = chosen || (mounts[0] ?? '')
  const mountName = t('logins.entry.mount')
  const rows = [
    [t('logins.entry.host'), hostForRover(location.hostname, addresses)],
    // 0: the caster cannot listen, or is off.
    [t('logins.entry.port'), port > 0 ? String(port) : t('logins.entry.noPort')],
    [mountName, mount],
    [t('logins.entry.user'), user],
    [t('logins.entry.password'), password],
    [t('logins.entry.version'), t('logins.entry.versions')],
  ] as const
  const text = entryText(rows)
  return (
    <div class="command" role="status">
      <h3 ref={title} tabIndex={-1}>
        {t('logins.enter')}
      </h3>
      <p class="caution">{t('logins.once')}</p>
      <div class="enter-this">
        <dl class="entries">
          {rows.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                {name === mountName && mounts.length > 1 ? (
                  <select
                    aria-label={name}
                    value={mount}
                    onChange={({ currentTarget }) => setMount(currentTarget.value)}
                  >
                    {mounts.map((one) => (
                      <option key={one} value={one}>
                        {one}
                      </option>
                    ))}
                  </select>
                ) : (
                  value
                )}
              </dd>
            </div>
          ))}
        </dl>
        <QrCode text={text} label={t('logins.code')} />
      </div>
      <p class="quiet">{t('logins.scan')}</p>
      <p>{t('logins.outside')}</p>
      <a class="target" href="#/links">
        {t('casters.add')}
      </a>
      <div class="buttons">
        <CopyButton text={text} />
        <button type="button" onClick={close}>
          {t('logins.another')}
        </button>
      </div>
    </div>
  )
}
