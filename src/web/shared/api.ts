// Calls by their paths. The types of parameters, bodies and answers are those of the API's document.

import * as client from "./client";
import type { paths } from "./generated/openapi-dashboard";
import { queryText } from "./query-text";

type Method = "get" | "post" | "put" | "patch" | "delete";
type Names<Parameters> = Parameters extends object ? keyof Parameters : never;

/** The calls whose paths in the document begin with `Base`. They are sent to `base`. */
export function callsOf<Paths, Base extends string>(base: string) {
  type Full<Path extends string> = `${Base}${Path}`;
  /** The paths that have a method, without their common beginning. */
  type PathWith<M extends Method> = {
    [P in keyof Paths]: P extends Full<infer Path> ? (Paths[P] extends Record<M, object> ? Path : never) : never;
  }[keyof Paths];
  type Operation<M extends Method, Path extends PathWith<M>> =
    Paths[Full<Path> & keyof Paths] extends Record<M, infer Of> ? Of : never;
  /** The names in the path, and the parameters of the query. Empty ones are left out. */
  type Parameters<M extends Method, Path extends PathWith<M>> =
    Operation<M, Path> extends { parameters: { path?: infer InPath; query?: infer InQuery } }
      ? { [Name in Names<InPath>]: string } & { [Name in Names<InQuery>]?: string | number | null }
      : never;
  type Body<M extends Method, Path extends PathWith<M>> =
    Operation<M, Path> extends { requestBody?: { content: { "application/json": infer Json } } } ? Json : object;
  type Answer<M extends Method, Path extends PathWith<M>> =
    Operation<M, Path> extends {
      responses: { [Status in 200 | 201 | 202]?: { content: { "application/json": infer Json } } };
    }
      ? Json & object
      : never;

  function urlOf(path: string, parameters: Record<string, string | number | null | undefined>): string {
    const query = { ...parameters };
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
      delete query[name];
      return client.id(String(parameters[name]));
    });
    return base + filled + queryText(query);
  }

  const write =
    <M extends "post" | "put" | "patch">(method: M) =>
    <Path extends PathWith<M>>(
      path: Path,
      parameters: Parameters<M, Path>,
      body: Body<M, Path> | string = {} as Body<M, Path>,
      headers?: Record<string, string>,
    ) =>
      client.call<Answer<M, Path>>(method.toUpperCase(), urlOf(path, parameters), body as object | string, headers);

  return {
    /** An open page may repeat a call as a poll, which does not extend the session. */
    get: <Path extends PathWith<"get">>(path: Path, parameters: Parameters<"get", Path>, isPoll = false) =>
      client.call<Answer<"get", Path>>(
        "GET",
        urlOf(path, parameters),
        undefined,
        isPoll ? { "X-Poll": "1" } : undefined,
      ),
    post: write("post"),
    put: write("put"),
    patch: write("patch"),
    getTagged: <Path extends PathWith<"get">>(path: Path, parameters: Parameters<"get", Path>) =>
      client.getTagged<Answer<"get", Path>>(urlOf(path, parameters)),
    /** Refused with 412 if the document has changed since it was read, or if `seen` is null and the document exists. */
    putTagged: <Path extends PathWith<"put">>(
      path: Path,
      parameters: Parameters<"put", Path>,
      body: Body<"put", Path> & object,
      seen: client.Tagged<object> | null,
    ) => client.putTagged<Answer<"put", Path>>(urlOf(path, parameters), body, seen),
    remove: <Path extends PathWith<"delete">>(path: Path, parameters: Parameters<"delete", Path>) =>
      client.remove(urlOf(path, parameters)),
  };
}

/** The dashboard's calls. The console has those about accounts too, and sends them under its own name. */
export const { get, post, put, patch, remove } = callsOf<paths, "/v1/dashboard">(client.BASE);
