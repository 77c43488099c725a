/** The dashboard's own icons: 16 × 16, drawn by strokes in the text's colour. */
const paths = {
  board: 'M2.5 3h3v10h-3zM6.5 3h3v6h-3zM10.5 3h3v8h-3z',
  timeline: 'M2 4h6M5 8h8M3 12h5M11 12h2',
  bell: 'M4 11V7.5a4 4 0 0 1 8 0V11l1 1.5H3zM6.5 14h3',
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.7 10.7 14 14',
  check: 'M3 8.5 6.5 12 13 4.5',
  cross: 'M4 4l8 8M12 4l-8 8',
  lock: 'M4 7.5h8v6H4zM5.5 7.5V5a2.5 2.5 0 0 1 5 0v2.5',
  link: 'M6.5 9.5 9.5 6.5M7 4.5l1.5-1.5a3 3 0 0 1 4.5 4.5L11.5 9M9 11.5 7.5 13A3 3 0 0 1 3 8.5L4.5 7',
  clock: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 4.5V8l2.5 1.5',
  hourglass: 'M4 2.5h8M4 13.5h8M5 2.5c0 3 3 3.5 3 5.5s-3 2.5-3 5.5M11 2.5c0 3-3 3.5-3 5.5s3 2.5 3 5.5',
  note: 'M3 2.5h10v8L10 13.5H3zM10 13.5v-3h3M5.5 5.5h5M5.5 8h3',
  shield: 'M8 2 3 4v4c0 3 2 5 5 6 3-1 5-3 5-6V4z',
  plus: 'M8 3v10M3 8h10',
  minus: 'M3 8h10',
  fit: 'M2 5V2h3M11 2h3v3M14 11v3h-3M5 14H2v-3',
  now: 'M3 8h7M7 4.5 10.5 8 7 11.5M13 3v10',
  sun: 'M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM8 1v2M8 13v2M1 8h2M13 8h2M3 3l1.4 1.4M11.6 11.6 13 13M3 13l1.4-1.4M11.6 4.4 13 3',
  moon: 'M13 9.5A5.5 5.5 0 0 1 6.5 3 5.5 5.5 0 1 0 13 9.5z',
  leave: 'M6 2.5H3v11h3M10 5l3 3-3 3M6.5 8H13',
  back: 'M9.5 3.5 5 8l4.5 4.5',
  edit: 'M3 13l.8-3L10.5 3.3l2.2 2.2L6 12.2z',
  retry: 'M13 8a5 5 0 1 1-1.5-3.5M13 2v3h-3',
  person: 'M8 8a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM3 13.5c.5-3 2.5-4 5-4s4.5 1 5 4',
  agent: 'M3.5 5.5h9v7h-9zM8 5.5V3M6 8.5v1M10 8.5v1M1.5 8v2.5M14.5 8v2.5',
  flag: 'M4 14V2.5M4 3h8l-2 2.5L12 8H4',
  keys: 'M1.5 4.5h13v7h-13zM4 7h.5M7 7h.5M10 7h.5M5 9.5h6',
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}
