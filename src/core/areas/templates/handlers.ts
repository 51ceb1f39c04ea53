/** The rules of this area, by operation. */
import type { templateOperations } from '../../contract/templates/operations.ts'
import type { HandlersOf } from '../../kernel/request/handler.ts'
import { applyTemplate } from './apply.ts'
import { getTemplate, listTemplates } from './list.ts'
import { createTemplate, deleteTemplate, updateTemplate } from './template.ts'

export const templatesHandlers = {
  listTemplates,
  createTemplate,
  getTemplate,
  updateTemplate,
  deleteTemplate,
  applyTemplate,
} satisfies HandlersOf<typeof templateOperations>
