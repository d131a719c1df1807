/** The casters that this station pushes to: whether each has the stream, its switch, and a new one. */

import { useEffect, useRef, useState } from 'preact/hooks'
import { isReadOnly } from '../../../../../../runtime/lib/page/ui/http.js'
import { Action } from '../../../../../../runtime/lib/page/ui/parts/action.js'
import { Card, FigureList, Tone } from '../../../../../../runtime/lib/page/ui/parts/card.js'
import { Switch } from '../../../../../../runtime/lib/page/ui/parts/form/field.js'
import { useSubmit } from '../../../../../../runtime/lib/page/ui/parts/form/submit.js'
import { useLoaded } from '../../../../../../runtime/lib/page/ui/parts/loaded.js'
import { at, type Json, listAt } from '../../../../../../runtime/lib/page/ui/station/document.js'
import { type Push, toneOf } from '../../../../../../runtime/lib/page/ui/station/links.js'
import { goesOut } from '../../../../../../runtime/lib/page/ui/station/rtcm.js'
import { duration, figure, localTimes, t, word } from '../../i18n/index.js'
import { said } from '../../i18n/plugin-texts.js'
import {
  type Caster,
  listWith,
  nameOf,
  type PresetName,
  presetNames,
  presetOf,
  type SentCaster,
  switched,
} from '../../model/casters.js'
import { casters } from '../../station/casters.js'
import { CasterForm } from './caster-form.js'

const load = () => casters.list()
const most = 8

/** Names are cut in the document. */
const isOf = (caster: Caster) => (push: Push) =>
  push.host === caster.host.slice(0, 64) &&
  push.port === (caster.port ?? 2101) &&
  push.mount === caster.mount.slice(0, 32)

export function Casters({ document }: { document: Json }) {
  return at(document, 'ntrip.server') === undefined ? null : (
    <CasterList pushes={listAt<Push>(document, 'ntrip.server')} isIdle={!goesOut(document)} />
  )
}

function CasterList({ pushes, isIdle }: { pushes: readonly Push[]; isIdle: boolean }) {
  const { value: all = [], again, trouble } = useLoaded(load)
  /** The caster that is edited, or the preset of a new one. */
  const [open, setOpen] = useState<Caster | PresetName>()
  const change = async (before: Caster | undefined, after: SentCaster | undefined) => {
    // Somebody else may have changed the list since it was loaded.
    await casters.save(listWith(await casters.list(), before, after))
    // The switch is used again when it shows what it did.
    await again()
  }
  const close = () => setOpen(undefined)
  const [added, setAdded] = useState('')
  const add = async (after: SentCaster) => {
    await change(undefined, after)
    setAdded(nameOf(after))
  }
  return (
    <Card title={t('links.pushes')}>
      {all.length === 0 && <p>{t('casters.none')}</p>}
      {trouble && <p class="trouble">{trouble}</p>}
      {all.map((caster) =>
        open === caster ? (
          <div key={nameOf(caster)} class="command">
            <h3>{nameOf(caster)}</h3>
            <CasterForm
              preset={presetOf(caster.host)}
              before={caster}
              all={all}
              save={(after) => change(caster, after)}
              close={close}
            />
          </div>
        ) : (
          <CasterRow
            key={nameOf(caster)}
            caster={caster}
            push={pushes.find(isOf(caster))}
            isIdle={isIdle}
            isNew={added === nameOf(caster)}
            change={change}
            edit={() => setOpen(caster)}
          />
        ),
      )}
      {pushes.some(({ state }) => state === 'accepted') && <p class="quiet">{t('links.proof')}</p>}
      {all.length < most && !isReadOnly.value && (
        <div class="command">
          <h3>{t('casters.add')}</h3>
          <div class="presets">
            {presetNames.map((name) => (
              <button
                key={name}
                type="button"
                aria-pressed={open === name}
                onClick={() => setOpen(open === name ? undefined : name)}
              >
                {t(`casters.preset.${name}`)}
              </button>
            ))}
          </div>
          {typeof open === 'string' && <CasterForm key={open} preset={open} all={all} save={add} close={close} />}
        </div>
      )}
    </Card>
  )
}

function CasterRow(props: {
  caster: Caster
  push: Push | undefined
  /** The station sends no corrections now. */
  isIdle: boolean
  /** The caster was added now. */
  isNew: boolean
  change: (before: Caster, after: SentCaster | undefined) => Promise<void>
  edit: () => void
}) {
  const { caster, change, edit, isIdle, isNew, push } = props
  const { enabled: isOn = true } = caster
  const name = nameOf(caster)
  const state = !isOn ? 'off' : (push?.state ?? 'connecting')
  const row = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (isNew) row.current?.scrollIntoView({ block: 'center' })
  }, [isNew])
  const { answer, isRunning, run } = useSubmit(async (wanted: boolean) => {
    await change(caster, switched(caster, wanted))
    return ''
  })
  return (
    <div class="command" ref={row}>
      <div class="way">
        <h3>
          {caster.host}
          <span class="quiet"> {caster.mount}</span>
        </h3>
        <Switch
          label={t(isOn ? 'guide.state.on' : 'guide.state.off')}
          spoken={t('casters.switch', { name })}
          isOn={isOn}
          set={(wanted) => void run(wanted)}
          isRunning={isRunning}
          disabled={isReadOnly.value}
        />
      </div>
      <p>
        <Tone tone={toneOf(state)}>{word('links.push', state)}</Tone>
        {push && push.since > 0 && <span class="quiet"> {t('verdict.for', { time: duration(push.since) })}</span>}
        {push && push.next > 0 && (
          <span class="quiet">
            {' '}
            {t('links.next')}: {t('links.in', { time: duration(push.next) })}
          </span>
        )}
      </p>
      {isOn && push?.text && <p>{isIdle && state === 'waiting' ? t('casters.idle') : localTimes(said(push.text))}</p>}
      {answer.isTrouble && <p class="trouble">{answer.text}</p>}
      <details>
        <summary>{t('casters.more')}</summary>
        <FigureList
          rows={[
            [t('links.address'), `${caster.host}:${caster.port ?? 2101}`],
            [t('links.mount'), caster.mount],
            [t('links.protocol'), `NTRIP ${caster.version ?? 1}${caster.tls ? ', TLS' : ''}`],
            [t('casters.user'), caster.user],
            [t('links.sent'), push && figure(push.sent, 0)],
            [t('links.dropped'), push && figure(push.dropped, 0)],
          ]}
        />
        <div class="actions">
          <button type="button" disabled={isReadOnly.value} aria-label={t('casters.editOf', { name })} onClick={edit}>
            {t('casters.edit')}
          </button>
          <Action
            label={t('casters.remove')}
            name={t('casters.removeOf', { name })}
            caution={<p>{t('casters.removeWarning')}</p>}
            run={async () => {
              await change(caster, undefined)
              return ''
            }}
          />
        </div>
      </details>
    </div>
  )
}
