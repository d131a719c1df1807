/** Positions that a person keeps under a name: use, rename, delete. */
import { useState } from 'preact/hooks'
import { distance, ecefToGeodetic } from '../../../../../runtime/lib/gnss/geodesy.js'
import { change } from '../../../../../runtime/lib/page/ui/http.js'
import { Action } from '../../../../../runtime/lib/page/ui/parts/action.js'
import { FigureList } from '../../../../../runtime/lib/page/ui/parts/card.js'
import { Field } from '../../../../../runtime/lib/page/ui/parts/form/field.js'
import { figure, moment, t } from '../i18n/index.js'
import { lengthText } from '../i18n/lengths.js'
import { type Place, type SavedPlace, savedOf } from '../model/gnss/positions.js'
import { api } from '../station/api.js'
import type { Point } from '../station/messages.js'

export const loadSaved = async () => (await api.get<{ entries: SavedPlace[] }>('/reference/saved')).entries

export const keepPlace = (name: string, place: Place) => api.send('POST', '/reference/saved', savedOf(name, place))

export function SavedList(props: {
  places: readonly SavedPlace[]
  reference: Point | undefined
  /** The list changed. */
  again: () => void
  /** One was made the reference. */
  used: () => void
}) {
  const { again, places, reference, used } = props
  if (places.length === 0) return <p class="quiet">{t('saved.none')}</p>
  return (
    <ul class="list">
      {places.map((place) => (
        <Saved key={place.id} place={place} reference={reference} again={again} used={used} />
      ))}
    </ul>
  )
}

function Saved({
  place,
  reference,
  again,
  used,
}: Omit<Parameters<typeof SavedList>[0], 'places'> & { place: SavedPlace }) {
  const { acc, epoch, frame, id, name } = place
  const away_m = reference && distance(place, reference)
  const { lat, lon, alt } = ecefToGeodetic(place)
  const url = `/reference/saved/${id}`
  return (
    <li class="command">
      <h3>{name}</h3>
      <FigureList
        rows={[
          [t('positions.away'), away_m !== undefined && lengthText(away_m)],
          [t('positions.acc'), acc > 0 && lengthText(acc)],
          [t('positions.place'), `${lat.toFixed(8)}°, ${lon.toFixed(8)}°, ${figure(alt, 3, 'm')}`],
          [t('survey.frame'), [frame, epoch].filter(Boolean).join(' ')],
          [t('saved.when'), moment(place.t)],
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
export function KeepUnderName({ place, done }: { place: Place; done: () => void }) {
  return (
    <Named
      summary={t('saved.keep')}
      start=""
      run={async (name) => {
        await keepPlace(name, place)
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
