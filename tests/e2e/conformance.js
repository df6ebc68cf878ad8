// Checks SQL in the database of a Durable Object. POST {migrations, statements} runs the migrations, compiles every
// statement against them under workerd's rules, and answers the list of errors.
import { DurableObject } from "cloudflare:workers";

export class Database extends DurableObject {
  async fetch(request) {
    const { migrations, statements } = await request.json();
    const refused = [];
    const run = (sql, text = sql) => {
      try {
        const numbered = [...text.matchAll(/\?(\d+)/g)].map(([, number]) => Number(number));
        const count = numbered.length ? Math.max(...numbered) : (text.match(/\?/g) ?? []).length;
        const parameters = Array(count).fill(null);
        this.ctx.storage.sql.exec(sql, ...parameters).toArray();
      } catch (error) {
        refused.push(`${text}: ${error.message}`);
      }
    };
    for (const sql of migrations) run(sql);
    for (const sql of statements) run(`EXPLAIN ${sql}`, sql);
    return Response.json(refused);
  }
}

export default {
  fetch(request, env) {
    return env.DATABASE.getByName(new URL(request.url).pathname).fetch(request);
  },
};
