// A publisher's server that answers in 5 ms.
export default {
  async fetch(request) {
    await request.text();
    await scheduler.wait(5);
    return new Response(null, { status: 200 });
  },
};
