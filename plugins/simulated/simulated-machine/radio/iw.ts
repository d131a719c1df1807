/** Output of `iw` 5.19 for the simulated radio. */
import type { RadioView } from './state.js'

const answer = (stdout: string) => ({ code: 0, stdout, stderr: '' })
const refused = (text: string, number: number, code: number) => ({
  code,
  stdout: '',
  stderr: `command failed: ${text} (${number})\n`,
})

/** Rules of the 2.4 GHz band by country: upper end of the range, dBm. */
const rules: Readonly<Record<string, [to_mhz: number, power_dbm: number]>> = {
  '00': [2_472, 20],
  US: [2_472, 30],
  NL: [2_483, 20],
  DE: [2_483, 20],
  JP: [2_482, 20],
}

export function answerIw(machine: RadioView, args: readonly string[]) {
  const { state } = machine
  const text = args.join(' ')
  if (text.startsWith('reg set ')) {
    const country = args[2] ?? ''
    if (Object.hasOwn(rules, country)) state.country = country
    return answer('')
  }
  if (text === 'reg get') {
    const [to_mhz, power_dbm] = rules[state.country] ?? [2_472, 20]
    const passive =
      state.country === '00' ? `\t(2457 - 2482 @ 20), (N/A, ${power_dbm}), (N/A), AUTO-BW, PASSIVE-SCAN\n` : ''
    return answer(
      `global\ncountry ${state.country}: DFS-UNSET\n\t(2400 - ${to_mhz} @ 40), (N/A, ${power_dbm}), (N/A)\n${passive}\t(5170 - 5250 @ 80), (N/A, 23), (N/A), NO-OUTDOOR, AUTO-BW\n\n`,
    )
  }
  if (args[0] === 'phy') return answer(phyInfo(state.bothChannels))
  return answerDevice(machine, args[1] ?? '', args.slice(2))
}

function phyInfo(channels: number): string {
  const both = `\tvalid interface combinations:\n\t\t * #{ managed } <= 1, #{ AP } <= 1,\n\t\t   total <= 2, #channels <= ${channels}\n`
  return `Wiphy phy0\n\tSupported interface modes:\n\t\t * managed\n\t\t * AP\n${channels > 0 ? both : '\tinterface combinations are not supported\n'}\tHT Capability overrides:\n\t\t * MCS: ff ff\n`
}

function answerDevice(machine: RadioView, name: string, args: readonly string[]) {
  const { state } = machine
  const one = machine.interface(name)
  if (!one) return refused('No such device', -19, 237)
  const mode = one.state === 'connected' ? (one.wifi?.mode ?? 'none') : 'none'
  const channel = mode === 'none' ? 0 : (one.wifi?.channel ?? 0)
  const frequency_mhz = channel > 14 ? 5_000 + 5 * channel : 2_407 + 5 * channel
  const text = args.join(' ')
  if (text === 'info') {
    const lines = [
      `Interface ${name}`,
      '\tifindex 3',
      `\taddr ${one.mac}`,
      ...(mode === 'none' ? [] : [`\tssid ${one.wifi?.ssid ?? ''}`]),
      `\ttype ${mode === 'ap' ? 'AP' : 'managed'}`,
      '\twiphy 0',
      ...(channel > 0
        ? [`\tchannel ${channel} (${frequency_mhz} MHz), width: 20 MHz, center1: ${frequency_mhz} MHz`]
        : []),
      `\ttxpower ${state.txPower_dbm.toFixed(2)} dBm`,
    ]
    return answer(`${lines.join('\n')}\n`)
  }
  if (text === 'link') {
    if (mode !== 'station') return answer('Not connected.\n')
    return answer(
      `Connected to ${one.wifi?.bssid ?? ''} (on ${name})\n\tSSID: ${one.wifi?.ssid ?? ''}\n\tfreq: ${frequency_mhz}\n\tsignal: -52 dBm\n`,
    )
  }
  if (text === 'station dump')
    return answer(mode === 'none' ? '' : stations(machine, name, mode, one.wifi?.bssid ?? ''))
  if (args[0] === 'station' && args[1] === 'del') {
    return state.clients.delete(args[2] ?? '') ? answer('') : refused('No such file or directory', -2, 254)
  }
  if (text.startsWith('set txpower limit ')) {
    state.txPower_dbm = Number(args[3]) / 100
    return answer('')
  }
  if (args[0] === 'switch') return refused('Invalid argument', -22, 234)
  if (text.startsWith('interface add')) {
    if (state.bothChannels === 0) return refused('Operation not supported', -95, 161)
    state.added.add(args[2] ?? '')
    return answer('')
  }
  return { code: 1, stdout: '', stderr: 'Usage:\tiw [options] command\n' }
}

function stations(machine: RadioView, name: string, mode: string, bssid: string): string {
  const now_ms = machine.now_ms()
  const block = (mac: string, inactive_ms: number, rssi_dbm: number) =>
    `Station ${mac} (on ${name})\n\tinactive time:\t${Math.round(inactive_ms)} ms\n\trx bytes:\t1000\n\tsignal:  \t${rssi_dbm} [${rssi_dbm}, ${rssi_dbm - 2}] dBm\n\tsignal avg:\t${rssi_dbm} dBm\n\tauthorized:\tyes\n\tconnected time:\t12 seconds\n`
  if (mode === 'station') return block(bssid, 40, -52)
  return [...machine.state.clients]
    .map(([mac, { heardAt_ms, talks, rssi_dbm }]) => block(mac, talks ? 40 : now_ms - heardAt_ms, rssi_dbm))
    .join('')
}
