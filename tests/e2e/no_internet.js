// Every host there is: it thanks for whatever it is sent.
export default {
  fetch: () => new Response("thanks\n"),
};
