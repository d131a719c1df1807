/** The record of what the application answers: what two runs agree on, a line for each value. */
import t from 'tap'
import { agreed, bodyLines, linesOf, printed } from '../harness/recording/text.js'

t.test('a value is a line for each of its leaves', async (t) => {
  t.same(linesOf({ a: { b: 1, c: [] }, d: 'x\ny', e: null }), [
    ['a.b', '1'],
    ['a.c', '[]'],
    ['d[1]', '"x"'],
    ['d[2]', '"y"'],
    ['e', 'null'],
  ])
  const [[, long]] = linesOf('a'.repeat(1_000)) as [[string, string]]
  t.match(long, /^"a{399}… \(1002, [0-9a-f]{16}\)$/)
  t.not(linesOf(`${'a'.repeat(999)}b`)[0]?.[1], long, 'the end of a long text counts')
  t.same(bodyLines('application/json', Buffer.from('{"a":1}')), [['body.a', '1']])
  t.same(bodyLines('application/json', Buffer.from('{"a":')), [['body', '{"a":']])
  t.match(bodyLines('image/png', Buffer.from([1, 2])), [['body', /^2 bytes, /]])
})

t.test('what differs between two runs is a mark, and what is equal is told', async (t) => {
  const section = (title: string, ...lines: [string, string][]) => ({ title, lines })
  const first = [section('one', ['port', '1'], ['same', 'x'], ['same', 'y'], ['only', '1']), section('two', ['a', '1'])]
  const second = [section('one', ['port', '2'], ['same', 'x'], ['same', 'y'], ['late', '1']), section('three')]
  t.equal(
    printed(agreed(first, second)),
    '# one\nport = ~\nsame = x\nsame = y\nonly = ~?\nlate = ~?\n\n# two\na = ~?\n\n# three\n',
  )
  t.equal(printed(agreed(first, first)), printed(first))
})
