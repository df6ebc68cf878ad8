// Figures of a list. They load after the list, and may fail.

import { common } from "../messages";
import { Banner } from "../../shared/components/states";

/** Replaces a figure that is still loading (undefined) or has failed (null). */
export const NoFigure = ({ answer, title }: { answer: null | undefined; title: string }) => (
  <span class="note" title={answer === null ? title : undefined}>
    {common.none}
  </span>
);

export const FiguresFailed = ({ error, text, retry }: { error: unknown; text: string; retry: () => void }) =>
  error === null ? null : <Banner onClick={retry}>{text}</Banner>;
