import { useState } from 'preact/hooks'
import { figure, t } from '../../i18n/index.js'
import { dbmText } from '../../i18n/lengths.js'
import { isWifiPassword, joinable, needsPassword, type ScannedNetwork, wifiStrength } from '../../model/wifi.js'
import { Card, FigureList, Tone } from '../../parts/card.js'
import { SecretInput } from '../../parts/forms/setting-form.js'
import { api, type Parameter } from '../../station/api.js'
import { type Json, numberAt, textAt } from '../../station/document.js'
import { hello } from '../../station/live.js'

/** The WiFi that this station joins: how it is, and a way to another one. */
export function WifiCard({ document, parameters }: { document: Json; parameters: readonly Parameter[] }) {
  if (!parameters.some(({ name }) => name === 'sta-ssid')) return null
  const ssid = textAt(document, 'sta.ssid')
  const ip = textAt(document, 'sta.ip4')
  const rssi = numberAt(document, 'sta.rssi') ?? 0
  return (
    <Card title={t('network.sta')}>
      <p class="large">
        {ssid === '' ? (
          <Tone tone="idle">{t('wifi.none')}</Tone>
        ) : (
          <Tone tone={ip === '' ? 'warning' : 'good'}>{t(ip === '' ? 'wifi.away' : 'wifi.joined', { ssid })}</Tone>
        )}
      </p>
      {ssid === '' && <p>{t('wifi.noneText')}</p>}
      {ssid !== '' && ip === '' && <p>{t('wifi.awayText')}</p>}
      {ip !== '' && (
        <FigureList
          rows={[
            [t('net.address'), ip],
            [t('net.signal'), rssi !== 0 && `${t(`net.strength.${wifiStrength(rssi)}`)} (${dbmText(rssi)})`],
            [t('net.channel'), figure(numberAt(document, 'sta.channel') || undefined, 0)],
          ]}
        />
      )}
      <Scan present={ssid} />
    </Card>
  )
}

/** The networks in reach: tap, password, join. */
function Scan({ present }: { present: string }) {
  const [found, setFound] = useState<readonly ScannedNetwork[]>()
  const [chosen, setChosen] = useState<ScannedNetwork>()
  const [isRunning, setRunning] = useState(false)
  const [trouble, setTrouble] = useState('')
  const scan = async () => {
    setRunning(true)
    setTrouble('')
    try {
      setFound(joinable(await api.post<ScannedNetwork[]>('/wifi/scan')))
    } catch (error) {
      setTrouble(error instanceof Error ? error.message : String(error))
    }
    setRunning(false)
  }
  return (
    <>
      <div class="actions">
        <button
          type="button"
          class={present === '' ? 'main' : ''}
          disabled={isRunning || hello.value?.role === 'viewer'}
          onClick={() => void scan()}
        >
          {t(isRunning ? 'wifi.scanning' : found ? 'wifi.again' : 'wifi.scan')}
        </button>
      </div>
      <p class="trouble" role="alert">
        {trouble}
      </p>
      <p class="quiet" role="status">
        {found && t(found.length === 0 ? 'wifi.nothing' : 'wifi.found', { count: found.length })}
      </p>
      <ul class="list">
        {found?.map((one) => (
          <li key={one.bssid} class="command">
            <button
              type="button"
              class="choice"
              aria-expanded={chosen === one}
              disabled={!one.canJoin}
              onClick={() => setChosen(chosen === one ? undefined : one)}
            >
              <Bars signal_dbm={one.signal_dbm} />
              <span>
                <strong>{one.ssid}</strong>{' '}
                <span class="quiet">
                  {[
                    t(`net.strength.${wifiStrength(one.signal_dbm)}`),
                    t(needsPassword(one.auth) ? 'wifi.locked' : 'wifi.open'),
                    one.ssid === present && t('wifi.present'),
                    !one.canJoin && t('wifi.cannot'),
                  ]
                    .filter(Boolean)
                    .join(' · ')}
                </span>
              </span>
            </button>
            {chosen === one && <Join network={one} done={() => setChosen(undefined)} />}
          </li>
        ))}
      </ul>
    </>
  )
}

const heights = [4, 8, 12, 16]
const levels = { poor: 1, weak: 2, good: 3, strong: 4 } as const

/** Decoration: the words beside it say the same. */
const Bars = ({ signal_dbm }: { signal_dbm: number }) => (
  <svg class="signal-bars" viewBox="0 0 22 18" aria-hidden="true">
    {heights.map((height, at) => (
      <rect
        key={height}
        class={at < levels[wifiStrength(signal_dbm)] ? 'signal-on' : 'signal-off'}
        x={at * 6}
        y={17 - height}
        width="4"
        height={height}
      />
    ))}
  </svg>
)

function Join({ network, done }: { network: ScannedNetwork; done: () => void }) {
  const { auth, bssid, ssid } = network
  const [password, setPassword] = useState('')
  const [isRunning, setRunning] = useState(false)
  const [trouble, setTrouble] = useState('')
  const isLocked = needsPassword(auth)
  const id = `wifi-${bssid.replaceAll(':', '')}`
  const join = async (event: Event) => {
    event.preventDefault()
    if (isLocked && !isWifiPassword(password)) {
      setTrouble(t('wifi.wrongPassword'))
      return
    }
    setRunning(true)
    try {
      const { result, errors = [] } = await api.change({ 'sta-ssid': ssid, 'sta-pswd': isLocked ? password : '' })
      if (result === 'failed') setTrouble(errors.map(({ message }) => message).join('; '))
      else done()
    } catch (error) {
      setTrouble(error instanceof Error ? error.message : String(error))
    }
    setRunning(false)
  }
  return (
    <form onSubmit={join}>
      {isLocked && (
        <>
          <label for={id}>{t('wifi.password', { ssid })}</label>
          <SecretInput
            id={id}
            value={password}
            enter={setPassword}
            aria-describedby={`${id}-trouble`}
            aria-invalid={trouble !== ''}
          />
        </>
      )}
      <p class="trouble" id={`${id}-trouble`} role="alert">
        {trouble}
      </p>
      <p class="quiet">{t('wifi.trial')}</p>
      <div class="buttons">
        <button type="button" onClick={done}>
          {t('confirm.no')}
        </button>
        <button type="submit" class="main" disabled={isRunning}>
          {isRunning ? t('settings.sending') : t('wifi.join')}
        </button>
      </div>
    </form>
  )
}
