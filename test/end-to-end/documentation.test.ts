import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { definePlugin, type PluginContext, type PluginDefinition } from 'rtk-base/plugin'
import {
  createTestStation,
  freeUdpPort,
  gateOnly,
  startStation,
  type TestStation,
  type TestStationOptions,
  until,
} from 'rtk-base/testing'
import t from 'tap'
import type { TObject } from 'typebox'
import { packageRoot } from '../../runtime/platform/release.js'
import { readVariant } from '../../runtime/tools/cli/variant-file.js'
import type { Variant } from '../../schemas/variant.js'
import { pluginFolders, shippedPlugin, shippedTogether } from '../harness/shipped.js'
import { packedFiles } from '../reference/pages.js'

const root = packageRoot()
/** The pages and files that are made for the package. */
const made = await packedFiles()
const read = (path: string) => made.get(path) ?? readFileSync(join(root, path), 'utf8')
const isThere = (file: string) => made.has(relative(root, file)) || existsSync(file)
const readme = read('README.md')

/** Every Markdown page of the project, relative to it. */
function pages(folder = '.'): string[] {
  const ofPackage = folder === '.' ? [...made.keys()].filter((path) => path.endsWith('.md')) : []
  const found = readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isFile()) return entry.name.endsWith('.md') ? [path] : []
    const foreign = entry.name === 'node_modules' || entry.name.startsWith('.') || /^(build|data)/.test(path)
    return entry.isDirectory() && !foreign ? pages(path) : []
  })
  return [...new Set([...found, ...ofPackage])]
}

/** The code blocks of a page that are of this language. */
function blocks(page: string, language: string): string[] {
  return [...page.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)]
    .filter(([, of]) => of === language)
    .map(([, , code]) => code)
}

/** What a heading is called in a link, as code hosts do it. */
function anchors(page: string): string[] {
  const slug = (heading: string) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(/\s/g, '-')
  const seen = new Map<string, number>()
  return [...page.replaceAll(/^```[\s\S]*?^```$/gm, '').matchAll(/^#+ (.+)$/gm)].map(([, heading]) => {
    const name = slug(heading)
    const before = seen.get(name) ?? 0
    seen.set(name, before + 1)
    return before === 0 ? name : `${name}-${before}`
  })
}

t.test('links', async (t) => {
  for (const page of pages()) {
    t.test(`every link of ${page} leads somewhere`, async (t) => {
      for (const [, target] of read(page).matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^[a-z]+:/.test(target)) continue
        const [path, anchor] = target.split('#', 2)
        const file = path === '' ? resolve(root, page) : resolve(root, dirname(page), path)
        t.ok(isThere(file), `${target} is missing`)
        if (anchor && isThere(file)) t.ok(anchors(read(relative(root, file))).includes(anchor), `${target}: no heading`)
      }
    })
  }

  t.test('every source file that a page names is there', (t) => {
    const named = /`((?:runtime|plugins|schemas|test|examples)\/[\w./-]+\.(?:ts|tsx|mjs|json))`/g
    const found = pages().flatMap((page) => [...read(page).matchAll(named)].map(([, path = '']) => ({ page, path })))
    t.ok(found.length > 30)
    for (const { page, path } of found)
      t.ok(
        [root, dirname(join(root, page))].some((folder) => isThere(join(folder, path))),
        `${page}: ${path}`,
      )
    t.end()
  })

  t.test('the index leads to every page, every example and the table of the plugins', async (t) => {
    const index = read('runtime/docs/index.md')
    for (const name of readdirSync(join(root, 'examples'))) {
      t.ok(existsSync(join(root, 'examples', name, 'README.md')), `${name} has a README.md`)
      t.match(index, `](../../examples/${name}/README.md`)
    }
    t.match(index, '](../../plugins/README.md)')
    for (const name of readdirSync(join(root, 'runtime', 'docs')))
      if (name.endsWith('.md') && name !== 'index.md') t.match(index, `](${name}`)
    t.match(readme, '](runtime/docs/index.md)')
  })
})

t.test('README.md', async (t) => {
  t.test('its plugin is the one that is type-checked, and runs as it says', async (t) => {
    const [code] = blocks(readme, 'ts')
    t.equal(code, read('examples/hello-plugin/index.ts'))
    t.ok(code.split('\n').length <= 27, 'it is short')
    const folder = mkdtempSync(join(tmpdir(), 'rtk-base-readme-'))
    t.teardown(() => rmSync(folder, { recursive: true, force: true }))
    mkdirSync(join(folder, 'mast'))
    writeFileSync(join(folder, 'mast', 'index.ts'), code)
    const station = await createTestStation({ sources: { [join(folder, 'mast')]: {}, 'http-api': {} } })
    t.teardown(() => station.stop())
    const answer = await station.request('/system?mast-inspected=Ada', { method: 'POST' })
    t.match(readme, `mast-inspected=Ada'\n${answer.text}`)
    await station.clock.advance(60_000)
    t.match(await station.info(), { mast: { height_m: 2, inspected_s: 60 } })
  })

  t.test('it is short, and shows the page', async (t) => {
    t.ok(readme.split('\n').length <= 154)
    const [, picture = ''] = /^!\[[^\]]+\]\(([^)]+)\)$/m.exec(readme) ?? []
    t.ok(statSync(join(root, picture)).size < 150_000, picture)
  })
})

t.test('runtime/docs/setup.md', async (t) => {
  t.test('what npm start prints is what it prints', { skip: gateOnly }, async (t) => {
    const udp = await freeUdpPort()
    const ports = ['--change', `udp-port=${udp}`, '--change', 'ntrip-caster-port=0', '--set', 'mqtt-broker.port=0']
    const station = await startStation(['--set', 'udp-rtcm.host=127.0.0.1', ...ports])
    t.teardown(() => station.end())
    const shown = blocks(read('runtime/docs/setup.md'), '').find((block) => block.startsWith('rtk-base '))
    const banner = /^rtk-base [\s\S]*?settings.*$/m.exec(station.output())?.[0]
    // Port 0: the banner, the document and the link have the port that the embedded broker really got.
    type Mqtt = { mqtt: { port: number; state: { link: string } } }
    await until(async () => (await station.info<Mqtt>()).mqtt.state.link === 'up', 'the link')
    const { mqtt, ntrip } = await station.info<Mqtt & { ntrip: { caster: { port: number } } }>()
    const plain = banner
      ?.replaceAll(station.url, 'http://127.0.0.1:8080')
      .replace(`127.0.0.1:${mqtt.port}`, '127.0.0.1:1883')
      .replace(String(udp), '2102')
      .replaceAll(String(ntrip.caster.port), '2101')
      .replaceAll(station.data, '/home/ada/rtk-base/data')
    t.equal(shown?.trimEnd(), plain)
  })
})

t.test('runtime/docs/receiver.md says what each member of the service is for', (t) => {
  const [, members = ''] =
    /^### Receiver\n[\s\S]*?^interface Receiver \{\n([\s\S]*?)^\}/m.exec(read('runtime/docs/api/services.md')) ?? []
  const names = [...members.matchAll(/^ {2}(?:readonly )?(\w+)\??[:(]/gm)].map(([, name]) => name)
  t.ok(names.length > 15)
  const guide = read('runtime/docs/receiver.md')
  for (const name of names) t.match(guide, new RegExp(`\`${name}\\b`), name)
  t.match(guide, '](../../examples/serial-receiver/index.ts)')
  t.end()
})

// ── plugins ─────────────────────────────────────────────────────────────────────────────────────────────────────────

interface Registered {
  parameters: string[]
  blocks: string[]
  topics: string[]
  routes: string[]
}

/** The same plugin, which tells what it registers in `setup`. */
function watched(definition: PluginDefinition, registered: Registered): PluginDefinition<never, never> {
  const watch = (ctx: PluginContext): PluginContext => ({
    ...ctx,
    config: {
      ...ctx.config,
      define: (name, schema, options) => {
        registered.parameters.push(name)
        return ctx.config.define(name, schema, options)
      },
    },
    action: (action) => {
      if (action.parameter) registered.parameters.push(action.parameter)
      ctx.action(action)
    },
    info: {
      block: (path, build) => {
        registered.blocks.push(path)
        return ctx.info.block(path, build)
      },
    },
    mqtt: {
      ...ctx.mqtt,
      on: (topic, fn) => {
        registered.topics.push((typeof topic === 'function' ? topic() : topic).replaceAll(ctx.serial, '{SN}'))
        ctx.mqtt.on(topic, fn)
      },
    },
    http: {
      ...ctx.http,
      route: (options) => {
        registered.routes.push(options.url)
        ctx.http.route(options)
      },
    },
  })
  const setup = (ctx: PluginContext, options: never) => definition.setup(watch(ctx), options)
  return definePlugin({ ...definition, setup }) as unknown as PluginDefinition<never, never>
}

/** Options with which a plugin runs beside other tests. */
const ownOptions: Record<string, Record<string, unknown>> = {
  'mqtt-broker': { port: 0 },
  'udp-rtcm': { host: '127.0.0.1' },
}

t.test('the README of a plugin', async (t) => {
  const names = shippedTogether().flat()
  const { variant } = readVariant()
  const registered = new Map<string, Registered>()
  const definitions = new Map<string, PluginDefinition>()
  const actions: ReturnType<TestStation['station']['actions']>[number][] = []
  const parameters: ReturnType<TestStation['station']['parameters']>[number][] = []
  for (const together of shippedTogether()) {
    const plugins: NonNullable<TestStationOptions['plugins']> = {}
    for (const name of together) {
      const definition = (await shippedPlugin(name)) as unknown as PluginDefinition
      const mine: Registered = { parameters: [], blocks: [], topics: [], routes: [] }
      definitions.set(name, definition)
      registered.set(name, mine)
      plugins[name] = [watched(definition, mine), { ...variant.plugins[name], ...ownOptions[name] }]
    }
    const changes = { 'mqtt-en': 0, 'udp-port': await freeUdpPort() }
    const station = await createTestStation({
      plugins,
      variant: { changes: together.includes('udp-rtcm') ? changes : {} },
    })
    t.teardown(() => station.stop())
    actions.push(...station.station.actions())
    parameters.push(...station.station.parameters())
  }

  t.test('the table of all plugins says where each is, what it needs, and who has it', async (t) => {
    const table = read('plugins/README.md')
    const folder = join(root, 'runtime', 'variants')
    const variants = readdirSync(folder).map((file) => {
      const { plugins, simulator } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Variant
      return { name: file.slice(0, -'.json'.length), plugins, desk: simulator === true }
    })
    variants.sort((a, b) => (a.name < b.name ? -1 : 1))
    const stations = variants.filter(({ plugins }) => 'rtcm' in plugins)
    const short = [
      ['every station', stations.map(({ name }) => name)],
      ['desk', stations.filter(({ desk }) => desk).map(({ name }) => name)],
    ] as const
    const brings = (id: string) =>
      names.filter((name) => definitions.get(name)?.provides?.some((service) => service.id === id))
    for (const name of names) {
      const needed = definitions.get(name)?.needs?.map(({ id }) => brings(id)) ?? []
      const needs = needed.flatMap((by) => (by.length > 1 ? ['a driver'] : by.map((one) => `\`${one}\``)))
      const having: string[] = variants.filter(({ plugins }) => name in plugins).map((one) => one.name)
      const all = short.find(([, of]) => of.every((one) => having.includes(one)))
      const others = having.filter((one) => !all?.[1].includes(one)).map((one) => `\`${one}\``)
      const where = [...(all ? [all[0]] : []), ...others].join(', ')
      const place = relative(join(root, 'plugins'), pluginFolders().get(name) ?? '')
      const row = table.split('\n').find((line) => line.startsWith(`| [${name}](${place}/README.md) | `)) ?? ''
      const end = `${[...new Set(needs)].join(', ') || 'none'} | ${where || 'none: add it to yours'} |`
      t.equal(row.slice(-end.length), end, name)
    }
    t.equal(table.match(/^\| \[/gm)?.length, names.length)
  })

  for (const name of names) {
    t.test(name, async (t) => {
      const page = read(join(relative(root, pluginFolders().get(name) ?? ''), 'README.md'))
      const mine = registered.get(name) as Registered
      const { needs = [], provides = [], options } = definitions.get(name) as PluginDefinition
      const has = (what: string, text: string) => t.ok(page.includes(text), `${what} ${text}`)
      t.equal(page.split('\n')[0], `# ${name}`)
      for (const parameter of mine.parameters) has('parameter', `\`${parameter}\``)
      for (const { name: parameter, title } of parameters.filter(({ plugin }) => plugin === name))
        t.not(title, parameter, `${parameter} has a title for a person`)
      for (const command of actions.filter(({ plugin }) => plugin === name)) has('command', `\`${command.name}`)
      for (const { id } of [...needs, ...provides]) {
        const exported = id.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
        t.ok(
          [id, exported].some((text) => page.includes(`\`${text}\``)),
          `service ${id}`,
        )
      }
      for (const option of Object.keys((options as TObject | undefined)?.properties ?? {})) has('option', `\`${option}`)
      for (const block of mine.blocks) has('block', `\`${block}`)
      for (const topic of mine.topics) has('topic', `\`${topic}\``)
      for (const route of mine.routes) has('route', route)
    })
  }

  t.test('every plugin of the simulator was asked', async (t) => {
    t.strictSame(
      Object.keys(variant.plugins).filter((name) => !names.includes(name)),
      [],
    )
    t.ok(actions.length > 0)
    t.ok([...registered.values()].some(({ parameters }) => parameters.includes('udp-port')))
  })
})
