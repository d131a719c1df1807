/** Read by the runtime itself: code and values → text. */
export const english = {
  'error.change-not-applied': 'a change during a reload is stored, but not live: {reason}',
  'error.change-not-stored': '--change of {names}: {reason}; the values stored before stay live',
  'error.change-not-stored.advice': 'they are stored as soon as the disk takes writes again',
  'error.change-not-undone': '{what}: {reason}',
  'error.change-rolled-back':
    '{names} did not work: nobody reached the station through it within {trial_s} s, the values before are back',
  'error.change-rolled-back.tried':
    '{names} ({tried}) did not work: nobody reached the station through it within {trial_s} s, the values before are back',
  'error.change-rolled-back.advice': 'try it again, and choose Keep on the page in time (command confirm-change)',
  'error.change-undone': 'a change was undone: {reason}',
  'error.data-in-memory': '{reason}',
  'error.data-in-memory.advice':
    'the station runs with the defaults of its variant, and settings made now are lost at the next restart: repair the folder, then restart the service',
  'error.event-loop-blocked': 'the service blocked everything for {_duration} s{_where}: RTCM and answers were late',
  'error.event-loop-blocked.plugin':
    'plugin {plugin} blocked everything for {_duration} s{_where}: RTCM and answers were late',
  'error.http-certificate': 'HTTPS is not served: its certificate (http.tls) cannot be read',
  'error.http-certificate.advice': 'the log has the reason; it is tried again every few seconds',
  'error.http-certificate-renewal': 'the certificate for HTTPS expires on {until}: renew {file}',
  'error.http-certificate-renewal.expired':
    'the certificate for HTTPS expired on {until}, and browsers refuse the page: renew {file}',
  'error.http-certificate-renewal.reason': 'the certificate for HTTPS cannot be read: {reason}',
  'error.http-certificate-renewal.advice.reason': 'the previous one stays in use',
  'error.http-listen': 'HTTP is not served: this machine has no address {host} (yet)',
  'error.image-damaged': '{files}: install the image again',
  'error.listen': '{reason}',
  'error.listen.advice': 'the one before it stays in use',
  'error.listen.advice.setting': 'set another {setting}; it is tried again every {retry_s} s',
  'error.listen.advice.retry_s': 'it is tried again every {retry_s} s',
  'error.memory-exhausted': '{reason}',
  'error.plugin-failed': 'plugin {plugin} does not run: {reason}',
  'error.plugin-failed.advice': 'it is retried after {retry_s} s, or at once with "rtk-base plugins reload {plugin}"',
  'error.plugin-failed.advice._file':
    'a file is where a folder is needed: remove it; it is retried after {retry_s} s, or at once with "rtk-base plugins reload {plugin}"',
  'error.plugin-update': '{reason}',
  'error.plugin-updates-lost':
    'the list of updated plugins {file} cannot be used ({reason}): the plugins of the bundle run',
  'error.plugin-updates-lost.advice': 'send their updates again',
  'error.receiver-simulator':
    'port=simulator needs the plugin of a simulated receiver, which this variant does not have',
  'error.receiver-simulator.advice': 'list the plugin of a simulated receiver, or set {setting}',
  'error.settings-missing': '{reason}',
  'error.settings-missing.advice': 'put it back, or delete {_file} and restart the service',
  'error.settings-refused': '{reason}',
  'error.settings-refused.advice':
    'correct /etc/default/rtk-base or the variant (`journalctl -u rtk-base` names the mistake), then restart the service',
  'error.slot-damaged': '{reason}',
  'error.slot-damaged.advice': 'send the update again',
  'error.slot-damaged.advice._package': 'install the package again',
  'error.slot-state-lost': '{reason}',
  'error.slot-state-lost.advice': 'send the update again',
  'error.store-changed': '{reason}',
  'error.store-damaged': '{reason}',
  'error.store-newer': '{reason}',
  'error.store-reset': '{reason}',
  'error.store-unreadable': '{reason}',
  'error.store-unreadable.advice': '{_advice}',
  'error.store-unwritable': '{reason}',
  'error.store-unwritable.advice': '{_advice}',
  'error.time-contradiction': 'the time of the receiver is off by more than an hour: it is not used',
  'error.time-contradiction.advice': 'is the receiver spoofed?',
}
