import { Fragment } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Field } from '../../../../../runtime/lib/page/ui/parts/form/field.js'
import { useLoaded, Waiting } from '../../../../../runtime/lib/page/ui/parts/loaded.js'
import { t, word } from '../i18n/index.js'
import { helpOf, labelOf } from '../i18n/plugin-texts.js'
import { type Section, type Task, tasks } from '../model/sections.js'
import { ParameterForm } from '../parts/forms/parameter-form.js'
import { SettingsFileFold } from '../parts/forms/settings-file.js'
import { TaskFold } from '../parts/forms/task-fold.js'
import { ShowKeys } from '../parts/show-keys.js'
import { place } from '../place.js'
import { api, type Parameter } from '../station/api.js'

const load = () => api.parameters()

const matches = (one: Parameter, wanted: string) =>
  `${one.name} ${labelOf(one)} ${helpOf(one)} ${one.title} ${one.plugin} ${one.schema.description ?? ''}`
    .toLowerCase()
    .includes(wanted.trim().toLowerCase())

interface TaskSections {
  readonly task: Task
  readonly own: readonly Section[]
}

/** The tasks with what the search finds of them; without one also access, whose passwords are no settings. */
function shown(sections: readonly Section[], wanted: string): readonly TaskSections[] {
  const isFound = (one: Parameter) => matches(one, wanted)
  return tasks
    .map((task) => ({
      task,
      own: sections
        .filter((section) => section.task === task)
        .map((section) => ({ ...section, own: section.own.filter(isFound) }))
        .filter(({ own }) => own.length > 0),
    }))
    .filter(({ task, own }) => own.length > 0 || (task === 'access' && wanted.trim() === ''))
}

/** Every parameter of every plugin, by task: searched, reviewed before it is sent, and taken back. */
export function SettingsPage() {
  const parameters = useLoaded(load)
  // `#/settings?find=ntrip`: a link to a setting.
  const linked = place.value.query.get('find') ?? ''
  const [wanted, setWanted] = useState(linked)
  useEffect(() => setWanted(linked), [linked])
  return (
    <Waiting of={parameters}>
      {(list) => (
        <>
          <Field kind="search" label={t('settings.search')} value={wanted} set={setWanted} />
          <ShowKeys />
          <SettingsFileFold parameters={list} again={parameters.again} />
          <ParameterForm
            parameters={list}
            again={parameters.again}
            place={(sections, draw) =>
              shown(sections, wanted).map(({ task, own }) => (
                <TaskFold key={task} task={task} parameters={list} isOpen={wanted.trim() !== ''}>
                  {own.map((section) => (
                    <Fragment key={section.name}>
                      {draw(section)}
                      {section.page && (
                        <a class="target" href={`#/${section.page}`}>
                          {t('errors.mend', { page: word('page', section.page) })}
                        </a>
                      )}
                    </Fragment>
                  ))}
                  {task === 'access' && (
                    <a class="target" href="#/access">
                      {t('task.access.page')}
                    </a>
                  )}
                </TaskFold>
              ))
            }
          />
        </>
      )}
    </Waiting>
  )
}
