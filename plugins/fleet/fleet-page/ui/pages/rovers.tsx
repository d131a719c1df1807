import { useEffect, useState } from 'preact/hooks'
import { figure, moment } from '../../../../../runtime/lib/page/ui/i18n.js'
import { Action } from '../../../../../runtime/lib/page/ui/parts/action.js'
import { Card } from '../../../../../runtime/lib/page/ui/parts/card.js'
import { type Column, DataTable } from '../../../../../runtime/lib/page/ui/parts/data-table.js'
import { Empty } from '../../../../../runtime/lib/page/ui/parts/empty.js'
import { Field } from '../../../../../runtime/lib/page/ui/parts/form/field.js'
import { Form } from '../../../../../runtime/lib/page/ui/parts/form/form.js'
import { useSubmit } from '../../../../../runtime/lib/page/ui/parts/form/submit.js'
import { useLoaded, Waiting } from '../../../../../runtime/lib/page/ui/parts/loaded.js'
import { type Account, fleetApi, type Rovers } from '../fleet/api.js'
import { may } from '../fleet/live.js'
import { t } from '../i18n/index.js'
import { ShownOnce } from '../parts/shown-once.js'

const again_ms = 5_000
const load = () => fleetApi.rovers()
const loadAccounts = () => fleetApi.accounts()

/** Names and places of rovers are not for viewers: their fields are empty, which need no columns. */
const named = <T,>(columns: Column<T>[]): Column<T>[] => (may('operator') ? columns : [])

/** Rovers that are connected to the caster of the fleet, and their accounts. */
export function RoversPage() {
  const rovers = useLoaded(load)
  useEffect(() => {
    const timer = setInterval(rovers.again, again_ms)
    return () => clearInterval(timer)
  }, [rovers.again])
  return (
    <>
      <Card title={t('rovers.connected')}>
        <Waiting of={rovers}>
          {({ accounts, near, silent }) => (
            <>
              {accounts.length === 0 ? (
                <Empty drawing="rover">{t('rovers.none')}</Empty>
              ) : (
                <DataTable
                  label={t('rovers.connected')}
                  rows={accounts.map((one, at) => ({ ...one, at }))}
                  keyOf={({ at }) => at}
                  columns={[
                    { name: t('rovers.mount'), isHead: true, cell: ({ mount }) => mount },
                    ...named<Rovers['accounts'][number]>([{ name: t('rovers.account'), cell: ({ user }) => user }]),
                    { name: t('rovers.connections'), isNumber: true, cell: (one) => figure(one.connections, 0) },
                  ]}
                />
              )}
              {silent.map(({ mount, why }) => (
                <p key={mount} class="trouble">
                  {mount}: {why}
                </p>
              ))}
              {near.length > 0 && (
                <>
                  <h3>{t('rovers.near')}</h3>
                  <DataTable
                    label={t('rovers.near')}
                    rows={near.map((one, at) => ({ ...one, at }))}
                    keyOf={({ at }) => at}
                    columns={[
                      ...named<Rovers['near'][number]>([
                        { name: t('rovers.account'), isHead: true, cell: ({ address, user }) => user || address },
                      ]),
                      {
                        name: t('rovers.base'),
                        isHead: !may('operator'),
                        cell: ({ base }) => (base ? <a href={`#/station/${encodeURIComponent(base)}`}>{base}</a> : '–'),
                      },
                      ...named<Rovers['near'][number]>([
                        {
                          name: t('rovers.distance'),
                          isNumber: true,
                          cell: ({ distance_m }) => (distance_m < 0 ? '–' : figure(distance_m / 1_000, 1, 'km')),
                        },
                      ]),
                      { name: t('rovers.changes'), isNumber: true, cell: ({ changes }) => figure(changes, 0) },
                      { name: t('rovers.why'), cell: ({ why }) => why },
                    ]}
                  />
                </>
              )}
            </>
          )}
        </Waiting>
      </Card>
      {may('admin') && <Accounts />}
    </>
  )
}

const validOf = ({ from_s, until_s }: Account): string =>
  from_s === 0 && until_s === 0 ? t('accounts.always') : `${moment(from_s)} – ${moment(until_s)}`

function Accounts() {
  const accounts = useLoaded(loadAccounts)
  const [name, setName] = useState('')
  const [mounts, setMounts] = useState('')
  const [most, setMost] = useState('1')
  const [secret, setSecret] = useState<{ name: string; password: string }>()
  const submission = useSubmit(async () => {
    const added = name.trim()
    const wanted = mounts.split(/[\s,]+/).filter(Boolean)
    const { password } = await fleetApi.addAccount({ name: added, mounts: wanted, most: Number(most) })
    setSecret({ name: added, password })
    setName('')
    await accounts.again()
    return ''
  })
  return (
    <>
      {secret && <ShownOnce text={t('accounts.password', { name: secret.name })} secret={secret.password} />}
      <Card title={t('accounts.add')}>
        <Form label={t('accounts.addButton')} submission={submission} isDisabled={name.trim() === ''}>
          <Field label={t('accounts.name')} value={name} set={setName} />
          <Field label={t('accounts.mounts')} value={mounts} set={setMounts} help={t('accounts.mountsHelp')} />
          <Field label={t('accounts.most')} value={most} set={setMost} />
        </Form>
      </Card>
      <Card title={t('accounts.title')}>
        <Waiting of={accounts}>
          {(rows) =>
            rows.length === 0 ? (
              <p class="quiet">{t('accounts.none')}</p>
            ) : (
              <DataTable
                label={t('accounts.title')}
                rows={rows}
                keyOf={(one) => one.name}
                columns={[
                  { name: t('accounts.name'), isHead: true, cell: (one) => one.name },
                  { name: t('accounts.mounts'), cell: (one) => one.mounts.join(', ') || t('list.every') },
                  { name: t('accounts.most'), isNumber: true, cell: (one) => figure(one.most, 0) },
                  { name: t('accounts.valid'), cell: validOf },
                  {
                    name: t('accounts.do'),
                    cell: (one) => (
                      <div class="actions">
                        <Action
                          label={t('accounts.renew')}
                          name={t('accounts.renewName', { name: one.name })}
                          caution={<p>{t('accounts.renewText')}</p>}
                          run={async () => {
                            const { password = '' } = await fleetApi.newPassword(one.name)
                            setSecret({ name: one.name, password })
                            return ''
                          }}
                        />
                        <Action
                          label={t('people.remove')}
                          name={t('people.removeName', { name: one.name })}
                          caution={<p>{t('accounts.removeText')}</p>}
                          run={async () => {
                            await fleetApi.removeAccount(one.name)
                            await accounts.again()
                            return ''
                          }}
                        />
                      </div>
                    ),
                  },
                ]}
              />
            )
          }
        </Waiting>
      </Card>
    </>
  )
}
