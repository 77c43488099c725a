/** The lines of the story that the demo plays. */
export const script = {
  agents: ['ada', 'ben'],
  plan: {
    title: 'Release 1.0',
    steps: [{ title: 'Write the changelog' }, { title: 'Build the packages' }],
  },
  /** How long every lease lives without renewal, in milliseconds. */
  ttlMs: 2_000,
  /** What the loser of the race brings. */
  otherResult: 'both packages are built',
  /** What the agent that is killed leaves behind. */
  lastNote: '50 %: the features are written up, the fixes are still missing',
  /** What its twin brings, too late. */
  lateResult: 'changelog: the features',
  /** What the step is completed with. */
  result: 'changelog: the features and the fixes',
} as const;
