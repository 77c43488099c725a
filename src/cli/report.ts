import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { WriteCode } from '@holdfast/proto/guard';
import { GetEnforcementReportResponseSchema } from '@holdfast/proto/history';
import type { Command } from 'commander';
import { moment } from './arguments.js';
import { connected, remoteCommand } from './command.js';
import { joinSections } from './task-text.js';
import { oneLine } from './text.js';

interface Options {
  since?: Timestamp;
}

export function reportCommand(): Command {
  return remoteCommand(
    'report',
    'Count the writes that enforcing locks would have refused',
    'holdfast report --since 7d',
  )
    .option('--since <time>', 'from when on: 2026-03-01 or how long ago, 7d', moment)
    .action(
      connected<Options>(async ({ holdfast, out, project }, { since }) => {
        const answer = await holdfast.history.getEnforcementReport({ project, ...(since ? { since } : {}) });
        out.result(GetEnforcementReportResponseSchema, answer, () => {
          const counts = out.table(answer.counts, [
            ['DAY', (count) => count.day],
            ['PRINCIPAL', (count) => count.principal],
            ['VERDICT', (count) => WriteCode[count.code]],
            ['RPC', (count) => count.rpc],
            ['WRITES', (count) => String(count.writes)],
          ]);
          return joinSections(answer.counts.length > 0 ? counts : '', oneLine(answer.summary));
        });
      }),
    );
}
