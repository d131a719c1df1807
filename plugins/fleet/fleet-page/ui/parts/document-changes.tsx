import { useCallback, useState } from 'preact/hooks'
import { moment } from '../../../../../runtime/lib/page/ui/i18n.js'
import { Card } from '../../../../../runtime/lib/page/ui/parts/card.js'
import { DataTable } from '../../../../../runtime/lib/page/ui/parts/data-table.js'
import { Switch } from '../../../../../runtime/lib/page/ui/parts/form/field.js'
import { useLoaded, Waiting } from '../../../../../runtime/lib/page/ui/parts/loaded.js'
import { type FormerDocument, fleetApi } from '../fleet/api.js'
import { t } from '../i18n/index.js'
import { differencesOf } from '../model/difference.js'

/** Changes in the settings, the identity or the reference of a station. */
export function DocumentChanges({ serial, documentAt }: { serial: string; documentAt: number }) {
  const [isAll, setAll] = useState(false)
  const documents = useLoaded(useCallback(() => fleetApi.documents(serial), [serial, documentAt]))
  return (
    <Card title={t('changes.title')}>
      <Waiting of={documents}>
        {(found) =>
          found.length < 2 ? (
            <p class="quiet">{t(found.length === 0 ? 'changes.none' : 'changes.first')}</p>
          ) : (
            <>
              <Switch label={t('changes.all')} isOn={isAll} set={setAll} />
              {found.slice(0, -1).map((now, at) => (
                <Step key={now.t} now={now} before={found[at + 1] as FormerDocument} isAll={isAll} />
              ))}
            </>
          )
        }
      </Waiting>
    </Card>
  )
}

function Step({ now, before, isAll }: { now: FormerDocument; before: FormerDocument; isAll: boolean }) {
  const [isOpen, setOpen] = useState(false)
  const rows = isOpen ? differencesOf(before.document, now.document, isAll) : []
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{moment(now.t)}</summary>
      {isOpen && rows.length === 0 && <p class="quiet">{t('changes.same')}</p>}
      {rows.length > 0 && (
        <DataTable
          label={moment(now.t)}
          rows={rows}
          keyOf={({ path }) => path}
          columns={[
            { name: t('changes.path'), isHead: true, cell: ({ path }) => <code class="changed">{path}</code> },
            { name: t('changes.before'), cell: (row) => <span class="changed">{row.before ?? '–'}</span> },
            { name: t('changes.now'), cell: (row) => <span class="changed">{row.now ?? '–'}</span> },
          ]}
        />
      )}
    </details>
  )
}
