import { explain } from '@holdfast/client';
import { Enforcement, WriteCode } from '@holdfast/proto/guard';
import { EventKind, type GetEnforcementReportResponse } from '@holdfast/proto/history';
import { useEffect, useRef, useState } from 'react';
import { useLive } from '../live/use-live.js';
import { Icon } from '../ui/icon.js';
import { toast } from '../ui/toasts.js';

/** A storm of warnings is answered by one reading. In ms. */
const GATHER_MS = 1_000;

const MODES = [
  [Enforcement.OFF, 'Off', 'Writes are done, whoever holds the task.'],
  [Enforcement.WARN, 'Warn', 'Writes without a valid lease are done, and recorded as warnings.'],
  [Enforcement.ENFORCE, 'Enforce', 'Writes without a valid lease are refused.'],
] as const;

/** Who would be refused if leases were enforced, and the switch that does it. */
export function EnforcementReport() {
  const { live, session } = useLive();
  const [report, setReport] = useState<GetEnforcementReportResponse>();
  const [wanted, setWanted] = useState<Enforcement>();
  const [busy, setBusy] = useState(false);
  const modes = useRef<HTMLFieldSetElement>(null);
  const mode = live.about?.effectiveSettings?.enforcement ?? Enforcement.UNSPECIFIED;
  const { state } = live.connection;

  useEffect(() => {
    if (state !== 'live') return;
    const read = () => {
      live.holdfast.history.getEnforcementReport({ project: live.project }).then(setReport, () => {});
    };
    let timer: ReturnType<typeof setTimeout> | undefined;
    read();
    const stop = live.onEvent(({ kind }) => {
      if (kind !== EventKind.WRITE_WARNED && kind !== EventKind.SETTINGS_CHANGED) return;
      timer ??= setTimeout(() => {
        timer = undefined;
        read();
      }, GATHER_MS);
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [live, state]);

  const switchTo = async (enforcement: Enforcement) => {
    if (busy) return;
    setBusy(true);
    try {
      await live.holdfast.projects.updateProject({ project: live.project, settings: { enforcement } });
      await live.readAbout();
      // The button goes: whoever used it by keyboard is to stay here.
      modes.current?.querySelector<HTMLElement>('input:checked')?.focus();
      setWanted(undefined);
      toast(`The project is in ${Enforcement[enforcement]} now.`);
    } catch (error) {
      toast(explain(error), 'bad');
    } finally {
      setBusy(false);
    }
  };

  return (
    <section className="box">
      <h2>
        <Icon name="shield" /> Enforcement
      </h2>
      <fieldset className="modes" ref={modes}>
        <legend className="visually-hidden">What happens to a write without a valid lease</legend>
        {MODES.filter(([each]) => session.isAdmin || each === mode).map(([each, title, meaning]) => {
          const text = (
            <span>
              <strong>{title}</strong> {meaning}
            </span>
          );
          if (!session.isAdmin)
            return (
              <p key={each} className="mode chosen">
                {text}
              </p>
            );
          return (
            <label key={each} className={each === mode ? 'mode chosen' : 'mode'}>
              <input
                type="radio"
                name="enforcement"
                checked={each === (wanted ?? mode)}
                onChange={() => setWanted(each)}
              />
              {text}
            </label>
          );
        })}
      </fieldset>
      {wanted !== undefined && wanted !== mode && (
        <button
          type="button"
          className="button primary"
          aria-disabled={busy}
          onClick={() => void switchTo(wanted)}
        >
          Switch to {Enforcement[wanted]}
        </button>
      )}
      {report && (
        <>
          <p className={report.readyToEnforce ? 'verdict good' : 'verdict'}>
            <Icon name={report.readyToEnforce ? 'check' : 'flag'} />
            {report.summary}
          </p>
          {report.counts.length > 0 && <Counts report={report} />}
        </>
      )}
    </section>
  );
}

function Counts({ report }: { report: GetEnforcementReportResponse }) {
  return (
    <table className="counts">
      <thead>
        <tr>
          <th scope="col">Who</th>
          <th scope="col">Write</th>
          <th scope="col">Verdict</th>
          <th scope="col">Day</th>
          <th scope="col" className="number">
            Times
          </th>
        </tr>
      </thead>
      <tbody>
        {report.counts.slice(0, 100).map(({ principal, rpc, code, day, writes }) => (
          <tr key={`${principal} ${rpc} ${code} ${day}`}>
            <td>{principal}</td>
            <td>{rpc}</td>
            <td>
              <code>{WriteCode[code]}</code>
            </td>
            <td>{day}</td>
            <td className="number">{String(writes)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
