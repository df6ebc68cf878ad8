// A common way to write it today: reads a link from KV and redirects, without checks or counts.
import { Hono } from "hono";

const app = new Hono();

app.get("/go/:link", async (context) => {
  const target = await context.env.LINKS.get(context.req.param("link"));
  return target ? context.redirect(target, 302) : context.notFound();
});

export default app;
