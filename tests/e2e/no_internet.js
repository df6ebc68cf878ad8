// Answers every request to any host with 200.
export default {
  fetch: () => new Response("thanks\n"),
};
