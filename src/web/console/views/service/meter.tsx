// The used part of a limit, as a drawing and as text.

const NEAR = 0.8;

export function Meter({ label, value, most, text }: { label: string; value: number; most: number; text: string }) {
  return (
    <span class="meter">
      <meter
        aria-label={label}
        min={0}
        max={most}
        low={most * NEAR}
        high={most * 0.95}
        optimum={0}
        value={Math.min(value, most)}
      />
      <span>{text}</span>
    </span>
  );
}
