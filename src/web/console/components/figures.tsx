// Figures of a list that come after it, or not at all.

import { common } from "../messages";
import { SmallButton } from "../../shared/components/button";

/** In the place of a figure: it is still asked for, or it did not come. */
export const NoFigure = ({ answer, title }: { answer: null | undefined; title: string }) => (
  <span class="note" title={answer === null ? title : undefined}>
    {common.none}
  </span>
);

export function FiguresFailed({ error, text, retry }: { error: unknown; text: string; retry: () => void }) {
  if (error === null) return null;
  return (
    <div class="banner warning" role="status">
      <p>{text}</p>
      <SmallButton onClick={retry}>{common.retry}</SmallButton>
    </div>
  );
}
