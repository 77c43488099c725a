import pc from 'picocolors';

/** Colours for one stream: none unless it is a terminal, and never with NO_COLOR. */
export function styleFor(stream: { isTTY?: boolean }): Style {
  const { NO_COLOR, FORCE_COLOR, TERM } = process.env;
  return pc.createColors(!NO_COLOR && (!!FORCE_COLOR || (stream.isTTY === true && TERM !== 'dumb')));
}

/** Functions that colour a text, or leave it. */
export type Style = ReturnType<typeof pc.createColors>;
