import { definePlugin } from 'rtk-base/plugin'
import { gateOnly, until } from 'rtk-base/testing'
import t from 'tap'
import Type from 'typebox'
import { mostWaiting, requestOf } from '../../../plugins/mqtt/mqtt-api/command-requests.js'
import { isOwnResponseTopic, Refusals } from '../../../plugins/mqtt/mqtt-api/responses.js'
import { sn, startBroker, startLinkStation } from '../../harness/peers/brokers.js'
import { errorsOf } from '../../harness/standing-errors.js'

/** Of a valid size, and deeper than what recurses over it can go. */
const deepArray = `${'['.repeat(30_000)}${']'.repeat(30_000)}`

t.test('requests', async (t) => {
  const broker = await startBroker(t)
  const slow: (() => void)[] = []
  let applied: Promise<void> | undefined
  const calls: { name: string; input: object }[] = []
  const target = definePlugin({
    name: 'target',
    version: '1.0.0',
    api: '^1.0.0',
    setup(ctx) {
      const port = ctx.config.define('udp-port', Type.Integer({ minimum: 1, maximum: 65_535 }), { default: 2_102 })
      port.onChange(() => applied)
      ctx.action({
        name: 'slow',
        summary: 'slow',
        run: () =>
          new Promise<string>((resolve) => {
            slow.push(() => resolve('done'))
          }),
      })
      ctx.action({
        name: 'mobile-scan',
        summary: 'scans',
        run() {
          calls.push({ name: 'mobile-scan', input: {} })
          return 'started'
        },
      })
      ctx.action({ name: 'get-router-qr', summary: 'shows passwords', run: () => 'PW:geheim;' })
      ctx.action({
        name: 'firmware',
        summary: 'updates',
        input: { url: Type.String() },
        run({ input }) {
          calls.push({ name: 'firmware', input })
          return 'started'
        },
      })
      ctx.action({
        name: 'survey',
        summary: 'has several fields',
        input: { mintime_s: Type.Integer(), token: Type.String({ writeOnly: true }) },
        run({ input }) {
          calls.push({ name: 'survey', input })
          return 'started'
        },
      })
    },
  })
  await broker.observer.publishAsync(`base/${sn}/cmd`, 'mobile-scan', { retain: true, qos: 1 })
  await broker.observer.publishAsync(`base/${sn}/info/get`, 'x', { retain: true, qos: 1 })
  const station = await startLinkStation(t, broker.port, {}, { plugins: { target: target as never } })
  await until(() => broker.texts('info').length === 1, 'the document')
  const send = (name: string, text: string) => broker.observer.publishAsync(`base/${sn}/${name}`, text, { qos: 1 })
  const answers = () => broker.texts('change/resp').map((text) => JSON.parse(text))

  t.test('info/get is answered with the document', async () => {
    await send('info/get', '')
    await until(() => broker.texts('info').length === 2, 'the document')
  })

  t.test('retained requests are dropped, told once', async (t) => {
    t.same(calls, [])
    t.equal(station.lines.filter(({ msg }) => /retained request/.test(msg)).length, 1)
  })

  t.test('a change is answered with its result', async (t) => {
    await send('change/post', JSON.stringify({ 'udp-port': 2_200, unknown: [1] }))
    await until(() => answers().length === 1, 'the answer')
    t.same(answers()[0], {
      result: 'ok',
      leftover: { unknown: [1] },
      errors: [{ name: 'unknown', message: 'is an unknown parameter' }],
    })
    await send('change/post', JSON.stringify({ 'udp-port': '2200' }))
    await until(() => answers().length === 2, 'the answer')
    t.match(answers()[1], { result: 'failed', leftover: { 'udp-port': '2200' }, errors: [{ name: 'udp-port' }] })
  })

  t.test('N6: a byte order mark before a change is skipped', async (t) => {
    const before = answers().length
    await send('change/post', '\uFEFF{"unknown":1}')
    await until(() => answers().length > before, 'the answer')
    t.match(answers().at(-1), { result: 'ok', leftover: { unknown: 1 } })
  })

  t.test('every malformed change is answered with failed', async (t) => {
    const bad = ['', '{', 'null', '[]', '"x"', '\xff', JSON.stringify({ a: 'x'.repeat(70_000) }), deepArray]
    const before = answers().length
    for (const text of bad) await send('change/post', text)
    await until(() => answers().length === before + bad.length, 'an answer to each')
    for (const answer of answers().slice(before))
      t.match(answer, { result: 'failed', leftover: {}, errors: [{ message: String }] })
    t.match(answers().at(-1)?.errors, [{ message: /nested deeper than/ }])
  })

  t.test('answers come in the order of the changes', async (t) => {
    let apply = () => {}
    applied = new Promise<void>((resolve) => {
      apply = resolve
    })
    const before = answers().length
    await send('change/post', '{"udp-port":2202}')
    await send('change/post', '{')
    const documents = broker.texts('info').length
    await send('info/get', '')
    await until(() => broker.texts('info').length > documents, 'both were received')
    t.equal(answers().length, before)
    applied = undefined
    apply()
    await until(() => answers().length === before + 2, 'both answers')
    t.match(answers().slice(before), [{ result: 'ok' }, { result: 'failed' }])
  })

  t.test('changes that wait for each other do not take all the memory', { skip: gateOnly }, async (t) => {
    let apply = () => {}
    applied = new Promise<void>((resolve) => {
      apply = resolve
    })
    await send('change/post', '{"udp-port":2201}')
    const before = answers().length
    const empty = answers().filter(({ leftover }) => Object.keys(leftover).length === 0).length
    const large = JSON.stringify({ unknown: 'x'.repeat(60_000) })
    await Promise.all(Array.from({ length: 140 }, () => send('change/post', large)))
    await until(() => station.lines.some(({ msg }) => /too many changes over MQTT/.test(msg)), 'a refusal')
    // Whatever comes meanwhile gets an answer that is no larger than what it answers. One may be dropped behind the others.
    for (let n = 0; n < 2; n++) {
      await send('change/post', JSON.stringify('x'.repeat(60_000)))
      await send('change/post', `{"a":${deepArray}}`)
    }
    const isEmpty = ({ leftover }: { leftover: object }) => Object.keys(leftover).length === 0
    await until(() => answers().filter(isEmpty).length > empty + 1, 'answers to both')
    t.notOk(answers().some(({ leftover }) => '0' in leftover))
    applied = undefined
    apply()
    await until(
      () =>
        answers()
          .slice(before)
          .some(({ result }) => result === 'ok'),
      'the first ones',
    )
    t.equal(station.lines.filter(({ msg }) => /too many changes over MQTT/.test(msg)).length, 1, 'told once')
  })

  t.test('commands: plain text, and updateBase', async (t) => {
    await send('cmd', 'mobile-scan')
    await send('cmd', JSON.stringify({ cmd_type: 'updateBase', cmd_param: { url: 'https://x/y?a=b' } }))
    await send('cmd', 'no-such-command')
    await send('cmd', '{"cmd_type":"other"}')
    await until(() => calls.length === 2, 'both')
    t.same(calls, [
      { name: 'mobile-scan', input: {} },
      { name: 'firmware', input: { url: 'https://x/y?a=b' } },
    ])
  })

  t.test(
    'what is refused without a response topic is an error of the station, the newest, until one is accepted',
    async (t) => {
      const refused = () => station.device.errors().flatMap(({ code, text }) => (code === 'mqtt-refused' ? [text] : []))
      await send('cmd', 'mobile-scan')
      await until(() => refused().length === 0, 'accepted')
      await send('cmd', 'no-such-command=1')
      await until(
        () => refused().some((text) => /the command no-such-command .*unknown command/.test(text)),
        'a command',
      )
      await send('change/post', JSON.stringify({ 'udp-port': 'x' }))
      await until(() => refused().some((text) => /a change over MQTT was refused: udp-port: /.test(text)), 'a change')
      t.equal(refused().length, 1)
      await send('cmd', '{"cmd_type":"other"}')
      await until(() => refused().some((text) => /neither a command/.test(text)), 'no command at all')
      await send('cmd', 'mobile-scan')
      await until(() => refused().length === 0, 'accepted')
      calls.length = 2
    },
  )

  t.test('an action with several fields comes as an object; its secret is in no line of the log', async (t) => {
    const ask = (input: object) => send('cmd', JSON.stringify({ cmd_type: 'survey', cmd_param: input }))
    const input = { mintime_s: 60, token: 'geheim' }
    await ask({ ...input, mintime_s: '60' })
    await ask(input)
    await until(() => calls.length === 3, 'the action')
    t.same(calls[2], { name: 'survey', input })
    t.ok(station.lines.some(({ command, status }) => command === 'survey' && status === 400))
    t.ok(station.lines.some(({ command }) => command === 'survey {"mintime_s":60}'))
    await send('cmd', 'get-router-qr')
    const isAnswered = () => station.lines.some(({ command, status }) => command === 'get-router-qr' && status === 200)
    await until(isAnswered, 'the answer')
    t.notMatch(JSON.stringify(station.lines), /geheim/, 'S6: nor the answer')
    calls.length = 2
  })

  t.test('who is answered on a topic of its own knows', (t) => {
    const raised: string[] = []
    const errors = errorsOf('mqtt-api', (text) => void (text === '' ? raised.splice(0) : raised.push(text)))
    const refusals = new Refusals({ errors, serial: sn })
    const asked = (responseTopic?: string) =>
      ({ topic: 'cmd', payload: Buffer.alloc(0), ...(responseTopic && { responseTopic }) }) as never
    refusals.note(asked(`base/${sn}/resp/1`), 'x', 'no')
    t.equal(raised.length, 0)
    refusals.note(asked('elsewhere'), 'x', 'no')
    t.equal(raised.length, 1, 'not answered where it must not be')
    refusals.note(asked(`base/${sn}/resp/1`), 'x', undefined)
    t.equal(raised.length, 1, 'says nothing of the other')
    t.end()
  })

  t.test('malformed messages are logged and counted', async (t) => {
    const counted = () => station.field('mqtt.stat.malformed') as number
    const before = counted()
    await send('cmd', '{"cmd_type":"updateBase"}')
    await send('cmd', '')
    await send('change/post', 'nonsense')
    await until(() => counted() === before + 3, 'all three')
    t.ok(station.lines.filter(({ msg }) => /neither a command nor an updateBase/.test(msg)).length >= 2)
    t.ok(station.lines.some(({ msg }) => /change\/post was rejected: the change is not JSON/.test(msg)))
    t.equal(station.field('mqtt.stat.retained'), 2)
  })

  t.test('at most 8 commands run at a time, 64 wait, further ones are refused', async (t) => {
    for (let n = 0; n < 100; n++) await send('cmd', 'slow')
    const refused = () => station.lines.filter(({ msg }) => /commands over MQTT are refused: 8 run/.test(msg))
    await until(() => refused().length === 10, 'ten lines about the refusals')
    t.equal(slow.length, 8)
    let ended = 0
    const end = () => {
      for (; ended < slow.length; ended++) slow[ended]?.()
    }
    await until(() => {
      end()
      return ended >= 8 + mostWaiting
    }, 'the end of all others')
    await send('cmd', 'mobile-scan')
    await until(() => {
      end()
      return calls.length === 3
    }, 'others run again')
  })

  t.test('answers go only below base/{SN}/, to a topic that is nobody’s', (t) => {
    const table: [string, boolean][] = [
      [`base/${sn}/resp/1`, true],
      [`base/${sn}/online2`, true],
      [`base/${sn}/`, false],
      [`base/${sn}/+`, false],
      [`base/${sn}/a/#`, false],
      [`base/${sn}/online`, false],
      [`base/${sn}/cmd`, false],
      [`base/${sn}/change/post`, false],
      [`base/${sn}/info/get`, false],
      [`base/${sn}/drtk/cert`, false],
      [`base/${sn}/a\0b`, false],
      [`base/${sn}/${'x'.repeat(300)}`, false],
      ['base/OTHER/cmd', false],
      [`base/${sn}`, false],
      ['resp', false],
      ['$SYS/x', false],
      ['', false],
    ]
    for (const [topic, allowed] of table)
      t.equal(isOwnResponseTopic(sn, topic), allowed, JSON.stringify(topic.slice(0, 40)))
    t.end()
  })

  t.test('what is no command is none', (t) => {
    const table: [string, unknown][] = [
      [' log=d \n', 'log=d'],
      ['', undefined],
      ['a\nb', undefined],
      ['{', undefined],
      ['{}', undefined],
      ['{"cmd_type":"updateBase"}', undefined],
      ['\uFEFF{"cmd_type":"updateBase","cmd_param":{"url":"https://x/y"}}', 'firmware=https://x/y'],
      ['{"cmd_type":"log","cmd_param":{"level":"d"}}', { cmd_type: 'log', cmd_param: { level: 'd' } }],
      ['{"cmd_type":"log","cmd_param":[]}', undefined],
      ['{"cmd_type":"updateBase","cmd_param":null}', undefined],
      ['x'.repeat(5_000), undefined],
    ]
    for (const [text, command] of table) t.same(requestOf(Buffer.from(text)), command, text.slice(0, 40))
    t.end()
  })
})
