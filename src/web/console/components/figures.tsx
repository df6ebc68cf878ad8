// Figures of a list that come after it, or not at all.

import { common } from "../messages";
import { Banner } from "../../shared/components/states";

/** In the place of a figure: it is still asked for, or it did not come. */
export const NoFigure = ({ answer, title }: { answer: null | undefined; title: string }) => (
  <span class="note" title={answer === null ? title : undefined}>
    {common.none}
  </span>
);

export const FiguresFailed = ({ error, text, retry }: { error: unknown; text: string; retry: () => void }) =>
  error === null ? null : <Banner onClick={retry}>{text}</Banner>;
