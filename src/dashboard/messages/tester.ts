// Text of the callback's tester, its diagnosis, and the rotation of a secret.

import type { Finding, SignWith } from "../types";

export const tester = {
  title: "Test your receiver",
  intro: "Sends one call with example values to the saved URL. Its transaction_id begins with “test-”: answer 2xx and pay nothing.",
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
  sending: "Sending…",
  sent: "The test was sent.",
  result: "Result of the test",
  diagnosis: "Diagnosis",
  severities: { problem: "Problem", advice: "Advice", ok: "In order" } satisfies Record<Finding["severity"], string>,
  url: "Request",
  headers: "Headers",
  body: "Body",
  signed: "The text that is signed",
  empty: "(empty)",
  answer: (status: number, ms: string) => `Answer: ${status} after ${ms} ms`,
  noAnswer: "No answer",
  errors: {
    timeout: "Your receiver did not answer within 10 seconds.",
    tls: "No secure connection could be made. Check the certificate of your receiver.",
    unreachable: "No connection could be made.",
    forbidden: "This address may not be called.",
    unknown: "Your receiver did not answer.",
  } as Record<string, string>,
};

/** Findings by their code. A code that is new to this page is shown by its own name. */
const FINDINGS: Record<string, (subject: string) => string> = {};

export const findingText = ({ code, subject }: Finding) =>
  FINDINGS[code]?.(subject ?? "") ?? [code.replaceAll("_", " "), subject].filter(Boolean).join(": ");

export const rotation = {
  title: "Rotate the callback secret",
  steps: {
    make: "Make a new secret",
    teach: "Teach your receiver",
    accepts: "Test the new secret",
    refuses: "Test a wrong signature",
    end: "End the former secret",
  },
  texts: {
    make: "From then on each call is signed with the new secret and with the former one. No call is lost.",
    teach: "Add the new secret to your receiver beside the former one. It is shown only this once.",
    accepts: "The next test is signed with the new secret alone. Your receiver must answer 2xx.",
    refuses: "The next test has a wrong signature, as a forger would send it. Your receiver must not answer 2xx.",
    end: "Both tests passed. Calls are signed with the new secret alone from now on. Then remove the former one from your receiver.",
  },
  secret: "New callback secret",
  make: "Make the secret",
  taught: "My receiver knows it",
  test: "Send the test",
  again: "Send it again",
  testing: "Sending…",
  next: "Next",
  later: "Finish later",
  passed: {
    accepts: "Passed: your receiver accepts the new secret.",
    refuses: "Passed: your receiver refuses a wrong signature.",
  },
  failed: {
    accepts: "Not passed: your receiver does not accept the new secret yet. The former one still signs, so no reward is lost.",
    refuses: "Not passed: your receiver accepts a wrong signature, so anybody can make it pay. Have it check the signature, then test again.",
  },
  notAnswered: "Not passed: your receiver did not answer, so the test shows nothing. Test again.",
};
