#!/usr/bin/env node
// Makes apn-table.json from serviceproviders.xml of mobile-broadband-provider-info (public domain, see COPYING):
//   apt-get download mobile-broadband-provider-info && dpkg-deb -x mobile-broadband-provider-info_*.deb provider-info
//   node plugins/network/modem/apn/generate.mjs provider-info/usr/share/mobile-broadband-provider-info/serviceproviders.xml VERSION
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * The table as text.
 * @param {string} xml content of serviceproviders.xml, format 2.0
 * @param {string} source the origin, as stated in the table
 */
export function generate(xml, source) {
  const networks = new Map()
  for (const country of childrenOf(parse(xml), 'country')) {
    for (const provider of childrenOf(country, 'provider')) {
      const size = sizeOf(provider)
      for (const gsm of childrenOf(provider, 'gsm')) addNetworks(networks, provider, size, gsm)
    }
  }
  const settings = []
  const indexOf = new Map()
  const listed = [...networks].filter(([, rows]) => rows.length > 0).sort(([a], [b]) => a.localeCompare(b))
  const lines = listed.map(([plmn, rows]) => {
    const indices = ranked(rows).map((row) => {
      const text = JSON.stringify(row)
      if (!indexOf.has(text)) indexOf.set(text, settings.push(text) - 1)
      return indexOf.get(text)
    })
    return `${JSON.stringify(plmn)}:${JSON.stringify(indices)}`
  })
  return `{"source":${JSON.stringify(source)},\n"settings":[\n${settings.join(',\n')}\n],\n"networks":{\n${lines.join(',\n')}\n}}\n`
}

/** Distinguishes an operator from its resellers: few are marked as primary, but operators have more networks and APNs. */
function sizeOf(provider) {
  const gsm = childrenOf(provider, 'gsm')
  const count = (name) => gsm.flatMap((one) => childrenOf(one, name)).length
  return { networks: count('network-id'), apns: count('apn') }
}

const primaryRank = { true: 0, false: 2 }

/** Every APN for data connections of one operator, for each of its networks. */
function addNetworks(networks, provider, size, gsm) {
  const name = textOf(provider, 'name')
  const apns = childrenOf(gsm, 'apn').filter((apn) => usageOf(apn) === 'internet' || usageOf(apn) === '')
  for (const { attributes } of childrenOf(gsm, 'network-id')) {
    const plmn = `${attributes.mcc}${attributes.mnc}`
    if (!/^[2-9]\d{4,5}$/.test(plmn)) continue
    const rows = networks.get(plmn) ?? []
    networks.set(plmn, rows)
    for (const apn of apns) {
      const row = [apn.attributes.value ?? '', name, textOf(apn, 'username'), textOf(apn, 'password'), authOf(apn)]
      if (!row.every((text) => isUsable(text)) || row[0] === '') continue
      while (row.at(-1) === '') row.pop()
      rows.push({
        row,
        // Only a SIM with this GID1 has it, and the router does not report the GID1.
        isVirtual: childrenOf(gsm, 'gid1').length > 0,
        isUntyped: usageOf(apn) === '',
        primary: primaryRank[provider.attributes.primary] ?? 1,
        networks: -size.networks,
        apns: -size.apns,
        isPrepaid: childrenOf(apn, 'plan').some(({ attributes: { type } }) => type === 'prepaid'),
      })
    }
  }
}

/** In the order in which they are to be tried; equal settings of several operators once. */
function ranked(rows) {
  const criteria = ['isVirtual', 'isUntyped', 'primary', 'namedBy', 'networks', 'apns', 'isPrepaid']
  const order = (a, b) => criteria.map((name) => Number(a[name]) - Number(b[name])).find((by) => by !== 0) ?? 0
  const seen = new Set()
  return rows
    .map((one) => ({ ...one, namedBy: -othersWithNameOf(one.row[1], rows) }))
    .toSorted(order)
    .map(({ row }) => row)
    .filter(([apn, , user = '', pswd = '']) => {
      const key = JSON.stringify([apn.toLowerCase(), user, pswd])
      return !seen.has(key) && seen.add(key)
    })
}

/** Number of other operators of the network with this operator's name in their APNs, as is common for MVNOs. */
function othersWithNameOf(name, rows) {
  const word = name.toLowerCase()
  if (word.length < 3) return 0
  const others = rows.filter(({ row: [apn, other] }) => other !== name && apn.toLowerCase().includes(word))
  return new Set(others.map(({ row: [, other] }) => other)).size
}

const usageOf = (apn) => childrenOf(apn, 'usage')[0]?.attributes.type ?? ''

function authOf(apn) {
  const method = childrenOf(apn, 'authentication')[0]?.attributes.method ?? ''
  return method === 'pap' || method === 'chap' ? method : ''
}

/** Printable, and not longer than the parameters take it. */
const isUsable = (text) => text.length <= 64 && !/\p{C}/u.test(text)

// ── parser for the XML of this file only: elements, attributes, text, comments, the five entities ───────────────────────────────

const childrenOf = (element, name) => element.children.filter((child) => child.name === name)
const textOf = (element, name) => childrenOf(element, name)[0]?.text.trim() ?? ''

const entities = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
const decoded = (text) =>
  text.replace(/&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi, (whole, hex, decimal, name) => {
    if (hex || decimal) return String.fromCodePoint(Number.parseInt(hex ?? decimal, hex ? 16 : 10))
    if (!Object.hasOwn(entities, name)) throw new Error(`unknown entity ${whole}`)
    return entities[name]
  })

/** @returns the root element: `{ name, attributes, children, text }` */
function parse(xml) {
  const top = { name: '', attributes: {}, children: [], text: '' }
  const open = [top]
  const pieces =
    /<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<!DOCTYPE[^>]*>|<\/([\w-]+)\s*>|<([\w-]+)((?:[^>"']|"[^"]*"|'[^']*')*?)(\/?)>|[^<]+/gy
  let end = 0
  for (const { 0: piece, 1: closed, 2: name, 3: attributes, 4: empty, index } of xml.matchAll(pieces)) {
    end = index + piece.length
    const parent = open.at(-1)
    if (closed !== undefined) {
      if (parent.name !== closed) throw new Error(`</${closed}> closes <${parent.name}> at character ${index}`)
      open.pop()
    } else if (name !== undefined) {
      const element = { name, attributes: attributesOf(attributes), children: [], text: '' }
      parent.children.push(element)
      if (empty === '') open.push(element)
    } else if (!piece.startsWith('<')) parent.text += decoded(piece)
  }
  if (end < xml.length) throw new Error(`no XML at character ${end}: ${xml.slice(end, end + 40)}`)
  if (open.length > 1) throw new Error(`<${open.at(-1).name}> is not closed`)
  const [root] = top.children
  if (root?.name !== 'serviceproviders' || root.attributes.format !== '2.0')
    throw new Error('this is not a serviceproviders file of format 2.0')
  return root
}

function attributesOf(text) {
  const pairs = text.matchAll(/([\w-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g)
  return Object.fromEntries([...pairs].map(([, name, double, single]) => [name, decoded(double ?? single)]))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [file, version] = process.argv.slice(2)
  if (!file || !version) {
    console.error('node generate.mjs SERVICEPROVIDERS.XML VERSION')
    process.exit(2)
  }
  const table = generate(readFileSync(file, 'utf8'), `mobile-broadband-provider-info ${version}`)
  writeFileSync(join(fileURLToPath(new URL('.//', import.meta.url)), 'apn-table.json'), table)
  const { settings, networks } = JSON.parse(table)
  console.log(`${Object.keys(networks).length} networks, ${settings.length} settings, ${table.length} characters`)
}
