// Text of the callback's tester, its diagnosis, and the rotation of a secret.

import type { Finding, SignWith } from "../types";

export const tester = {
  title: "Test your receiver",
  intro:
    "Sends one call with example values to the saved URL. Its transaction_id begins with “test-”: answer 2xx and pay nothing.",
  signWith: "Sign it with",
  asUsual: "The secret, as usual",
  signs: {
    both: "Both secrets, as usual",
    current: "The new secret alone",
    wrong: "A wrong signature",
  } satisfies Record<SignWith, string>,
  signHints: {
    both: "your receiver should answer 2xx",
    current: "as after the rotation; your receiver should answer 2xx",
    wrong: "as a forger would; your receiver must not answer 2xx",
  } satisfies Record<SignWith, string>,
  send: "Send a test",
  sending: "Waiting for an answer (up to 20 seconds)…",
  sent: "The test was sent.",
  result: "Result of the test",
  diagnosis: "Diagnosis",
  severities: { problem: "Problem", advice: "Advice", ok: "OK" } satisfies Record<Finding["severity"], string>,
};

/** Findings by their code. A code that is new to this page is shown by its own name. */
const FINDINGS: Record<string, (subject: string) => string> = {
  accepted: (status) => `Your receiver accepted the call (${status}).`,
  wrong_signature_refused: (status) => `Your receiver refuses a wrong signature (${status}).`,
  accepts_wrong_signature: (status) =>
    `Your receiver accepts unsigned callbacks: it answered a wrong signature with ${status}. Anybody who knows the URL can make it pay. Check the signature before you answer.`,
  redirect: (status) =>
    `Your receiver redirects (${status}). Redirects are not followed, so no reward arrives. Enter the final URL.`,
  not_found: () => "Your server has nothing at this path (404). Check the URL.",
  method_refused: () => "Your server does not accept this method at this path (405). Change the method or the URL.",
  gone: () => "410 switches callbacks off: we stop calling until you switch them on again. Answer 2xx instead.",
  content_type_refused: () => "Your server does not accept JSON at this path (415). POST sends application/json.",
  busy: (status) => `Your receiver asks to be called later (${status}). A real callback would be tried again.`,
  signature_refused: (status) =>
    `Your receiver refuses a valid signature (${status}). Check that it uses this app's secret and signs the exact bytes shown below.`,
  request_refused: (status) => `Your receiver refuses the request (${status}). The answer below may say why.`,
  server_error: (status) => `Your server failed (${status}). Check its log.`,
  unexpected_status: (status) => `${status} counts as a failure. Only 2xx counts as delivered.`,
  timeout: () => "Your receiver did not answer in time. Save the reward and answer at once; do the rest later.",
  tls: () => "No secure connection could be made. Check that the certificate is valid for this host and not expired.",
  unreachable: () => "No connection could be made. Check the host of the URL, and that a firewall lets us in.",
  broken_answer: () => "The answer broke off before its end. Check your server and any proxy in front of it.",
  forbidden: () => "This URL may not be called: its host is private or not allowed.",
  asks_to_disable: () => "The header “webhook-delivery: disable” in the answer switches callbacks off. Leave it out.",
  answers_a_page: () =>
    "The answer is a web page. A sign-in page or a catch-all may have answered in place of your receiver, and no reward is paid then.",
  slow: (ms) => `The answer took ${ms} ms. Answer faster, since rewards wait for each other.`,
  sends_all_fields: () => "All values of the reward are sent.",
  no_user_id: () => "The URL has no {user_id}, so your receiver cannot tell whom to pay.",
  no_transaction_id: () =>
    "The URL has no {transaction_id}, so your receiver pays a reward twice when it is sent twice. Add it, and pay each ID once.",
  no_value: () => "The URL has neither {value} nor {payout}, so your receiver cannot tell how much to pay.",
  names_user_transaction_and_value: () => "The URL names the user, the transaction and the value.",
  no_status: () =>
    "The URL has no {status}, so your receiver cannot tell what happened to the reward. Add it, or choose “approved” alone.",
  no_original_transaction_id: () =>
    "The URL has no {original_transaction_id}, so your receiver cannot tell which reward is reversed.",
  foreign_placeholder: (text) =>
    `“${text}” is not one of our macros and is sent as it is. Ours are written in braces, such as {user_id}.`,
  long_url: (bytes) =>
    `With every value at its longest, the URL has ${bytes} bytes. Some servers cut or refuse a URL of more than 2,000. Name fewer values, or choose POST.`,
  fragment_dropped: () => "The part of the URL after # is not sent.",
  not_encrypted: () => "The URL is not https, so anybody on the way can read and change the calls.",
  legacy_signature: () =>
    "This app also sends the older MD5 signature, which does not cover all values. Check the newer signature instead.",
};

export const findingText = ({ code, subject }: Finding) =>
  FINDINGS[code]?.(subject ?? "") ?? [code.replaceAll("_", " "), subject].filter(Boolean).join(": ");

export const rotation = {
  title: "Rotate the callback secret",
  steps: {
    make: "Make a new secret",
    teach: "Add it to your receiver",
    accepts: "Test the new secret",
    refuses: "Test a wrong signature",
    end: "End the old secret",
  },
  texts: {
    make: "Each call is then signed with both the new and the old secret. No call is lost.",
    teach: "Add the new secret to your receiver next to the old one. It is shown only this once.",
    accepts:
      "The next test is signed with the new secret alone. Your receiver must answer 2xx. If you no longer have the new secret, make another.",
    refuses: "The next test has a wrong signature, as a forger would send it. Your receiver must not answer 2xx.",
    end: "Both tests passed. Once you end the old secret, calls are signed with the new one alone. Then remove the old one from your receiver.",
  },
  secret: "New callback secret",
  make: "Make the secret",
  makeAnother: "I do not have it: make another",
  taught: "My receiver has it",
  test: "Send the test",
  again: "Send it again",
  testing: "Waiting for an answer (up to 20 seconds)…",
  next: "Next",
  later: "Finish later",
  passed: {
    accepts: "Passed: your receiver accepts the new secret.",
    refuses: "Passed: your receiver refuses a wrong signature.",
  },
  failed: {
    accepts:
      "Not passed: your receiver does not accept the new secret yet. Calls are still signed with the old one as well, so no reward is lost.",
    refuses:
      "Not passed: your receiver must refuse a wrong signature with a 4xx. Have it check the signature, then test again.",
  },
};
