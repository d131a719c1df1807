import { type BundledPackage, isNative } from './bundled.js'

const purlOf = (name: string, version: string) => `pkg:npm/${name.replace('@', '%40')}@${version}`

/** A name of a licence; two of them, or a text, are an expression. */
const licenceOf = (licence: string) =>
  /^[\w.+-]+$/.test(licence) ? { license: { id: licence } } : { license: { name: licence } }

/** The bill of materials, CycloneDX 1.6 in JSON. */
export function sbom(
  { version, sha256, architecture, built }: { version: string; sha256: string; architecture: string; built: Date },
  packages: readonly BundledPackage[],
): object {
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      timestamp: built.toISOString(),
      component: {
        type: 'application',
        'bom-ref': `rtk-base@${version}`,
        name: 'rtk-base',
        version,
        purl: `pkg:deb/rtk-base@${version}?arch=${architecture}`,
        hashes: [{ alg: 'SHA-256', content: sha256 }],
        licenses: [{ license: { id: 'MIT' } }],
      },
    },
    components: packages.map(({ name, version: its, licence, homepage }) => ({
      type: 'library',
      'bom-ref': `${name}@${its}`,
      name,
      version: its,
      licenses: [licenceOf(licence)],
      purl: purlOf(name, its),
      externalReferences: [{ type: 'website', url: homepage }],
      ...(isNative(name) && { properties: [{ name: 'rtk-base:native', value: 'true' }] }),
    })),
    dependencies: [
      { ref: `rtk-base@${version}`, dependsOn: packages.map(({ name, version: its }) => `${name}@${its}`) },
    ],
  }
}
