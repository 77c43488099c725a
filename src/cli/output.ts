import { type DescMessage, type MessageShape, toJson } from '@bufbuild/protobuf';
import { type Style, styleFor } from './style.js';
import { type Column, table } from './table.js';

/** Where a command's results go: text for people, or one JSON document for programs. */
export interface Output {
  readonly json: boolean;
  /** Prints a result: its JSON, or what `human` makes of it. */
  result<Desc extends DescMessage>(schema: Desc, message: MessageShape<Desc>, human: () => string): void;
  /** Tells people something beside the result, on stderr. */
  note(text: string): void;
  /** Lays out rows for the terminal at hand. */
  table<Row>(rows: readonly Row[], layout: readonly Column<Row>[]): string;
  readonly style: Style;
}

/** An output on this process's stdout and stderr. */
export function openOutput(json: boolean): Output {
  const style = styleFor(process.stdout);
  return {
    json,
    style,
    result(schema, message, human) {
      const text = json ? asJson(schema, message) : human();
      if (text !== '') process.stdout.write(`${text}\n`);
    },
    note(text) {
      if (!json) process.stderr.write(`${text}\n`);
    },
    table: (rows, layout) =>
      table(rows, layout, style, process.stdout.isTTY ? process.stdout.columns : undefined),
  };
}

// Every field is there, so that programs need not know the defaults: no steps is "steps": [].
function asJson<Desc extends DescMessage>(schema: Desc, message: MessageShape<Desc>): string {
  return JSON.stringify(toJson(schema, message, { alwaysEmitImplicit: true }), null, 2);
}
