import t from 'tap'
import { speakerOf } from '../../../../runtime/lib/page/ui/station/speaker.js'

t.test('the texts of plugins are found by case, with values in the notation of the reader', async (t) => {
  const { find, say } = speakerOf(
    {
      'error.lamp': 'Die Lampe ist {distance_m} m entfernt',
      'error.lamp.broken': 'Die Lampe ist kaputt: {reason}',
      'error.lamp.advice': 'Zeit: {limit_s} s',
      'said.it is dark': 'es ist dunkel',
      'said.no light for # m': 'seit # m kein Licht',
      'said.moved by E # / N #': 'bewegt um O # / N #',
    },
    (english) => english.replace('.', ','),
  )
  t.equal(find('error.lamp', { distance_m: 30.0231 }), 'Die Lampe ist 30,02 m entfernt')
  t.equal(find('error.lamp', { distance_m: 0.0231 }), 'Die Lampe ist 0,023 m entfernt')
  t.equal(
    find('error.lamp', { what: 'broken', reason: 'it is dark' }),
    'Die Lampe ist kaputt: es ist dunkel',
    'a value',
  )
  t.equal(find('error.lamp', { broken: true, reason: 'other' }), 'Die Lampe ist kaputt: other', 'the name of a value')
  t.equal(find('error.lamp', { broken: false, distance_m: 2 }), 'Die Lampe ist 2 m entfernt', 'one that is false')
  t.equal(find('error.lamp', {}), undefined, 'a value is missing')
  t.equal(find('error.other', {}), undefined)
  t.equal(say('no light for 2.50 m; it is dark'), 'seit 2,50 m kein Licht; es ist dunkel')
  t.equal(say('moved by E +1.5 / N -2.0'), 'bewegt um O +1,5 / N -2,0', 'numbers with a sign')
  t.equal(say('no light for 2.50 m; go'), 'no light for 2.50 m; go', 'not half of it')
})
