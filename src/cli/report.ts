import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { WriteCode } from '@holdfast/proto/guard';
import { GetEnforcementReportResponseSchema } from '@holdfast/proto/history';
import type { Command } from 'commander';
import { connected, remoteCommand } from './command.js';
import { ExitCode } from './exit.js';
import { joinSections } from './task-text.js';
import { oneLine } from './text.js';
import { moment } from './time-arguments.js';

interface Options {
  since?: Timestamp;
  check?: boolean;
}

export function reportCommand(): Command {
  return remoteCommand(
    'report',
    'Say whether locks can be enforced, and count the writes that would have been refused',
    'holdfast report',
    'holdfast report --since 30d',
    'holdfast report --check',
  )
    .option('--since <time>', 'from when on: 2026-03-01 or how long ago (default: 7d)', moment)
    .option('--check', 'exit with 3 when something stands in the way')
    .action(
      connected<Options>(async ({ holdfast, out, project }, { since, check }) => {
        const answer = await holdfast.history.getEnforcementReport({ project, ...(since ? { since } : {}) });
        out.result(GetEnforcementReportResponseSchema, answer, () => {
          const counts = out.table(answer.counts, [
            ['DAY', (count) => count.day],
            ['PRINCIPAL', (count) => count.principal],
            ['VERDICT', (count) => WriteCode[count.code]],
            ['RPC', (count) => count.rpc],
            ['WRITES', (count) => String(count.writes)],
          ]);
          return joinSections(oneLine(answer.summary), answer.counts.length > 0 ? counts : '');
        });
        if (check && !answer.readyToEnforce) process.exitCode = ExitCode.REFUSED;
      }),
    );
}
