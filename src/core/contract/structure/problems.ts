/** Refusals of buckets, labels and custom fields; part of the one table (problem.ts). */
export const structureProblems = {
  'bucket.name_taken': {
    status: 409,
    constraint: 'bucket_name_taken',
    says: 'Another bucket of the container has this name; case and accents do not count.',
    remedy: 'Choose another name.',
  },
  'label.name_taken': {
    status: 409,
    constraint: 'label_name_taken',
    says: 'Another label of the container has this name; case and accents do not count.',
    remedy: 'Choose another name.',
  },
  'custom_field.key_taken': {
    status: 409,
    constraint: 'custom_field_key_taken',
    says: 'Another field in the same scope has this key.',
    remedy: 'Choose another key, or delete the field that has it.',
  },
  'custom_field.type_not_supported': {
    status: 422,
    params: ['type'],
    says: 'Items of the type {type} have no custom fields.',
    remedy: 'Use other types in applies_to.',
  },
  'structure.full': {
    status: 409,
    params: ['limit'],
    says: 'The maximum of {limit} is reached.',
    remedy: 'Delete some that are no longer used.',
  },
} as const
