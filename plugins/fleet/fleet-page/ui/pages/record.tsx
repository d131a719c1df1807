import { useCallback, useEffect, useState } from 'preact/hooks'
import { moment, word } from '../../../../../runtime/lib/page/ui/i18n.js'
import { Card } from '../../../../../runtime/lib/page/ui/parts/card.js'
import { DataTable } from '../../../../../runtime/lib/page/ui/parts/data-table.js'
import { Empty } from '../../../../../runtime/lib/page/ui/parts/empty.js'
import { Field } from '../../../../../runtime/lib/page/ui/parts/form/field.js'
import { reasonOf } from '../../../../../runtime/lib/page/ui/parts/form/submit.js'
import { type Entry, fleetApi } from '../fleet/api.js'
import { newEntries } from '../fleet/live.js'
import { t } from '../i18n/index.js'
import { verdictIn } from '../model/timeline.js'
import { causeText } from '../words.js'

const kinds = [
  ...['verdict', 'online', 'reference', 'version', 'update', 'name', 'new', 'refused'],
  ...['given', 'forgotten', 'change', 'command', 'rollout', 'account', 'person', 'caster', 'alert', 'position'],
]
const atOnce = 200
/** Actions of people; the other kinds are reports of stations. */
const actions = 'given,forgotten,change,command,rollout,account,person'

/** What a station reported by code, in words. */
function textOf({ kind, text }: Entry): string {
  if (kind === 'online') return word('online', text)
  if (kind === 'reference' && text === 'none') return t('record.noReference')
  const now = kind === 'verdict' ? verdictIn(text) : undefined
  if (!now) return text
  const verdict = word('verdict', now.verdict)
  return now.cause === 'ok' ? verdict : `${verdict}: ${causeText(now.cause)}`
}

/** Record of events, and who caused them. */
export function RecordPage() {
  const [kind, setKind] = useState('')
  const [serial, setSerial] = useState('')
  const [person, setPerson] = useState('')
  const [entries, setEntries] = useState<readonly Entry[]>([])
  const [state, setState] = useState<'loading' | 'more' | 'all'>('loading')
  const [trouble, setTrouble] = useState('')
  const load = useCallback(
    async (after?: Entry) => {
      setState('loading')
      try {
        const wanted = /^[A-Za-z0-9_-]{1,64}$/.test(serial.trim()) ? { serial: serial.trim() } : {}
        const found = await fleetApi.record({ ...wanted, kind, limit: atOnce, after })
        setEntries((old) => (after === undefined ? found : [...old, ...found]))
        setState(found.length < atOnce ? 'all' : 'more')
        setTrouble('')
      } catch (error) {
        setTrouble(reasonOf(error))
        setState('more')
      }
    },
    [kind, serial],
  )
  useEffect(() => void load(), [load])
  const fresh = newEntries.value.filter(
    (entry) =>
      !entries.some(
        (old) => old.t === entry.t && old.serial === entry.serial && old.kind === entry.kind && old.text === entry.text,
      ) &&
      (kind === '' || kind.split(',').includes(entry.kind)) &&
      (serial.trim() === '' || entry.serial === serial.trim()),
  )
  const shown = [...fresh, ...entries].filter(({ by }) => by.toLowerCase().includes(person.trim().toLowerCase()))
  return (
    <Card title={t('page.record')} isPage>
      <div class="filters">
        <Field
          label={t('record.kind')}
          value={kind}
          set={setKind}
          options={[
            { value: '', text: t('list.every') },
            { value: actions, text: t('record.actions') },
            ...kinds.map((one) => ({ value: one, text: word('kind', one) })),
          ]}
        />
        <Field label={t('record.station')} value={serial} set={setSerial} />
        <Field label={t('record.person')} value={person} set={setPerson} />
      </div>
      {trouble && (
        <p class="trouble" role="alert">
          {trouble}
        </p>
      )}
      {shown.length === 0 && state === 'all' ? (
        <Empty drawing="quiet">{t('record.none')}</Empty>
      ) : (
        <DataTable
          label={t('page.record')}
          rows={shown.map((entry, at) => ({ ...entry, at }))}
          keyOf={({ at }) => at}
          columns={[
            { name: t('record.time'), isHead: true, cell: ({ t: at }) => moment(at) },
            {
              name: t('record.station'),
              cell: (entry) =>
                entry.serial ? (
                  <a href={`#/station/${encodeURIComponent(entry.serial)}`}>{entry.serial}</a>
                ) : (
                  t('record.fleet')
                ),
            },
            { name: t('record.kind'), cell: (entry) => word('kind', entry.kind) },
            { name: t('record.text'), cell: (entry) => <span class="changed">{textOf(entry)}</span> },
            { name: t('record.person'), cell: ({ by }) => by },
          ]}
        />
      )}
      {state === 'more' && (
        <div class="actions">
          <button type="button" onClick={() => void load(entries.at(-1))}>
            {t('record.more')}
          </button>
        </div>
      )}
    </Card>
  )
}
