/** The JSON Schema of a filter, from the table of its fields. Spec: Work on boards, 2. */
import {
  bareOperators,
  type FilterKindName,
  type FilterOperator,
  filterBounds,
  filterKinds,
  filterOperators,
  type ItemField,
  itemFields,
  listOperators,
  periodUnits,
} from './filter-fields.ts'

type Schema = Readonly<Record<string, unknown>>

const id = { type: 'string', format: 'uuid' }
const person = { anyOf: [id, { const: 'me' }] }
const option = { type: 'string', minLength: 1, maxLength: filterBounds.option }
const date = {
  anyOf: [
    { type: 'string', format: 'date' },
    { type: 'string', format: 'date-time' },
    { type: 'string', const: 'now' },
    {
      id: 'FilterPeriod',
      description: 'A period around now: 0 is the current one, -1 the one before.',
      type: 'object',
      properties: {
        unit: { type: 'string', enum: periodUnits },
        offset: { type: 'integer', minimum: -filterBounds.offset, maximum: filterBounds.offset },
      },
      required: ['unit', 'offset'],
      additionalProperties: false,
    },
  ],
}

const values: Readonly<Record<Exclude<FilterKindName, 'CHOICE'>, Schema>> = {
  REFERENCE: id,
  REFERENCES: id,
  PERSON: person,
  PEOPLE: person,
  OPTION: option,
  OPTIONS: option,
  TEXT: { type: 'string', minLength: 1, maxLength: filterBounds.text },
  NUMBER: { type: 'number' },
  MOMENT: date,
  DAY: date,
  FLAG: { type: 'boolean' },
}

/** One condition for the operators of a field that take their value in the same form. */
function conditionsOn(field: Schema, operators: readonly FilterOperator[], value: Schema): Schema[] {
  const pair = { type: 'array', items: value, minItems: 2, maxItems: 2 }
  const list = { type: 'array', items: value, minItems: 1, maxItems: filterBounds.values }
  const forms: readonly (readonly [(op: FilterOperator) => boolean, Schema | undefined])[] = [
    [(op) => !bareOperators.includes(op) && !listOperators.includes(op) && op !== 'between', value],
    [(op) => listOperators.includes(op), list],
    [(op) => op === 'between', pair],
    [(op) => bareOperators.includes(op), undefined],
  ]
  return forms.flatMap(([isOf, taken]) => {
    const ops = operators.filter(isOf)
    if (ops.length === 0) return []
    const properties = { field, op: { type: 'string', enum: ops }, ...(taken ? { value: taken } : {}) }
    return [{ type: 'object', properties, required: Object.keys(properties), additionalProperties: false }]
  })
}

/** The fields that take the same operators and values stand in one condition. */
function ofItemFields(): Schema[] {
  const groups = new Map<string, { names: string[]; operators: readonly FilterOperator[]; value: Schema }>()
  for (const [name, field] of Object.entries<ItemField>(itemFields)) {
    const value = field.kind === 'CHOICE' ? { type: 'string', enum: field.values } : values[field.kind]
    const key = JSON.stringify([field.kind, value])
    const known = groups.get(key) ?? { names: [], operators: filterKinds[field.kind].operators, value }
    groups.set(key, { ...known, names: [...known.names, name] })
  }
  return [...groups.values()].flatMap(({ names, operators, value }) =>
    conditionsOn({ type: 'string', enum: names }, operators, value),
  )
}

const ofCustomFields: Schema = {
  type: 'object',
  description: 'On a custom field, by its key; which operators and values it takes depends on its kind.',
  properties: {
    field: { type: 'string', pattern: '^custom(\\.[a-z][a-z0-9_]{0,49}|:[0-9A-Fa-f-]{36})$' },
    op: { type: 'string', enum: filterOperators },
    value: {},
  },
  required: ['field', 'op'],
  additionalProperties: false,
}

const filter = { $ref: '#/components/schemas/Filter' }
const joined = (name: string, schema: Schema): Schema => ({
  type: 'object',
  properties: { [name]: schema },
  required: [name],
  additionalProperties: false,
})
const some = { type: 'array', items: filter, minItems: 1, maxItems: filterBounds.conditions }

/** A condition first: examples are made of the first form. */
export const conditionSchemas = {
  anyOf: [...ofItemFields(), ofCustomFields, joined('all', some), joined('any', some), joined('not', filter)],
}
