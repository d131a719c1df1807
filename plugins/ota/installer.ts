import type { ImageManifest } from 'rtk-base/image'

/** Where whole bundles are installed: slots of the launcher, or another system's. */
export interface Installer {
  /** Name of what runs now. */
  readonly running: string
  /**
   * An empty place for the files of an image. What ran last and what runs now stay as they are.
   * @throws RTK_ERR_UNAVAILABLE with the reason when there is no room
   */
  prepare(manifest: ImageManifest): Promise<{ slot: string; folder: string }>
  /** The files are there: from the next start on the bundle is on trial. Durable when it resolves. */
  commit(manifest: ImageManifest): Promise<void>
  /** Removes what `prepare` made. */
  abandon(): Promise<void>
  /** The trial succeeded: what runs is started from now on. Durable when it resolves. */
  confirm(): Promise<void>
  /** The trial failed: the one before is started from now on. */
  giveUp(): Promise<void>
  /** A slot whose trial has ended without success and that nobody has reported yet. */
  givenUp(): Promise<string | undefined>
  /** It was reported. */
  reported(): Promise<void>
}
