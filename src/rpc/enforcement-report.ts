import { WriteCode } from '@holdfast/proto/guard';
import type { HistoryService } from '@holdfast/proto/history';
import { judgeReadiness } from '../domain/enforcement-report.js';
import { countGuardFindings } from '../store/enforcement-report.js';
import { findProject } from '../store/projects.js';
import type { ServiceFunctions } from './api.js';
import { microsOf } from './encode/time.js';
import { invalidArgument } from './problems.js';

type Functions = ServiceFunctions<typeof HistoryService.method>;

/** @throws INVALID_ARGUMENT since, when it is still to come: nothing could be said of that time */
export const getEnforcementReport: NonNullable<Functions['getEnforcementReport']> = async (
  { store },
  call,
  request,
) => {
  const [project, counts] = await Promise.all([
    findProject(store, call.project),
    countGuardFindings(store, call.project, request.since && microsOf(request.since)),
  ]);
  if (!project) throw new Error(`the project ${call.project} of a token is not there`);
  if (counts.since > counts.now) throw invalidArgument('since', 'must not be in the future');
  const { ready, summary } = judgeReadiness({ ...counts, enforcement: project.effective.enforcement });
  return {
    counts: counts.lines.map(({ code, writes, ...line }) => ({
      ...line,
      code: WriteCode[code],
      writes: BigInt(writes),
    })),
    readyToEnforce: ready,
    summary,
  };
};
