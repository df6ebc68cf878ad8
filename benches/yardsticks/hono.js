// What people write today: a link is read from KV and redirected to, nothing checked and nothing counted.
import { Hono } from "hono";

const app = new Hono();

app.get("/go/:link", async (context) => {
  const target = await context.env.LINKS.get(context.req.param("link"));
  return target ? context.redirect(target, 302) : context.notFound();
});

export default app;
