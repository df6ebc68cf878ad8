// An app's callback: its URL with macros, the method, the events, and the rotation of its secret.

import { useEffect, useRef, useState } from "preact/hooks";
import { useAction } from "../../../shared/action";
import { changeApp, post, remove } from "../../api";
import { confirmed } from "../../../shared/change";
import { Button, DangerButton } from "../../../shared/components/button";
import { Choices } from "../../../shared/components/choices";
import { Dialog, DialogButtons } from "../../../shared/components/dialog";
import { Field } from "../../../shared/components/field";
import { SecretDialog, useQuestion } from "../../../shared/components/form-dialog";
import { FormError, Problem, Skeleton } from "../../../shared/components/states";
import { say } from "../../../shared/components/status";
import { fieldErrors } from "../../../shared/field-errors";
import { common } from "../../messages";
import { EVENT_NAMES } from "../../../shared/messages/rewards";
import { appForm } from "../../messages/apps";
import type { NewCallback, OwnCallbackEvent, CallbackPreview } from "../../types";
import { AskForPort } from "./ask-to-allow";
import { Findings } from "./findings";
import { findMacros } from "./macros";
import { MacroList, MacroNotes } from "./macro-list";
import { Card, PartForm, type PartProps, useDraft } from "./part";
import { Rotation } from "./rotation";
import { SentRequest } from "../../../shared/components/sent-request";
import { SwitchedOff } from "./switched-off";

const text = appForm.callback;

const EVENTS: OwnCallbackEvent[] = ["approved", "reversed", "pending", "rejected"];
const NEW: NewCallback = { url: "", method: "GET", events: ["approved", "reversed"] };

const FIELDS = ["callback.url", "callback.method", "callback.events"];

type Open = "rotate" | { secret: string } | { preview: NewCallback } | null;

export function Callback({ app, reload }: PartProps) {
  const [open, setOpen] = useState<Open>(null);
  const input = useRef<HTMLTextAreaElement>(null);
  const { app_id, callback } = app;
  const draft = useDraft<NewCallback>({
    app,
    saved: callback ? { url: callback.url, method: callback.method, events: callback.events } : NEW,
    fields: FIELDS,
    names: { url: text.url, method: text.method, events: text.events },
    writes: { events: (event) => EVENT_NAMES[event as OwnCallbackEvent] },
    change: ({ url, method, events }) => ({ callback: { url: url.trim(), method, events } }),
    onSaved: ({ callback_secret: secret }) => secret && setOpen({ secret }),
  });
  const { values, errors } = draft;
  const macros = findMacros(values.url);
  const close = () => setOpen(null);
  const questions = {
    remove: {
      title: text.removeTitle,
      text: text.removeText,
      button: text.remove,
      dangerous: true,
      onConfirm: confirmed(
        () => changeApp(app, { callback: null }),
        text.removed,
        () => {
          draft.discard();
          return reload();
        },
      ),
      reload,
    },
    end: {
      title: text.endFormerTitle,
      text: text.endFormerText,
      button: text.endFormer,
      dangerous: true,
      onConfirm: confirmed(
        () => remove("/apps/{app_id}/callback/previous_secret", { app_id }),
        text.formerEnded,
        reload,
      ),
    },
  };
  const [ask, question] = useQuestion((name: keyof typeof questions) => questions[name]);
  const insert = (name: string) => {
    const { url } = values;
    const at = input.current?.selectionStart ?? url.length;
    draft.set({ ...values, url: `${url.slice(0, at)}{${name}}${url.slice(input.current?.selectionEnd ?? at)}` });
    say(text.inserted(name));
  };
  return (
    <Card title={text.title} intro={text.intro}>
      {callback ? <SwitchedOff appId={app.app_id} /> : <p>{text.none}</p>}
      <PartForm
        draft={draft}
        reload={reload}
        isWrong={values.url.trim() === "" || values.events.length === 0}
        buttons={
          <>
            <Button
              isDisabled={values.url.trim() === ""}
              onClick={() => setOpen({ preview: { ...values, url: values.url.trim() } })}
            >
              {text.preview}
            </Button>
            {callback && <DangerButton onClick={() => ask("remove")}>{text.remove}</DangerButton>}
          </>
        }
      >
        <Field label={text.url} hint={text.urlHint} error={errors.of("callback.url")}>
          {(props) => (
            <textarea
              {...props}
              ref={input}
              class="mono"
              rows={3}
              spellcheck={false}
              value={values.url}
              // A URL has no line breaks, whatever it was copied from.
              onInput={(event) => draft.set({ ...values, url: event.currentTarget.value.replace(/[\r\n]+/g, "") })}
            />
          )}
        </Field>
        <AskForPort app={app} url={values.url} problem={errors.of("callback.url")} />
        <MacroNotes macros={macros} draft={values} />
        {values.method === "GET" && <MacroList used={macros.used} insert={insert} />}
        <Choices
          kind="radio"
          name={text.method}
          choices={[
            { value: "GET", label: "GET", hint: text.methods.GET },
            { value: "POST", label: "POST", hint: text.methods.POST },
          ]}
          chosen={[values.method]}
          error={errors.of("callback.method")}
          onChange={([method]) => draft.set({ ...values, method: method! })}
        />
        <Choices
          kind="checkbox"
          name={text.events}
          choices={EVENTS.map((value) => ({ value, label: EVENT_NAMES[value], hint: text.eventHints[value] }))}
          chosen={values.events}
          error={values.events.length === 0 ? text.noEvents : errors.of("callback.events")}
          onChange={(events) => draft.set({ ...values, events })}
        />
      </PartForm>
      <div class="part-foot">
        <h3>{text.secret}</h3>
        <p class="note">{callback?.has_previous_secret ? text.rotating : text.secretNote}</p>
        {callback && (
          <div class="row part-buttons">
            <Button onClick={() => setOpen("rotate")}>{callback.has_previous_secret ? text.goOn : text.rotate}</Button>
            {callback.has_previous_secret && <DangerButton onClick={() => ask("end")}>{text.endFormer}</DangerButton>}
          </div>
        )}
      </div>
      {open === "rotate" && <Rotation app={app} reload={reload} onClose={close} />}
      {question}
      {open !== null && typeof open === "object" && "secret" in open && (
        <SecretDialog
          title={text.secretTitle}
          text={text.secretText}
          label={text.secret}
          value={open.secret}
          onClose={close}
        />
      )}
      {open !== null && typeof open === "object" && "preview" in open && (
        <Preview appId={app.app_id} draft={open.preview} onClose={close} />
      )}
    </Card>
  );
}

/** An example of what a draft would send. */
function Preview({ appId, draft, onClose }: { appId: string; draft: NewCallback; onClose: () => void }) {
  const [made, setMade] = useState<CallbackPreview | null>(null);
  const load = useAction(async () =>
    setMade(await post("/apps/{app_id}/callback/preview", { app_id: appId }, { callback: draft })),
  );
  useEffect(() => void load.run(), []);
  const errors = fieldErrors(load.error, FIELDS);
  const refused = FIELDS.map(errors.of).find(Boolean);
  return (
    <Dialog title={text.previewTitle} onClose={onClose} isWide>
      <p>{text.previewText}</p>
      {made ? (
        <>
          <Findings findings={made.findings} />
          <SentRequest request={made.request} />
        </>
      ) : load.error ? (
        <>
          <Problem>{refused}</Problem>
          <FormError error={errors.rest} />
        </>
      ) : (
        <Skeleton lines={4} />
      )}
      <DialogButtons onClose={onClose} cancel={common.close} isOnly />
    </Dialog>
  );
}
