import { useState } from 'preact/hooks'
import { moment, word } from '../../../../../runtime/lib/page/ui/i18n.js'
import { Action } from '../../../../../runtime/lib/page/ui/parts/action.js'
import { Card } from '../../../../../runtime/lib/page/ui/parts/card.js'
import { DataTable } from '../../../../../runtime/lib/page/ui/parts/data-table.js'
import { Field } from '../../../../../runtime/lib/page/ui/parts/form/field.js'
import { Form } from '../../../../../runtime/lib/page/ui/parts/form/form.js'
import { useSubmit } from '../../../../../runtime/lib/page/ui/parts/form/submit.js'
import { useLoaded, Waiting } from '../../../../../runtime/lib/page/ui/parts/loaded.js'
import { type FleetRole, fleetApi } from '../fleet/api.js'
import { listen, me, stopListening } from '../fleet/live.js'
import { t } from '../i18n/index.js'
import { ShownOnce } from '../parts/shown-once.js'

const load = () => fleetApi.people()
const roles = ['viewer', 'operator', 'admin'] as const

/** People who may log in, and the role of each. */
export function PeoplePage() {
  const people = useLoaded(load)
  const [name, setName] = useState('')
  const [role, setRole] = useState<FleetRole>('viewer')
  const [added, setAdded] = useState<{ user: string; key: string }>()
  const isFirst = people.value?.length === 0
  const submission = useSubmit(async () => {
    const user = name.trim()
    // After the first one everything needs a login, and the key has to be read before.
    if (isFirst) stopListening()
    const { key } = await fleetApi.addPerson(user, isFirst ? 'admin' : role).catch((error: unknown) => {
      if (isFirst) listen()
      throw error
    })
    setAdded({ user, key })
    setName('')
    if (!isFirst) await people.again()
    return ''
  })
  return (
    <>
      {isFirst && !added && <p class="notice">{t('people.invite')}</p>}
      {added && <ShownOnce text={t('people.key', { name: added.user })} secret={added.key} />}
      {added && isFirst && (
        <p>
          <button type="button" onClick={() => location.reload()}>
            {t('login.submit')}
          </button>
        </p>
      )}
      {!(added && isFirst) && (
        <Card title={isFirst ? t('people.first') : t('people.add')}>
          <Form label={t('people.addButton')} submission={submission} isDisabled={name.trim() === ''}>
            <Field label={t('people.name')} value={name} set={setName} help={t('people.nameHelp')} />
            {!isFirst && (
              <Field
                label={t('people.role')}
                value={role}
                set={(one) => setRole(one as FleetRole)}
                options={roles.map((one) => ({ value: one, text: t(`role.${one}`) }))}
              />
            )}
          </Form>
        </Card>
      )}
      {!isFirst && (
        <Card title={t('page.people')}>
          <Waiting of={people}>
            {(rows) => (
              <DataTable
                label={t('page.people')}
                rows={rows}
                keyOf={({ user }) => user}
                columns={[
                  {
                    name: t('people.name'),
                    isHead: true,
                    cell: ({ user }) => (user === me.value?.user ? t('people.you', { name: user }) : user),
                  },
                  { name: t('people.role'), cell: (one) => word('role', one.role) },
                  { name: t('people.since'), cell: ({ created }) => moment(Date.parse(created) / 1_000) },
                  {
                    name: t('people.remove'),
                    cell: ({ user }) => (
                      <Action
                        label={t('people.remove')}
                        name={t('people.removeName', { name: user })}
                        caution={<p>{t('people.removeText')}</p>}
                        run={async () => {
                          await fleetApi.removePerson(user)
                          await people.again()
                          return ''
                        }}
                      />
                    ),
                  },
                ]}
              />
            )}
          </Waiting>
        </Card>
      )}
    </>
  )
}
