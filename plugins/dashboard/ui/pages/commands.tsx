import { useState } from 'preact/hooks'
import { Confirm } from '../../../../runtime/lib/page/ui/parts/action.js'
import { Card } from '../../../../runtime/lib/page/ui/parts/card.js'
import { useLoaded, Waiting } from '../../../../runtime/lib/page/ui/parts/loaded.js'
import { t } from '../i18n/index.js'
import { cautionText, commandText } from '../i18n/plugin-texts.js'
import { byPlugin } from '../model/form.js'
import { api, type Command } from '../station/api.js'
import { hello } from '../station/live.js'

const load = () => api.commands()

/** Every command of every plugin, third-party ones too. */
export function CommandsPage() {
  const commands = useLoaded(load)
  const [text, setText] = useState('')
  const matches = (command: Command) => {
    const { name, help, plugin } = command
    return `${name} ${commandText(command)} ${help} ${plugin}`.toLowerCase().includes(text.toLowerCase())
  }
  return (
    <>
      <label>
        {t('commands.search')}
        <input type="search" value={text} onInput={({ currentTarget }) => setText(currentTarget.value)} />
      </label>
      <Waiting of={commands}>
        {(list) =>
          byPlugin(list.filter(matches)).map(([plugin, own]) => (
            <Card key={plugin} title={plugin}>
              {own.map((command) => (
                <CommandRow key={command.name} command={command} />
              ))}
            </Card>
          ))
        }
      </Waiting>
    </>
  )
}

function CommandRow({ command }: { command: Command }) {
  const { name, value: takesValue, caution } = command
  const [value, setValue] = useState('')
  const [answer, setAnswer] = useState('')
  const [isTrouble, setTrouble] = useState(false)
  const [isRunning, setRunning] = useState(false)
  const [isAsking, setAsking] = useState(false)
  const run = async () => {
    setRunning(true)
    setAnswer('')
    try {
      setAnswer(await api.command(name, value === '' ? undefined : value))
      setTrouble(false)
    } catch (error) {
      setAnswer(error instanceof Error ? error.message : String(error))
      setTrouble(true)
    }
    setRunning(false)
  }
  return (
    <div class="command">
      <p>
        <code>{name}</code> {commandText(command)}
      </p>
      <div class="row">
        {takesValue && (
          <label>
            {t('commands.value', { name })}
            <input type="text" value={value} onInput={({ currentTarget }) => setValue(currentTarget.value)} />
          </label>
        )}
        <button
          type="button"
          disabled={isRunning || hello.value?.role === 'viewer'}
          onClick={() => (caution ? setAsking(true) : void run())}
          aria-label={t('commands.run', { name })}
        >
          {isRunning ? t('commands.running') : name}
        </button>
      </div>
      <pre class={isTrouble ? 'trouble' : ''} role="status">
        {answer}
      </pre>
      {isAsking && (
        <Confirm
          title={name}
          yes={t('commands.yes')}
          answer={(isYes) => {
            setAsking(false)
            if (isYes) void run()
          }}
        >
          <p>{cautionText(command)}</p>
        </Confirm>
      )}
    </div>
  )
}
