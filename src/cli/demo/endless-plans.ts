import type { MessageInitShape } from '@bufbuild/protobuf';
import type { ImportedTaskSchema } from '@holdfast/proto/task';

/** A step: what it is, and the numbers of the earlier steps it waits for. */
type Step = readonly [title: string, waitsFor: readonly number[], note: string, result: string];

interface Draft {
  readonly title: (round: number) => string;
  readonly steps: readonly Step[];
}

const DRAFTS: readonly Draft[] = [
  {
    title: (round) => `Release 1.${round}`,
    steps: [
      ['Collect the changes since the last release', [], 'read 40 of 61 commits', '61 changes in 7 groups'],
      [
        'Write the changelog',
        [0],
        'the features are written up, the fixes are missing',
        'the changelog has 7 sections',
      ],
      ['Update the dependencies', [], 'two of five are done', 'five updated, tests are green'],
      ['Build the packages', [2], 'linux is built', 'three packages are built'],
      ['Sign the packages', [3], 'the key is unlocked', 'three signatures'],
      ['Write the upgrade notes', [0], 'a first draft is there', 'one page of notes'],
      ['Translate the upgrade notes', [5], 'two of four languages', 'four languages'],
      ['Try the upgrade on a copy of production', [3], 'the copy is restored', 'the upgrade took 40 s'],
      ['Publish the release', [1, 4, 7], 'the tag is pushed', 'the release is out'],
      ['Announce it', [6, 8], 'the text waits for a second look', 'announced'],
    ],
  },
  {
    title: (round) => `Sign-in by passkey, part ${round}`,
    steps: [
      ['Sketch the flow', [], 'three screens are drawn', 'six screens, reviewed'],
      ['Add the table of passkeys', [], 'the migration is written', 'migrated on staging'],
      ['Register a passkey', [0, 1], 'the challenge works', 'registration works in two browsers'],
      ['Sign in with a passkey', [2], 'the happy path works', 'sign-in works'],
      ['Recover a lost passkey', [2], 'by mail; codes are next', 'recovery by mail and by code'],
      ['Test with a screen reader', [3], 'one label was missing', 'nothing left to fix'],
      ['Measure how long sign-in takes', [3], 'the probe runs', '180 ms at the median'],
      ['Write the help page', [3, 4], 'the first half is there', 'one page, with pictures'],
    ],
  },
  {
    title: (round) => `Tidy the test suite, round ${round}`,
    steps: [
      ['List the slowest tests', [], 'sorted the first thousand', 'twelve tests take half the time'],
      ['List the tests that fail now and then', [], 'two weeks of runs are read', 'five of them'],
      ['Speed up the slowest tests', [0], 'eight of twelve', '41 % less time'],
      ['Mend the tests that fail now and then', [1], 'three of five', 'none in 500 runs'],
      ['Delete tests that test nothing', [0], 'found nine', 'nine deleted'],
      ['Run the suite in parallel', [2, 3], 'two workers work', 'four workers, 3 min'],
      ['Tell the team', [4, 5], 'a draft is there', 'told'],
    ],
  },
];

/** A plan of the endless demo, as an import: all its steps come at once. */
export function endlessPlan(round: number): MessageInitShape<typeof ImportedTaskSchema>[] {
  const draft = DRAFTS[round % DRAFTS.length] as Draft;
  const title = draft.title(Math.floor(round / DRAFTS.length) + 1);
  const key = (step: number) => `round-${round}-${step}`;
  return draft.steps.map(([step, waitsFor, note, result], at) => ({
    externalKey: key(at),
    title: step,
    body: `Note halfway: ${note}.\nResult: ${result}.`,
    plan: `round-${round}`,
    planTitle: title,
    blockedBy: waitsFor.map(key),
    priority: waitsFor.length === 0 ? 0 : 1,
    labels: at % 3 === 0 ? ['writing'] : [],
  }));
}
