import type { PlanProgress } from './columns.js';

/** How far each plan is; choosing one shows its steps alone. */
export function PlanStrip({
  plans,
  chosen,
  onChoose,
}: {
  plans: readonly PlanProgress[];
  chosen: string;
  onChoose: (planId: string) => void;
}) {
  if (plans.length === 0) return null;
  return (
    <ul className="plans" aria-label="Plans">
      {plans.slice(0, 50).map((plan) => (
        <li key={plan.id}>
          <button
            type="button"
            className="plan"
            aria-pressed={chosen === plan.id}
            onClick={() => onChoose(chosen === plan.id ? '' : plan.id)}
          >
            <span className="plan-title">{plan.title}</span>
            <span className="plan-count">
              {plan.done}/{plan.total}
            </span>
            <svg className="plan-bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
              <rect className="all" width="100" height="4" />
              <rect className="held" width={(100 * (plan.done + plan.held)) / plan.total} height="4" />
              <rect className="done" width={(100 * plan.done) / plan.total} height="4" />
            </svg>
          </button>
        </li>
      ))}
    </ul>
  );
}
