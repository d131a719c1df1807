/** Files of a plugin that survive a power cut (`rtk-base/files`): replaced as a whole, read with a limit, checked by a schema. */
export { CertificateFiles } from './platform/files/certificate-files.js'
export { type Disk, disk, type FileHandle, type FileSystem } from './platform/files/disk.js'
export { hasSystemCode, isFileInWay, replaceFile, replaceFileSync, syncFolder } from './platform/files/durable-file.js'
export { readPlain, readPlainSync, readRecord, readRecordSync } from './platform/files/plain-file.js'
export { StateFile, type StateFileContent, type StateFileOptions } from './platform/files/state-file.js'
