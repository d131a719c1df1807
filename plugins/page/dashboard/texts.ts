import { gzipSync } from 'node:zlib'
import { secured } from 'rtk-base/page'
import type { PluginContext } from 'rtk-base/plugin'
import { pluginTexts } from 'rtk-base/services'
import { Type } from 'typebox'

const Texts = Type.Record(Type.String(), Type.String(), {
  description: 'Key → text, e.g. `setting.station-name`; what is missing is shown in English',
})
const NoTexts = Type.Object({ message: Type.String() })

/** `GET /texts/:language`: the texts that the running plugins have in a language. */
export function addTexts({ http, services }: PluginContext): void {
  /** By language: made once for each version of the plugins. */
  const packed = new Map<string, { etag: string; plain: string; zipped: Buffer }>()
  const packedOf = (language: string) => {
    const { of, version } = services.use(pluginTexts)
    const etag = `"${version}-${language}"`
    const known = packed.get(language)
    if (known?.etag === etag) return known
    const plain = JSON.stringify(of(language))
    const made = { etag, plain, zipped: gzipSync(plain) }
    packed.set(language, made)
    return made
  }
  http.route({
    method: 'GET',
    url: '/texts/:language',
    schema: {
      summary: 'Texts of the running plugins in a language other than English',
      response: { 200: Texts, 404: NoTexts },
    },
    handler: (request, reply) => {
      const { language } = request.params as { language: string }
      const { languages } = services.use(pluginTexts)
      if (!languages.includes(language))
        return reply
          .code(404)
          .send({ message: `no plugin has texts in this language: ${languages.join(', ') || 'none'}` })
      const { etag, plain, zipped } = packedOf(language)
      secured(reply)
        .header('etag', etag)
        .header('cache-control', 'private, no-cache')
        .header('vary', 'accept-encoding')
        .type('application/json')
      if (request.headers['if-none-match'] === etag) return reply.code(304).send()
      if (!/\bgzip\b/.test(request.headers['accept-encoding'] ?? '')) return reply.send(plain)
      return reply.header('content-encoding', 'gzip').send(zipped)
    },
  })
}
