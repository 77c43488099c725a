import type fc from 'fast-check';
import type { Model } from './model.js';
import type { System } from './system.js';

type Step = (model: Model, real: System) => Promise<void>;

/** Moves the clock of both. */
export async function tick(model: Model, real: System, by: number): Promise<void> {
  await real.clock.advance(by);
  model.now += by;
}

/** A command that can run at any time, and says what it was. */
class Command implements fc.AsyncCommand<Model, System> {
  constructor(
    private readonly what: string,
    private readonly input: unknown,
    private readonly step: Step,
  ) {}
  check = () => true;
  async run(model: Model, real: System): Promise<void> {
    // No two things happen at the same microsecond.
    await tick(model, real, 1);
    await this.step(model, real);
  }
  toString = () => `${this.what} ${JSON.stringify(this.input)}`;
}

export function command<Input>(
  what: string,
  inputs: fc.Arbitrary<Input>,
  step: (input: Input, model: Model, real: System) => Promise<void>,
): fc.Arbitrary<Command> {
  return inputs.map((input) => new Command(what, input, (model, real) => step(input, model, real)));
}
