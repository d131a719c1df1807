/** `network.*`, `iwinfo`: interfaces, the access point and its key (reference §3.5). */
import type { Device } from '../device/device.js'
import { withColons } from '../device/identity.js'
import { registrationOf } from '../mobile/readings.js'
import { type Args, done, failed, type Objects, ok, text, type UbusObject, ubusStatus } from './object.js'

const address = '10.64.12.7'

function mobileStatus(device: Device, withAddress: boolean) {
  const up = device.modem.connected
  return {
    up,
    pending: !up && registrationOf(device.modem).registered,
    available: device.modem.online,
    autostart: true,
    ...(up ? { uptime: device.uptime_s, l3_device: 'wwan0' } : {}),
    proto: 'wwan',
    device: 'wwan0',
    metric: 3,
    'ipv4-address': up && withAddress ? [{ address, mask: 30 }] : [],
    'ipv6-address': [],
    route: up && withAddress ? [{ target: '0.0.0.0', mask: 0, nexthop: '10.64.12.8', source: `${address}/32` }] : [],
    'dns-server': up ? ['10.64.0.1'] : [],
    'dns-search': [],
    data: {},
  }
}

/** The interface of the mobile connection; its addresses are in a dynamic one beside it on 7.x. */
const mobileInterface = (withAddress: boolean, legacy: boolean): UbusObject => ({
  present: ({ firmware, modem }) => firmware.legacy === legacy && (legacy || withAddress === false || modem.connected),
  methods: {
    status: (_args, { device }) => ok(mobileStatus(device, withAddress)),
    up: (_args, { device }) => {
      device.reloadNetwork()
      return done
    },
    down: (_args, { device }) => {
      device.modem.dataOff = true
      return done
    },
  },
})

const lan: UbusObject = {
  methods: {
    status: (_args, { device }) =>
      ok({
        up: true,
        pending: false,
        available: true,
        autostart: true,
        uptime: device.uptime_s,
        l3_device: 'br-lan',
        proto: 'static',
        device: 'br-lan',
        metric: 0,
        'ipv4-address': [{ address: '192.168.1.1', mask: 24 }],
        'ipv6-address': [],
        route: [],
        'dns-server': [],
        'dns-search': [],
        data: {},
      }),
  },
}

function devices({ identity, modem }: Device): Record<string, unknown> {
  const ethernet = (mac: string, type: string) => ({
    external: false,
    present: true,
    type,
    up: true,
    carrier: true,
    mtu: 1500,
    macaddr: withColons(mac).toLowerCase(),
    txqueuelen: 1000,
    statistics: { rx_bytes: 18_230_144, tx_bytes: 92_771_203, rx_packets: 96_127, tx_packets: 120_411 },
  })
  const { sent, received } = modem.traffic
  return {
    'br-lan': { ...ethernet(identity.mac, 'bridge'), 'bridge-members': ['eth0', 'wlan0'] },
    eth0: ethernet(identity.mac, 'Network device'),
    eth1: { ...ethernet(identity.macEth, 'Network device'), carrier: false },
    wwan0: {
      external: true,
      present: modem.online,
      type: 'Network device',
      up: modem.connected,
      carrier: modem.connected,
      mtu: 1500,
      statistics: { rx_bytes: received, tx_bytes: sent },
    },
  }
}

function wireless({ uci }: Device) {
  const of = (option: string) => uci.text('wireless', 'default_radio0', option)
  const radio = (option: string) => uci.text('wireless', 'radio0', option)
  const { ssid, encryption, key, mode } = Object.fromEntries(
    ['ssid', 'encryption', 'key', 'mode'].map((option) => [option, of(option)]),
  )
  return {
    radio0: {
      up: true,
      pending: false,
      autostart: true,
      disabled: false,
      config: { channel: radio('channel'), hwmode: radio('hwmode'), country: radio('country') },
      interfaces: [
        {
          section: 'default_radio0',
          ifname: 'wlan0',
          config: { mode, ssid, encryption, key, network: ['lan'] },
        },
      ],
    },
  }
}

export const networkObjects: Objects = {
  network: {
    methods: {
      reload: (_args, { device }) => {
        device.reloadNetwork()
        return done
      },
      restart: (_args, { device }) => {
        device.reloadNetwork()
        return done
      },
    },
  },
  'network.interface.lan': lan,
  'network.interface.mob1s1a1': mobileInterface(false, false),
  'network.interface.mob1s1a1_4': mobileInterface(true, false),
  'network.interface.ppp': mobileInterface(true, true),
  'network.device': {
    methods: {
      status: (args: Args, { device }) => {
        const all = devices(device)
        const name = text(args, 'name')
        if (name === undefined) return ok(all)
        return Object.hasOwn(all, name) ? ok(all[name]) : failed(ubusStatus.notFound)
      },
    },
  },
  'network.wireless': {
    methods: {
      status: (args, { device }) => {
        const name = text(args, 'device')
        const all = wireless(device)
        // Older releases answer nothing without a device.
        if (name === undefined) return device.firmware.legacy ? ok({}) : ok(all)
        return name === 'radio0' ? ok(all) : failed(ubusStatus.notFound)
      },
    },
  },
  iwinfo: {
    methods: {
      devices: () => ok({ devices: ['wlan0'] }),
      info: (args, { device }) => {
        const name = text(args, 'device')
        if (name === undefined) return failed(ubusStatus.invalidArgument)
        if (name !== 'wlan0' && name !== 'radio0') return failed(ubusStatus.notFound)
        return ok({
          phy: 'phy0',
          ssid: device.uci.text('wireless', 'default_radio0', 'ssid'),
          bssid: device.identity.wap.bssid,
          country: 'US',
          mode: 'Master',
          channel: 6,
          frequency: 2437,
          txpower: 20,
          quality: 70,
          quality_max: 70,
          signal: 0,
          noise: -95,
          bitrate: 0,
          encryption: { enabled: true, wpa: [2], authentication: ['psk'], ciphers: ['ccmp'] },
        })
      },
    },
  },
}
