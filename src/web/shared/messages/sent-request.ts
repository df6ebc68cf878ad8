// Text of a request that was sent to a receiver, and of its answer.

export const sentRequest = {
  url: "Request",
  headers: "Headers",
  body: "Body",
  signed: (signature: string) => `The exact text signed in “${signature}”`,
  empty: "(empty)",
  location: "It redirects to",
  answer: (status: number, ms: string) => `Answer: ${status} after ${ms} ms`,
  noAnswer: "No answer",
};
