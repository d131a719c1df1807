/** Answers as public clients and RUTOS sources show them, for each generation and transport. Values are invented. */
import { type Args, Status } from './fake-router.js'

const uci: Record<string, Record<string, Args>> = {
  system: {
    system: {
      '.anonymous': false,
      '.type': 'system',
      '.name': 'system',
      '.index': 0,
      hostname: 'RUTX11',
      devicename: 'Roof',
    },
  },
  network: {
    mob1s1a1: {
      '.type': 'interface',
      '.name': 'mob1s1a1',
      '.index': 3,
      proto: 'wwan',
      apn: 'internet',
      auth: 'none',
      username: '',
      password: '',
      auto_apn: '0',
    },
    ppp: { '.type': 'interface', '.name': 'ppp', '.index': 4 },
  },
  simcard: {
    cfg01: { '.type': 'sim', '.anonymous': true, '.name': 'cfg01', '.index': 0, operator: 'manual', opernum: '24603' },
    sim1: {
      '.type': 'sim1',
      '.name': 'sim1',
      '.index': 1,
      apn: 'internet',
      auto_apn: '0',
      username: '',
      password: '',
      mode: 'auto',
    },
  },
  ping_reboot: {
    cfg02f0a1: {
      '.anonymous': true,
      '.type': 'ping_reboot',
      '.name': 'cfg02f0a1',
      '.index': 0,
      enable: '0',
      action: '1',
      time: '5',
      host: ['8.8.8.8'],
      interface: '1',
    },
  },
  ip_blockd: {
    ip_blockd: {
      '.type': 'ip_blockd',
      '.name': 'ip_blockd',
      '.index': 0,
      enabled: '1',
      max_attempt_count: '10',
      reboot_clear: '0',
    },
  },
  logtrigger: {
    cfg04: { '.type': 'rule', '.anonymous': true, '.name': 'cfg04', '.index': 0, enabled: '1', maxfail: '10' },
  },
}

/** A uci that remembers, with what was committed. */
export function fakeUci() {
  const files = structuredClone(uci)
  const pending: { config: string; section: string; values: Args }[] = []
  const committed: { config: string; section: string; values: Args }[] = []
  const sectionOf = (config: string, section: string) =>
    section.startsWith('@')
      ? Object.values(files[config] ?? {}).filter((one) => section.startsWith(`@${one['.type']}[`))[
          Number(/\d+/.exec(section)?.[0])
        ]
      : files[config]?.[section]
  const read = ({ config, section, option, type }: Args) => {
    const file = files[String(config)]
    if (!file) return new Status(4)
    if (section === undefined) {
      const entries = Object.entries(file).filter(([, one]) => type === undefined || one['.type'] === type)
      return { values: Object.fromEntries(entries) }
    }
    const found = sectionOf(String(config), String(section))
    if (!found) return new Status(4)
    if (option === undefined) return { values: found }
    return String(option) in found ? { value: found[String(option)] } : new Status(4)
  }
  return {
    files,
    committed,
    answers: {
      'uci.get': read,
      'uci.state': read,
      'uci.set': ({ config, section, values }: Args) => {
        const found = sectionOf(String(config), String(section))
        if (!found) return new Status(4)
        Object.assign(found, values)
        pending.push({ config: String(config), section: String(section), values: values as Args })
        return undefined
      },
      'uci.add': ({ config, type, values }: Args) => {
        const file = files[String(config)] ?? {}
        files[String(config)] = file
        const name = `cfg${Object.keys(file).length}aaaaa`
        file[name] = { '.type': type, '.name': name, '.index': Object.keys(file).length, ...(values as Args) }
        pending.push({ config: String(config), section: name, values: values as Args })
        return { section: name }
      },
      'uci.commit': ({ config }: Args) => {
        committed.push(...pending.splice(0).filter((one) => one.config === config))
        return undefined
      },
    },
  }
}

const wireless = {
  radio0: {
    up: true,
    config: { channel: '6', hwmode: '11g', country: 'LT' },
    interfaces: [
      {
        section: 'default_radio0',
        ifname: 'wlan0',
        config: { mode: 'ap', ssid: 'RUT_AABB', encryption: 'psk2', key: 'wifi;pass', network: ['lan'] },
      },
    ],
  },
}

const common = {
  'system.info': {
    localtime: 1_763_700_000,
    uptime: 12_345,
    load: [65_536, 32_768, 16_384],
    memory: { total: 1, free: 1 },
  },
  'rpc-sys.reboot': undefined,
  'rpc-sys.factory': undefined,
  'network.wireless.status': wireless,
  'iwinfo.info': { phy: 'phy0', ssid: 'RUT_AABB', bssid: '00:1E:42:AA:BB:CD', mode: 'Master', channel: 6 },
}

const outputs = (table: Record<string, string>) => (args: Args) => {
  const line = [args.command, ...((args.params as string[]) ?? [])].join(' ')
  const joined = /^gsmctl -([a-zA-Z]{2,})$/.exec(line)?.[1]
  if (joined !== undefined && !(line in table)) {
    const lines = [...joined].map((letter) => table[`gsmctl -${letter}`])
    return lines.some((one) => one === undefined)
      ? { code: 1, stderr: 'usage\n' }
      : { code: 0, stdout: `${lines.join('\n')}\n` }
  }
  const found = Object.entries(table).find(
    ([begin]) => line === begin || (begin.endsWith('*') && line.startsWith(begin.slice(0, -1))),
  )
  return found ? { code: 0, ...(found[1] !== '' && { stdout: `${found[1]}\n` }) } : { code: 127, stderr: 'not found\n' }
}

/** RUT9XX_R_00.06.09.5: no modem objects. */
export function legacy() {
  const memory = fakeUci()
  const ubus = {
    ...common,
    ...memory.answers,
    'file.exec': outputs({
      'cat /etc/version': 'RUT9XX_R_00.06.09.5',
      'mnf_info sn': '6000000001',
      'mnf_info mac': '001E42AABBCC',
      'mnf_info name': 'RUT95001XXXX',
      'mnf_info hwver': '0007',
      'mnf_info batch': '012',
      'gsmctl -i': '860000000000009',
      'gsmctl -m': 'EC25',
      'gsmctl -w': 'Quectel',
      'gsmctl -y': 'EC25EFAR06A03M4G',
      'gsmctl -q': '-57',
      'gsmctl -W': '-88',
      'gsmctl -M': '-9',
      'gsmctl -Z': '12.5',
      'gsmctl -g': 'registered (home)',
      'gsmctl -o': 'LT BITE GSM',
      'gsmctl -f': '24602',
      'gsmctl -t': 'LTE',
      'gsmctl -C': '2C86309',
      'gsmctl -j': 'connected',
      'gsmctl -P': 'attached',
      'gsmctl -z': 'inserted',
      'gsmctl -u': 'OK',
      'gsmctl -x': '246020000000001',
      'gsmctl -J': '8937002000000000001',
      'gsmctl -e wwan0': '1000',
      'gsmctl -r wwan0': '2000',
      'gsmctl -c': '421',
      'cat /tmp/rtk-base-scan':
        '+COPS: (2,"LT BITE GSM","BITE","24602",7),(1,"OMNITEL LT","OMT","24601",2),(3,"TELE2","T2","24603",0),,(0,1,2,3,4),(0,1,2)\n\nOK\nrtk-base: done',
      'gsmctl -A AT+COPS*': 'OK',
      'gsmctl -A AT+CFUN=1,1': 'OK',
      '/etc/init.d/network reload': '',
      'echo *': 'hello',
      '/bin/sh*': 'started',
    }),
  }
  return { ubus, memory, pswd: 'right' }
}

/** RUTX_R_00.07.04.5: modem objects, and `vuci.*`. */
export function current() {
  const memory = fakeUci()
  const ubus: Record<string, unknown> = {
    ...common,
    ...memory.answers,
    'vuci.system.version': { version: 'RUTX_R_00.07.04.5' },
    'file.read': ({ path }: Args) => (path === '/etc/version' ? { data: 'RUTX_R_00.07.04.5\n' } : new Status(4)),
    'file.exec': outputs({ 'echo *': 'hello', '/bin/sh*': 'started', 'gsmctl -Q': 'OK' }),
    'mnfinfo.get': {
      mnfinfo: {
        mac: '001E42AABBCC',
        macEth: '001E42AABBCD',
        name: 'RUTX1100XXXX',
        serial: '6000000001',
        hwver: '0009',
        batch: '012',
        blver: '3.0',
      },
    },
    'gsm.info': { mdm_stats: { num_modems: 1 } },
    'gsm.modem0.info': {
      name: 'Internal modem',
      model: 'EG06',
      manuf: 'Quectel',
      usb_id: '3-1',
      simcount: 2,
      operator_scan: true,
      state_id: 1,
      cache: {
        imei: '860000000000009',
        firmware: 'EG06ELAR04A04M4G',
        imsi: '246020000000001',
        iccid: '8937002000000000001',
        temperature: 421,
      },
    },
    'gsm.modem0.get_signal_query': { net_mode: 'LTE', rssi: -57, rsrp: -105, sinr: -13, rsrq: -20 },
    'gsm.modem0.get_service_provider': {
      plmn: 24602,
      full_name: 'LT BITE GSM',
      short_name: 'BITE',
      provider_name: 'Bite',
    },
    'gsm.modem0.get_net_reg_stat_all': [
      { mode_id: 2, status_id: 0, status: 'Not registered', lac: '0', ci: '0' },
      {
        mode_id: 2,
        status_id: 1,
        status: 'Registered, home',
        lac: '1',
        tac: '2',
        ci: '46686985',
        act_id: 8,
        act: 'E-UTRAN',
      },
    ],
    'gsm.modem0.get_network_info': { net_mode: 'LTE', net_mode_id: 7, band: 'LTE_B3', opernum: 24602 },
    'gsm.modem0.get_ps_att_state': { state_id: 2, state: 'Attached' },
    'gsm.modem0.get_pin_state': { state_id: 1, state: 'Inserted' },
    'gsm.modem0.get_iccid': { iccid: '8937002000000000001' },
    'gsm.modem0.get_imsi': { imsi: '246020000000001' },
    'gsm.modem0.get_temperature': { temperature_value: 421 },
    'gsm.modem0.scan_operators': {
      operators: [
        {
          oper_name: 'LT BITE GSM',
          short_name: 'BITE',
          oper_num: '24602',
          state_id: 2,
          state: 'Current',
          act_id: 8,
          act: 'E-UTRAN',
        },
        {
          oper_name: 'OMNITEL LT',
          short_name: 'OMT',
          oper_num: '24601',
          state_id: 1,
          state: 'Available',
          act_id: 3,
          act: 'UTRAN',
        },
        {
          oper_name: 'TELE2',
          short_name: 'T2',
          oper_num: '24603',
          state_id: 3,
          state: 'Forbidden',
          act_id: 1,
          act: 'GSM',
        },
      ],
    },
    'gsm.modem0.get_operator_selection': {
      mode_id: 2,
      mode: 'Manual',
      format_id: 3,
      format: 'Numeric',
      operator: '24603',
      act_id: 8,
      act: 'E-UTRAN',
    },
    'gsm.modem0.set_operator_selection': { status_id: 0, status: 'OK' },
    'network.interface.mob1s1a1.status': {
      up: true,
      l3_device: 'wwan0',
      proto: 'wwan',
      'ipv4-address': [{ address: '10.0.0.2', mask: 32 }],
    },
    'mdcollect.get_raw_total': { rx: 2000, tx: 1000 },
    'vuci.network.mobile.reboot_modem': undefined,
    'mctl.reboot': undefined,
  }
  return { ubus, memory, pswd: 'right' }
}

/** RUTX_R_00.07.20 without the JSON-RPC package. */
export function rest() {
  const apn: Args = { id: 'mob1s1a1', apn: 'internet', auth: 'none', username: '', password: '', auto_apn: '0' }
  const sim: Args = { id: 'cfg01', operator: 'manual', opernum: '24603' }
  const ping: Args = { id: '1', enable: '0', host: '8.8.8.8', type: 'ping' }
  const block: Args = { enabled: '1', max_attempt_count: '10', reboot_clear: '0' }
  const assign = (target: Args) => (args: Args) => Object.assign(target, args)
  const answers: Record<string, unknown> = {
    'GET /api/system/device/usage/status': {
      uptime: '03h 25m 45s',
      uptime_seconds: 12_345,
      localtime: 1_763_700_000,
      load: {},
      memory: {},
    },
    'GET /api/system/device/status': {
      mnfinfo: {
        serial: '6000000001',
        mac: '00:1E:42:AA:BB:CC',
        macEth: '00:1E:42:AA:BB:CD',
        name: 'RUTX1100XXXX',
        hwver: '0009',
        batch: '012',
        blver: '3.0',
      },
      static: {
        fw_version: 'RUTX_R_00.07.20',
        device_name: 'Roof',
        hostname: 'RUTX11',
        kernel: '5.10',
        model: 'RUTX11',
      },
      board: { modems: [{ id: '3-1', simcount: 2, operator_scan: true }] },
    },
    'GET /api/modems/status': [
      {
        id: '3-1',
        imei: '860000000000009',
        model: 'EG06',
        manuf: 'Quectel',
        version: 'EG06ELAR04A04M4G',
        name: 'Internal modem',
        operators_scan: true,
        cell_info: [{ mcc: '246', mnc: '02', cellid: '46686985' }],
        conntype: '4G (LTE)',
        simstate: 'Inserted',
        simstate_id: 1,
        state: 'Connected',
        state_id: 1,
        txbytes: 1000,
        rxbytes: '2000',
        pinstate: 'OK',
        pinstate_id: 1,
        netstate: 'Registered (home)',
        netstate_id: 1,
        signal: -57,
        operator: 'LT BITE GSM',
        provider: 'Bite',
        ntype: 'LTE',
        imsi: '246020000000001',
        iccid: '8937002000000000001',
        cellid: '46686985',
        rsrp: -105,
        rsrq: '-20',
        sinr: -13,
        temperature: 421,
      },
    ],
    'POST /api/modems/3-1/actions/scan_network': [
      {
        net_access_type: '4G',
        status_code: 2,
        status: 'Current',
        op_name: 'LT BITE GSM',
        short_name: 'BITE',
        num_name: '24602',
      },
      {
        net_access_type: '3G',
        status_code: 1,
        status: 'Available',
        op_name: 'OMNITEL LT',
        short_name: 'OMT',
        num_name: '24601',
      },
      {
        net_access_type: '2G',
        status_code: 3,
        status: 'Forbidden',
        op_name: 'TELE2',
        short_name: 'T2',
        num_name: '24603',
      },
    ],
    'POST /api/modems/3-1/actions/reboot': {},
    'GET /api/interfaces/config/mob1s1a1': () => apn,
    'PUT /api/interfaces/config/mob1s1a1': assign(apn),
    'GET /api/sim_cards/config': () => [sim],
    'PUT /api/sim_cards/config/cfg01': assign(sim),
    'GET /api/auto_reboot/ping_wget/config': () => [ping],
    'PUT /api/auto_reboot/ping_wget/config/1': assign(ping),
    'GET /api/access_control/security/config': () => block,
    'PUT /api/access_control/security/config': assign(block),
    'POST /api/system/actions/reboot': {},
    'POST /api/firmware/actions/factory_reset': { lan_ip: '192.168.1.1' },
    'POST /api/firmware/actions/upload_device_firmware': {},
    'POST /api/firmware/actions/verify': {},
    'POST /api/firmware/actions/upgrade': {},
    'GET /api/wireless/interfaces/status': [
      {
        wifi_id: 'wifi1',
        ifname: 'wlan0',
        ssid: 'RUT_AABB',
        bssid: '00:1E:42:AA:BB:CD',
        mode: 'ap',
        channel: 6,
        clients: [],
      },
    ],
    'GET /api/wireless/interfaces/config': [{ id: 'wifi1', ssid: 'RUT_AABB', key: 'wifi;pass' }],
  }
  return { rest: answers, apn, sim, ping, block }
}
