#!/usr/bin/env node
// Puts the caster of one station in front of others: each gets a mount point there and pushes to it.
import { randomBytes } from 'node:crypto'
import { parseArgs } from 'node:util'

const help = `set-up.mjs CASTER HOST[:PORT] MOUNT=STATION… [--token TEXT]

  CASTER        station with the caster, e.g. http://192.168.1.10
  HOST[:PORT]   NTRIP address of the caster for the other stations, e.g. 192.168.1.10:2101
  MOUNT=STATION mount point and address of each other station, e.g. NORTH=http://192.168.1.11
  --token TEXT  operator's password or token, if the stations have a login

Creates a random password for each mount point. Each run creates new passwords.
Exit codes: 0 done, 1 a station refused or was unreachable, 2 usage error.
`

function usage(message) {
  process.stderr.write(`set-up.mjs: ${message}\nSee set-up.mjs --help\n`)
  process.exit(2)
}

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        token: { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
  } catch (error) {
    return usage(error.message)
  }
}

const { values, positionals } = readArguments()
if (values.help) {
  process.stdout.write(help)
  process.exit(0)
}
const [caster, address = '', ...stations] = positionals
const [, host, port = '2101'] = /^\[?([^\]/]+?)\]?(?::(\d+))?$/.exec(address) ?? []
const named = stations.map(
  (text) => /^([A-Za-z0-9_.-]+)=(https?:\/\/.+)$/.exec(text) ?? usage(`MOUNT=STATION, not "${text}"`),
)
if (!caster || !host || named.length === 0) usage('give the caster, its address for NTRIP and at least one station')

async function post(station, path, body) {
  const headers = values.token ? { authorization: `Bearer ${values.token}` } : {}
  const response = await fetch(new URL(path, station), { method: 'POST', headers, body })
  const text = await response.text()
  if (!response.ok || /"result":"failed"/.test(text)) throw new Error(text.trim() || String(response.status))
}

for (const [, mount, station] of named) {
  const password = randomBytes(12).toString('hex')
  try {
    await post(caster, '/actions/ntrip-base', JSON.stringify({ login: `${mount}:${password}` }))
    // The list is one parameter: this replaces the existing casters. To keep them, add them here.
    const target = { host, port: Number(port), mount, password, version: 1 }
    await post(station, '/change', JSON.stringify({ 'ntrip-server': [target] }))
    process.stdout.write(`${mount}  ${station} pushes to ${host}:${port}\n`)
  } catch (error) {
    process.stderr.write(`${mount}  ${station}: ${error.message}\n`)
    process.exitCode = 1
  }
}
