// Views that are loaded when they are opened first, so that the page starts with few bytes.

import { signal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { useEffect } from "preact/hooks";
import { Heading } from "./components/heading";
import { Empty, Skeleton } from "./components/states";
import { common } from "./messages";

type Views = typeof import("./views/lazy-views");

const views = signal<Views | "failed" | null>(null);

/** Starts the load ahead of a click. */
export async function loadViews() {
  if (views.peek()) return;
  views.value = await import("./views/lazy-views").catch(() => "failed" as const);
}

interface Props {
  title: string;
  view: (views: Views) => ReturnType<FunctionComponent>;
}

export function Lazy({ title, view }: Props) {
  useEffect(() => void loadViews(), []);
  const loaded = views.value;
  if (loaded && loaded !== "failed") return <>{view(loaded)}</>;
  return (
    <>
      <Heading title={title} />
      {loaded === "failed" ? (
        <Empty
          title={common.viewFailed}
          action={
            <button type="button" class="button" onClick={() => location.reload()}>
              {common.reload}
            </button>
          }
        >
          {common.viewFailedHint}
        </Empty>
      ) : (
        <Skeleton lines={5} />
      )}
    </>
  );
}
