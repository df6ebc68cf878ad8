// Views that are loaded when they are first opened, so that the page starts with few bytes.

import { Button } from "./components/button";
import { signal } from "@preact/signals";
import type { ComponentChildren, FunctionComponent } from "preact";
import { useEffect } from "preact/hooks";
import { Heading } from "./components/heading";
import { Empty, Skeleton } from "./components/states";
import { common } from "./messages";

interface Props<Views> {
  title: string;
  view: (views: Views) => ReturnType<FunctionComponent>;
  /** Draws the state of the load in its own frame. Without `frame`, the state is below the page's heading. */
  frame?: (state: ComponentChildren) => ComponentChildren;
}

/** A component for the views of a module, and a function that loads the module ahead of a click. */
export function lazy<Views extends object>(load: () => Promise<Views>) {
  const views = signal<Views | "failed" | null>(null);
  const loadViews = async () => {
    if (views.peek()) return;
    views.value = await load().catch(() => "failed" as const);
  };
  const Lazy = ({ title, view, frame }: Props<Views>) => {
    useEffect(() => void loadViews(), []);
    const loaded = views.value;
    if (loaded && loaded !== "failed") return <>{view(loaded)}</>;
    const state =
      loaded === "failed" ? (
        <Empty title={common.viewFailed} action={<Button onClick={() => location.reload()}>{common.reload}</Button>}>
          {common.viewFailedHint}
        </Empty>
      ) : (
        <Skeleton lines={5} />
      );
    if (frame) return <>{frame(state)}</>;
    return (
      <>
        <Heading title={title} />
        {state}
      </>
    );
  };
  return { Lazy, loadViews };
}
