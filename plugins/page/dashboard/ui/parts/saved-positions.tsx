/** Positions that a person keeps under a name: use, rename, delete. */
import { useState } from 'preact/hooks'
import { distance, ecefToGeodetic } from '../../../../../runtime/lib/gnss/geodesy.js'
import { change } from '../../../../../runtime/lib/page/ui/http.js'
import { Action } from '../../../../../runtime/lib/page/ui/parts/action.js'
import { FigureList } from '../../../../../runtime/lib/page/ui/parts/card.js'
import { Field } from '../../../../../runtime/lib/page/ui/parts/form/field.js'
import { figure, moment, t } from '../i18n/index.js'
import { lengthText } from '../i18n/lengths.js'
import { frameText, type Position, type PositionEntry, savedOf } from '../model/gnss/positions.js'
import { api } from '../station/api.js'
import type { Point } from '../station/messages.js'

export const loadPositions = async () => (await api.get<{ entries: Position[] }>('/positions')).entries

export const savePosition = (name: string, entry: PositionEntry) => api.send('POST', '/positions', savedOf(name, entry))

export function SavedList(props: {
  positions: readonly Position[]
  reference: Point | undefined
  /** The list changed. */
  again: () => void
  /** One was made the reference. */
  used: () => void
}) {
  const { again, positions, reference, used } = props
  if (positions.length === 0) return <p class="quiet">{t('saved.none')}</p>
  return (
    <ul class="list">
      {positions.map((position) => (
        <Saved key={position.id} position={position} reference={reference} again={again} used={used} />
      ))}
    </ul>
  )
}

function Saved({
  position,
  reference,
  again,
  used,
}: Omit<Parameters<typeof SavedList>[0], 'positions'> & { position: Position }) {
  const { acc, id, name } = position
  const away_m = reference && distance(position, reference)
  const { lat, lon, alt } = ecefToGeodetic(position)
  const url = `/positions/${id}`
  return (
    <li class="command">
      <h3>{name}</h3>
      <FigureList
        rows={[
          [t('positions.away'), away_m !== undefined && lengthText(away_m)],
          [t('positions.acc'), acc > 0 && lengthText(acc)],
          [t('positions.place'), `${lat.toFixed(8)}°, ${lon.toFixed(8)}°, ${figure(alt, 3, 'm')}`],
          [t('survey.frame'), frameText(position)],
          [t('saved.when'), moment(position.t)],
        ]}
      />
      <div class="actions">
        <Action
          label={t('saved.use')}
          name={t('saved.useOf', { name })}
          caution={
            <>
              {away_m !== undefined && <p>{t('positions.backText', { name, distance: lengthText(away_m) })}</p>}
              <p>{t('positions.willUse')}</p>
            </>
          }
          run={async () => {
            await change(url, { method: 'POST' })
            used()
            return t('positions.sent')
          }}
        />
        <Action
          label={t('saved.delete')}
          name={t('saved.deleteOf', { name })}
          caution={<p>{t('saved.deleteText')}</p>}
          run={async () => {
            await api.get(url, { method: 'DELETE' })
            again()
            return t('saved.deleted', { name })
          }}
        />
      </div>
      <Named
        summary={t('saved.rename')}
        start={name}
        run={async (wanted) => {
          await api.send('PUT', url, { name: wanted.trim() })
          again()
        }}
      />
    </li>
  )
}

/** A position of the history into the list. */
export function KeepUnderName({ id, done }: { id: number; done: () => void }) {
  return (
    <Named
      summary={t('saved.keep')}
      start=""
      run={async (name) => {
        await api.send('PUT', `/positions/${id}`, { name: name.trim() })
        done()
      }}
    />
  )
}

function Named({ summary, start, run }: { summary: string; start: string; run: (name: string) => Promise<void> }) {
  const [name, setName] = useState(start)
  return (
    <details>
      <summary>{summary}</summary>
      <Field label={t('saved.name')} value={name} set={setName} />
      <Action
        label={t('saved.save')}
        isDisabled={name.trim() === '' || name.trim() === start}
        run={async () => {
          await run(name)
          return t('settings.done')
        }}
      />
    </details>
  )
}
