import type { ImageManifest } from 'rtk-base/image'
import type { BundleInstaller } from 'rtk-base/services'

/** The installer of whole versions, as used by the trial of a version. */
export type Installer = Pick<BundleInstaller, 'running' | 'confirm' | 'giveUp' | 'restart'>

/** Installs the files of a verified image: the slots of the launcher. */
export interface FolderInstaller extends Installer {
  /**
   * An empty slot for the files of an image. The previous and the running version are untouched.
   * @throws RTK_ERR_UNAVAILABLE with the reason without free space
   */
  prepare(manifest: ImageManifest): Promise<{ slot: string; folder: string }>
  /** The files are there: from the next start on the bundle is on trial. Durable when it resolves. */
  commit(manifest: ImageManifest): Promise<void>
  /** Removes what `prepare` made. */
  abandon(): Promise<void>
  /** A slot with an unreported failed trial. */
  givenUp(): Promise<string | undefined>
  /** The failed trial was reported. */
  reported(): Promise<void>
}
