/** Families of devices: enough for people to tell their sessions apart, and no more. Spec: people 4. */
export const deviceFamilies = [
  'WINDOWS',
  'MAC',
  'LINUX',
  'CHROMEOS',
  'IPHONE',
  'IPAD',
  'ANDROID',
  'COMMAND_LINE',
  'OTHER',
] as const
export type DeviceFamily = (typeof deviceFamilies)[number]

/** How somebody signed in. */
export const waysIn = ['PASSWORD', 'PROVIDER', 'INVITATION', 'SET_UP'] as const
