import { useState } from 'preact/hooks'
import { isReadOnly } from '../../../../../../runtime/lib/page/ui/http.js'
import { Action } from '../../../../../../runtime/lib/page/ui/parts/action.js'
import { Card, FigureList, Tone } from '../../../../../../runtime/lib/page/ui/parts/card.js'
import { Field } from '../../../../../../runtime/lib/page/ui/parts/form/field.js'
import { Form } from '../../../../../../runtime/lib/page/ui/parts/form/form.js'
import { useSubmit } from '../../../../../../runtime/lib/page/ui/parts/form/submit.js'
import { type Json, numberAt, textAt } from '../../../../../../runtime/lib/page/ui/station/document.js'
import { figure, t } from '../../i18n/index.js'
import { dbmText } from '../../i18n/lengths.js'
import { isWifiPassword, joinable, needsPassword, type ScannedNetwork, wifiStrength } from '../../model/wifi.js'
import { api, type Parameter } from '../../station/api.js'

/** The WiFi that this station joins: how it is, and a way to another one. */
export function WifiCard({ document, parameters }: { document: Json; parameters: readonly Parameter[] }) {
  if (!parameters.some(({ name }) => name === 'sta-ssid')) return null
  const ssid = textAt(document, 'sta.ssid')
  const ip = textAt(document, 'sta.ip4')
  const rssi = numberAt(document, 'sta.rssi') ?? 0
  const canHide = parameters.some(({ name }) => name === 'sta-hidden')
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
      <Scan present={ssid} canHide={canHide} />
      {ssid !== '' && (
        <Action
          label={t('wifi.forget')}
          name={t('wifi.forgetOf', { ssid })}
          caution={<p>{t('wifi.forgetText')}</p>}
          run={async () => {
            await api.change({ 'sta-ssid': '', 'sta-pswd': '', ...(canHide && { 'sta-hidden': false }) })
            return t('wifi.forgotten')
          }}
        />
      )}
    </Card>
  )
}

/** The networks in reach: tap, password, join. */
function Scan({ present, canHide }: { present: string; canHide: boolean }) {
  const [found, setFound] = useState<readonly ScannedNetwork[]>()
  const [chosen, setChosen] = useState<ScannedNetwork>()
  const [isTyping, setTyping] = useState(false)
  const { answer, isRunning, run } = useSubmit(async () => {
    const { value } = await api.act('wifi-sta-scan')
    setFound(joinable(value as ScannedNetwork[]))
    return ''
  })
  return (
    <>
      <div class="actions">
        <button
          type="button"
          class={present === '' ? 'main' : ''}
          disabled={isRunning || isReadOnly.value}
          onClick={() => void run()}
        >
          {t(isRunning ? 'wifi.scanning' : found ? 'wifi.again' : 'wifi.scan')}
        </button>
      </div>
      <p class="trouble" role="alert">
        {answer.text}
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
            {chosen === one && <Join network={one} canHide={canHide} done={() => setChosen(undefined)} />}
          </li>
        ))}
      </ul>
      {canHide &&
        (isTyping ? (
          <Join canHide done={() => setTyping(false)} />
        ) : (
          <div class="actions">
            <button type="button" disabled={isReadOnly.value} onClick={() => setTyping(true)}>
              {t('wifi.hidden')}
            </button>
          </div>
        ))}
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

/** Without `network` the name is typed: of one that hides it. */
function Join(props: { network?: ScannedNetwork; canHide: boolean; done: () => void }) {
  const { canHide, done, network } = props
  const [typed, setTyped] = useState('')
  const ssid = network?.ssid ?? typed
  const [password, setPassword] = useState('')
  const [isChecked, setChecked] = useState(false)
  const isLocked = network ? needsPassword(network.auth) : password !== ''
  const isWrong = isLocked && !isWifiPassword(password)
  const submission = useSubmit(async () => {
    await api.change({
      'sta-ssid': ssid,
      'sta-pswd': isLocked ? password : '',
      ...(canHide && { 'sta-hidden': network === undefined }),
    })
    done()
    return ''
  })
  return (
    <Form
      submission={submission}
      label={t('wifi.join')}
      sending={t('settings.sending')}
      isWrong={ssid === '' || isWrong}
      attempted={() => setChecked(true)}
      close={done}
    >
      {!network && (
        <Field
          label={t('wifi.name')}
          value={typed}
          set={setTyped}
          trouble={isChecked && ssid === '' ? t('wifi.noName') : ''}
        />
      )}
      {(isLocked || !network) && (
        <Field
          kind="secret"
          label={network ? t('wifi.password', { ssid }) : t('wifi.passwordOrNone')}
          value={password}
          set={setPassword}
          trouble={isChecked && isWrong ? t('wifi.wrongPassword') : ''}
        />
      )}
      <p class="quiet">{t('wifi.trial')}</p>
    </Form>
  )
}
