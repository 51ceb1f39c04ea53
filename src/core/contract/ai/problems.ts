/** Refusals of AI models; part of the one table (problem.ts). */
export const aiProblems = {
  'ai.third_country_not_confirmed': {
    status: 409,
    says: 'The installation has not confirmed transfers to third countries.',
    remedy: 'First set third_country_confirmed in the `ai` settings; docs/ai.md says what that means.',
  },
  'ai.no_model': {
    status: 409,
    says: 'The workspace has not switched on an AI model that is currently offered and allowed.',
    remedy: 'An administrator of the workspace can choose one of `GET /ai/models`.',
  },
  'ai.notice_due': {
    status: 409,
    params: ['version'],
    says: 'The account has not seen yet what is told of the model; its version is {version}.',
    remedy: 'Show `GET /privacy/ai-objection`, and confirm it with `:noticed`.',
  },
  'ai.objected': {
    status: 409,
    says: 'Whoever wrote or last changed this item objects to AI, or is restricted: it is sent to no model.',
  },
  'ai.model_failed': {
    status: 503,
    params: ['reason'],
    says: 'The AI model did not answer ({reason}).',
    remedy: 'An operator can run `svc ai-providers test ID`; docs/ai.md says what the reasons mean.',
  },
} as const
