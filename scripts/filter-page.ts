/** docs/api/filters.md, from the tables of the filter language. */
import {
  filterBounds,
  filterKinds,
  type ItemField,
  itemFields,
  itemSorts,
  kindOfCustom,
  periodUnits,
} from '../src/core/contract/items/filter-fields.ts'
import { mostGroups, mostMatches, mostOfGroup } from '../src/core/contract/items/query.ts'
import { table } from './tables.ts'

const code = (text: string) => `\`${text}\``

const fields = () =>
  table(
    ['Field', 'Kind', 'Asks for'],
    Object.entries<ItemField>(itemFields).map(([name, field]) => [
      code(name),
      field.kind,
      'values' in field ? `${field.says}: ${field.values.map(code).join(', ')}` : field.says,
    ]),
  )

const kinds = () =>
  table(
    ['Kind', 'Operators', 'Value', 'Custom fields of it'],
    Object.entries(filterKinds).map(([name, { operators, takes }]) => [
      name,
      operators.map(code).join(' '),
      takes,
      Object.entries(kindOfCustom)
        .filter(([, kind]) => kind === name)
        .map(([kind]) => kind)
        .join(', '),
    ]),
  )

const sorts = () =>
  table(
    ['`by`', 'Order'],
    [
      ...Object.entries(itemSorts).map(([name, { says }]) => [code(name), says]),
      [code('custom.<key>'), 'the value of a custom field'],
    ],
  )

export const filterPage = () => `# Filters and queries

A filter says which items are meant. It is joined of conditions:

    {"all": […]}   {"any": […]}   {"not": …}   {"field": …, "op": …, "value": …}

How to read the examples: [README.md](README.md).

\`\`\`http
POST /items

{ "container_id": "{{collection}}", "title": "Write the report", "due_at": "2030-05-02T10:00:00.000Z" }
\`\`\`

\`\`\`http
201 Created

{ "id": "{{report}}", … }
\`\`\`

\`\`\`http
POST /items:query

{
  "filter": {
    "all": [
      { "field": "state", "op": "is", "value": "OPEN" },
      { "any": [
        { "field": "due", "op": "on", "value": "2030-05-02" },
        { "field": "member", "op": "has_any", "value": ["me"] }
      ] }
    ]
  },
  "sort": [{ "by": "due" }],
  "count": true
}
\`\`\`

\`\`\`http
200 OK

{ "data": [{ "id": "{{report}}", … }], "next_cursor": null, "unknown": [], "total": 1, "total_capped": false }
\`\`\`

The call reads and changes nothing: it needs the scope \`workspace:read\` and takes no \`Idempotency-Key\`.

## Fields

${fields()}

\`custom.<key>\` is the custom field that the collection of \`container_id\` shows under the key, else the workspace's;
\`custom:<id>\` is the field with this id. Which operators it takes depends on its kind.

## Operators

${kinds()}

A day is \`2030-05-02\`, a moment \`2030-05-02T10:00:00Z\`. A period is \`{"unit": "WEEK", "offset": -1}\`: that whole period
around now, here the last week, of ${periodUnits.map(code).join(', ')}. Weeks begin on Monday. Days and periods are those of
\`time_zone\`, else of the caller's zone, else of the workspace's.

Bounds: ${filterBounds.conditions} conditions, ${filterBounds.depth} levels of \`all\`, \`any\` and \`not\`, ${filterBounds.values} values in a list, ${filterBounds.bytes / 1024} KiB. A filter beyond
them, or one that does not fit its field, is refused at the pointer of the fault: \`filter.field\`, \`filter.op\`,
\`filter.value\`, \`filter.too_large\`.

## What a condition means

A condition is true or false of an item. \`is_not\`, \`not_in\` and \`has_none\` are exact opposites: they also hold for items
that have no value. All other comparisons with a value that is not there are false.

Items in the trash are not answered. Archived ones are where the request asks for them: \`archived\` is \`EXCLUDE\` (the default),
\`INCLUDE\` or \`ONLY\`. So the field \`archived\` tells two kinds apart only beside \`INCLUDE\`.

\`has_no_access\` holds for people of the field who do not see the item any more, or are disabled: of several, for any of them.

A condition on what is gone, or on what you do not see, is unknown. Neither it nor its \`not\` holds, so a deleted label
never widens an answer. In a list each value counts for itself. \`unknown\` in the answer says where they are.

\`\`\`http
POST /items:query

{ "filter": { "not": { "field": "label", "op": "has_any", "value": ["01890000-0000-7000-8000-000000000000"] } } }
\`\`\`

\`\`\`http
200 OK

{
  "data": [],
  "next_cursor": null,
  "unknown": [{ "pointer": "/filter/not/value/0", "code": "reference.unknown" }]
}
\`\`\`

## Order and pages

${sorts()}

\`sort\` takes one or two of \`{"by": …, "order": "ASC" | "DESC"}\`. Without it a collection is in the order of its board, and
all else in the order of creation. Items without a value come last in either order.

A page looks at a bounded number of items, so it may be short, or empty, and still have a \`next_cursor\`: null alone ends
the list. An order other than \`created\` and \`board\`, and groups, are made of at most ${mostMatches} matches; of more the call
is refused with \`query.too_broad\`. \`total\` ends at ${mostMatches}, and \`total_capped\` says that there may be more.
\`include\` asks for counts beside the items: with \`COMMENTS\`, \`extras\` says by the id of each item how many comments it has.

## Groups

\`group_by\` answers at most ${mostGroups} groups, each with up to ${mostOfGroup} items, and no \`data\`. The \`next_cursor\` of a group, sent with
the same request, answers its next items. An item with two labels is in both groups.

\`\`\`http
POST /items:query

{ "group_by": { "by": "due", "unit": "MONTH" } }
\`\`\`

\`\`\`http
200 OK

{
  "data": [],
  "groups": [
    { "key": "2030-05-01", "count": 1, "count_capped": false, "data": [{ "id": "{{report}}", … }], "next_cursor": null }
  ],
  …
}
\`\`\`
`
