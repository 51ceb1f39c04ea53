/** Refusals of the installation's settings; part of the one table (problem.ts). */
export const settingsProblems = {
  'admin.settings_enforced': {
    status: 409,
    params: ['source'],
    says: 'The file {source} enforces the settings.',
    remedy: 'Change the file and send SIGHUP to the daemon; or unset SVC_SETTINGS_FILE and restart the daemon.',
  },
} as const
