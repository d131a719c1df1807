import { signal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { figure, word } from '../../../../../runtime/lib/page/ui/i18n.js'
import { Card } from '../../../../../runtime/lib/page/ui/parts/card.js'
import { Empty } from '../../../../../runtime/lib/page/ui/parts/empty.js'
import { Field, Switch } from '../../../../../runtime/lib/page/ui/parts/form/field.js'
import { type OnlineName, onlines, type VerdictName, verdicts } from '../fleet/api.js'
import { isLoaded, may, me, stations } from '../fleet/live.js'
import { t } from '../i18n/index.js'
import {
  type Counts,
  countsOf,
  type Filter,
  filtered,
  filterFrom,
  noFilter,
  queryOf,
  type Sort,
  sorts,
} from '../model/filter.js'
import { FleetMap } from '../parts/map.js'
import { StationList } from '../parts/station-list.js'
import { VerdictMark } from '../parts/verdict-mark.js'
import { place } from '../place.js'

const filter = signal<Filter>(filterFrom(place.value.query))
/** Stations of one mark of the map, which lie too close to each other to be told apart. */
const picked = signal<readonly string[]>([])

const change = (part: Partial<Filter>) => {
  filter.value = { ...filter.value, ...part }
}

/** How the fleet is, on a map and in a list. */
export function OverviewPage() {
  const all = stations.value
  const now = filter.value
  const only = picked.value
  const counts = useMemo(() => countsOf(all), [all])
  const onMap = useMemo(() => filtered(all, now), [all, now])
  const rows = useMemo(() => {
    const chosen = new Set(only)
    return chosen.size === 0 ? onMap : onMap.filter(({ serial }) => chosen.has(serial))
  }, [onMap, only])
  const { query } = place.value
  // A link with a filter was followed.
  useEffect(() => {
    if (query.size > 0) filter.value = filterFrom(query)
  }, [query])
  const isFiltered = queryOf(now) !== '' || only.length > 0
  useEffect(() => {
    const shown = queryOf(now)
    history.replaceState(null, '', `#/overview${shown && `?${shown}`}`)
  }, [now])
  if (!isLoaded.value) return <p class="quiet">{t('loaded.waiting')}</p>
  if (all.length === 0)
    return (
      <Card title={t('overview.none')}>
        <Empty drawing="output">{t('overview.noneText')}</Empty>
      </Card>
    )
  return (
    <>
      {me.value?.people === false && may('admin') && <Invitation />}
      <CountButtons counts={counts} />
      <div class="fleet-both">
        <Card title={t('map.title')}>
          <FleetMap
            rows={onMap}
            pick={(serials) => {
              picked.value = serials
            }}
          />
        </Card>
        <Card title={t('list.title')}>
          <Filters counts={counts} />
          <p role="status">
            {t('list.count', { count: figure(rows.length, 0), all: figure(all.length, 0) })}{' '}
            {isFiltered && (
              <button
                type="button"
                onClick={() => {
                  filter.value = noFilter
                  picked.value = []
                }}
              >
                {t('list.clear')}
              </button>
            )}
          </p>
          {rows.length === 0 ? <Empty drawing="quiet">{t('list.empty')}</Empty> : <StationList rows={rows} />}
        </Card>
      </div>
    </>
  )
}

/** Nobody has to log in yet. */
const Invitation = () => (
  <p class="notice notice-caution">
    {t('people.invite')}{' '}
    <a class="target" href="#/people">
      {t('people.inviteLink')}
    </a>
  </p>
)

/** Each count is a filter. */
function CountButtons({ counts }: { counts: Counts }) {
  const { online, verdict } = filter.value
  return (
    <ul class="counts">
      {verdicts.map((one) => (
        <li key={one}>
          <button
            type="button"
            class="count"
            aria-pressed={verdict === one}
            onClick={() => change({ verdict: verdict === one ? '' : one })}
          >
            <VerdictMark verdict={one} />
            <strong>{figure(counts.verdict[one], 0)}</strong> {word('verdict', one)}
          </button>
        </li>
      ))}
      {onlines.map((one) => (
        <li key={one}>
          <button
            type="button"
            class="count"
            aria-pressed={online === one}
            onClick={() => change({ online: online === one ? '' : one })}
          >
            <strong>{figure(counts.online[one], 0)}</strong> {word('online', one)}
          </button>
        </li>
      ))}
    </ul>
  )
}

function Filters({ counts }: { counts: Counts }) {
  const { group, isDown, online, sort, text, verdict, version } = filter.value
  return (
    <div class="filters">
      <div class="filters-text">
        <Field kind="search" label={t('list.search')} value={text} set={(wanted) => change({ text: wanted })} />
      </div>
      <Field
        label={t('list.verdict')}
        value={verdict}
        options={anyOf(verdicts, (one) => word('verdict', one))}
        set={(value) => change({ verdict: value as VerdictName | '' })}
      />
      <Field
        label={t('list.online')}
        value={online}
        options={anyOf(onlines, (one) => word('online', one))}
        set={(value) => change({ online: value as OnlineName | '' })}
      />
      <Field
        label={t('list.group')}
        value={group}
        options={anyOf(counts.groups)}
        set={(value) => change({ group: value })}
      />
      <Field
        label={t('list.version')}
        value={version}
        options={anyOf(counts.versions)}
        set={(value) => change({ version: value })}
      />
      <Field
        label={t('list.sort')}
        value={sort}
        options={sorts.map((one) => ({ value: one, text: t(`list.sort.${one}`) }))}
        set={(value) => change({ sort: value as Sort })}
      />
      <Switch label={t('list.down')} isOn={isDown} set={(isWanted) => change({ isDown: isWanted })} />
    </div>
  )
}

const anyOf = (values: readonly string[], textOf = (value: string) => value) => [
  { value: '', text: t('list.every') },
  ...values.map((value) => ({ value, text: textOf(value) })),
]
