// The operator's calls by their paths. The types of parameters, bodies and answers are those of the API's document.

import * as client from "../shared/client";
import type { paths } from "../shared/generated/openapi";
import { queryText } from "../shared/query-text";

const OPERATOR = "/v1/operator";
type Full<Path extends string> = `/v1/operator${Path}`;

type Method = "get" | "post" | "put" | "delete";
/** The paths that have a method, without their common beginning. */
type PathWith<M extends Method> = {
  [P in keyof paths]: P extends Full<infer Path> ? (paths[P][M] extends object ? Path : never) : never;
}[keyof paths];
type Operation<M extends Method, Path extends PathWith<M>> =
  Full<Path> extends keyof paths ? paths[Full<Path>][M] : never;

type Names<Parameters> = Parameters extends object ? keyof Parameters : never;
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
  return OPERATOR + filled + queryText(query);
}

/** An open page may repeat a call as a poll, which does not extend the session. */
export const get = <Path extends PathWith<"get">>(path: Path, parameters: Parameters<"get", Path>, isPoll = false) =>
  client.call<Answer<"get", Path>>("GET", urlOf(path, parameters), undefined, isPoll ? { "X-Poll": "1" } : undefined);

const write =
  <M extends "post" | "put">(method: M) =>
  <Path extends PathWith<M>>(
    path: Path,
    parameters: Parameters<M, Path>,
    body: Body<M, Path> | string = {} as Body<M, Path>,
    headers?: Record<string, string>,
  ) =>
    client.call<Answer<M, Path>>(method.toUpperCase(), urlOf(path, parameters), body as object | string, headers);
export const post = write("post");
export const put = write("put");

export const getTagged = <Path extends PathWith<"get">>(path: Path, parameters: Parameters<"get", Path>) =>
  client.getTagged<Answer<"get", Path>>(urlOf(path, parameters));
/** Refused with 412 if the document has changed since it was read, or if `seen` is null and the document exists. */
export const putTagged = <Path extends PathWith<"put">>(
  path: Path,
  parameters: Parameters<"put", Path>,
  body: Body<"put", Path> & object,
  seen: client.Tagged<object> | null,
) => client.putTagged<Answer<"put", Path>>(urlOf(path, parameters), body, seen);

export const remove = <Path extends PathWith<"delete">>(path: Path, parameters: Parameters<"delete", Path>) =>
  client.remove(urlOf(path, parameters));
