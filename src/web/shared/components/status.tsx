// Short messages at the foot of the page, read aloud when they appear.

import { signal } from "@preact/signals";

interface Message {
  id: number;
  text: string;
}

// Long enough to read two sentences; nothing is said here that is not also seen in the view.
const SHOWN_MILLISECONDS = 6000;

const messages = signal<Message[]>([]);
let lastId = 0;

export function say(text: string) {
  const id = ++lastId;
  messages.value = [...messages.value.slice(-2), { id, text }];
  setTimeout(() => {
    messages.value = messages.value.filter((message) => message.id !== id);
  }, SHOWN_MILLISECONDS);
}

export function Status() {
  return (
    <div class="status" role="status" aria-live="polite">
      {messages.value.map((message) => (
        <p key={message.id}>{message.text}</p>
      ))}
    </div>
  );
}
